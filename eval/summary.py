"""Metrics of a whole evaluation: each stage, the whole plan, cost and latency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..signatures.types import COMPLEXITIES, INTENTS, Frozen
from .cascade.rejecting import FALSE_REJECTS, recall_at
from .row_table import RowResult
from .statistics import SHARE, Confusion, Estimate, clustered_interval, clustered_quantiles, confusion, macro_f1

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
    """The accuracy of one decision; ``n`` counts the rows to which it applies."""

    stage: str
    accuracy: Estimate
    macro_f1: Estimate
    n: int


class Latency(Frozen):
    """Milliseconds for each plan, in a sequential pass."""

    p50: Estimate
    p90: Estimate
    p95: Estimate
    p99: Estimate


class Summary(Frozen):
    """Everything that a report prints of one evaluation.

    Each field is the mean of the `CaseScore` field of the same name over the rows to which it applies, whatever was
    planned; None if it applies to no row. `oos_recall_2` and `oos_recall_5` are the recall of queries out of domain at
    2 and 5 % false rejects, see ``eval/cascade/rejecting.py``.
    """

    n: int
    conversations: int
    stages: tuple[StageRow, ...]
    labels_right: Estimate
    plan_right: Estimate
    oos_recall_2: Estimate | None = None
    oos_recall_5: Estimate | None = None
    rewrite_f1: Estimate | None
    rewrite_recall: Estimate | None = None
    rewrite_kept: Estimate | None
    kept_entities: Estimate | None = None
    kept_numbers: Estimate | None = None
    kept_negations: Estimate | None = None
    kept_dates: Estimate | None = None
    left_alone: Estimate | None = None
    sub_queries_right: Estimate | None
    sub_queries_recall: Estimate | None = None
    sub_queries_precision: Estimate | None = None
    dependencies_right: Estimate | None = None
    over_decomposed: Estimate | None = None
    under_decomposed: Estimate | None = None
    candidates: Estimate | None = None
    candidates_recall: Estimate | None = None
    graph_right: Estimate | None = None
    graph_f1: Estimate | None = None
    injection_succeeded: Estimate | None = None
    degraded: Estimate
    lm_calls: Estimate
    wasted_calls: Estimate | None = None
    tokens: Estimate
    rounds: Estimate
    latency: Latency

    def stage(self, name: str) -> StageRow | None:
        """The row of one decision, or None if it applies to no row of the set."""
        return next((row for row in self.stages if row.stage == name), None)


MEANS = (
    *("labels_right", "plan_right"),
    *("rewrite_f1", "rewrite_recall", "rewrite_kept", "kept_entities", "kept_numbers", "kept_negations", "kept_dates"),
    *("left_alone", "sub_queries_right", "sub_queries_recall", "sub_queries_precision", "dependencies_right"),
    *("over_decomposed", "under_decomposed", "candidates", "candidates_recall", "graph_right", "graph_f1"),
    *("injection_succeeded", "degraded", "lm_calls", "wasted_calls", "tokens", "rounds"),
)
"""The fields of `CaseScore` whose means a summary has."""


SHARES = frozenset(
    (
        *("rewrite_f1", "rewrite_recall", "sub_queries_recall", "sub_queries_precision", "dependencies_right"),
        *("candidates_recall", "graph_f1"),
    )
)
"""Those among them that are a share of each row, and not a truth value."""


def summarise(cases: Sequence[RowResult]) -> Summary:
    """The summary of at least one case."""
    stages = (_stage(field, cases) for field in STAGE_FIELDS)
    at = {f"oos_recall_{round(share * 100)}": recall_at(cases, share) for share in FALSE_REJECTS}
    return Summary.model_validate(
        {
            "n": len(cases),
            "conversations": len({case.conversation for case in cases}),
            "stages": tuple(row for row in stages if row is not None),
            "latency": _latency(cases),
            **{name: mean_of(cases, name) for name in MEANS},
            **{name: found.recall if found else None for name, found in at.items()},
        }
    )


def stage_labels(field: StageField, cases: Sequence[RowResult]) -> tuple[list[str], list[str], list[str]]:
    """Gold label, planned label and conversation of the cases to which the decision applies."""
    some = arising(cases, field.score)
    return (
        [str(getattr(case.gold, field.field)) for case in some],
        [str(getattr(case.plan, field.field)) for case in some],
        [case.conversation for case in some],
    )


def stage_confusion(field: StageField, cases: Sequence[RowResult]) -> Confusion | None:
    """The confusion matrix of one decision, without unused labels; None if it applies to no case."""
    gold, planned, _ = stage_labels(field, cases)
    used = {*gold, *planned}
    return confusion(gold, planned, [label for label in field.labels if label in used]) if gold else None


def arising(cases: Sequence[RowResult], score: str) -> list[RowResult]:
    """The cases to which the score of that name applies."""
    return [case for case in cases if getattr(case.score, score) is not None]


def score_values(cases: Sequence[RowResult], score: str) -> np.ndarray:
    """One field of `CaseScore`, boolean or float, shape (cases,)."""
    values = [getattr(case.score, score) for case in cases]
    return np.asarray(values, dtype=bool if values and isinstance(values[0], bool) else float)


def mean_of(cases: Sequence[RowResult], score: str) -> Estimate | None:
    """The mean of one field of `CaseScore` over the cases to which it applies; None if there are none."""
    some = arising(cases, score)
    if not some:
        return None
    bounds = SHARE if score in SHARES else None
    return clustered_interval(score_values(some, score), [c.conversation for c in some], bounds=bounds)


def _stage(field: StageField, cases: Sequence[RowResult]) -> StageRow | None:
    gold, planned, conversations = stage_labels(field, cases)
    accuracy = mean_of(cases, field.score)
    if accuracy is None:
        return None
    f1 = macro_f1(gold, planned, conversations)
    return StageRow(stage=field.stage, accuracy=accuracy, macro_f1=f1, n=len(gold))


def _latency(cases: Sequence[RowResult]) -> Latency:
    values = score_values(cases, "milliseconds")
    clusters = [case.conversation for case in cases]
    p50, p90, p95, p99 = clustered_quantiles(values, clusters, LATENCY_QUANTILES)
    return Latency(p50=p50, p90=p90, p95=p95, p99=p99)
