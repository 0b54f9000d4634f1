"""Shows the progress of a compile: a bar, plain lines where there is no terminal, or nothing."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

# Without a terminal, a line is printed each time this many tenths of a stage are done.
TENTHS = 2


class SilentProgress:
    """Shows nothing."""

    def start(self, stage: str, total: int | None) -> None:
        """A stage begins."""

    def step(self, calls: int = 1, tokens: int = 0) -> None:
        """One evaluation was made."""

    def finish(self, stage: str, text: str) -> None:
        """A stage is done."""

    def __enter__(self) -> SilentProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Nothing to close."""


class RichProgress:
    """A bar for each stage with evaluations, LM calls, tokens, elapsed time and time left.

    Use it as a context manager, so that the terminal is restored also after Ctrl-C. It keeps the stream that it is made
    with, because DSPy's own printing is redirected while it searches.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._console = Console(file=stream or sys.stderr)
        self._bars = Bars(
            TextColumn("{task.description:<10}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:.0f}/{task.total:.0f} evaluations, {task.fields[spent]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[text]}"),
            console=self._console,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=not self._console.is_terminal,
        )
        self._task: TaskID | None = None
        self._reset("", None)

    def _reset(self, stage: str, total: int | None) -> None:
        self._stage, self._total = stage, total or 0
        self._done = self._calls = self._tokens = self._told = 0

    def start(self, stage: str, total: int | None) -> None:
        """Open the stage's bar; ``total`` may be an estimate."""
        self._reset(stage, total)
        # A bar without a total would say "None" for its numbers.
        self._task = self._bars.add_task(stage, total=max(1, self._total), spent=self._spent(), text="")
        if not self._console.is_terminal:
            self._line(f"{stage}: about {total} evaluations" if total else f"{stage}: begins")

    def step(self, calls: int = 1, tokens: int = 0) -> None:
        """Advance by one evaluation; a total that turns out too low is raised."""
        self._done, self._calls, self._tokens = self._done + 1, self._calls + calls, self._tokens + tokens
        self._total = max(self._total, self._done)
        if self._task is not None:
            self._bars.update(self._task, completed=self._done, total=self._total, spent=self._spent())
        if not self._console.is_terminal:
            self._tell()

    def finish(self, stage: str, text: str) -> None:
        """Fill the bar and print the result; a stage that never began gets a line of its own."""
        if self._task is not None and stage == self._stage:
            self._bars.update(self._task, completed=self._done, total=max(1, self._done), text=text)
            self._bars.stop_task(self._task)
        if not self._console.is_terminal or stage != self._stage:
            self._line(f"{stage}: {text}")
        self._task = None

    def __enter__(self) -> RichProgress:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._bars.stop()

    def _spent(self) -> str:
        return f"{self._calls} LM calls, {self._tokens:,} tokens"

    def _tell(self) -> None:
        tenth = 10 * self._done // self._total
        if tenth >= self._told + TENTHS and tenth < 10:
            self._told = tenth
            self._line(f"{self._stage}: {self._done}/{self._total} evaluations, {self._spent()}")

    def _line(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False)


def open_progress(quiet: bool = False, stream: TextIO | None = None) -> Any:
    """A progress to use as a context manager: silent, or on ``stream`` (standard error by default)."""
    return SilentProgress() if quiet else RichProgress(stream)
