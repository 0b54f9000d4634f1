"""The row table: what a row knows of itself, and that it comes back from every form it is written in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.rows import LabelledRow
from queryplan.errors import DataError
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.metrics import score_case
from queryplan.eval.row_table import (
    STAGE_NAMES,
    RowResult,
    columns_of,
    read_rows_file,
    write_parquet,
    write_rows,
)
from queryplan.program.plan import Decision, PlanTrace

Make = Callable[..., Any]


def decided(stage: str, by: str, value: Any = True, **more: Any) -> Decision:
    """One decision of a trace."""
    return Decision.model_validate({"stage": stage, "value": value, "decided_by": by, "confidence": 0.8, **more})


def result(row: LabelledRow, plan: Any) -> RowResult:
    """The row as the table has it."""
    return RowResult.of(row, plan, score_case(row, plan))


@pytest.mark.parametrize(
    ("changes", "lost"),
    [
        ({}, None),
        ({"is_follow_up": False}, "follow_up"),
        ({"standalone_query": "And?"}, "rewrite"),
        ({"is_follow_up": False, "standalone_query": "And?"}, "follow_up"),
        ({"complexity": "complex", "intent": "causal"}, "complexity"),
        ({"intent": "causal"}, "intent"),
        ({"needs_decomposition": True}, "needs_decomposition"),
        ({"standalone_query": "And?", "intent": "causal"}, "rewrite"),
    ],
)
def test_a_wrong_plan_is_put_down_to_its_earliest_wrong_stage(
    row: Make, plan: Make, changes: dict[str, Any], lost: str | None
) -> None:
    gold = row("And he?", is_follow_up=True, standalone_query="What did Rick Rubin say?", entities=["Rick Rubin"])
    found = result(gold, plan(gold, **changes))
    assert found.lost_at == lost
    assert found.score.plan_right == (lost is None)


def test_a_plan_is_wrong_exactly_where_some_stage_is(rows: list[LabelledRow], table_planner: Make) -> None:
    wrong = {"r0-1": {"intent": "factual"}, "r1-2": {"standalone_query": "And he?"}, "r2-3": {"is_follow_up": True}}
    for case in evaluate(table_planner(rows, wrong), rows, name="table").cases:
        assert (case.lost_at is None) == case.score.plan_right
        assert list(case.outcomes) == list(STAGE_NAMES)


@pytest.mark.parametrize(
    ("makers", "requests", "rounds", "route"),
    [
        (["rule", "rule"], 0, 0, "rules"),
        (["rule", "head"], 0, 0, "heads"),
        (["rule", "fallback"], 0, 0, "heads"),
        (["head", "lm"], 2, 1, "1 round"),
        (["lm", "lm"], 4, 3, "3 rounds"),
        (["cache", "cache"], 0, 0, "cache"),
    ],
)
def test_the_route_says_how_a_plan_came_about(
    row: Make, plan: Make, makers: list[str], requests: int, rounds: int, route: str
) -> None:
    trace = PlanTrace(
        decisions=tuple(decided(s, by) for s, by in zip(("follow_up", "relevance"), makers, strict=True)),
        requests=requests,
        rounds=rounds,
    )
    assert result(row(), plan(row(), trace=trace)).route == route


def test_the_rejection_probability_is_that_of_not_being_ours(row: Make, plan: Make) -> None:
    outside = row("rain?", is_relevant=False)
    for gold, by, expected in ((row(), "head", 0.2), (outside, "lm", 0.8), (row(), "fallback", 0.0)):
        trace = PlanTrace(decisions=(decided("relevance", by, gold.labels.is_relevant),))
        assert result(gold, plan(gold, trace=trace)).rejection_probability == pytest.approx(expected)
    assert result(outside, plan(outside)).rejection_probability == 1.0


def test_time_is_added_up_by_stage(row: Make, plan: Make) -> None:
    decisions = (decided("relevance", "lm", milliseconds=5), decided("rewrite", "lm", milliseconds=2))
    again = (*decisions, decided("rewrite", "lm", milliseconds=3))
    found = result(row(), plan(row(), trace=PlanTrace(decisions=again)))
    assert found.stage_ms == {"relevance": 5, "rewrite": 5}
    assert found.columns()["ms_rewrite"] == 5
    assert found.columns()["ms_graph"] is None


def test_rows_come_back_from_their_file_line_by_line(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path
) -> None:
    odd = rows[0].model_copy(update={"query": "line\u2028separator and “quotes”", "session": {"a": 1}})
    cases = [*evaluate(table_planner(rows), rows, name="table").cases]
    cases[0] = cases[0].model_copy(update={"query": odd.query})
    write_rows(cases, tmp_path / "deep" / "rows.jsonl")
    assert read_rows_file(tmp_path / "deep" / "rows.jsonl") == tuple(cases)


def test_a_bad_line_is_named(rows: list[LabelledRow], table_planner: Make, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with pytest.raises(DataError, match="there is no row table"):
        read_rows_file(path)
    write_rows(evaluate(table_planner(rows), rows, name="table").cases, path)
    path.write_text(path.read_text() + '{"row_id": 1}\n')
    with pytest.raises(DataError, match=r"rows\.jsonl:25: not a row"):
        read_rows_file(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="cannot be read"):
        read_rows_file(path)


def test_columns_are_plain_cells_one_a_row(rows: list[LabelledRow], table_planner: Make) -> None:
    cases = evaluate(table_planner(rows), rows, name="table").cases
    columns = columns_of(cases)
    assert {len(values) for values in columns.values()} == {24}
    assert all(isinstance(cell, str | int | float | bool | None) for values in columns.values() for cell in values)
    assert json.loads(columns["plan"][0])["query"] == rows[0].query
    assert json.loads(columns["slices"][1]) == list(cases[1].slices)
    assert columns_of([]) == {}


def test_parquet_has_the_same_columns(rows: list[LabelledRow], table_planner: Make, tmp_path: Path) -> None:
    from pyarrow import parquet

    cases = evaluate(table_planner(rows), rows, name="table").cases
    write_parquet(cases, tmp_path / "new" / "rows.parquet")
    table = parquet.read_table(tmp_path / "new" / "rows.parquet")
    assert table.to_pydict() == columns_of(cases)


def test_parquet_has_the_same_types_whatever_the_rows_raise(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyarrow import parquet

    cases = evaluate(table_planner(rows), rows, name="table").cases
    monkeypatch.setattr("queryplan.eval.row_table.ROW_GROUP", 7)
    write_parquet(cases, tmp_path / "all.parquet")
    write_parquet([case for case in cases if not case.gold.is_follow_up], tmp_path / "some.parquet")
    some, all_ = (parquet.read_table(tmp_path / f"{name}.parquet") for name in ("some", "all"))
    assert some.schema == all_.schema
    assert (str(some.schema.field("rewrite_f1").type), some["rewrite_f1"].null_count) == ("double", len(some))
    assert str(some.schema.field("graph_right").type) == "bool"
    assert all_.to_pydict() == columns_of(cases)


def test_rows_share_the_names_of_the_fields_they_were_given(rows: list[LabelledRow], table_planner: Make) -> None:
    first, second = evaluate(table_planner(rows), rows[:2], name="table").cases
    assert first.score.model_fields_set is second.score.model_fields_set
    again = RowResult.model_validate_json(first.model_dump_json())
    assert again == first
    before = set(first.plan.model_fields_set)
    changed = first.plan.model_copy(update={"previous_topics": ("rest",)})
    assert "previous_topics" in changed.model_fields_set - before
    assert second.plan.model_fields_set == first.plan.model_fields_set == before


def test_the_folder_of_an_evaluation_comes_back_whole(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path
) -> None:
    evaluation = evaluate(table_planner(rows), rows, name="table", domain="podcast", lm="local")
    evaluation.save_folder(tmp_path / "kept")
    assert Evaluation.load(tmp_path / "kept") == evaluation
    assert sorted(p.name for p in (tmp_path / "kept").iterdir()) == ["evaluation.json", "rows.jsonl", "rows.parquet"]
    assert "cases" not in json.loads((tmp_path / "kept" / "evaluation.json").read_text())
    (tmp_path / "kept" / "rows.jsonl").unlink()
    with pytest.raises(DataError, match="evaluate again"):
        Evaluation.load(tmp_path / "kept")
