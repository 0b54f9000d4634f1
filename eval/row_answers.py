"""The certainty of a plan's decisions on a row, and whether they were right; calibration is computed from these."""

from __future__ import annotations

from collections.abc import Sequence

from .cascade.head_answers import Answer, RowAnswers
from .cascade.tables import JOINT, STAGES, Reliability, RiskCurve, reliability, risk_curve
from .row_table import RowResult


def answers_of(rows: Sequence[RowResult]) -> list[RowAnswers]:
    """The decisions of each row by a head or a model; rules are certain by form, and fallbacks know nothing."""
    return [_of_row(row) for row in rows]


def reliabilities(rows: Sequence[RowResult]) -> tuple[Reliability, ...]:
    """Certainty against truth, for each stage that was decided."""
    answers = answers_of(rows)
    return tuple(found for stage in STAGES if (found := reliability(answers, stage)) is not None)


def risk_curves(rows: Sequence[RowResult]) -> tuple[RiskCurve, ...]:
    """Risk against coverage, for each stage that was decided and for whole sets of labels."""
    answers = answers_of(rows)
    return tuple(found for stage in (*STAGES, JOINT) if (found := risk_curve(answers, stage)) is not None)


def _of_row(row: RowResult) -> RowAnswers:
    score = row.score
    right = {
        "follow_up": score.follow_up_right,
        "relevance": score.relevance_right,
        "complexity": all((score.complexity_right, score.intent_right, score.decomposition_right)),
    }
    made = {d.stage: d for d in row.plan.trace.decisions if d.decided_by in ("head", "lm") and d.stage in right}
    arises = tuple(stage for stage in made if stage != "complexity" or row.gold.is_relevant)
    answers = {stage: Answer(made[stage].confidence, right[stage]) for stage in arises}
    return RowAnswers(row.row_id, row.conversation, answers, arises, not row.plan.is_relevant)
