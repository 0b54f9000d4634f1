"""A small domain of twelve rows a split, and an OpenAI-compatible server of our own on loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from queryplan.cli import main
from queryplan.data.card import SHIPPED
from typer.testing import CliRunner

Run = Callable[..., tuple[int, str, str]]
ROWS = 12


@pytest.fixture(scope="session")
def small_domain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The podcast's card with a few rows of train and dev; its ``test`` is made of further dev rows."""
    folder = tmp_path_factory.mktemp("domains") / "small"
    folder.mkdir()
    podcast = SHIPPED / "podcast"
    (folder / "domain.toml").write_text((podcast / "domain.toml").read_text(encoding="utf-8"), encoding="utf-8")
    train = (podcast / "train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    dev = (podcast / "dev.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    held = [line for line in dev if json.loads(line)["conversation"] not in _conversations(dev[:40])]
    for name, lines in (("train", train[:60]), ("dev", dev[:40]), ("test", held[:ROWS])):
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def _conversations(lines: list[str]) -> set[str]:
    return {json.loads(line)["conversation"] for line in lines}


@pytest.fixture
def queryplan() -> Run:
    """Run the command line in this process: exit code, standard output, standard error."""

    def run(*args: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(main.app, [str(a) for a in args])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


class FakeEndpoint:
    """Answers every decision with the same probabilities and every written request by its schema.

    Attributes:
        requests: bodies that came, in order.
        fail_after: from that many requests on, the status is ``failure``; None never.
        delay: seconds that an answer takes.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.fail_after: int | None = None
        self.failure = 500
        self.delay = 0.0
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def base(self) -> str:
        """What ``--api-base`` is given."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def close(self) -> None:
        """Stop serving."""
        self._http.shutdown()
        self._http.server_close()

    def _answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        with self._lock:
            self.requests.append(body)
            if self.fail_after is not None and len(self.requests) > self.fail_after:
                return self.failure, {"error": {"message": "out of order"}}
        if body.get("logprobs"):
            words = ("Yes", "No", "simple", "medium", "fact", "meaning", "math", "task")
            return 200, _completion("Yes", {word: -1.0 - i / 3 for i, word in enumerate(words)})
        return 200, _completion(json.dumps(_by_schema(body)))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                time.sleep(endpoint.delay)
                status, answer = endpoint._answer(body) if self.path.endswith("completions") else (404, {})
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                """Silent."""

        return Handler


def _completion(text: str, top: dict[str, float] | None = None) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    if top is not None:
        listed = [{"token": token, "logprob": value, "bytes": None} for token, value in top.items()]
        choice["logprobs"] = {"content": [{**listed[0], "top_logprobs": listed}]}
    usage = {"prompt_tokens": 20, "completion_tokens": 1, "total_tokens": 21}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def _by_schema(body: dict[str, Any]) -> dict[str, Any]:
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {})
    if "sub_queries" in schema.get("properties", {}):
        parts = [{"text": "what is the first?", "depends_on": []}, {"text": "what is the second?", "depends_on": []}]
        return {"sub_queries": parts, "entities": [], "relationships_needed": []}
    return {"referenced_entities": [], "standalone_query": "What did Priya say about sleep?"}


@pytest.fixture
def endpoint() -> Iterator[FakeEndpoint]:
    """A fresh fake endpoint."""
    served = FakeEndpoint()
    yield served
    served.close()
