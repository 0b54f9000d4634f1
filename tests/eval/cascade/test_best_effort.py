"""What heads promise, read off evaluations of planners that answer from a table."""

from __future__ import annotations

from typing import Any

import pytest
from queryplan.errors import DataError
from queryplan.eval.cascade.best_effort import best_effort, cascade_notes, trap_words
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.program.plan import Decision, PlanTrace


def trace(by: str, requests: int = 0, relevant: bool = True) -> PlanTrace:
    made = {"stage": "relevance", "value": relevant, "confidence": 0.9, "decided_by": by}
    return PlanTrace(decisions=(Decision.model_validate(made),), requests=requests)


def trapped(rows: Any) -> list[Any]:
    return [row.model_copy(update={"tags": ("trap_word",)}) for row in rows]


def run(table_planner: Any, rows: Any, changes: dict[str, Any], name: str = "one") -> Evaluation:
    return evaluate(table_planner(rows, changes), rows, name=name)


@pytest.mark.parametrize("by", ["rule", "head", "lm"])
def test_a_rejected_trap_word_is_charged_to_who_decided(rows: Any, table_planner: Any, by: str) -> None:
    marked = trapped(rows)
    one = next(row for row in marked if row.labels.is_relevant)
    rejection = {"is_relevant": False, "rejection_kind": "weather", "trace": trace(by, relevant=False)}
    found = trap_words(run(table_planner, marked, {one.id: rejection}))
    assert found is not None
    assert found.rows == sum(row.labels.is_relevant for row in marked)
    assert {"rule": found.by_rule, "head": found.by_head, "lm": found.by_model}[by] == 1
    assert found.by_rule + found.by_head + found.by_model == 1
    assert found.holds == (by == "lm")
    assert "trap word" in found.sentence
    assert found.rejected.value == pytest.approx(1 / found.rows)
    strangers = [row for row in marked if not row.labels.is_relevant]
    assert found.strangers is not None
    assert (found.strangers.value, found.strangers.n) == (1.0, len(strangers))


def test_without_trap_words_there_is_nothing_to_say(rows: Any, table_planner: Any) -> None:
    assert trap_words(run(table_planner, rows, {})) is None


def test_the_difference_is_paired_and_the_share_without_a_request_is_of_what_needs_no_text(
    rows: Any, table_planner: Any
) -> None:
    asked = {row.id: {"trace": trace("lm", requests=2)} for row in rows}
    effort = run(table_planner, rows, {}, "best effort")
    found = best_effort(effort, run(table_planner, rows, asked, "model decides"))
    unwritten = [r for r in rows if not (r.labels.is_follow_up or r.labels.needs_decomposition)]
    assert (found.unasked.value, found.unasked.n) == (1.0, len(unwritten))
    assert found.difference.value == found.difference.low == 0.0
    assert found.labels_right.value == found.beside.value
    assert found.holds
    worse = best_effort(run(table_planner, rows, {r.id: {"intent": "causal"} for r in rows}), effort)
    assert worse.difference.value < -0.3
    assert not worse.holds
    assert "points" in worse.sentence


def test_other_rows_are_refused(rows: Any, table_planner: Any) -> None:
    with pytest.raises(DataError, match="different rows"):
        best_effort(run(table_planner, rows, {}), run(table_planner, rows[:4], {}))


def test_rows_that_all_need_text_are_refused(rows: Any, table_planner: Any) -> None:
    written = [r for r in rows if r.labels.is_follow_up or r.labels.needs_decomposition]
    assert written
    with pytest.raises(DataError, match="written text"):
        best_effort(run(table_planner, written, {}), run(table_planner, written, {}))


def test_a_report_gets_a_sentence_of_what_was_evaluated_and_no_other(rows: Any, table_planner: Any) -> None:
    marked = trapped(rows)
    one, other = run(table_planner, marked, {}, "best effort"), run(table_planner, marked, {}, "model decides")
    notes = cascade_notes({"best effort": one, "model decides": other})
    starts = [note.split(":")[0] for note in notes]
    assert starts == ["best effort", "joint coverage of best effort", "best effort"]
    assert cascade_notes({"constant": one}) == ()


def test_a_report_on_rows_that_all_need_text_says_nothing_of_those_that_do_not(rows: Any, table_planner: Any) -> None:
    written = [row for row in rows if row.labels.is_follow_up or row.labels.needs_decomposition]
    asked = {name: run(table_planner, written, {}, name) for name in ("model decides", "best effort", "compiled")}
    notes = cascade_notes(asked)
    assert not [note for note in notes if note.startswith("best effort:")]
    assert all(f" of {len(written)} queries" in note for note in notes if note.startswith("joint coverage"))
