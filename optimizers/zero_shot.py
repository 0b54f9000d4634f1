"""The optimizer ``zero-shot``: no compiling at all; the signature as it is written, scored on ``dev``."""

from __future__ import annotations

from typing import Any

from .base import Progress, StageResult, StageTask
from .finishing import finish
from .trials import WRITTEN_DEV, bench


class ZeroShot:
    """The student itself. Its score on ``dev`` is what every other optimizer has to beat."""

    name = "zero-shot"

    def __init__(self, written_dev: int = WRITTEN_DEV) -> None:
        self.written_dev = written_dev

    def compile(self, task: StageTask, progress: Progress) -> StageResult:
        """Score the student; nothing is fitted."""
        with bench(task, progress, lambda dev: dev, self.written_dev) as work:
            work.run("zero-shot", work.program())
            return finish(work, progress, fit=False)

    def arguments(self) -> dict[str, Any]:
        """The number of written answers that are scored."""
        return {"written_dev": self.written_dev}
