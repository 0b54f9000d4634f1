"""Progress bars for counted work; plain lines where there is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def counting(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar; yields a function to call with (done, total)."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def saying_waits(spinner: bool = True) -> Iterator[None]:
    """Announce work that takes minutes on standard error; on a terminal a spinner turns meanwhile.

    Args:
        spinner: not for learning about graphs: the spinner is a thread, beside which no processes are forked.
    """
    from ..program.waiting import telling

    console = Console(stderr=True)
    with ExitStack() as shown:

        def say(sentence: str) -> None:
            if console.is_terminal and spinner:
                shown.close()  # a terminal can have only one live display at a time
                shown.enter_context(console.status(sentence))
            else:
                print(sentence, file=sys.stderr, flush=True)

        with telling(say):
            yield


@contextmanager
def by_column(progress: Any) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function to call with (column, done, total), shown as stages of ``progress``.

    A terminal can have only one live display at a time, so the bars of compiling are used again.
    """
    shown: dict[str, int] = {}

    def counted(column: str, done: int, total: int) -> None:
        if column not in shown:
            progress.start(column, total)
            shown[column] = 0
        for _ in range(done - shown[column]):
            progress.step(calls=0)
        if done == total and shown[column] < total:
            progress.finish(column, f"{total} rows measured")
        shown[column] = done
        sys.stderr.flush()

    yield counted


def wide_console() -> Console:
    """A console for standard output; if that is not a terminal, it is wide enough for a table of six columns."""
    console = Console()
    return console if console.is_terminal else Console(width=150)


def draw(what: RenderableType, file: Path) -> None:
    """Draw what a terminal would show as an SVG picture."""
    console = Console(record=True, width=150, file=StringIO())
    console.print(what)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(console.export_svg(title="queryplan"), encoding="utf-8")
