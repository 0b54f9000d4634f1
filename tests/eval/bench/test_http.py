"""Measuring what HTTP costs beyond a plan."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx
import pytest
from queryplan.cli import bench as command
from queryplan.data.card import domain_folder, load_card
from queryplan.eval.bench import http as bench_http
from queryplan.program.planner import QueryPlanner
from queryplan.signatures.types import Frozen

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")


class Row(Frozen):
    """As much of a row as is asked."""

    query: str
    history: tuple = ()
    session: dict = {}


def test_three_lines_beside_the_planner_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Domain:
        def rows(self, split: str) -> tuple[Row, ...]:
            return tuple(Row(query=f"who is Nell {split} {number}?") for number in range(4))

    def planner(domain: str, kept: Path) -> QueryPlanner:
        return QueryPlanner(load_card(domain_folder(domain)))

    monkeypatch.setattr(bench_http, "uncompiled_planner", planner)
    monkeypatch.setattr(bench_http, "load_domain", lambda domain, splits: Domain())
    found = bench_http.bench_http(rounds=1)
    assert [timing.name for timing in found] == ["the planner alone", "over HTTP", "HTTP without a plan"]
    assert found[0].ratio == 1.0
    assert all(0 < timing.p50 <= timing.p99 for timing in found)


def test_the_server_is_gone_afterwards() -> None:
    with bench_http.served(QueryPlanner(load_card(domain_folder("podcast")))) as address:
        assert httpx.get(f"{address}/v1/health").json()["ready"]
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}/v1/health")
    assert not [one for one in threading.enumerate() if one.name in ("queryplan-http", "queryplan-planning")]


def test_without_the_extra_it_is_skipped_and_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_http, "find_spec", lambda name: None)
    assert command._http("podcast") == {}
    assert "queryplan[serve]" in capsys.readouterr().err
