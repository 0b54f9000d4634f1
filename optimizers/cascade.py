"""The cascade: heads decide what can be proved, a language model the rest, read with fitted thresholds."""

from __future__ import annotations

from typing import Any

from ..errors import UserError
from ..program.bound import MODES, Mode
from .bounding import CONFIDENCE, ERROR
from .thresholds_only import ThresholdsOnly
from .trials import WRITTEN_DEV


class Cascade(ThresholdsOnly):
    """Heads within a bound; for what they leave, the model zero-shot with thresholds and weights from ``dev``.

    Works without a language model: then the heads decide all, and plans say what lies outside the bound.

    Args:
        error: at most this share of queries may be answered wrongly by a head,
        confidence: with this confidence.
        mode: what the compiled program does unless told otherwise.
    """

    name = "cascade"

    def __init__(
        self,
        error: float = ERROR,
        confidence: float = CONFIDENCE,
        mode: Mode = "bounded",
        written_dev: int = WRITTEN_DEV,
    ) -> None:
        super().__init__(written_dev)
        if mode not in MODES:
            raise UserError(f"there is no mode {mode!r}: give one of {', '.join(MODES)}")
        self.error, self.confidence = error, confidence
        self.mode: Mode = mode

    def arguments(self) -> dict[str, Any]:
        """The bound asked for, the mode, and how many written answers are scored."""
        return {"error": self.error, "confidence": self.confidence, "mode": self.mode, **super().arguments()}
