"""Charts of a report as SVG that takes its colours from the page, so that one drawing serves light and dark mode."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from ..cascade.tables import Reliability, RiskCurve
from ..oracle import OracleLadder
from ..report import Difference
from ..significance import SAME
from ..statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, PAGE = "#010203", "#040506", "#070809"
SERIES = tuple(f"#0{i}0{i}0{i}" for i in range(1, 7))
"""Placeholder colours that occur in no drawing otherwise; each is replaced by a CSS variable of the page."""
_VARIABLES = {INK: "ink", FAINT: "faint", PAGE: "page", **{colour: f"series-{i}" for i, colour in enumerate(SERIES, 1)}}
_MARKS = "osD^vP"
_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))


def svg(draw: Callable[[Figure], None], width: float, height: float, title: str) -> str:
    """What ``draw`` puts on a figure, as an inline ``<svg>``.

    Args:
        width, height: in inches.
        title: for screen readers.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_settings(title)):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_alpha(0)
        draw(figure)
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(text.getvalue(), title)


def _settings(title: str) -> Any:
    inked = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
    return {
        "svg.fonttype": "none",
        # Seeds the ids of clip paths and markers: a drawing always gives the same file; two on a page have other ids.
        "svg.hashsalt": title,
        "font.size": 9,
        "axes.titlesize": 9.5,
        "axes.facecolor": "none",
        "axes.edgecolor": FAINT,
        "grid.color": FAINT,
        "grid.alpha": 0.35,
        "hatch.color": PAGE,
        "hatch.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        **dict.fromkeys(inked, INK),
    }


def _inline(text: str, title: str) -> str:
    body = text[text.index("<svg") :]
    for colour, name in _VARIABLES.items():
        body = body.replace(colour, f"var(--{name})")
    body = re.sub(r"font: ([\d.]+px) '[^']*'[^;\"]*", r"font-size: \1", body)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    label = title.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return body.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def accuracy_against_latency(points: Sequence[tuple[str, float, Estimate]]) -> str:
    """Share of wholly right plans over median latency, with the Pareto front marked.

    Args:
        points: (name, milliseconds, share of plans right).
    """

    times = [max(ms, 1e-3) for _, ms, _ in points]
    wide, top = max(times) > 10 * min(times), 120 * max(right.high for _, _, right in points)

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot(xlabel="median milliseconds a plan", ylabel="whole plans right, %")
        axes.set_ylim(0, min(100.0, max(top, 1.0)))
        axes.set_xscale("log" if wide else "linear")
        axes.grid(True, which="major")
        for i, (name, _, right) in enumerate(points):
            _dot(axes, i, times[i], right, name)
        front = [(max(ms, 1e-3), 100 * right.value) for _, ms, right in pareto_front(points)]
        axes.plot(*zip(*front, strict=True), color=INK, lw=1, ls="--", drawstyle="steps-post", zorder=1, label="front")
        axes.set_xlim(min(times) / 1.6 if wide else 0, max(times) * (1.6 if wide else 1.15))
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))

    return svg(draw, 7.2, 3.4, "Accuracy against latency, with the Pareto front")


def pareto_front(points: Sequence[tuple[str, float, Estimate]]) -> list[tuple[str, float, Estimate]]:
    """The points that no other is both as fast and as right as, and better in one; the fastest first."""
    front: list[tuple[str, float, Estimate]] = []
    for point in sorted(points, key=lambda p: (p[1], -p[2].value)):
        if not front or point[2].value > front[-1][2].value:
            front.append(point)
    return front


def _dot(axes: Axes, i: int, x: float, right: Estimate, name: str) -> None:
    mark = {"fmt": _MARKS[i % 6], "ms": 6, "capsize": 3, "color": SERIES[i % 6], "label": name}
    axes.errorbar([x], [100 * right.value], yerr=_reach([right]), **mark)


def shares_by_stage(stages: Sequence[str], columns: Sequence[tuple[str, Sequence[Estimate | None]]]) -> str:
    """Accuracy of each stage with its interval, a mark for each column."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot(xlabel="right, %", xlim=(0, 100))
        axes.grid(True, axis="x")
        for i, (name, found) in enumerate(columns):
            places = [(y + _shift(i, len(columns)), e) for y, e in enumerate(found) if e is not None]
            _across(axes, i, places, name)
        axes.set_yticks(range(len(stages)), stages)
        axes.invert_yaxis()
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))

    return svg(draw, 7.2, 0.9 + 0.42 * len(stages), "Accuracy by stage")


def _shift(i: int, n: int) -> float:
    return (i - (n - 1) / 2) * min(0.18, 0.7 / n)


def _across(axes: Axes, i: int, places: Sequence[tuple[float, Estimate]], name: str) -> None:
    values, heights = [100 * e.value for _, e in places], [y for y, _ in places]
    reach = _reach([e for _, e in places])
    axes.errorbar(values, heights, xerr=reach, fmt=_MARKS[i % 6], ms=4.5, capsize=2, color=SERIES[i % 6], label=name)


def _reach(found: Sequence[Estimate]) -> list[list[float]]:
    """How far the intervals reach to the left and to the right, in points, shape (2, estimates).

    It is 0 on a side where the value is outside its interval.
    """
    return [[100 * max(0.0, e.value - e.low) for e in found], [100 * max(0.0, e.high - e.value) for e in found]]


def differences(found: Sequence[Difference], title: str) -> str:
    """Differences in points with their intervals; a filled mark is one shown beyond chance, an empty one is not.

    Of slices only wholly right plans and shown differences are drawn: the table beside the drawing has everything.
    """

    found = [d for d in found if d.slice is None or d.verdict != SAME or d.measure == "plan_right"]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot(xlabel="difference in points")
        axes.axvline(0, color=INK, lw=1)
        axes.grid(True, axis="x")
        for y, one in enumerate(found):
            _difference(axes, y, one)
        axes.set_yticks(range(len(found)), [f"{d.slice or 'all rows'}, {d.measure}" for d in found])
        axes.set_ylim(len(found) - 0.5, -0.5)

    return svg(draw, 7.2, 0.8 + 0.24 * max(len(found), 2), title)


def _difference(axes: Axes, y: int, one: Difference) -> None:
    e = one.paired.difference
    shown = one.verdict != SAME
    colour = SERIES[0] if one.verdict == "better" else SERIES[1] if shown else FAINT
    face = colour if shown else "none"
    axes.errorbar([100 * e.value], [y], xerr=_reach([e]), fmt="o", ms=5, capsize=2, color=colour, mfc=face)


def ladders(found: Sequence[OracleLadder]) -> str:
    """How many wholly right plans each stage loses: a bar for each program, its parts in the order of the stages."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot(xlabel="whole plans right, %", xlim=(0, 100))
        longest = max(range(len(found)), key=lambda y: len(found[y].rungs))
        for y, ladder in enumerate(found):
            left = 100 * ladder.rungs[0].right.value
            axes.barh(y, left, height=0.5, color=SERIES[0], label="as it is" if y == longest else None)
            for i, (stage, gain) in enumerate(ladder.costs.items(), 1):
                points = 100 * gain.difference.value
                label = f"{stage} given" if y == longest else None
                axes.barh(y, points, left=left, height=0.5, color=SERIES[i % 6], label=label, hatch=_HATCHES[i % 6])
                left += points
        axes.set_yticks(range(len(found)), [ladder.name for ladder in found])
        axes.invert_yaxis()
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.35), ncols=3)

    return svg(draw, 7.2, 1.5 + 0.45 * len(found), "What each stage costs")


_HATCHES = ("", "//", "..", "\\\\", "xx", "--")


def calibration(columns: Sequence[tuple[str, Sequence[Reliability]]]) -> str:
    """Accuracy over certainty: a panel for each stage, a line for each column; the diagonal is perfect calibration."""
    stages = list(dict.fromkeys(one.stage for _, found in columns for one in found))

    def draw(figure: Figure) -> None:
        for axes, stage in zip(_panels(figure, stages, "certainty", "right"), stages, strict=True):
            axes.plot([0, 1], [0, 1], color=FAINT, lw=1)
            for i, (name, found) in enumerate(columns):
                for one in (o for o in found if o.stage == stage):
                    xs, ys = [b.certainty for b in one.bins], [b.right.value for b in one.bins]
                    _line(axes, i, xs, ys, name, _MARKS[i % 6])
        _legend(figure)

    return svg(draw, 7.2, 2.9, "Calibration by stage")


def risk_coverage(columns: Sequence[tuple[str, Sequence[RiskCurve]]]) -> str:
    """Share of wrong answers among the most certain ones, over the share that is taken; a panel for each stage."""
    stages = list(dict.fromkeys(one.stage for _, found in columns for one in found))

    def draw(figure: Figure) -> None:
        for axes, stage in zip(_panels(figure, stages, "coverage", "wrong"), stages, strict=True):
            for i, (name, found) in enumerate(columns):
                for one in (o for o in found if o.stage == stage):
                    _line(axes, i, [p.coverage for p in one.points], [p.risk for p in one.points], name)
        _legend(figure)

    return svg(draw, 7.2, 2.9, "Risk against coverage by stage")


def _panels(figure: Figure, stages: Sequence[str], x: str, y: str) -> list[Axes]:
    panels = figure.subplots(1, max(len(stages), 1), squeeze=False, sharey=True)[0]
    for axes, stage in zip(panels, stages, strict=False):
        axes.set(title=stage, xlabel=x, xlim=(0, 1.02), ylim=(0, 1.02))
        axes.grid(True)
    panels[0].set_ylabel(y)
    return list(panels)[: len(stages)]


def _line(axes: Axes, i: int, xs: Sequence[float], ys: Sequence[float], name: str, mark: str = "") -> None:
    axes.plot(xs, ys, color=SERIES[i % 6], ls=_STYLES[i % 6], marker=mark, ms=3.5, lw=1.4, label=name)


def _legend(figure: Figure) -> None:
    """One legend for all panels."""
    found = {label: line for axes in figure.axes for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    if found:
        figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=min(4, len(found)))
