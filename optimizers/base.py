"""The contract of an optimizer: it takes one stage and returns one compiled predictor, with a record of its trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast

import dspy

from ..signatures.seam import DecisionState

Metric = Callable[..., float]
OutputKind = Literal["noul", "choice"]


def signature_of(predictor: dspy.Predict) -> type[dspy.Signature]:
    """The predictor's signature; DSPy declares it as more than it ever is."""
    return cast(type[dspy.Signature], predictor.signature)


@dataclass(frozen=True)
class StageTask:
    """One predictor to compile against its own labels.

    Attributes:
        stage: name of the predictor in the planner.
        student: the uncompiled predictor; never changed, copied instead.
        train: examples that demonstrations may come from.
        dev: examples that choose between candidates and fit thresholds.
        metric: ``metric(example, prediction, trace=None)`` in [0, 1], higher is better; for a
            decision it is one minus the Brier score.
        seed: makes every random choice repeatable.
        max_calls: at most so many LM requests may be spent; None is no limit.
    """

    stage: str
    student: dspy.Predict
    train: Sequence[dspy.Example]
    dev: Sequence[dspy.Example]
    metric: Metric
    seed: int = 0
    max_calls: int | None = None

    @property
    def signature(self) -> type[dspy.Signature]:
        """The student's signature."""
        return signature_of(self.student)

    @property
    def decisions(self) -> dict[str, type]:
        """The outputs that are decided with probabilities, and their types; empty for a stage that writes."""
        return dict(DecisionState(self.signature, {}).types)

    @property
    def writes(self) -> bool:
        """Whether the stage generates text, of which each answer costs seconds."""
        return not self.decisions


@dataclass(frozen=True)
class FittedOutput:
    """How one decision output is read after fitting on ``dev``.

    Attributes:
        output: name of the output field.
        kind: ``noul`` (read by a threshold) or ``choice`` (read by weights).
        rows: labelled predictions it was fitted on.
        method: ``keep`` (DSPy's own reading), ``logistic``, ``plateau`` or ``scaled``.
        config: what goes into the predictor's ``fields``; empty for ``keep``.
        accuracy_before: share right as DSPy reads it unfitted.
        accuracy_after: share right of held-out conversations, read as fitted on the others. The
            method was chosen on the same folds, so it flatters a little.
        calibrated: one minus the Brier score of the scaled probabilities of held-out conversations;
            None where nothing could be fitted.
        note: why nothing was fitted, or empty.
    """

    output: str
    kind: OutputKind
    rows: int
    method: str
    config: dict[str, Any]
    accuracy_before: float
    accuracy_after: float
    calibrated: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Candidate:
    """One tried predictor and its mean metric on ``dev``.

    ``details`` has ``calls`` and, for a stage that decides, ``accuracy`` and ``fitted_accuracy`` by
    output (before fitting, and by cross-validation after it) and ``calibrated`` (mean over outputs).
    """

    name: str
    score: float
    demos: int
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StageResult:
    """What an optimizer made of a stage.

    Attributes:
        predictor: compiled copy of the student; holds plain data and no language model.
        candidates: what was tried, in the order of trying; empty when nothing was.
        chosen: name of the candidate that ``predictor`` is.
        calls: LM requests spent, journal answers included.
        notes: what a reader of the report has to know, one sentence each.
        tokens: prompt and completion tokens of those requests; 0 where the client counts none.
        thresholds: how each decision output is read.
    """

    stage: str
    predictor: dspy.Predict
    candidates: tuple[Candidate, ...]
    chosen: str
    calls: int
    notes: tuple[str, ...] = ()
    tokens: int = 0
    thresholds: tuple[FittedOutput, ...] = ()


class Progress(Protocol):
    """What an optimizer tells the person who waits."""

    def start(self, stage: str, total: int | None) -> None:
        """A stage begins; ``total`` is the number of evaluations foreseen, if known."""

    def step(self, calls: int = 1, tokens: int = 0) -> None:
        """One evaluation was made; it took so many LM requests and tokens."""

    def finish(self, stage: str, text: str) -> None:
        """A stage is done; ``text`` is one line about it."""


class Optimizer(Protocol):
    """Compiles one stage. ``name`` is what ``--optimizer`` takes and what MLflow is told."""

    name: str

    def compile(self, task: StageTask, progress: Progress) -> StageResult:
        """Return a compiled copy of ``task.student`` and the candidates that were tried."""
        ...

    def arguments(self) -> dict[str, Any]:
        """The settings of this optimizer, as plain data, for the record."""
        ...
