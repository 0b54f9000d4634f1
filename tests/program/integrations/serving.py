"""What tests of plans over HTTP share: what is asked, and what of an answer is compared."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from pydantic import SecretStr
from queryplan.program.plan import QueryPlan

TURNS = [
    {"role": "user", "content": "What is sleep debt?"},
    {"role": "assistant", "content": "Lost sleep that adds up. Priya explained it, and Rosalind took it further."},
]
FACT = {"is_relevant": 0.9, "complexity": "simple", "intent": "factual", "needs_decomposition": 0.1}
HEADS = {"is_relevant": {"true": 0.9, "false": 0.1}}
SECRET = "zanzibarsecret"
TOKEN = SecretStr("0123456789abcdef0123")
Serve = Callable[..., Any]
"""Makes a client of a planner."""


def until(so: Callable[[], Any], seconds: float = 5.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < end, "it never was so"
        time.sleep(0.01)


def plan_of(answer: Any) -> QueryPlan:
    assert answer.status_code == 200, answer.text
    return QueryPlan.model_validate_json(answer.text)


def untimed(plan: QueryPlan) -> dict[str, Any]:
    return plan.model_dump(exclude={"trace": {"milliseconds": True, "decisions": {"__all__": {"milliseconds"}}}})


def problem(answer: Any, status: int) -> str:
    """The one sentence that a refusal says."""
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["detail"]
    assert "\n" not in answer.json()["detail"]
    return answer.json()["detail"]


def asked_raw(
    app: Any, messages: list[Any], headers: list[tuple[bytes, bytes]] | None = None, ends_after: float = 10
) -> tuple[int | None, str]:
    """Status and body of a request whose parts come one by one; after the last nothing comes for ever.

    Args:
        ends_after: seconds after which the server has no more time for it.
    """
    sent: list[Any] = []
    coming = list(messages)

    async def receive() -> Any:
        while not coming:
            await asyncio.sleep(3600)
        one = coming.pop(0)
        if isinstance(one, float):
            await asyncio.sleep(one)
            return await receive()
        return one

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask() -> None:
        async with app.router.lifespan_context(app):
            await asyncio.sleep(0.05)
            brought = [(b"host", b"localhost"), (b"content-type", b"application/json")] if headers is None else headers
            scope = {"type": "http", "method": "POST", "path": "/v1/plan", "headers": brought, "query_string": b"",
                     "http_version": "1.1", "scheme": "http", "root_path": "", "raw_path": b"/v1/plan"}  # fmt: skip
            asking = asyncio.ensure_future(app(scope, receive, send))
            await asyncio.wait({asking}, timeout=ends_after)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=ends_after < 10)

    asyncio.run(ask())
    return (sent[0]["status"], sent[1]["body"].decode()) if sent else (None, "")
