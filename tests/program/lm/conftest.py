"""A chat server of our own on loopback, so that tests see what really goes over the wire."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from queryplan.program.lm.endpoint import LMHandle

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")

Reply = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]


def completion(text: str, top: dict[str, float] | None = None, prompt_tokens: int = 11) -> dict[str, Any]:
    """A chat completion of ``text``, with the log-probabilities of the first token if given."""
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    if top is not None:
        listed = [{"token": token, "logprob": logprob, "bytes": None} for token, logprob in top.items()]
        choice["logprobs"] = {"content": [{**listed[0], "top_logprobs": listed}]}
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": 1, "total_tokens": prompt_tokens + 1}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


class _QuietServer(ThreadingHTTPServer):
    """A client that gave up is what some tests are about, and no news."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class ChatServer:
    """OpenAI-compatible: ``reply`` answers, ``headers`` go with it, and ``spaces`` before it, one each 50 ms;
    ``requests`` and ``keys`` are what came, and ``ports`` where from."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.ports: list[int] = []
        self.headers: dict[str, str] = {}
        self.spaces = 0
        top = {"Yes": -0.1, "No": -2.3, "simple": -3.0, "fact": -3.0}
        self.reply: Reply = lambda body: (200, completion("Yes", top))
        self._http = _QuietServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append(body)
                server.ports.append(self.client_address[1])
                server.keys.append(self.headers.get("Authorization", ""))
                status, answer = server.reply(body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(server.spaces + len(data)))
                for name, value in server.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for _ in range(server.spaces):
                    self.wfile.write(b" ")
                    time.sleep(0.05)
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                """Silent: the tests look at ``requests``."""

        return Handler


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    server = ChatServer()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, address or proxy of the machine reaches a test."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def complete() -> Callable[..., dict[str, Any]]:
    return completion


@pytest.fixture
def lm(chat_server: Any) -> LMHandle:
    """What is opened on that server; what opening asked of it is forgotten."""
    from queryplan.program.lm.endpoint import LMSettings, open_lm

    handle = open_lm(LMSettings(model="openai/m", api_base=chat_server.base))
    assert handle is not None
    chat_server.requests.clear()
    return handle
