"""The optimizer ``thresholds``: zero-shot with fitted thresholds, the fair rival of every compiled program."""

from __future__ import annotations

from typing import Any

from .base import Progress, StageResult, StageTask
from .finishing import finish
from .trials import WRITTEN_DEV, bench


class ThresholdsOnly:
    """The student with thresholds and weights fitted on ``dev``. A stage that writes stays as it is."""

    name = "thresholds"

    def __init__(self, written_dev: int = WRITTEN_DEV) -> None:
        self.written_dev = written_dev

    def compile(self, task: StageTask, progress: Progress) -> StageResult:
        """Ask once for every ``dev`` example, then fit, which sends no requests."""
        with bench(task, progress, lambda dev: dev, self.written_dev) as work:
            if task.writes:
                work.notes.append("a stage that writes has no thresholds")
            work.run("zero-shot", work.program())
            return finish(work, progress)

    def arguments(self) -> dict[str, Any]:
        """The number of written answers that are scored."""
        return {"written_dev": self.written_dev}
