"""The cascade optimizer: heads decide what the bound allows, a language model with fitted thresholds the rest."""

from __future__ import annotations

from typing import Any

from ..errors import UserError
from ..eval.cascade.learn_then_test import CONFIDENCE, ERROR
from ..program.bound import MODES, Mode
from .base import Progress, StageResult, StageTask
from .finishing import finish
from .labeled import run_labelled_sets
from .thresholds_only import ThresholdsOnly
from .trials import bench

WRITTEN_DEV = 20
"""Number of written answers by which a set of demonstrations is chosen; many, since a cascade asks for little else."""


class Cascade(ThresholdsOnly):
    """Heads decide within a bound; a model without demonstrations, with thresholds and weights from ``dev``, the rest.

    The stages that write are compiled as well: either zero-shot or with a set of labelled demonstrations, whichever is
    better on ``dev``. It works without a language model: then the heads decide everything, and plans say what is
    outside the bound.

    Args:
        error: the largest share of queries that heads may answer wrongly.
        confidence: the confidence with which that holds.
        mode: the default mode of the compiled program.
        written_dev: number of ``dev`` examples that a stage that writes is scored on.
        written_demos: number of demonstrations for a stage that writes. With six instead of none the 1.5B model's
            rewrites had a token F1 of 0.62 instead of 0.56, and kept all that counts in 12 instead of 6 of 34 (podcast
            ``dev``); with four it split 7 instead of 3 of 25 queries rightly.
        written_candidates: number of sets of demonstrations that are tried.
    """

    name = "cascade"

    def __init__(
        self,
        error: float = ERROR,
        confidence: float = CONFIDENCE,
        mode: Mode = "bounded",
        written_dev: int = WRITTEN_DEV,
        written_demos: int = 6,
        written_candidates: int = 2,
    ) -> None:
        super().__init__(written_dev)
        if mode not in MODES:
            raise UserError(f"there is no mode {mode!r}: give one of {', '.join(MODES)}")
        self.error, self.confidence = error, confidence
        self.mode: Mode = mode
        self.written_demos, self.written_candidates = written_demos, written_candidates

    def compile(self, task: StageTask, progress: Progress) -> StageResult:
        """Fit the thresholds of a stage that decides, or choose the demonstrations of one that writes."""
        if not task.writes:
            return super().compile(task, progress)
        tried = 1 + self.written_candidates
        with bench(task, progress, lambda dev: tried * dev, self.written_dev) as work:
            work.run("zero-shot", work.program())
            run_labelled_sets(work, self.written_demos, self.written_candidates)
            return finish(work, progress)

    def arguments(self) -> dict[str, Any]:
        """The bound, the mode, and what is tried for stages that write."""
        return {
            "error": self.error,
            "confidence": self.confidence,
            "mode": self.mode,
            "written_demos": self.written_demos,
            "written_candidates": self.written_candidates,
            **super().arguments(),
        }
