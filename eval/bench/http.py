"""The time that HTTP adds to a plan: one caller on loopback, beside the planner alone, in the same run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx

from ...data.domain import load_domain
from ...errors import QueryPlanError
from ...program.planner import QueryPlanner
from ...program.uncompiled import KEPT, uncompiled_planner
from .plans import ROUNDS, Timing, compare, timed

_START_S = 30.0


def missing() -> str:
    """Why HTTP cannot be measured here; empty if it can."""
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        return "the extra is not installed: pip install 'queryplan[serve]'"
    return ""


def bench_http(domain: str = "podcast", rounds: int = ROUNDS, kept: Path = KEPT) -> list[Timing]:
    """Time plans of ``dev`` by rules and heads: by the planner, by the same planner over HTTP, and ``/v1/health``."""
    rows = load_domain(domain, splits=("dev",)).rows("dev")
    planner = uncompiled_planner(domain, kept)
    asked = [
        {"query": row.query, "history": [turn.model_dump() for turn in row.history], "session": row.session}
        for row in rows
    ]
    with served(planner) as address, httpx.Client(base_url=address, trust_env=False) as client:
        measured = {
            "the planner alone": lambda: [timed(lambda one=one: planner.plan(**one)) for one in asked],
            "over HTTP": lambda: [timed(lambda one=one: client.post("/v1/plan", json=one)) for one in asked],
            "HTTP without a plan": lambda: [timed(lambda: client.get("/v1/health")) for _ in asked],
        }
        return compare(measured, rounds)


@contextmanager
def served(planner: QueryPlanner) -> Iterator[str]:
    """The address of a server of this planner, in a thread.

    Raises:
        QueryPlanError: the server does not start.
    """
    from ...program.integrations.http import create_app
    from ...program.integrations.http_server import PlanServer, address_of, bound_socket

    listening = threading.Event()
    bound = bound_socket("127.0.0.1", 0)
    server = PlanServer(create_app(planner), 5, listening.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, name="queryplan-http", daemon=True)
    thread.start()
    try:
        if not listening.wait(_START_S):
            raise QueryPlanError("the server did not start; is the machine very busy? try again")
        address = address_of(bound)
        _until_ready(address)
        yield address
    finally:
        server.should_exit = True
        thread.join(_START_S)
        bound.close()


def _until_ready(address: str) -> None:
    end = time.monotonic() + _START_S
    while httpx.get(f"{address}/v1/ready", trust_env=False).status_code != 200 and time.monotonic() < end:
        time.sleep(0.01)
