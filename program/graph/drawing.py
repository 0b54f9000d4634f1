"""Draws graph plans, as mermaid for a page or SVG for a file; arrows show which step uses which result."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from ...errors import DataError
from ...signatures.graph_steps import AnchorStep, ExpandStep, GraphPlan, GraphSchema, GraphStep
from .check import step_types
from .wording import step_words, used_by

FORMATS = (".svg", ".mmd")
_WIDTH, _LINE, _GAP, _PAD = 230, 17, 60, 12
_FILL = {"anchor": "#dbeafe", "expand": "#ecfccb", "count": "#fef3c7", "order": "#fef3c7", "filter": "#fef3c7"}
_SETS = "#fae8ff"


def check_format(path: Path) -> None:
    """Check that a picture's file name has a known ending.

    Raises:
        DataError: it ends in neither .svg nor .mmd.
    """
    if path.suffix not in FORMATS:
        raise DataError(f"{path.name}: a picture of a plan ends in {' or '.join(FORMATS)}")


def draw_plan(plan: GraphPlan, path: Path, schema: GraphSchema | None = None) -> None:
    """Write a plan as a picture: ``.svg``, or ``.mmd`` for mermaid.

    Raises:
        DataError: ``path`` ends in neither, or cannot be written.
    """
    check_format(path)
    try:
        made = plan_svg(plan, schema) if path.suffix == ".svg" else plan_mermaid(plan, schema)
        path.write_text(made, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}") from error


def plan_mermaid(plan: GraphPlan, schema: GraphSchema | None = None) -> str:
    """A flowchart for mermaid; every label is escaped, so a name cannot end it."""
    lines = ["flowchart LR"]
    for number, (step, told) in enumerate(zip(plan.steps, _boxes(plan, schema), strict=True)):
        shape = ("([", "])") if isinstance(step, AnchorStep) else ("[", "]")
        lines.append(f'  s{number}{shape[0]}"{"<br/>".join(map(_mermaid, told))}"{shape[1]}')
    for before, after, excluded in _arrows(plan):
        lines.append(f"  s{before} {'-. without .->' if excluded else '-->'} s{after}")
    return "\n".join(lines) + "\n"


def _mermaid(text: str) -> str:
    """Text with entities for every character that has a meaning in mermaid or Markdown."""
    return "".join(c if c.isalnum() or c in " _-.,:" else f"#{ord(c)};" for c in text)


def plan_svg(plan: GraphPlan, schema: GraphSchema | None = None) -> str:
    """A picture of boxes from left to right, the answer last."""
    boxes = _boxes(plan, schema)
    places = _places(plan, boxes)
    width = max(x for x, _ in places) + _WIDTH + _PAD
    height = max(y + _height(told) for (_, y), told in zip(places, boxes, strict=True)) + _PAD
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img">',
        "<title>A graph plan</title>",
        '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#475569"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        *(_arrow(places, boxes, *arrow) for arrow in _arrows(plan)),
        *(_box(step, place, told) for step, place, told in zip(plan.steps, places, boxes, strict=True)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _boxes(plan: GraphPlan, schema: GraphSchema | None) -> list[list[str]]:
    """The lines of each box: the stored result and its type, then the step in words."""
    types = (step_types(plan, schema) if schema else None) or {}
    return [_lines(step, types) for step in plan.steps]


def _lines(step: GraphStep, types: Mapping[str, str]) -> list[str]:
    kind = types.get(step.store_as)
    title = f"{step.store_as}: {kind}" if kind else step.store_as
    return [_printable(line) for line in (title, *textwrap.wrap(step_words(step), 34, max_lines=8, placeholder=" …"))]


def _printable(text: str) -> str:
    """Text without control characters, which XML cannot have, not even escaped."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _arrows(plan: GraphPlan) -> list[tuple[int, int, bool]]:
    """(from, to, whether it is an exclusion) by step number; a name that no earlier step stores has no arrow."""
    at: dict[str, int] = {}
    found = []
    for number, step in enumerate(plan.steps):
        excluded = step.exclude if isinstance(step, ExpandStep) else ()
        main = [name for name in used_by(step) if name not in excluded or name == getattr(step, "start", None)]
        found += [(at[name], number, False) for name in main if name in at]
        found += [(at[name], number, True) for name in excluded if name in at]
        at[step.store_as] = number
    return found


def _places(plan: GraphPlan, boxes: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """The upper left corner of each box, (x, y): right of every step that it uses, and below the boxes drawn there."""
    columns: list[int] = []
    for number in range(len(plan.steps)):
        before = [columns[start] for start, end, _ in _arrows(plan) if end == number]
        columns.append(max(before, default=-1) + 1)
    # Where an arrow passes a column on its way, its height is kept free there.
    farthest: dict[int, int] = {}
    for start, end, _ in _arrows(plan):
        farthest[start] = max(farthest.get(start, 0), columns[end])
    filled: dict[int, int] = {}
    places: list[tuple[int, int]] = []
    for column, told in zip(columns, boxes, strict=True):
        passing = [n for n in range(len(places)) if columns[n] < column < farthest.get(n, 0)]
        below = [places[n][1] + _height(boxes[n]) + 2 * _PAD for n in passing]
        y = max(filled.get(column, _PAD), *below, _PAD)
        places.append((_PAD + column * (_WIDTH + _GAP), y))
        filled[column] = y + _height(told) + _PAD * 2
    return places


def _height(told: Sequence[str]) -> int:
    return _LINE * len(told) + _PAD


def _box(step: GraphStep, place: tuple[int, int], told: Sequence[str]) -> str:
    x, y = place
    fill = _FILL.get(step.kind, _SETS)
    lines = "".join(
        f'<text x="{x + 10}" y="{y + _LINE * (n + 1)}"{"" if n else " font-weight=" + chr(34) + "bold" + chr(34)}>'
        f"{escape(line)}</text>"
        for n, line in enumerate(told)
    )
    shape = f'rx="8" fill="{fill}" stroke="#475569"'
    return f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_height(told)}" {shape}/>{lines}'


def _arrow(
    places: Sequence[tuple[int, int]], boxes: Sequence[Sequence[str]], before: int, after: int, excluded: bool
) -> str:
    (x1, y1), (x2, y2) = places[before], places[after]
    start, end = y1 + _height(boxes[before]) // 2, y2 + _height(boxes[after]) // 2
    left, middle = x1 + _WIDTH, (x1 + _WIDTH + x2) // 2
    dash = ' stroke-dasharray="5 4"' if excluded else ""
    curve = f"M{left},{start} C{middle},{start} {middle},{end} {x2},{end}"
    return f'<path d="{curve}" fill="none" stroke="#475569" marker-end="url(#end)"{dash}/>'
