"""Time, requests and money, by stage and by route; and how many queries a second."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.rows import LabelledRow
from queryplan.errors import DataError
from queryplan.eval.costs import costs_of
from queryplan.eval.evaluation import evaluate
from queryplan.eval.measured import Measured, apart, is_evaluation
from queryplan.eval.metrics import score_case
from queryplan.eval.oracle import OracleLadder, Rung
from queryplan.eval.prices import Price
from queryplan.eval.row_table import RowResult
from queryplan.eval.statistics import Estimate
from queryplan.eval.throughput import measure_throughput
from queryplan.program.plan import Decision, PlanTrace

Make = Callable[..., Any]


def asked(row: Make, plan: Make, name: str, ms: float, calls: int = 1, tokens: int = 100, wasted: int = 0) -> RowResult:
    """A row whose relevance a model decided."""
    gold = row("q?", name, name)
    made = {"stage": "relevance", "value": True, "confidence": 1.0, "milliseconds": ms, "lm_calls": calls}
    decision = Decision.model_validate({**made, "decided_by": "lm" if calls else "head", "tokens": tokens})
    trace = PlanTrace(
        decisions=(decision,),
        rounds=min(calls, 1),
        requests=calls,
        wasted_requests=wasted,
        tokens=tokens,
        milliseconds=ms + 1,
    )
    answer = plan(gold, trace=trace)
    return RowResult.of(gold, answer, score_case(gold, answer))


def test_stages_and_routes_are_counted_where_they_were_gone(row: Make, plan: Make) -> None:
    rows = [asked(row, plan, f"a{i}", float(i)) for i in range(1, 11)]
    rows += [asked(row, plan, f"b{i}", 0.0, calls=0, tokens=0) for i in range(30)]
    costs = costs_of(rows, Price(prompt=2, completion=2))
    assert [(c.name, c.rows) for c in costs.routes] == [("1 round", 10), ("heads", 30)]
    assert [(c.name, c.rows, c.p50.value, c.p90.value) for c in costs.stages] == [("relevance", 10, 5.0, 9.0)]
    assert costs.routes[0].p50.value == 6.0
    assert costs.dollars is not None
    # 10 of 40 plans with 100 tokens: 25 tokens a plan, 25,000 a thousand, at $2 a million.
    assert costs.dollars.value == pytest.approx(0.05)


def test_waste_is_a_share_of_requests_and_nothing_without_requests(row: Make, plan: Make) -> None:
    wasteful = [asked(row, plan, "a", 1.0, calls=3, wasted=1), asked(row, plan, "b", 1.0)]
    assert costs_of(wasteful).waste == pytest.approx(1 / 4)
    costs = costs_of([asked(row, plan, "a", 1.0, calls=0)])
    assert (costs.waste, costs.dollars, costs.stages) == (None, None, ())


class Sleeper:
    """Plans after a while; remembers how many were at it together."""

    def __init__(self, make: Make) -> None:
        self.make, self.now, self.most, self.count = make, 0, 0, 0

    async def aplan(self, query: str, history: Any = None, session: Any = None) -> Any:
        """A plan after 5 ms."""
        import asyncio

        self.now, self.count = self.now + 1, self.count + 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.005)
        self.now -= 1
        return self.make


def test_as_many_queries_are_in_flight_as_asked_and_more_are_faster(row: Make, plan: Make) -> None:
    sleeper: Any = Sleeper(plan(row()))
    found = []
    for at_once in (1, 8, 64):
        sleeper.most = 0
        found += measure_throughput(sleeper, [row(), row("What else?")], (at_once,), queries=20)
        assert sleeper.most == at_once
    assert [one.queries for one in found] == [20, 20, 64]
    assert found[0].per_second < found[1].per_second
    assert found[0].p50_ms >= 5
    assert found[0].degraded == 0
    with pytest.raises(DataError, match="no rows"):
        measure_throughput(sleeper, [])


def test_what_was_measured_comes_back_from_its_folder(
    rows: list[LabelledRow], table_planner: Make, row: Make, plan: Make, tmp_path: Path
) -> None:
    sleeper: Any = Sleeper(plan(row()))
    one = Estimate(value=0.5, low=0.4, high=0.6, n=24, clusters=8)
    ladder = OracleLadder(
        name="t", program_version="v", data_fingerprint="d", rungs=(Rung(stage=None, labels_right=one, plan_right=one),)
    )
    evaluation = evaluate(table_planner(rows), rows, name="table")
    measured = Measured(evaluation, ladder, measure_throughput(sleeper, rows, (1,), 3))
    measured.save(tmp_path / "kept")
    assert is_evaluation(tmp_path / "kept")
    assert Measured.load(tmp_path / "kept") == measured
    evaluation.save(tmp_path / "alone.json")
    assert is_evaluation(tmp_path / "alone.json")
    assert Measured.load(tmp_path / "alone.json") == Measured(evaluation)
    assert not is_evaluation(tmp_path)
    (tmp_path / "kept" / "oracle.json").write_text("{}")
    with pytest.raises(DataError, match="cannot read"):
        Measured.load(tmp_path / "kept")


def test_a_ladder_has_the_heading_of_its_column_and_leaves_with_it(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path
) -> None:
    evaluation = evaluate(table_planner(rows), rows, name="program")
    ladder = OracleLadder(name="program", program_version="v", data_fingerprint="d", rungs=())
    one = Measured(evaluation, ladder)
    first, second = apart([one, one])
    assert first.ladder is not None
    assert second.ladder is not None
    assert [first.ladder.name, second.ladder.name] == [first.name, second.name]
    one.save(tmp_path / "kept")
    assert Measured.load(tmp_path / "kept").ladder == ladder
    Measured(evaluation).save(tmp_path / "kept")
    assert Measured.load(tmp_path / "kept").ladder is None


def test_columns_of_one_name_are_told_apart(rows: list[LabelledRow], table_planner: Make) -> None:
    one = Measured(evaluate(table_planner(rows), rows, name="program"))
    other = Measured(one.evaluation.model_copy(update={"program_version": "v2"}))
    assert [m.name for m in apart([one, one.named("b")])] == ["program", "b"]
    assert [m.name for m in apart([one, other])] == ["program table", "program v2"]
    assert [m.name for m in apart([one, one])] == ["program table (1)", "program table (2)"]
