"""The contract of an optimizer: one stage in, one compiled predictor out, with what was tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import dspy

Metric = Callable[..., float]


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


@dataclass(frozen=True)
class Candidate:
    """One tried predictor and its mean metric on ``dev``."""

    name: str
    score: float
    demos: int
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StageResult:
    """What an optimizer made of a stage."""

    stage: str
    predictor: dspy.Predict
    candidates: tuple[Candidate, ...]
    chosen: str
    calls: int
    notes: tuple[str, ...] = ()


class Progress(Protocol):
    """What an optimizer tells the person who waits."""

    def start(self, stage: str, total: int | None) -> None:
        """A stage begins; ``total`` is the number of evaluations foreseen, if known."""

    def step(self, calls: int = 1, tokens: int = 0) -> None:
        """One evaluation was made."""

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
