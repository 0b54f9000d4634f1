"""Tables of a cascade from answers written by hand and from planners that answer from a table."""

from __future__ import annotations

from typing import Any

import pytest
from queryplan.eval.cascade.head_answers import Answer, RowAnswers
from queryplan.eval.cascade.tables import CascadeTables, cascade_tables, joint_coverage, reliability, risk_curve
from queryplan.eval.evaluation import evaluate
from queryplan.program.plan import Decision, PlanTrace

ANSWERS = [RowAnswers(f"r{n}", f"c{n}", {"relevance": Answer(n / 20, n >= 10)}, ("relevance",)) for n in range(20)]


def test_the_surest_answers_come_first_in_risk_against_coverage() -> None:
    curve = risk_curve(ANSWERS, "relevance")
    assert curve is not None
    half = next(point for point in curve.points if point.coverage == 0.5)
    assert (half.certainty, half.risk, half.rows) == (0.5, 0.0, 10)
    assert (curve.points[-1].coverage, curve.points[-1].risk) == (1.0, 0.5)
    assert 0 < curve.area < 0.5


def test_a_stage_that_is_missing_in_some_rows_never_covers_all() -> None:
    curve = risk_curve([*ANSWERS, *(RowAnswers(f"x{n}", f"x{n}", {}, ("relevance",)) for n in range(20))], "relevance")
    assert curve is not None
    assert curve.points[-1].coverage == 0.5


def test_whole_queries_are_as_certain_as_their_heads_together() -> None:
    two = {"relevance": Answer(0.9, True), "complexity": Answer(0.6, False)}
    curve = risk_curve([RowAnswers("r", "c", two, ("relevance", "complexity"))], "joint")
    assert curve is not None
    assert [(round(p.certainty, 6), p.risk) for p in curve.points] == [(0.54, 1.0)]
    assert (
        risk_curve([RowAnswers("r", "c", {"relevance": Answer(0.9, True)}, ("relevance", "complexity"))], "joint")
        is None
    )


def test_reliability_has_bins_of_equal_size_and_their_gap() -> None:
    found = reliability(ANSWERS, "relevance")
    assert found is not None
    assert [b.right.n for b in found.bins] == [2] * 10
    assert found.bins[0].right.value == 0.0
    assert found.bins[-1].right.value == 1.0
    assert abs(found.gap - 0.25) < 0.02
    assert reliability(ANSWERS, "complexity") is None


def test_equally_certain_answers_give_the_same_tables_in_any_order() -> None:
    rights = [True] * 80 + [False] * 20
    found = []
    for order in (rights, rights[::-1], [n % 5 != 0 for n in range(100)]):
        said = [{"relevance": Answer(0.8, right)} for right in order]
        answers = [RowAnswers(str(n), str(n), one, ("relevance",)) for n, one in enumerate(said)]
        curve, calibration = risk_curve(answers, "relevance"), reliability(answers, "relevance")
        assert curve is not None
        assert calibration is not None
        assert [b.right.n for b in calibration.bins] == [100]
        assert calibration.gap == pytest.approx(0)
        assert {round(point.risk, 6) for point in curve.points} == {0.2}
        found.append(round(curve.area, 6))
    assert found == [0.2] * 3


def test_coverage_counts_plans_that_no_model_decided(rows: Any, table_planner: Any) -> None:
    made = {"stage": "relevance", "value": True, "confidence": 1.0, "decided_by": "lm", "lm_calls": 1}
    asked = PlanTrace(decisions=(Decision.model_validate(made),), requests=1)
    wrong = {row.id: {"trace": asked} for row in rows if row.id.endswith("-1")}
    evaluation = evaluate(table_planner(rows, wrong), rows, name="half")
    found = joint_coverage(evaluation)
    assert round(found.undecided_by_model.value, 3) == round(found.no_request.value, 3) == 0.667
    assert found.unwritten_no_request is not None
    assert (found.unwritten_no_request.value, found.unwritten_no_request.n) == (0.5, 16)
    assert found.undecided_by_model.clusters == 8


def test_the_tables_stand_side_by_side_and_travel_as_json(rows: Any, table_planner: Any) -> None:
    one = evaluate(table_planner(rows), rows, name="right")
    other = evaluate(table_planner(rows, {"r0-1": {"complexity": "complex"}}), rows, name="tf-idf")
    tables = cascade_tables(ANSWERS, [one, other])
    line = next(line for line in tables.accuracy if line.stage == "complexity")
    assert line.accuracy["right"].value == 1.0 > line.accuracy["tf-idf"].value
    assert [curve.stage for curve in tables.risk] == ["relevance", "joint"]
    assert CascadeTables.model_validate_json(tables.model_dump_json()) == tables


def test_a_report_gets_a_sentence_of_each_curve_and_of_each_coverage(rows: Any, table_planner: Any) -> None:
    tables = cascade_tables(ANSWERS, [evaluate(table_planner(rows), rows, name="right")])
    relevance, joint = tables.sentences
    assert relevance.startswith("heads on relevance: wrong in ")
    assert "calibration error" in relevance
    assert "calibration error" not in joint
    whole = tables.risk[1].points[-1]
    assert f"in {whole.risk:.1%} of the {whole.coverage:.0%} they answer ({whole.rows} rows)" in joint
    coverage = tables.coverage[0].sentence
    assert coverage.startswith("joint coverage of right: 100.0% [")
    assert "needed no model to decide" in coverage
