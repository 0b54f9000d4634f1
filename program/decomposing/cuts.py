"""Every cut of a query into sub-queries, each with what speaks for it.

Two kinds. *Clauses*: the query falls apart at some of its joints; what stands before may be told with each clause, and
what points back in a later one may be what the first is about, or its answer ("who coined it, and what does she read":
``what does {1} read``). *Lists*: several items share what stands around them ("compare A's and B's view of C").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from ...signatures.types import MAX_SUB_QUERIES, MIN_SUB_QUERIES
from ..rewriting.moves import WHOSE
from .reading import Reading, Site, Span, Stretch
from .traits import (
    AnswerPut,
    AsIs,
    At,
    Before,
    Begins,
    Behind,
    Beside,
    Between,
    Dropped,
    Items,
    Kinds,
    Lead,
    Left,
    Lengths,
    Named,
    Own,
    Sizes,
    Sorts,
    Split,
    Tail,
    TopicAdded,
    TopicPut,
    size,
)
from .units import CAPITAL, NAMING

MOST_SEGMENTS = 9
"""A query of more is not cut: it has thousands of cuts, and few of their texts were right."""
LEADS = 2
"""So many segments at most stand before the first clause."""
REACH = 3
"""So many units of a segment at most are a list's first or last item, unless they look like the item beside it."""

NOTHING = (0, 0)
"""The span of no unit."""
Part = tuple[Span | str, ...]
"""What a sub-query is put together from: stretches of the query, and words that are not there."""


class Cut(NamedTuple):
    """One way of cutting a query.

    Attributes:
        kind: ``clauses`` or ``list``.
        before: what is said before each part; ``behind`` what is said behind it.
        parts: of the sub-queries, in order.
        needs: of each sub-query the number of the one whose answer it needs; 0 for none.
        seen: what is seen of it, in groups that other cuts of the query share.
    """

    kind: str
    before: Span
    parts: Sequence[Part]
    behind: Span
    needs: tuple[int, ...]
    seen: tuple[tuple[Own, ...], ...]

    def texts(self, reading: Reading) -> list[str]:
        """The sub-queries."""
        return [_text(reading, (self.before, *part, self.behind)) for part in self.parts]


def _text(reading: Reading, part: Part) -> str:
    said = (piece if isinstance(piece, str) else reading.text(piece) for piece in part)
    return " ".join(piece for piece in said if piece)


def cuts(reading: Reading) -> Iterator[Cut]:
    """All cuts of a query; none of one without joints, or with too many."""
    if MIN_SUB_QUERIES <= len(reading.segments) <= MOST_SEGMENTS:
        yield from _clauses(reading)
        yield from _lists(reading)


# -- clauses ------------------------------------------------------------------------------------------


def _clauses(reading: Reading) -> Iterator[Cut]:
    segments = len(reading.segments)
    at = [(_at(reading, joint, False), _at(reading, joint, True)) for joint in range(segments - 1)]
    found: dict[tuple[Span, ...], tuple[Own, ...]] = {}
    for begin in range(min(LEADS + 1, segments - 1)):
        for end in (segments, segments - 1) if segments - 1 - begin >= MIN_SUB_QUERIES else (segments,):
            shapes = _shapes(reading, begin, end)
            for parts in range(MIN_SUB_QUERIES, min(MAX_SUB_QUERIES, end - begin) + 1):
                for where in combinations(range(begin, end - 1), parts - 1):
                    spans = _spans(reading, (begin, *(joint + 1 for joint in where), end))
                    joints = tuple([at[joint][joint in where] for joint in range(begin, end - 1)])
                    alike = found.get(spans) or found.setdefault(spans, _clauses_seen(reading, spans))
                    for told, lead, shape in shapes[parts]:
                        yield from _told(reading, lead, told, spans, (shape, joints, alike))


Shape = tuple[bool, Span, tuple[Own, ...]]
"""Whether what stands before is told with each clause, that part of the query, and what is seen of both."""


def _shapes(reading: Reading, begin: int, end: int) -> dict[int, list[Shape]]:
    """What may be done with the segments before and behind the clauses, by the number of clauses."""
    segments = len(reading.segments)
    tail = () if end == segments else (_tail(reading),)
    lead = (0, reading.segments[begin - 1][1]) if begin else NOTHING
    return {
        parts: [
            (
                not begin or told,
                lead if told else NOTHING,
                (
                    Split(parts, segments, not begin, told, end == segments),
                    *((_lead(reading, begin, told),) if begin else ()),
                    *tail,
                ),
            )
            for told in ((False, True) if begin else (False,))
        ]
        for parts in range(MIN_SUB_QUERIES, MAX_SUB_QUERIES + 1)
    }


def _at(reading: Reading, joint: int, cut: bool) -> At:
    start, end = reading.joints[joint]
    return At(cut, reading.said[joint], reading.kind(start - 1), reading.kind(end), reading.kind(end + 1))


def _lead(reading: Reading, begin: int, told: bool) -> Lead:
    seen, joint = reading.stretch((0, reading.segments[begin - 1][1])), reading.said[begin - 1]
    then = reading.kind(reading.segments[begin][0])
    return Lead(told, seen.size, seen.telling, seen.named, joint, seen.first, seen.last, then)


def _tail(reading: Reading) -> Tail:
    seen = reading.stretch(reading.segments[-1])
    return Tail(seen.size, seen.telling, reading.said[-1], seen.first)


def _spans(reading: Reading, bounds: tuple[int, ...]) -> tuple[Span, ...]:
    """The clauses from segment to segment."""
    segments = reading.segments
    return tuple([(segments[a][0], segments[b - 1][1]) for a, b in pairwise(bounds)])


def _clauses_seen(reading: Reading, spans: tuple[Span, ...]) -> tuple[Own, ...]:
    seen = [reading.stretch(span) for span in spans]
    kinds, lengths = [one.first for one in seen], [one.words or 1 for one in seen]
    shortest, longest = min(lengths), max(lengths)
    named, telling = tuple([one.named for one in seen]), tuple([one.telling > 0 for one in seen])
    return (
        Begins(kinds[0], kinds[1], len(set(kinds)) < len(kinds)),
        Sizes(size(shortest), size(longest), size(longest / shortest)),
        Sorts(tuple([one.sort for one in seen]), named, telling),
    )


Seen = tuple[tuple[Own, ...], ...]


def _told(reading: Reading, lead: Span, whole: bool, spans: tuple[Span, ...], seen: Seen) -> Iterator[Cut]:
    """Clauses as they stand, with what the first is about, and with its answer.

    Args:
        lead: what is told with each.
        whole: whether nothing before the first is left out; what was left out may be what all are about.
    """
    stretches = [reading.stretch(span) for span in spans]
    first, later = stretches[0], stretches[1:]
    pointing = tuple([one.site[2] for one in later if one.site])
    nothing = (0,) * len(spans)
    as_is = AsIs(pointing, first.named and not all(one.named for one in later))
    yield Cut("clauses", lead, [(span,) for span in spans], NOTHING, nothing, (*seen, (as_is,)))
    topic, of = reading.topic((spans[0][0] if whole else 0, spans[0][1]))
    own = list[Own]()
    parts: list[Part] = [(spans[0],)]
    for span, one in zip(spans[1:], later, strict=True):
        if not topic or topic.lower() in reading.text(span).lower():
            parts.append((span,))
        elif one.site is not None:
            own.append(TopicPut(of, one.site[2], reading.kind(one.site[1])))
            parts.append(_put(span, one.site, topic))
        else:
            own.append(TopicAdded(of, one.sort, one.telling, one.named, one.first, one.last))
            parts.append((span, topic))
    if own:
        yield Cut("clauses", lead, parts, NOTHING, nothing, (*seen, tuple(own)))
    if pointing:
        yield _answered(reading, lead, spans, stretches, seen)


def _answered(reading: Reading, lead: Span, spans: tuple[Span, ...], stretches: list[Stretch], seen: Seen) -> Cut:
    """Clauses of which those that point need the answer to the one before."""
    needs, own, first = [0], list[Own](), stretches[0]
    parts: list[Part] = [(spans[0],)]
    for number, (span, one) in enumerate(zip(spans[1:], stretches[1:], strict=True), 1):
        if one.site is None:
            parts.append((span,))
            needs.append(0)
        else:
            own.append(AnswerPut(one.site[2], reading.kind(one.site[1]), first.named, first.first))
            parts.append(_put(span, one.site, f"{{{number}}}"))
            needs.append(number)
    return Cut("clauses", lead, parts, NOTHING, tuple(needs), (*seen, tuple(own)))


def _put(span: Span, site: Site, said: str) -> Part:
    """A span with something else in the place of the words that point, as an owner where they are one."""
    start, end, words = site
    return (span[0], start), said + ("'s" if words in WHOSE else ""), (end, span[1])


# -- lists --------------------------------------------------------------------------------------------


def _lists(reading: Reading) -> Iterator[Cut]:
    segments = len(reading.segments)
    for first in range(segments - 1):
        for last in range(first + 1, min(segments, first + MAX_SUB_QUERIES)):
            yield from _list(reading, first, last)


def _list(reading: Reading, first: int, last: int) -> Iterator[Cut]:
    """Every cut of the list whose items are in the segments from ``first`` to ``last``."""
    opens, closes, count = reading.segments[first], reading.segments[last], last - first + 1
    around, middle = _around(reading, first, last), reading.segments[first + 1 : last]
    rights = [
        (right, until, [(stop, _behind(reading, right, stop)) for stop in _stops(reading, last)])
        for right, until in _rights(reading, first, last).items()
    ]
    needs = (0,) * count
    for left, how in _lefts(reading, first, last).items():
        fronts = [(start, _before(reading, start, left, count)) for start in _starts(reading, first)]
        beside = _beside(reading, first, last, left == opens[0])
        for right, until, ends in rights:
            items = ((left, opens[1]), *middle, (closes[0], right))
            framed = left > 0, right < len(reading.units)
            group = (Items(count, len(reading.segments), how, until, framed), *_items_seen(reading, items))
            parts = [(item,) for item in items]
            for start, before in fronts:
                for stop, behind in ends:
                    seen = around, beside, group, before, behind
                    yield Cut("list", (start, left), parts, (right, stop), needs, seen)


def _starts(reading: Reading, first: int) -> tuple[int, ...]:
    """Where what is said before each item may begin: the query, the list's first segment, or the one before that."""
    if not first:
        return (0,)
    own, before = reading.segments[first][0], reading.segments[first - 1][0]
    return (0, own, before) if first > 1 else (0, own)


def _stops(reading: Reading, last: int) -> tuple[int, ...]:
    """Where what is said behind each item may end: with the query, or with the list's last segment."""
    everything = len(reading.units)
    return (everything, reading.segments[last][1]) if last < len(reading.joints) else (everything,)


def _before(reading: Reading, start: int, left: int, items: int) -> tuple[Own, ...]:
    seen, lost = reading.stretch((start, left)), reading.stretch((0, start))
    first = seen.first if left > start else "none"
    own = Before(seen.size + 1 if seen.words else 0, seen.telling, seen.sort, first, items, start > 0, lost.telling)
    return (own, Dropped("lead", lost.first, lost.size)) if start else (own,)


def _behind(reading: Reading, right: int, stop: int) -> tuple[Own, ...]:
    everything = len(reading.units)
    seen, lost = reading.stretch((right, stop)), reading.stretch((stop, everything))
    cut = stop < everything
    own = Behind(seen.size + 1 if seen.words else 0, seen.telling, seen.sort, reading.kind(right), cut, lost.telling)
    return (own, Dropped("tail", reading.kind(stop + 1), lost.size)) if cut else (own,)


def _around(reading: Reading, first: int, last: int) -> tuple[Own, ...]:
    """The joints between the items, and those that are in no list."""
    between = tuple(Between(reading.said[joint], joint == last - 1) for joint in range(first, last))
    others = [*range(first), *range(last, len(reading.joints))]
    return (*between, *(Left(reading.said[joint]) for joint in others))


def _lefts(reading: Reading, first: int, last: int) -> dict[int, str]:
    """Where the first item may begin, and why there."""
    start, end = reading.segments[first]
    found = {end - back: f"left {back}" for back in range(1, REACH + 1) if end - back >= start}
    second = reading.segments[first + 1]
    if last > first + 1 and end - (second[1] - second[0]) >= start:
        found[end - (second[1] - second[0])] = "left as long"
    backwards = range(end - 1, start - 1, -1)
    name = next((place for place in backwards if _names(reading.kind(place))), None)
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
    """Behind which unit the last item may end, and why there."""
    start, end = reading.segments[last]
    found = {start + 1: "right 1", end: "right all"}
    for length in range(2, REACH + 1):
        if start + length < end:
            found.setdefault(start + length, f"right {length}")
    name = next((place for place in range(start, end) if _names(reading.kind(place))), None)
    if name is not None:
        found[name + 1] = "right name" if name + 1 < end else "right all"
    if last > first + 1:
        before = reading.segments[last - 1]
        length = before[1] - before[0]
        if start + length < end:
            found[start + length] = "right as long"
    return found


def _names(kind: str) -> bool:
    return kind in NAMING or kind == CAPITAL


def _beside(reading: Reading, first: int, last: int, opens: bool) -> tuple[Own, ...]:
    """The joints next to the list, and whether its first item fills its segment."""
    before = (Beside("behind", reading.said[first - 1], opens),) if first else ()
    return (*before, Beside("before", reading.said[last], opens)) if last < len(reading.joints) else before


def _items_seen(reading: Reading, items: tuple[Span, ...]) -> tuple[Own, ...]:
    seen = [reading.stretch(item) for item in items]
    lengths = [end - start for start, end in items]
    one, other, before = seen[0], seen[-1], reading.kind(items[0][0] - 1)
    shortest, longest = min(lengths), max(lengths)
    alike = len({one.first for one in seen}) == 1, len({one.last for one in seen}) == 1
    return (
        Lengths(size(longest - shortest), size(longest), size(shortest)),
        Kinds((one.first, other.first), (one.last, other.last), alike, (one.sort, other.sort), before),
        Named(sum([one.named for one in seen]), len(seen)),
    )
