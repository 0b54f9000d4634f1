"""Measuring what planned candidates and a whole run find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import SHIPPED
from queryplan.data.rows import LabelledRow
from queryplan.errors import DataError
from queryplan.eval.retrieval.answering import measure_answering
from queryplan.eval.retrieval.recall import (
    FIXED,
    PLAIN,
    PLANNED,
    RUN,
    TYPED,
    Question,
    _against,
    _arm,
    _Found,
    evidence_questions,
    measure_recall,
    plan_from_labels,
)
from queryplan.program.plan import QueryPlan, RetrievalStrategy
from queryplan.program.retrieval.stores import Stores, open_stores

ROWS = 12


@pytest.fixture(scope="module")
def stores() -> Stores:
    return open_stores("podcast")


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return evidence_questions("podcast", ("train",))[:ROWS]


def rejecting(row: LabelledRow) -> QueryPlan:
    return QueryPlan(
        query=row.query,
        standalone_query=row.query,
        is_follow_up=False,
        is_relevant=False,
        rejection_kind="math",
        complexity="simple",
        intent="out_of_scope",
        needs_decomposition=False,
        retrieval_strategy=RetrievalStrategy(use_rag=False, use_kg=False),
    )


def test_gold_evidence_beside_the_rows_is_read_for_the_splits_that_are_asked() -> None:
    train, dev = (evidence_questions("podcast", (split,)) for split in ("train", "dev"))
    assert (len(train), len(dev)) == (77, 23)
    assert not {q.row.id for q in train} & {q.row.id for q in dev}


def test_a_split_without_evidence_is_named() -> None:
    with pytest.raises(DataError, match="no row of calibrate of podcast has evidence"):
        evidence_questions("podcast", ("calibrate",))


def test_evidence_in_a_row_comes_before_that_beside_it(tmp_path: Path) -> None:
    (tmp_path / "domain.toml").write_text((SHIPPED / "podcast" / "domain.toml").read_text(encoding="utf-8"))
    lines = (SHIPPED / "podcast" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    row = next(read for read in map(json.loads, lines) if read["labels"]["is_relevant"])
    (tmp_path / "train.jsonl").write_text(json.dumps({**row, "gold": {"evidence": ["1[1]"]}}) + "\n")
    (tmp_path / "evidence.jsonl").write_text(json.dumps({"id": row["id"], "evidence": ["2[2]"]}) + "\n")
    (question,) = evidence_questions(tmp_path, ("train",))
    assert question.gold == {"1[1]"}


def test_a_plan_from_labels_is_the_labels_with_candidates(stores: Stores, questions: list[Question]) -> None:
    for question in questions:
        plan = plan_from_labels(question.row, stores)
        assert plan.sub_queries == question.row.labels.sub_queries
        assert plan.candidates
        assert plan.standalone_query == question.row.labels.standalone_query


def test_every_arm_is_measured_on_the_same_questions(stores: Stores, questions: list[Question]) -> None:
    report = measure_recall(questions, stores, lambda row: plan_from_labels(row, stores))
    assert [arm.name for arm in report.arms] == [TYPED, PLAIN, FIXED, PLANNED, RUN]
    assert all(arm.recall.n == ROWS for arm in report.arms)
    assert report.arm(PLAIN).queries.value == 1.0
    assert 1.0 < report.arm(FIXED).queries.value <= 4.0
    assert all(0 <= arm.complete.value <= arm.recall.value <= 1 for arm in report.arms)
    against = {(a.arm, a.baseline): a for a in report.against}
    gap = report.arm(RUN).recall.value - report.arm(PLAIN).recall.value
    assert against[RUN, PLAIN].recall.difference.value == pytest.approx(gap)
    assert all(a.recall.adjusted_p is not None for a in report.against)


def test_a_report_reads_as_tables(stores: Stores, questions: list[Question]) -> None:
    lines = measure_recall(questions[:4], stores, lambda row: plan_from_labels(row, stores)).lines()
    assert lines[0].startswith("4 questions of")
    assert any(line.startswith("| planned candidates – plain query |") for line in lines)


def test_more_passages_never_find_less(stores: Stores, questions: list[Question]) -> None:
    few, many = (measure_recall(questions[:5], stores, lambda row: plan_from_labels(row, stores), k=k) for k in (3, 30))
    for arm in (TYPED, PLAIN, FIXED, PLANNED):
        assert many.arm(arm).recall.value >= few.arm(arm).recall.value


def test_answering_compares_complex_questions_only(stores: Stores) -> None:
    questions = evidence_questions("podcast", ("dev",))
    report = measure_answering(questions, stores, lambda row: plan_from_labels(row, stores))
    assert report.off.n == sum(q.row.labels.complexity == "complex" for q in questions)
    assert report.gain.difference.value == pytest.approx(report.on.value - report.off.value)
    assert report.rejected == ()
    assert report.milliseconds[0].value > 0
    assert any(line.startswith("on – off: ") for line in report.lines())


def test_a_question_that_the_planner_rejects_is_not_answered_and_named(stores: Stores) -> None:
    questions = [q for q in evidence_questions("podcast", ("dev",)) if q.row.labels.complexity == "complex"][:2]
    report = measure_answering(questions, stores, rejecting)
    assert report.on.value == 0.0
    assert report.rejected == tuple(q.row.id for q in questions)


def test_without_complex_questions_there_is_nothing_to_compare(stores: Stores, questions: list[Question]) -> None:
    simple: list[Any] = [q for q in questions if q.row.labels.complexity != "complex"]
    with pytest.raises(ValueError, match="no complex question"):
        measure_answering(simple, stores, lambda row: plan_from_labels(row, stores))


def test_recall_that_is_perfect_for_every_question_is_not_certain() -> None:
    found = [_Found(1.0, True, 1)] * 20
    arm = _arm("all", found, [str(i) for i in range(20)])
    assert arm.recall.high == 1.0
    assert 0.8 < arm.recall.low < 0.9
    against = _against("all", "same", found, found, [str(i) for i in range(20)])
    assert (against.recall.difference.low, against.recall.difference.high) == (
        pytest.approx(arm.recall.low - 1),
        pytest.approx(1 - arm.recall.low),
    )
    assert against.recall.verdict() == "no difference shown"
