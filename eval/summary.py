"""The metrics of a whole evaluation: each stage, the whole plan, cost and latency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..signatures.types import COMPLEXITIES, INTENTS, Frozen
from .statistics import Confusion, Estimate, clustered_interval, clustered_quantiles, confusion, macro_f1

if TYPE_CHECKING:
    from .evaluation import Case

LATENCY_QUANTILES = (0.5, 0.9, 0.95, 0.99)


class StageField(NamedTuple):
    """A decision that is scored: its name, its field in labels and plan, its score, its label order."""

    stage: str
    field: str
    score: str
    labels: tuple[str, ...]


YES_NO = ("True", "False")
STAGE_FIELDS = (
    StageField("follow_up", "is_follow_up", "follow_up_right", YES_NO),
    StageField("relevance", "is_relevant", "relevance_right", YES_NO),
    StageField("complexity", "complexity", "complexity_right", COMPLEXITIES),
    StageField("intent", "intent", "intent_right", INTENTS),
    StageField("needs_decomposition", "needs_decomposition", "decomposition_right", YES_NO),
    StageField("rejection_kind", "rejection_kind", "rejection_kind_right", ()),
)


class StageRow(Frozen):
    """How well one decision was made; ``n`` counts the rows for which it arises."""

    stage: str
    accuracy: Estimate
    macro_f1: Estimate
    n: int


class Latency(Frozen):
    """Milliseconds a plan, in a sequential pass."""

    p50: Estimate
    p90: Estimate
    p95: Estimate
    p99: Estimate


class Summary(Frozen):
    """Everything that a report prints of one evaluation.

    None where no row of the set raises the question. ``sub_queries_right``, ``rewrite_f1`` and
    ``rewrite_kept`` are over the rows whose gold labels have them, whatever was planned.
    """

    n: int
    conversations: int
    stages: tuple[StageRow, ...]
    labels_right: Estimate
    plan_right: Estimate
    rewrite_f1: Estimate | None
    rewrite_kept: Estimate | None
    sub_queries_right: Estimate | None
    degraded: Estimate
    lm_calls: Estimate
    tokens: Estimate
    rounds: Estimate
    latency: Latency

    def stage(self, name: str) -> StageRow | None:
        """The row of one decision, or None if no row of the set raises it."""
        return next((row for row in self.stages if row.stage == name), None)


def summarise(cases: Sequence[Case]) -> Summary:
    """The summary of at least one case."""
    stages = (_stage(field, cases) for field in STAGE_FIELDS)
    always = {name: _mean(cases, name) for name in ("labels_right", "plan_right", "degraded")}
    costs = {name: _mean(cases, name) for name in ("lm_calls", "tokens", "rounds")}
    written = {name: _mean(cases, name) for name in ("rewrite_f1", "rewrite_kept", "sub_queries_right")}
    return Summary.model_validate(
        {
            "n": len(cases),
            "conversations": len({case.conversation for case in cases}),
            "stages": tuple(row for row in stages if row is not None),
            "latency": _latency(cases),
            **always,
            **costs,
            **written,
        }
    )


def stage_labels(field: StageField, cases: Sequence[Case]) -> tuple[list[str], list[str], list[str]]:
    """Gold, planned and conversation of the cases for which the decision arises."""
    some = arising(cases, field.score)
    return (
        [str(getattr(case.gold, field.field)) for case in some],
        [str(getattr(case.plan, field.field)) for case in some],
        [case.conversation for case in some],
    )


def stage_confusion(field: StageField, cases: Sequence[Case]) -> Confusion | None:
    """Gold against planned of one decision; None if no case raises it. Labels nobody used are left out."""
    gold, planned, _ = stage_labels(field, cases)
    used = {*gold, *planned}
    return confusion(gold, planned, [label for label in field.labels if label in used]) if gold else None


def arising(cases: Sequence[Case], score: str) -> list[Case]:
    """The cases whose score of that name is not None."""
    return [case for case in cases if getattr(case.score, score) is not None]


def score_values(cases: Sequence[Case], score: str) -> np.ndarray:
    """One field of `CaseScore`, boolean or float, shape (cases,)."""
    values = [getattr(case.score, score) for case in cases]
    return np.asarray(values, dtype=bool if values and isinstance(values[0], bool) else float)


def _mean(cases: Sequence[Case], score: str) -> Estimate | None:
    some = arising(cases, score)
    return clustered_interval(score_values(some, score), [c.conversation for c in some]) if some else None


def _stage(field: StageField, cases: Sequence[Case]) -> StageRow | None:
    gold, planned, conversations = stage_labels(field, cases)
    accuracy = _mean(cases, field.score)
    if accuracy is None:
        return None
    f1 = macro_f1(gold, planned, conversations)
    return StageRow(stage=field.stage, accuracy=accuracy, macro_f1=f1, n=len(gold))


def _latency(cases: Sequence[Case]) -> Latency:
    values = score_values(cases, "milliseconds")
    clusters = [case.conversation for case in cases]
    p50, p90, p95, p99 = clustered_quantiles(values, clusters, LATENCY_QUANTILES)
    return Latency(p50=p50, p90=p90, p95=p95, p99=p99)
