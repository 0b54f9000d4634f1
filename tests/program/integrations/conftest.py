"""Clients of planners over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from queryplan.program.planner import QueryPlanner

from .serving import HEADS, Serve, until

if TYPE_CHECKING:
    from fastapi.testclient import TestClient


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Clients of planners; each is ready unless ``wait`` is false."""
    from fastapi.testclient import TestClient
    from queryplan.program.integrations.http import create_app

    with ExitStack() as stack:

        def start(planner: QueryPlanner, wait: bool = True, **options: Any) -> TestClient:
            app = create_app(planner, **options)
            client = stack.enter_context(TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False))
            if wait:
                until(lambda: client.get("/v1/health").json()["ready"])
            return client

        yield start


@pytest.fixture
def planned_by_rules(bench: Any, serve: Serve) -> TestClient:
    return serve(bench.planner(heads=HEADS))
