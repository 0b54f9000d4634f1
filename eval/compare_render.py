"""Renders a comparison as tables and sentences for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .compare import Change, CompareReport, Comparison
from .render import format_difference, format_estimate, format_rows, rich_table
from .report import Difference
from .significance import SAME

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table


def to_rich(report: CompareReport, regressions: int = 5) -> Group:
    """The measures side by side and the notes, then each pair: sentences, differences, and the plans that got worse."""
    from rich.console import Group
    from rich.text import Text

    heads = ["measure", "rows", *report.columns]
    lines = [
        [line.measure, format_rows(line.cells), *(format_estimate(cell, line.unit) for cell in line.cells)]
        for line in report.lines
    ]
    about = f"{report.n} rows in {report.conversations} conversations, data {report.data_fingerprint}; 95% intervals."
    parts = [rich_table(about, heads, lines), *(Text(note) for note in report.notes)]
    return Group(*parts, *(part for one in report.comparisons for part in _pair(one, regressions)), Text(""))


def _pair(one: Comparison, regressions: int) -> list[RenderableType]:
    from rich.text import Text

    title = f"{one.later} minus {one.earlier}; p corrected for all questions"
    heads = ["measure", "slice", "difference", "rows", "could show", "verdict"]
    shown = [d for d in one.differences if d.slice is None or d.verdict != SAME]
    table = rich_table(title, heads, [_cells(d) for d in shown])
    worse = [_change(c, one) for c in one.regressions[:regressions]]
    counts = f"{one.worse} plans were right and are wrong, {one.better} the other way round."
    return [table, *(Text(sentence) for sentence in one.sentences), Text(counts), *worse]


def _cells(one: Difference) -> list[str]:
    could = "–" if one.detectable is None else f"{100 * one.detectable:.1f}"
    rows = str(one.paired.difference.n)
    return [one.measure, one.slice or "all rows", format_difference(one), rows, could, one.verdict]


def _change(change: Change, one: Comparison) -> Table:
    lost = f", lost {', '.join(change.lost)}" if change.lost else ""
    lines = [[line.field, line.gold, *line.cells] for line in change.lines if len(set(line.cells)) > 1]
    return rich_table(f"{change.query} ({change.row_id}{lost})", ["", "gold", one.earlier, one.later], lines, wrap=True)
