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
    """The predictor's signature, whose type DSPy declares too widely."""
    return cast(type[dspy.Signature], predictor.signature)


@dataclass(frozen=True)
class StageTask:
    """One predictor to compile against its own labels.

    Attributes:
        stage: name of the predictor in the planner.
        student: the uncompiled predictor; it is copied, never changed.
        train: examples from which demonstrations may be drawn.
        dev: examples on which candidates are compared and thresholds fitted.
        metric: ``metric(example, prediction, trace=None)`` in [0, 1], higher is better; for a
            decision it is one minus the Brier score.
        seed: makes every random choice repeatable.
        max_calls: LM requests that may be spent at most; None is no limit.
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
        """The outputs that are decided with probabilities, with their types; empty for a stage that writes."""
        return dict(DecisionState(self.signature, {}).types)

    @property
    def writes(self) -> bool:
        """Whether the stage generates text, where each answer takes seconds."""
        return not self.decisions


@dataclass(frozen=True)
class FittedOutput:
    """How one decision output is read after fitting on ``dev``.

    Attributes:
        output: name of the output field.
        kind: ``noul`` (read by a threshold) or ``choice`` (read by weights).
        rows: number of labelled predictions it was fitted on.
        method: ``keep`` (DSPy's own reading), ``logistic``, ``plateau`` or ``scaled``.
        config: settings for the predictor's ``fields``; empty for ``keep``.
        accuracy_before: share right with DSPy's own reading.
        accuracy_after: share right on held-out conversations, with the reading fitted on the others. The method was
            chosen on the same folds, so this is slightly optimistic.
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
    """The result of compiling one stage.

    Attributes:
        predictor: compiled copy of the student; it holds plain data and no language model.
        candidates: the candidates tried, in order; empty if there were none.
        chosen: name of the candidate that ``predictor`` is.
        calls: LM requests spent, journal answers included.
        notes: what readers of the report have to know, one sentence each.
        tokens: prompt and completion tokens of those requests; 0 if the client counts none.
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
    """Progress reports of an optimizer to whoever waits."""

    def start(self, stage: str, total: int | None) -> None:
        """Called when a stage begins; ``total`` is the expected number of evaluations, if known."""

    def step(self, calls: int = 1, tokens: int = 0) -> None:
        """Called after each evaluation, with the LM requests and tokens it took."""

    def finish(self, stage: str, text: str) -> None:
        """Called when a stage is done; ``text`` is one line about it."""


class Optimizer(Protocol):
    """Compiles one stage. ``name`` is the one that ``--optimizer`` takes and MLflow records."""

    name: str

    def compile(self, task: StageTask, progress: Progress) -> StageResult:
        """Return a compiled copy of ``task.student`` and the candidates that were tried."""
        ...

    def arguments(self) -> dict[str, Any]:
        """The settings of this optimizer as plain data, to be recorded."""
        ...
