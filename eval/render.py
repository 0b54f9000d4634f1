"""Renders a report as text: cells, Markdown, and tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .significance import LEAST_CHANGED
from .statistics import Estimate

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from .report import Difference, Report, Unit

_HEADS = ["measure", "rows"]
_DIFFERENCE_HEADS = [*_HEADS, "difference", "verdict"]
_DECIMALS = {"share": 0, "count": 1, "ms": 1}


def format_estimate(estimate: Estimate | None, unit: Unit) -> str:
    """``82% [75, 88]``, ``1.2 [1.0, 1.4]`` or a dash; shares in percent, times in milliseconds."""
    if estimate is None:
        return "–"
    value, low, high = (_number(x, unit) for x in (estimate.value, estimate.low, estimate.high))
    return f"{value}{'%' if unit == 'share' else ''} [{low}, {high}]"


def format_rows(cells: Sequence[Estimate | None]) -> str:
    """How many rows are behind the numbers of a line: ``12``, or ``8 to 12`` where columns differ."""
    counts = sorted({cell.n for cell in cells if cell is not None})
    return " to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else "–"


def format_difference(difference: Difference) -> str:
    """``+5.0 points [-1.0, +11.0], p = 0.12``; a share's difference is in percentage points, p is corrected.

    Where so few conversations differ that no test could show it, that is said instead of a p-value, which would be 1
    whatever the interval is.
    """
    estimate, scale = difference.paired.difference, 100 if difference.unit == "share" else 1
    value, low, high = (f"{x * scale:+.1f}" for x in (estimate.value, estimate.low, estimate.high))
    p = difference.paired.p
    shown = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    if difference.paired.changed and not difference.paired.testable:
        shown = f"no test: {difference.paired.changed} conversations differ, {LEAST_CHANGED} must"
    return f"{value}{' points' if difference.unit == 'share' else ''} [{low}, {high}], {shown}"


def to_markdown(report: Report) -> str:
    """The whole report as Markdown: one table of measures, one of differences, the sentences."""
    parts = [f"# {report.title}", _about(report), *(f"- {s}" for s in report.sentences), ""]
    parts += _markdown_table([*_HEADS, *report.columns], [_cells(report, i) for i in range(len(report.lines))])
    if report.rival:
        parts += ["", f"## {report.compiled} minus {report.rival}, paired", ""]
        parts += _markdown_table(_DIFFERENCE_HEADS, [_difference_cells(d) for d in report.differences])
    return "\n".join(parts) + "\n"


def to_rich(report: Report) -> Group:
    """Tables and sentences for a ``rich`` console."""
    from rich.console import Group
    from rich.text import Text

    tables = [
        rich_table(report.title, [*_HEADS, *report.columns], [_cells(report, i) for i in range(len(report.lines))])
    ]
    if report.rival:
        rows = [_difference_cells(d) for d in report.differences]
        tables.append(rich_table(f"{report.compiled} minus {report.rival}", _DIFFERENCE_HEADS, rows))
    return Group(*tables, Text(_about(report)), *(Text(sentence) for sentence in report.sentences))


def _about(report: Report) -> str:
    loads = [x for pair in report.load_average for x in pair]
    load = f"; load average {min(loads):.1f} to {max(loads):.1f}" if loads else ""
    return (
        f"{report.n} rows in {report.conversations} conversations, data {report.data_fingerprint}; "
        f"95% intervals over conversations{load}."
    )


def _number(value: float, unit: Unit) -> str:
    return f"{value * (100 if unit == 'share' else 1):.{_DECIMALS[unit]}f}"


def _cells(report: Report, index: int) -> list[str]:
    line = report.lines[index]
    name = f"{line.measure} (ms)" if line.unit == "ms" else line.measure
    return [name, format_rows(line.cells), *(format_estimate(cell, line.unit) for cell in line.cells)]


def _difference_cells(difference: Difference) -> list[str]:
    rows = str(difference.paired.difference.n)
    return [difference.measure, rows, format_difference(difference), difference.verdict]


def _markdown_table(heads: list[str], rows: list[list[str]]) -> list[str]:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def rich_table(title: str, heads: list[str], rows: list[list[str]], *, wrap: bool = False) -> Table:
    """A table for a terminal; numbers to the right, or, with ``wrap``, texts to the left."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), title_justify="left")
    for i, head in enumerate(heads):
        table.add_column(escape(head), justify="left" if i == 0 or wrap else "right")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    return table
