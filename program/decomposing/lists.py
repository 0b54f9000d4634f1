"""Cuts of a query as a list: several items share the words around them ("compare A's and B's view of C")."""

from __future__ import annotations

from collections.abc import Iterator

from ...signatures.types import MAX_SUB_QUERIES
from .family import Choice, Family, Outline, Part, Seen, Side
from .reading import Reading, Span, Stretch
from .traits import (
    Before,
    Behind,
    Beside,
    Between,
    Closes,
    Dropped,
    Items,
    Kinds,
    Left,
    Lengths,
    Named,
    Opens,
    size,
)

REACH = 3
"""The most units of a segment that are a list's first or last item, unless there is another reason for its length."""


def lists(reading: Reading, chosen: Choice) -> Iterator[Family]:
    """The families of cuts of a query as a list, for the lists and sides that ``chosen`` selects."""
    segments, behind = len(reading.segments), dict[Span, Seen]()
    outlines = [
        _outline(reading, first, last, behind)
        for first in range(segments - 1)
        for last in range(first + 1, min(segments, first + MAX_SUB_QUERIES))
    ]
    for outline in chosen.outlines(outlines):
        yield from _list(reading, outline, chosen)


def _outline(reading: Reading, first: int, last: int, behind: dict[Span, Seen]) -> Outline:
    """A list whose items are in the segments from ``first`` to ``last``.

    Args:
        behind: a cache of the features of spans behind the items.
    """
    count, kind = last - first + 1, reading.kind
    lefts = [
        Side(
            left,
            how,
            Opens(how, kind(left - 1), kind(left)),
            [((start, left), _before(reading, start, left, count)) for start in _starts(reading, first)],
        )
        for left, how in _lefts(reading, first, last).items()
    ]
    rights = [
        Side(right, how, Closes(how), [(span, _known(behind, span, reading)) for span in _ends(reading, right, last)])
        for right, how in _rights(reading, first, last).items()
    ]
    return Outline(first, last, _around(reading, first, last), lefts, rights)


def _list(reading: Reading, outline: Outline, chosen: Choice) -> Iterator[Family]:
    """The families of cuts of one list."""
    first, last, around = outline.first, outline.last, outline.around
    opens, closes, count = reading.segments[first], reading.segments[last], last - first + 1
    middle, needs = reading.segments[first + 1 : last], (0,) * count
    between, rights = [reading.stretch(span) for span in middle], chosen.sides(outline.rights)
    for left in chosen.sides(outline.lefts):
        shared = (*around, *_beside(reading, first, last, left.at == opens[0]), left.own)
        item, opening = (left.at, opens[1]), reading.stretch((left.at, opens[1]))
        for right in rights:
            closing = (closes[0], right.at)
            framed = left.at > 0, right.at < len(reading.units)
            seen = _items_seen([opening, *between, reading.stretch(closing)])
            items = (Items(count, len(reading.segments), left.how, right.how, framed), right.own, *seen)
            parts: list[Part] = [(item,), *((span,) for span in middle), (closing,)]
            yield Family("list", parts, needs, (shared, items), left.around, right.around)


def _known(behind: dict[Span, Seen], span: Span, reading: Reading) -> Seen:
    seen = behind.get(span)
    if seen is None:
        seen = behind[span] = _behind(reading, *span)
    return seen


def _starts(reading: Reading, first: int) -> tuple[int, ...]:
    """Where the words that are repeated before each item may begin: at the query, the list's first segment, or one
    segment earlier."""
    if not first:
        return (0,)
    own, before = reading.segments[first][0], reading.segments[first - 1][0]
    return (0, own, before) if first > 1 else (0, own)


def _ends(reading: Reading, right: int, last: int) -> tuple[Span, ...]:
    """What may be repeated behind each item: all that follows, or only the rest of the list's last segment."""
    everything = (right, len(reading.units))
    return (everything, (right, reading.segments[last][1])) if last < len(reading.joints) else (everything,)


def _before(reading: Reading, start: int, left: int, items: int) -> Seen:
    seen, lost = reading.stretch((start, left)), reading.stretch((0, start))
    first = seen.first if left > start else "none"
    own = Before(seen.size + 1 if seen.words else 0, seen.telling, seen.sort, first, items, start > 0, lost.telling)
    return (own, Dropped("lead", lost.first, lost.size)) if start else (own,)


def _behind(reading: Reading, right: int, stop: int) -> Seen:
    everything = len(reading.units)
    seen, lost = reading.stretch((right, stop)), reading.stretch((stop, everything))
    cut = stop < everything
    own = Behind(seen.size + 1 if seen.words else 0, seen.telling, seen.sort, reading.kind(right), cut, lost.telling)
    return (own, Dropped("tail", reading.kind(stop + 1), lost.size)) if cut else (own,)


def _around(reading: Reading, first: int, last: int) -> Seen:
    """The features of the joints between the items, and of all other joints."""
    between = tuple(Between(reading.said[joint], joint == last - 1) for joint in range(first, last))
    others = [*range(first), *range(last, len(reading.joints))]
    return (*between, *(Left(reading.said[joint]) for joint in others))


def _lefts(reading: Reading, first: int, last: int) -> dict[int, str]:
    """The units at which the first item may begin, each with the reason."""
    start, end = reading.segments[first]
    found = {end - back: f"left {back}" for back in range(1, REACH + 1) if end - back >= start}
    second = reading.segments[first + 1]
    if last > first + 1 and end - (second[1] - second[0]) >= start:
        found[end - (second[1] - second[0])] = "left as long"
    backwards = range(end - 1, start - 1, -1)
    name = next((place for place in backwards if reading.names(place)), None)
    if name is not None:
        found[name] = "left name"
    kind = reading.kind(second[0])
    alike = next((place for place in backwards if reading.kind(place) == kind), None)
    if alike is not None:
        same = reading.units[alike].low == reading.units[second[0]].low
        found[alike] = "left same" if same else "left kind"
    found[start] = "left all"
    return found


def _rights(reading: Reading, first: int, last: int) -> dict[int, str]:
    """The places behind which the last item may end, each with the reason."""
    start, end = reading.segments[last]
    found = {start + 1: "right 1", end: "right all"}
    for length in range(2, REACH + 1):
        if start + length < end:
            found.setdefault(start + length, f"right {length}")
    name = next((place for place in range(start, end) if reading.names(place)), None)
    if name is not None:
        found[name + 1] = "right name" if name + 1 < end else "right all"
    if last > first + 1:
        before = reading.segments[last - 1]
        length = before[1] - before[0]
        if start + length < end:
            found[start + length] = "right as long"
    return found


def _beside(reading: Reading, first: int, last: int, opens: bool) -> Seen:
    """The features of the joints next to the list; ``opens`` says that its first item fills its segment."""
    before = (Beside("behind", reading.said[first - 1], opens),) if first else ()
    return (*before, Beside("before", reading.said[last], opens)) if last < len(reading.joints) else before


def _items_seen(seen: list[Stretch]) -> Seen:
    one, other, lengths = seen[0], seen[-1], [one.words for one in seen]
    shortest, longest = min(lengths), max(lengths)
    alike = len({each.first for each in seen}) == 1, len({each.last for each in seen}) == 1
    return (
        Lengths(size(longest - shortest), size(longest), size(shortest)),
        Kinds((one.first, other.first), (one.last, other.last), alike, (one.sort, other.sort)),
        Named(sum([each.named for each in seen]), len(seen)),
    )
