"""Comparing: what is found, what is not cried, and what is refused."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from queryplan.data.rows import LabelledRow
from queryplan.errors import UserError
from queryplan.eval.compare import compare, compare_pair, compared_rows, side_by_side
from queryplan.eval.compare_render import to_rich
from queryplan.eval.evaluation import Evaluation, evaluate, learned_from
from queryplan.eval.false_alarms import false_alarms, sides_changed
from queryplan.eval.measured import Measured
from queryplan.eval.page.html_report import html_page
from queryplan.eval.report import build_report
from queryplan.eval.significance import SAME
from rich.console import Console

from .conftest import ERRORS, TablePlanner, make_many, make_wrong


@pytest.fixture(scope="module")
def many() -> list[LabelledRow]:
    """240 rows in 60 conversations."""
    return make_many(60)


@pytest.fixture(scope="module")
def pair(many: list[LabelledRow]) -> tuple[Evaluation, Evaluation]:
    """Two planners that are wrong about as often, on other rows."""
    return _of(many, make_wrong(many, 0.3, 1), "a"), _of(many, make_wrong(many, 0.3, 2), "b")


def _of(rows: list[LabelledRow], wrong: dict, name: str) -> Evaluation:
    planner = TablePlanner(rows, wrong)
    return evaluate(planner, rows, name=name, domain="podcast")


def test_under_no_difference_one_is_cried_in_one_case_of_twenty_at_most(pair: tuple[Evaluation, Evaluation]) -> None:
    found = false_alarms(*pair, times=60, seed=5)
    # 3 of 60 at 5 %; 8 or more would happen once in a hundred times.
    assert found.cried <= 7
    assert sum(found.by_question.values()) >= found.cried


def test_changing_sides_exchanges_whole_conversations_and_loses_nothing(pair: tuple[Evaluation, Evaluation]) -> None:
    a, b = pair
    left, right = sides_changed(a, b, np.random.default_rng(3))
    for x, y, one, other in zip(a.cases, b.cases, left.cases, right.cases, strict=True):
        assert (one, other) in ((x, y), (y, x))
    turned = {x.conversation for x, one in zip(a.cases, left.cases, strict=True) if one != x}
    kept = {x.conversation for x, y, one in zip(a.cases, b.cases, left.cases, strict=True) if one == x and x != y}
    assert turned
    assert turned.isdisjoint(kept)


def test_a_loss_of_five_points_on_a_slice_of_400_rows_is_found() -> None:
    rows = make_many(440)
    wrong = make_wrong(rows, 0.2, 1)
    right = [row.id for row in rows if row.id.endswith("-2") and row.id not in wrong]
    lost = dict.fromkeys(right[:22], ERRORS[1])
    earlier, later = _of(rows, wrong, "before"), _of(rows, wrong | lost, "after")
    found = compare_pair(earlier, later)
    planted = found.difference("plan_right", "follow-up")
    assert planted is not None
    assert planted.paired.difference.n == 440
    assert planted.paired.difference.value == pytest.approx(-0.05)
    assert planted.verdict == "worse"
    assert (found.worse, found.better) == (22, 0)
    assert {change.row_id for change in found.regressions} <= lost.keys()
    assert "plan_right of 'follow-up'" in found.sentences[1]


def test_the_same_plans_show_no_difference_and_how_much_could_have_been_shown(
    pair: tuple[Evaluation, Evaluation],
) -> None:
    a, _ = pair
    found = compare_pair(a, a.model_copy(update={"name": "again"}))
    assert found.shown == ()
    assert found.regressions == ()
    assert "no difference shown" in found.sentences[0]
    assert "would show" in found.sentences[0]
    whole = found.difference("plan_right")
    assert whole is not None
    assert whole.detectable == pytest.approx(6 / 240)


def test_turning_the_pair_round_turns_every_sign(pair: tuple[Evaluation, Evaluation]) -> None:
    there, back = compared_rows(*pair), compared_rows(*pair[::-1])
    opposite = {"better": "worse", "worse": "better", SAME: SAME}
    for one, other in zip(there, back, strict=True):
        assert (one.measure, one.slice) == (other.measure, other.slice)
        assert one.paired.difference.value == pytest.approx(-other.paired.difference.value)
        assert one.paired.p == pytest.approx(other.paired.p, abs=0.02)
        if one.unit == "share":
            assert other.verdict == opposite[one.verdict]


def test_the_worst_regressions_come_first_with_both_plans(many: list[LabelledRow]) -> None:
    slight, grave = "m3-3", "m5-1"
    later = {slight: {"sub_queries": ()}, grave: {"is_follow_up": True, "complexity": "complex", "intent": "causal"}}
    found = compare_pair(_of(many, {}, "a"), _of(many, later, "b"))
    assert [change.row_id for change in found.regressions] == [grave, slight]
    assert found.regressions[0].lost == ("follow_up", "complexity", "intent")
    line = next(line for line in found.regressions[0].lines if line.field == "intent")
    assert (line.gold, line.cells, line.right) == ("definition", ("definition", "causal"), (True, False))
    assert compare_pair(_of(many, later, "b"), _of(many, {}, "a")).regressions == ()


def test_a_row_that_gains_here_and_loses_there_shows_both(many: list[LabelledRow]) -> None:
    before = {"m1-1": {"intent": "causal"}}
    after = {"m1-1": {"is_follow_up": True, "complexity": "complex"}}
    change = compare_pair(_of(many, before, "a"), _of(many, after, "b")).regressions[0]
    assert (change.lost, change.gained) == (("follow_up", "complexity"), ("intent",))


def test_times_of_a_journal_are_not_compared(pair: tuple[Evaluation, Evaluation]) -> None:
    a, b = pair
    measures = {d.measure for d in compared_rows(a, b.model_copy(update={"replayed": True}))}
    assert "milliseconds a query" not in measures
    assert "milliseconds a query" in {d.measure for d in compared_rows(a, b)}


def test_other_rows_other_domains_and_one_evaluation_are_refused(
    pair: tuple[Evaluation, Evaluation], many: list[LabelledRow]
) -> None:
    a, b = pair
    with pytest.raises(UserError, match="two evaluations or more"):
        compare([a])
    with pytest.raises(UserError, match="different rows"):
        compare([a, _of(many[:40], {}, "b")])
    with pytest.raises(UserError, match=r"different domains \(biomedical, podcast\)"):
        compare([a, b.model_copy(update={"domain": "biomedical"})])
    with pytest.raises(UserError, match="same name"):
        compare([a, a])
    assert side_by_side([a]).comparisons == ()


def test_several_are_each_compared_with_the_first(pair: tuple[Evaluation, Evaluation]) -> None:
    a, b = pair
    report = compare([a, b, b.model_copy(update={"name": "c"})])
    assert [(one.earlier, one.later) for one in report.comparisons] == [("a", "b"), ("a", "c")]
    assert report.comparisons[0].differences[7].paired == report.comparisons[1].differences[7].paired
    assert report.columns == ("a", "b", "c")
    assert type(report).model_validate_json(report.model_dump_json()) == report


def test_a_degraded_plan_counts_and_stays(many: list[LabelledRow]) -> None:
    lame = {row.id: {"degraded": [{"what": "lm", "why": "down", "instead": "heads"}]} for row in many[:40]}
    found = compare_pair(_of(many, {}, "a"), _of(many, lame, "b"))
    degraded = found.difference("degraded plans")
    assert degraded is not None
    assert (degraded.paired.difference.n, degraded.verdict) == (240, "worse")
    assert found.worse == 0


def test_a_terminal_shows_measures_differences_and_plans(pair: tuple[Evaluation, Evaluation]) -> None:
    from io import StringIO

    from rich.console import Console

    report, text = compare(list(pair)), StringIO()
    Console(file=text, width=160).print(to_rich(report, 2))
    shown = text.getvalue()
    assert "b minus a" in shown
    assert "could show" in shown
    assert shown.count("lost ") == 2
    assert all(sentence[:40] in shown for sentence in report.comparisons[0].sentences)


def test_rows_that_a_program_learned_from_are_told_in_report_comparison_and_page(
    pair: tuple[Evaluation, Evaluation],
) -> None:
    new, seen = pair[0], pair[1].model_copy(update={"seen": 30})
    told = f"b: {learned_from(30, len(seen.cases))}."
    report = compare([new, seen])
    assert report.notes == (told,)
    shown = StringIO()
    Console(width=300, file=shown).print(to_rich(report))
    assert told in shown.getvalue()
    assert told in build_report([new, seen]).sentences
    assert told in html_page([Measured(new), Measured(seen)])
    assert compare(pair).notes == ()
    assert "learned from" not in html_page([Measured(one) for one in pair])
