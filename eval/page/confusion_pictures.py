"""Confusion matrices as picture files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..evaluation import Evaluation
from ..statistics import Confusion
from ..summary import STAGE_FIELDS, stage_confusion


def write_confusions(evaluation: Evaluation, folder: Path, formats: Sequence[str] = ("png",)) -> list[Path]:
    """Draw the confusion matrix of each decision into ``folder`` and return the files.

    Args:
        formats: "png", "svg" or both.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for field in STAGE_FIELDS:
        matrix = stage_confusion(field, evaluation.cases)
        if matrix is not None:
            paths = [folder / f"confusion-{field.stage}.{suffix}" for suffix in formats]
            _draw(matrix, f"{field.stage}, {evaluation.name}", paths)
            files += paths
    return files


def _draw(matrix: Confusion, title: str, paths: Sequence[Path]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # A figure of our own with the Agg canvas: pyplot would choose a backend for the whole process.
    size = 2.5 + 0.6 * len(matrix.labels)
    figure = Figure(figsize=(size, size), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot(xlabel="planned", ylabel="gold", title=title)
    axes.imshow(matrix.counts, cmap="Blues")
    axes.set_xticks(range(len(matrix.labels)), matrix.labels, rotation=45, ha="right")
    axes.set_yticks(range(len(matrix.labels)), matrix.labels)
    highest = max(max(line) for line in matrix.counts)
    for i, line in enumerate(matrix.counts):
        for j, count in enumerate(line):
            axes.text(j, i, str(count), ha="center", va="center", color="white" if count > highest / 2 else "black")
    for path in paths:
        # Without a date the same evaluation gives the same file.
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
