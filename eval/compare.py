"""Compares programs on the same rows, pair by pair: what differs, on which slices, and which plans got worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..errors import UserError
from ..signatures.types import Frozen
from .evaluation import Evaluation
from .page.plan_view import ViewLine, view
from .render import format_difference
from .report import MEASURES, WHOLE, Difference, Line, Measure, differences_of, lines_of, same_rows, seen_sentences
from .row_table import RowResult
from .significance import SAME
from .slices import reported

SLICED = WHOLE
"""What is compared on slices; stages are compared on all rows only, or so many questions would hide every answer."""

LATENCY = Measure("milliseconds a query", "milliseconds", "ms", False)
SHOWN = 20


class Change(Frozen):
    """A row whose plan got worse or better.

    Attributes:
        lost: stages that were right and are wrong now.
        gained: stages that were wrong and are right now.
        weight: how much worse it got; the whole plan counts most, then labels, then each stage and the rewrite's F1.
        lines: gold, the earlier plan and the later one, side by side.
    """

    row_id: str
    conversation: str
    query: str
    slices: tuple[str, ...]
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    weight: float
    lines: tuple[ViewLine, ...]


class Comparison(Frozen):
    """One program, ``later``, against another, ``earlier``, on the same rows.

    Attributes:
        differences: later minus earlier on all rows, then slice by slice; all corrected together.
        regressions: rows that got worse, worst first, up to the number asked for.
        worse: number of rows whose plan was right and is wrong now; ``better`` is the opposite.
        sentences: what the numbers mean, in plain words.
    """

    earlier: str
    later: str
    differences: tuple[Difference, ...]
    regressions: tuple[Change, ...]
    worse: int
    better: int
    sentences: tuple[str, ...]

    def difference(self, measure: str, slice_name: str | None = None) -> Difference | None:
        """The difference on one measure, or None if it applies to no row."""
        return next((d for d in self.differences if d.measure == measure and d.slice == slice_name), None)

    @property
    def shown(self) -> tuple[Difference, ...]:
        """The differences that are statistically shown."""
        return tuple(d for d in self.differences if d.verdict != SAME)


class CompareReport(Frozen):
    """Several evaluations of the same rows, each compared with the first.

    Attributes:
        columns: names of the evaluations, the baseline first.
        lines: every measure with its interval, one cell for each column.
        notes: a sentence for each program that learned from some of the rows.
    """

    columns: tuple[str, ...]
    versions: tuple[str, ...]
    domain: str
    n: int
    conversations: int
    data_fingerprint: str
    load_average: tuple[tuple[float, ...], ...]
    replayed: tuple[bool, ...]
    lines: tuple[Line, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...] = ()


def compare(evaluations: Sequence[Evaluation], shown: int = SHOWN) -> CompareReport:
    """Put evaluations side by side and compare each with the first.

    Args:
        shown: number of regressions to keep for each pair.

    Raises:
        UserError: there are fewer than two, or they have different domains or rows, or the same name.
    """
    if len(evaluations) < 2:
        raise UserError("comparing takes two evaluations or more; `queryplan evaluate` measures one")
    return side_by_side(evaluations, shown)


def side_by_side(evaluations: Sequence[Evaluation], shown: int = SHOWN) -> CompareReport:
    """As `compare`, but also for a single evaluation, which is compared with nothing."""
    check_comparable(evaluations)
    first = evaluations[0]
    return CompareReport(
        columns=tuple(e.name for e in evaluations),
        versions=tuple(e.program_version for e in evaluations),
        domain=first.domain,
        n=len(first.cases),
        conversations=first.summary().conversations,
        data_fingerprint=first.data_fingerprint,
        load_average=tuple(e.load_average for e in evaluations),
        replayed=tuple(e.replayed for e in evaluations),
        lines=lines_of(evaluations),
        comparisons=tuple(compare_pair(first, later, shown) for later in evaluations[1:]),
        notes=seen_sentences(evaluations),
    )


def compare_pair(earlier: Evaluation, later: Evaluation, shown: int = SHOWN) -> Comparison:
    """Compare ``later`` with ``earlier``, on the same rows."""
    differences = compared_rows(earlier, later)
    changes = sorted(_changes(earlier, later), key=lambda c: (-c[0], c[2].row_id))
    worse = [_change(*change) for change in changes if change[0] > 0][:shown]
    flips = Counter((a.score.plan_right, b.score.plan_right) for _, a, b in changes)
    lost, won = flips[True, False], flips[False, True]
    return Comparison(
        earlier=earlier.name,
        later=later.name,
        differences=differences,
        regressions=tuple(worse),
        worse=lost,
        better=won,
        sentences=_sentences(earlier.name, later.name, differences, lost, won),
    )


def compared_rows(earlier: Evaluation, later: Evaluation) -> tuple[Difference, ...]:
    """Every difference that is tested: all measures on all rows, labels and plans on each slice worth reporting."""
    timed = () if earlier.replayed or later.replayed else (LATENCY,)
    slices = reported(row.slices for row in later.cases)
    on_slices = [(name, m) for name in slices for m in MEASURES if m.score in SLICED]
    return differences_of(
        later.cases, earlier.cases, earlier.name, [*((None, m) for m in (*MEASURES, *timed)), *on_slices]
    )


def check_comparable(evaluations: Sequence[Evaluation]) -> None:
    """Refuse evaluations that cannot be compared.

    Raises:
        UserError: there are none, or they have different domains or rows, or the same name.
    """
    domains = {e.domain for e in evaluations if e.domain}
    if len(domains) > 1:
        raise UserError(
            f"these are of different domains ({', '.join(sorted(domains))}): compare programs of one domain"
        )
    same_rows(evaluations)


Pair = tuple[float, RowResult, RowResult]


def _changes(earlier: Evaluation, later: Evaluation) -> Iterable[Pair]:
    before = {row.row_id: row for row in earlier.cases}
    for row in later.cases:
        yield _weight(before[row.row_id], row) - _weight(row, before[row.row_id]), before[row.row_id], row


def _weight(row: RowResult, other: RowResult) -> float:
    """How right a row's plan is, higher is better; only stages that were scored in both count."""
    score, theirs = row.score, other.outcomes
    stages = sum(right is True and theirs[name] is not None for name, right in row.outcomes.items())
    return 10.0 * score.plan_right + 5.0 * score.labels_right + stages + (score.rewrite_f1 or 0.0)


def _change(weight: float, before: RowResult, after: RowResult) -> Change:
    was, now = before.outcomes, after.outcomes
    return Change(
        row_id=after.row_id,
        conversation=after.conversation,
        query=after.query,
        slices=after.slices,
        lost=tuple(name for name in was if was[name] is True and now[name] is False),
        gained=tuple(name for name in was if was[name] is False and now[name] is True),
        weight=weight,
        lines=view([before, after]),
    )


def _sentences(earlier: str, later: str, found: Sequence[Difference], lost: int, won: int) -> tuple[str, ...]:
    whole = next(d for d in found if d.measure == "plan_right" and d.slice is None)
    moved = f"{won} plans became right and {lost} became wrong"
    return (_whole_sentence(earlier, later, whole, moved), _list_sentence(found), _cost_sentence(found))


def _whole_sentence(earlier: str, later: str, whole: Difference, moved: str) -> str:
    numbers = format_difference(whole)
    if whole.verdict == SAME:
        could = f"these rows would show {100 * (whole.detectable or 0):.1f} points in four cases of five"
        return f"{later} against {earlier}, whole plans: no difference shown ({numbers}); {moved}; {could}."
    return f"{later} is {whole.verdict} than {earlier} in whole plans: {numbers}; {moved}."


def _list_sentence(found: Sequence[Difference]) -> str:
    judged = [d for d in found if d.unit == "share" and (d.measure, d.slice) != ("plan_right", None)]
    told = []
    for verdict in ("worse", "better"):
        names = [
            d.measure if d.slice is None else f"{d.measure} of {d.slice!r}" for d in judged if d.verdict == verdict
        ]
        told += [f"{verdict} on {', '.join(names)}"] if names else []
    text = "; ".join(told) if told else "no difference shown on any other share"
    return f"{text[0].upper()}{text[1:]}; corrected for {len(found)} questions."


def _cost_sentence(found: Sequence[Difference]) -> str:
    costs = [d for d in found if d.unit != "share" and d.slice is None]
    shown = [f"{d.measure} {format_difference(d)}" for d in costs if d.verdict != SAME]
    return f"Cost: {'; '.join(shown)}." if shown else "Cost: no difference shown in calls, tokens, rounds or time."
