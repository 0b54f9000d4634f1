"""Draws the picture of a checked set: the values of each label, and what the words alone give away."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import DataError
from .statistics import SetStatistics

FORMATS = (".png", ".svg")
Bars = Mapping[str, Mapping[str, float]]
"""Heights of bars between 0 and 1, by label and by measure."""


def draw_set(statistics: SetStatistics, bars: Bars, title: str, path: Path) -> None:
    """Write one picture: the shares of each label's values in each split, and under them the given bars.

    Raises:
        DataError: ``path`` ends in neither .png nor .svg.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if path.suffix not in FORMATS:
        raise DataError(f"{path.name}: a picture ends in {' or '.join(FORMATS)}")
    # A figure of our own with the Agg canvas: pyplot would choose a backend for the whole process.
    labels = [label for label, values in statistics.labels.items() if values]
    lines = (len(labels) + 1) // 2
    figure = Figure(figsize=(13, 2.6 * max(1, lines) + (3.2 if bars else 0.4)), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    grid = figure.add_gridspec(max(1, lines) + bool(bars), 2)
    for n, label in enumerate(labels):
        _shares(figure.add_subplot(grid[n // 2, n % 2]), label, statistics)
    if bars:
        _bars(figure.add_subplot(grid[-1, :]), bars)
    # Without a date, and with a fixed seed for its names, the same set gives the same file.
    with rc_context({"svg.hashsalt": "queryplan"}):
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)


def _shares(axes: Any, label: str, statistics: SetStatistics) -> None:
    """One bar for each split, divided into the values of a label."""
    counts = statistics.labels[label]
    splits = list(statistics.splits)
    totals = {split: sum(by[split] for by in counts.values()) or 1 for split in splits}
    left = [0.0] * len(splits)
    for value, by in counts.items():
        widths = [by[split] / totals[split] for split in splits]
        axes.barh(splits, widths, left=left, label=value)
        left = [x + w for x, w in zip(left, widths, strict=True)]
    axes.set(title=label, xlim=(0, 1))
    axes.invert_yaxis()
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", frameon=False)


def _bars(axes: Any, bars: Bars) -> None:
    names = list(dict.fromkeys(name for heights in bars.values() for name in heights))
    width = 0.8 / len(names)
    for n, name in enumerate(names):
        places = [x + (n - (len(names) - 1) / 2) * width for x in range(len(bars))]
        axes.bar(places, [heights.get(name, 0.0) for heights in bars.values()], width=width, label=name)
    axes.set_xticks(range(len(bars)), list(bars))
    axes.set(ylim=(0, 1), title="what the query alone gives away")
    axes.legend(fontsize="x-small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
