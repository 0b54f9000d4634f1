"""Writes evaluations as one self-contained HTML page: no other file, no network, light and dark, screen and paper.

Every figure on the page comes from the row tables; cells name the measure, slice and column they belong to in
``data-`` attributes, so that a script can read the page as well as a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...signatures.types import Frozen
from ..compare import CompareReport, side_by_side
from ..costs import Costs, costs_of
from ..evaluation import Evaluation
from ..measured import Measured
from ..oracle import Blame, blame
from ..prices import money
from ..render import format_difference, format_estimate, format_rows
from ..report import MEASURES, WHOLE
from ..row_answers import reliabilities, risk_curves
from ..row_table import RowResult
from ..slices import reported
from ..statistics import Confusion, Estimate
from ..summary import STAGE_FIELDS, mean_of, stage_confusion
from . import html_pictures as pictures
from .plan_view import ViewLine, view
from .sentences import summary_sentences

TEMPLATE = Path(__file__).parent / "templates" / "report.html.j2"
FAILURES = 1000
SLICED = tuple(m for m in MEASURES if m.score in WHOLE)


class SliceLine(NamedTuple):
    """One slice of the rows: its size, and for each measure one estimate per column (evaluation)."""

    name: str
    rows: int
    cells: tuple[tuple[str, tuple[Estimate | None, ...]], ...]


class Failure(Frozen):
    """A row whose plan or graph answers are wrong in the last column; with the plans of all columns."""

    row_id: str
    query: str
    lost_at: str
    slices: tuple[str, ...]
    lines: tuple[ViewLine, ...]


def html_page(measured: Sequence[Measured], *, title: str = "", shown: int = 20) -> str:
    """The page of one evaluation, or of several of the same rows, each against the first.

    Args:
        title: the heading; if empty, it says what is compared.
        shown: the most regressions to show of each pair.

    Raises:
        UserError: the evaluations are of different domains or rows, or two have one name.
    """
    evaluations = [one.evaluation for one in measured]
    report, blamed = side_by_side(evaluations, shown), _blame(evaluations)
    ladders = [one.ladder for one in measured if one.ladder is not None]
    return (
        _environment()
        .from_string(TEMPLATE.read_text(encoding="utf-8"))
        .render(
            title=title or " and ".join(report.columns),
            report=report,
            evaluations=evaluations,
            sentences=(*report.notes, *summary_sentences(report, evaluations)),
            slices=_slices(evaluations),
            failures=_failures(evaluations),
            failed=sum(not row.all_right for row in evaluations[-1].cases),
            ladders=ladders,
            rungs=max(([rung.stage for rung in ladder.rungs] for ladder in ladders), key=len, default=[]),
            throughput=[(one.name, one.throughput) for one in measured if one.throughput],
            blame=blamed,
            blamed=max(([one.stage for one in found] for _, found in blamed), key=len),
            costs=_costs(evaluations),
            money=[money(e.dollars, e.lm, e.price) for e in evaluations],
            confusions=_confusions(evaluations[-1]),
            pictures=_pictures(report, measured),
        )
    )


def write_page(measured: Sequence[Measured], path: Path, *, title: str = "") -> None:
    """Write `html_page` to a file; the folder is created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html_page(measured, title=title), encoding="utf-8")


def _environment() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"estimate": format_estimate, "difference": format_difference, "rows": format_rows}
    return environment


def _slices(evaluations: Sequence[Evaluation]) -> list[SliceLine]:
    names = reported(row.slices for row in evaluations[-1].cases)
    return [_slice(name, [[r for r in e.cases if name in r.slices] for e in evaluations]) for name in names]


def _slice(name: str, columns: Sequence[Sequence[RowResult]]) -> SliceLine:
    cells = tuple((m.score, tuple(mean_of(rows, m.score) for rows in columns)) for m in SLICED)
    return SliceLine(name, len(columns[0]), cells)


def _failures(evaluations: Sequence[Evaluation]) -> list[Failure]:
    plans: dict[str, list[RowResult]] = {}
    for evaluation in evaluations:
        for row in evaluation.cases:
            plans.setdefault(row.row_id, []).append(row)
    wrong = [rows for rows in plans.values() if not rows[-1].all_right]
    return [
        Failure(
            row_id=rows[-1].row_id,
            query=rows[-1].query,
            lost_at=rows[-1].lost_at or "",
            slices=rows[-1].slices,
            lines=view(rows),
        )
        for rows in wrong[:FAILURES]
    ]


def _blame(evaluations: Sequence[Evaluation]) -> list[tuple[str, tuple[Blame, ...]]]:
    return [(e.name, blame(e.cases)) for e in evaluations]


def _costs(evaluations: Sequence[Evaluation]) -> list[tuple[str, Costs]]:
    return [(e.name, costs_of(e.cases, e.price)) for e in evaluations]


def _confusions(evaluation: Evaluation) -> list[tuple[str, Confusion]]:
    found = ((field.stage, stage_confusion(field, evaluation.cases)) for field in STAGE_FIELDS)
    return [(stage, matrix) for stage, matrix in found if matrix is not None]


def _pictures(report: CompareReport, measured: Sequence[Measured]) -> dict[str, str]:
    """The drawings as SVG, by name; a drawing is empty if there is nothing to draw."""
    evaluations = [one.evaluation for one in measured]
    timed = [(e.name, e.summary().latency.p50.value, e.summary().plan_right) for e in evaluations if not e.replayed]
    stages = [m.name for m in MEASURES[: len(STAGE_FIELDS)] if any(line.measure == m.name for line in report.lines)]
    cells = {line.measure: line.cells for line in report.lines}
    columns = [(name, [cells[s][i] for s in stages]) for i, name in enumerate(report.columns)]
    certain = [(e.name, reliabilities(e.cases)) for e in evaluations]
    risks = [(e.name, risk_curves(e.cases)) for e in evaluations]
    ladders = [one.ladder for one in measured if one.ladder is not None]
    drawn = {
        "latency": pictures.accuracy_against_latency(timed) if timed else "",
        "stages": pictures.shares_by_stage([s.removesuffix(" accuracy") for s in stages], columns),
        "calibration": pictures.calibration(certain) if any(found for _, found in certain) else "",
        "risk": pictures.risk_coverage(risks) if any(found for _, found in risks) else "",
        "ladders": pictures.ladders(ladders) if ladders else "",
    }
    for i, one in enumerate(report.comparisons):
        title = f"{one.later} minus {one.earlier}"
        drawn[f"differences {i}"] = pictures.differences([d for d in one.differences if d.unit == "share"], title)
    return drawn
