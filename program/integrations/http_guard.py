"""ASGI middleware in front of the endpoints: the token, the size of a request, and the access log.

The log has the endpoint, the status and the time: no body, no query string, no unknown path, no header.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from pydantic import SecretStr

from .http_types import Limits

logger = logging.getLogger("queryplan.http")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Count = Callable[[str, int, float], None]
Headers = tuple[tuple[bytes, bytes], ...]

METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
OTHER = "(no endpoint)"
CLOSE: Headers = ((b"connection", b"close"),)
RETRY: Headers = ((b"retry-after", b"1"),)


class Refused(Exception):
    """A request that the guard itself answers, with a status and a sentence."""

    def __init__(self, status: int, detail: str, headers: Headers = ()) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


class Guard:
    """ASGI middleware around the endpoints.

    Args:
        token: the token that ``Authorization: Bearer`` must carry; without one, requests need none.
        hosts: names that the ``Host`` header may have; None for any. Otherwise a web page in a browser on this machine
            could reach a server without a token, under a name of its own (DNS rebinding).
        open_paths: paths that need no token; they are logged for debugging only.
        paths: the endpoints; any other path is logged as none.
        count: called for each answer with endpoint, status and seconds.
    """

    def __init__(
        self,
        app: App,
        *,
        limits: Limits,
        token: SecretStr | None = None,
        hosts: frozenset[str] | None = None,
        open_paths: Iterable[str] = (),
        paths: Iterable[str] = (),
        count: Count | None = None,
    ) -> None:
        self.app, self.limits, self.hosts = app, limits, hosts
        self.open_paths, self.paths = frozenset(open_paths), frozenset(paths)
        self._token = token
        self._count: Count = count or (lambda path, status, seconds: None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = _Answer(send)
        began = time.perf_counter()
        try:
            await self._let_in(scope, receive, answer)
        except Refused as refused:
            await answer.say(refused.status, refused.detail, refused.headers)
        except asyncio.CancelledError:
            # The server's time to stop is over; without an answer of ours it would be a fault.
            await answer.say(503, "the server is stopping; ask again", (*RETRY, *CLOSE))
            raise
        except Exception as error:
            # Not its message, which may hold what a user typed.
            logger.error("a request failed: %s in %s", type(error).__name__, _place(error))
            await answer.say(500, "a fault of the server's, which its log names; asking again may help")
        finally:
            self._write_down(scope, answer.status, time.perf_counter() - began)

    async def _let_in(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        headers = dict(scope["headers"])
        self._check_host(headers)
        self._check_token(scope["path"], headers)
        body = await self._body(headers, receive)
        await _unless_gone(lambda replay: self.app(scope, replay, answer.send), body, receive)

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        name = headers.get(b"host", b"").decode("latin-1").lower()
        without_port = name.rpartition(":")[0] if not name.endswith("]") and ":" in name else name
        if self.hosts is not None and without_port.strip("[]") not in self.hosts:
            raise Refused(403, "this server answers only to its own address; set a token to serve under other names")

    def _check_token(self, path: str, headers: dict[bytes, bytes]) -> None:
        if self._token is None or path in self.open_paths:
            return
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        known = self._token.get_secret_value().encode()
        if not hmac.compare_digest(given.strip(), known) or scheme.lower() != b"bearer":
            detail = "send the header Authorization: Bearer TOKEN with the token that this server was started with"
            raise Refused(401, detail, ((b"www-authenticate", b"Bearer"), *CLOSE))

    async def _body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        """The whole body."""
        limit = self.limits.body_bytes
        told = headers.get(b"content-length", b"0")
        if told.isdigit() and int(told) > limit:
            raise _too_large(limit)
        try:
            return await asyncio.wait_for(_read(receive, limit), self.limits.read_s)
        except TimeoutError:
            raise Refused(
                408, f"the request did not arrive within {self.limits.read_s:g} s; send it again", CLOSE
            ) from None

    def _write_down(self, scope: Scope, status: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in self.paths else OTHER
        method = scope["method"] if scope["method"] in METHODS else "?"
        self._count(path, status, seconds)
        # Whoever asks how the server is asks every few seconds.
        level = logging.DEBUG if path in self.open_paths else logging.INFO
        logger.log(level, "%s %s %d %.1f ms", method, path, status, seconds * 1000)


class _Answer:
    """The answer that is sent; ``status`` is 499 until something was, as when the caller has gone away."""

    def __init__(self, send: Send) -> None:
        self._send, self.status = send, 499

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)

    async def say(self, status: int, detail: str, headers: Headers = ()) -> None:
        """Send an answer of the guard, unless one was begun already."""
        if self.status != 499:
            return
        body = json.dumps({"detail": detail}).encode()
        told = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
        await self.send({"type": "http.response.start", "status": status, "headers": told})
        await self.send({"type": "http.response.body", "body": body})


async def _read(receive: Receive, limit: int) -> bytes:
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(499, "the caller went away")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        more = message.get("more_body", False)
        if size > limit:
            raise _too_large(limit)
    return b"".join(parts)


def _too_large(limit: int) -> Refused:
    return Refused(413, f"a request may have {limit} bytes; send less of the history, or fewer queries", CLOSE)


async def _unless_gone(answer: Callable[[Receive], Awaitable[None]], body: bytes, receive: Receive) -> None:
    """Answer, or stop if the caller goes away first, as nobody would read the plan."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    gone = asyncio.ensure_future(receive())

    async def replay() -> Message:
        return waiting.pop() if waiting else await asyncio.shield(gone)

    answering = asyncio.ensure_future(answer(replay))
    try:
        await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            answering.result()
    finally:
        for task in (answering, gone):
            task.cancel()
        await asyncio.gather(answering, gone, return_exceptions=True)


def _place(error: Exception) -> str:
    """File and line where an error was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "?"
    return f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
