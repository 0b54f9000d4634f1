"""A pass over rows: what is asked, what is kept, and how a stopped one goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.domain import rows_hash
from queryplan.data.rows import LabelledRow
from queryplan.errors import DataError, UserError
from queryplan.eval.evaluation import Evaluation, evaluate

Make = Callable[..., Any]


class Stopped(KeyboardInterrupt):
    """Somebody pressed Ctrl-C."""


def stop_after(count: int) -> Callable[[int, int], None]:
    """Progress that stops the pass after so many rows."""

    def progress(done: int, total: int) -> None:
        if done == count:
            raise Stopped

    return progress


def test_every_row_is_planned_once_in_order_with_its_history_and_session(
    rows: list[LabelledRow], table_planner: Make
) -> None:
    planner = table_planner(rows)
    seen: list[tuple[int, int]] = []
    evaluation = evaluate(planner, rows, name="table", progress=lambda done, total: seen.append((done, total)))
    assert planner.asked == [row.id for row in rows]
    assert planner.seen[1] == ([{"role": "user", "content": "Tell me about Rick Rubin."}], {})
    assert seen == [(i, 24) for i in range(25)]
    assert [case.row_id for case in evaluation.cases] == planner.asked
    assert evaluation.data_fingerprint == rows_hash(rows)
    assert len(evaluation.load_average) in (0, 2)


def test_the_summary_has_every_stage_the_whole_plan_and_the_costs(rows: list[LabelledRow], table_planner: Make) -> None:
    wrong = {"r0-1": {"intent": "factual"}, "r1-2": {"standalone_query": "And he?"}, "r2-3": {"rejection_kind": "news"}}
    summary = evaluate(table_planner(rows, wrong), rows, name="table").summary()
    assert [(row.stage, row.n) for row in summary.stages] == [
        ("follow_up", 24),
        ("relevance", 24),
        ("complexity", 16),
        ("intent", 16),
        ("needs_decomposition", 16),
        ("rejection_kind", 8),
    ]
    intent, kind = summary.stage("intent"), summary.stage("rejection_kind")
    assert intent is not None
    assert kind is not None
    assert intent.accuracy.value == pytest.approx(15 / 16)
    assert kind.accuracy.value == pytest.approx(7 / 8)
    assert summary.labels_right.value == pytest.approx(23 / 24)
    assert summary.plan_right.value == pytest.approx(22 / 24)
    assert summary.plan_right.clusters == 8
    assert summary.rewrite_kept is not None
    assert summary.rewrite_kept.n == 8
    assert summary.sub_queries_right is None
    assert summary.latency.p50.value <= summary.latency.p99.value


def test_a_degraded_plan_is_counted_and_kept(rows: list[LabelledRow], table_planner: Make) -> None:
    lame = {"r0-1": {"degraded": [{"what": "lm", "why": "down", "instead": "heads"}]}}
    summary = evaluate(table_planner(rows, lame), rows, name="table").summary()
    assert summary.n == 24
    assert summary.degraded.value == pytest.approx(1 / 24)


def test_a_stopped_evaluation_goes_on_and_plans_no_row_twice(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path
) -> None:
    journal = tmp_path / "deep" / "journal.jsonl"
    first, second = table_planner(rows), table_planner(rows)
    with pytest.raises(Stopped):
        evaluate(first, rows, name="table", resume=journal, progress=stop_after(10))
    evaluation = evaluate(second, rows, name="table", resume=journal)
    assert first.asked + second.asked == [row.id for row in rows]
    assert evaluation.summary().plan_right.value == 1.0
    third = table_planner(rows)
    assert evaluate(third, rows, name="table", resume=journal).cases == evaluation.cases
    assert third.asked == []


def test_a_line_that_was_cut_off_in_writing_is_planned_again(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path
) -> None:
    journal = tmp_path / "journal.jsonl"
    evaluate(table_planner(rows), rows, name="table", resume=journal)
    journal.write_text(journal.read_text()[:-30])
    planner = table_planner(rows)
    assert len(evaluate(planner, rows, name="table", resume=journal).cases) == 24
    assert planner.asked == [rows[-1].id]
    assert all(json.loads(line) for line in journal.read_text().splitlines())


@pytest.mark.parametrize("change", ["rows", "version", "name"])
def test_a_journal_of_something_else_is_refused(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path, change: str
) -> None:
    journal = tmp_path / "journal.jsonl"
    evaluate(table_planner(rows), rows, name="table", resume=journal)
    planner = table_planner(rows)
    planner.program_version = "other" if change == "version" else "table"
    with pytest.raises(UserError, match="use another file or delete it"):
        evaluate(
            planner, rows[:-1] if change == "rows" else rows, name="b" if change == "name" else "table", resume=journal
        )
    assert planner.asked == []


def test_a_file_that_is_no_journal_is_refused_and_left_alone(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path
) -> None:
    journal = tmp_path / "precious.jsonl"
    for text in ('{"id": "r1"}\n', "not json\n", "[1]\n"):
        journal.write_text(text)
        with pytest.raises(UserError, match="not the journal"):
            evaluate(table_planner(rows), rows, name="table", resume=journal)
        assert journal.read_text() == text
    with pytest.raises(UserError, match="use another file"):
        evaluate(table_planner(rows), rows, name="table", resume=tmp_path)


def test_no_rows_are_refused(table_planner: Make) -> None:
    with pytest.raises(DataError, match="no rows"):
        evaluate(table_planner([]), [], name="table")


def test_the_fingerprint_follows_the_content_and_not_the_order(rows: list[LabelledRow]) -> None:
    assert rows_hash(rows) == rows_hash(rows[::-1])
    assert rows_hash(rows) != rows_hash(rows[1:])


def test_an_evaluation_comes_back_from_its_file(rows: list[LabelledRow], table_planner: Make, tmp_path: Path) -> None:
    evaluation = evaluate(table_planner(rows), rows, name="table", sample="24 of 100 rows", version="v1 with local")
    evaluation.save(tmp_path / "new" / "evaluation.json")
    loaded = Evaluation.load(tmp_path / "new" / "evaluation.json")
    assert loaded == evaluation
    assert loaded.summary() == evaluation.summary()
    assert (loaded.sample, loaded.program_version) == ("24 of 100 rows", "v1 with local")


def test_a_missing_or_foreign_evaluation_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no evaluation"):
        Evaluation.load(tmp_path / "none.json")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(DataError, match=r"other\.json is not an evaluation"):
        Evaluation.load(tmp_path / "other.json")


@pytest.mark.parametrize("text", ["[1, 2]", '"x"', "{", "[" * 100_000, "\x00"])
def test_what_is_no_evaluation_is_told_in_one_line_of_our_own(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(DataError) as caught:
        Evaluation.load(tmp_path / "other.json")
    assert "\n" not in str(caught.value)
    assert "http" not in str(caught.value)
