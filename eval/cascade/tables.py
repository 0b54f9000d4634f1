"""Tables about a cascade, typed, for a report to draw: what heads risk for what they cover.

- risk against coverage of each head stage, and of whole queries (``joint``)
- reliability: how often a certainty comes true
- joint coverage: share of queries that no language model had to decide, with its interval
- accuracy of each stage beside the majority class, TF-IDF and whatever else was evaluated

The first two come from head answers on labelled rows (``eval/cascade/head_answers.py``), the others from evaluations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...signatures.types import Frozen
from ..evaluation import Evaluation
from ..row_table import RowResult
from ..statistics import Estimate, clustered_interval
from ..summary import STAGE_FIELDS
from .head_answers import Answer, RowAnswers

STAGES = ("follow_up", "relevance", "kind", "complexity")
JOINT = "joint"
COVERAGES = tuple(round(step / 20, 2) for step in range(1, 21))
BINS = 10


class RiskPoint(Frozen):
    """One point of a risk curve, taking the answers of at least this certainty.

    Attributes:
        coverage: the share of the rows in which the stage arises that these answers are.
        risk: the share of these answers that are wrong.
        rows: how many answers they are.
    """

    certainty: float
    coverage: float
    risk: float
    rows: int


class RiskCurve(Frozen):
    """Risk against coverage of one stage, or of whole queries (``joint``).

    The better certainty orders the answers, the smaller is ``area``, the area under the curve.
    """

    stage: str
    points: tuple[RiskPoint, ...]
    area: float


class ReliabilityBin(Frozen):
    """Answers of about the same certainty: their mean certainty, and the share that were right."""

    certainty: float
    right: Estimate


class Reliability(Frozen):
    """Certainty against accuracy of one stage; ``gap`` is the expected calibration error (Naeini et al., 2015)."""

    stage: str
    bins: tuple[ReliabilityBin, ...]
    gap: float


class JointCoverage(Frozen):
    """How many plans of one evaluation did without a model.

    Attributes:
        undecided_by_model: share of plans in which no stage was decided by a model.
        no_request: share of plans that made no request at all.
        unwritten_no_request: the same among the plans whose gold labels need no written text; None if there are none.
    """

    name: str
    undecided_by_model: Estimate
    no_request: Estimate
    unwritten_no_request: Estimate | None

    @property
    def sentence(self) -> str:
        """The finding in one sentence, for the report."""
        return (
            f"joint coverage of {self.name}: {self.undecided_by_model.in_percent} of {self.no_request.n} queries "
            f"needed no model to decide, {self.no_request.in_percent} no request at all"
        )


class StageAccuracy(Frozen):
    """Accuracy of one decision, by the name of the evaluation."""

    stage: str
    accuracy: dict[str, Estimate]


class CascadeTables(Frozen):
    """All tables about a cascade."""

    risk: tuple[RiskCurve, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    coverage: tuple[JointCoverage, ...] = ()
    accuracy: tuple[StageAccuracy, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """A summary of the curves, one sentence for each stage."""
        gaps = {found.stage: found.gap for found in self.reliability}
        return tuple(_of_curve(curve, gaps.get(curve.stage)) for curve in self.risk)


def _of_curve(curve: RiskCurve, gap: float | None) -> str:
    half = min(curve.points, key=lambda point: abs(point.coverage - 0.5))
    last = curve.points[-1]
    told = f", calibration error {gap:.3f}" if gap is not None else ""
    return (
        f"heads on {curve.stage}: wrong in {half.risk:.1%} of the surest {half.coverage:.0%} ({half.rows} rows), in "
        f"{last.risk:.1%} of the {last.coverage:.0%} they answer ({last.rows} rows); area under risk against coverage "
        f"{curve.area:.3f}{told}"
    )


def cascade_tables(answers: Sequence[RowAnswers], evaluations: Sequence[Evaluation] = ()) -> CascadeTables:
    """The tables of these head answers and these evaluations of the same rows."""
    return CascadeTables(
        risk=tuple(curve for stage in (*STAGES, JOINT) if (curve := risk_curve(answers, stage)) is not None),
        reliability=tuple(found for stage in STAGES if (found := reliability(answers, stage)) is not None),
        coverage=tuple(joint_coverage(evaluation) for evaluation in evaluations),
        accuracy=accuracy_table(evaluations),
    )


def risk_curve(answers: Sequence[RowAnswers], stage: str) -> RiskCurve | None:
    """Risk of the surest answers, from the surest twentieth to all, in steps of a twentieth; None without answers.

    Equally certain answers have no order, so each counts with their share of wrong ones.
    """
    given, arising = _answers(answers, stage)
    if not given:
        return None
    ordered = sorted(given, key=lambda pair: -pair[1].certainty)
    wrong = np.cumsum(_among_equals([answer for _, answer in ordered]))
    counts = sorted({max(1, round(share * len(ordered))) for share in COVERAGES})
    points = tuple(
        RiskPoint(
            certainty=ordered[count - 1][1].certainty,
            coverage=count / arising,
            risk=float(wrong[count - 1] / count),
            rows=count,
        )
        for count in counts
    )
    area = float((wrong / np.arange(1, len(wrong) + 1)).mean())
    return RiskCurve(stage=stage, points=points, area=area)


def reliability(answers: Sequence[RowAnswers], stage: str) -> Reliability | None:
    """Reliability in ten bins of about equal size, the least certain first; None if no head answered.

    Equal certainties are in the same bin, so there may be fewer bins.
    """
    given, _ = _answers(answers, stage)
    if not given:
        return None
    ordered = sorted(given, key=lambda pair: pair[1].certainty)
    bins, gap = [], 0.0
    for first, end in pairwise(_edges([answer.certainty for _, answer in ordered])):
        some = ordered[first:end]
        mean = float(np.mean([answer.certainty for _, answer in some]))
        right = clustered_interval([answer.right for _, answer in some], [name for name, _ in some])
        bins.append(ReliabilityBin(certainty=mean, right=right))
        gap += abs(mean - right.value) * len(some) / len(ordered)
    return Reliability(stage=stage, bins=tuple(bins), gap=gap)


def _among_equals(ordered: Sequence[Answer]) -> np.ndarray:
    """For each answer the share of wrong ones among the answers of the same certainty, shape (answers,)."""
    _, group = np.unique([answer.certainty for answer in ordered], return_inverse=True)
    wrong = np.array([not answer.right for answer in ordered], dtype=float)
    return (np.bincount(group, weights=wrong) / np.bincount(group))[group]


def _edges(rising: Sequence[float]) -> list[int]:
    """The places where the bins of rising certainties begin, and the end of the last; equal values are not parted."""
    starts = [part[0] for part in np.array_split(np.arange(len(rising)), min(BINS, len(rising)))]
    values = np.asarray(rising)
    return [*np.unique(np.searchsorted(values, values[starts])).tolist(), len(rising)]


def joint_coverage(evaluation: Evaluation) -> JointCoverage:
    """The shares of an evaluation's plans that did without a model."""
    cases = evaluation.cases
    unwritten = [c for c in cases if not (c.gold.is_follow_up or c.gold.needs_decomposition)]
    return JointCoverage(
        name=evaluation.name,
        undecided_by_model=_share(cases, [_decided_without_model(c) for c in cases]),
        no_request=_share(cases, [c.plan.trace.requests == 0 for c in cases]),
        unwritten_no_request=_share(unwritten, [c.plan.trace.requests == 0 for c in unwritten]) if unwritten else None,
    )


def accuracy_table(evaluations: Sequence[Evaluation]) -> tuple[StageAccuracy, ...]:
    """The accuracy of each decision in each evaluation."""
    lines = []
    for name in (field.stage for field in STAGE_FIELDS):
        found = {e.name: row.accuracy for e in evaluations if (row := e.summary().stage(name)) is not None}
        if found:
            lines.append(StageAccuracy(stage=name, accuracy=found))
    return tuple(lines)


def _answers(answers: Sequence[RowAnswers], stage: str) -> tuple[list[tuple[str, Answer]], int]:
    """(conversation, answer) of the rows in which the stage arises, and how many rows those are."""
    if stage == JOINT:
        arising = [row for row in answers if row.arises]
        return [(row.conversation, whole) for row in arising if (whole := _whole(row)) is not None], len(arising)
    needed = {"kind": "relevance"}.get(stage, stage)
    arising = [row for row in answers if needed in row.arises and (stage != "kind" or "complexity" not in row.arises)]
    return [(row.conversation, row.answers[stage]) for row in arising if stage in row.answers], len(arising)


def _whole(row: RowAnswers) -> Answer | None:
    """All heads of a row as one answer: as certain as its least certain round, and right if all are right.

    None if some stage that arises has no head's answer.
    """
    if not row.whole(0.0):
        return None
    rounds = row.used(0.0) & {"follow_up"}, row.used(0.0) & {"relevance", "complexity"}
    sure = min(math.prod(row.answers[name].certainty for name in names) for names in rounds)
    return Answer(sure, not row.wrong(0.0))


def _decided_without_model(case: RowResult) -> bool:
    deciding = (d for d in case.plan.trace.decisions if d.stage in ("follow_up", "relevance", "complexity"))
    return all(d.decided_by != "lm" for d in deciding)


def _share(cases: Sequence[RowResult], values: Sequence[bool]) -> Estimate:
    return clustered_interval(np.array(values, dtype=bool), [case.conversation for case in cases])
