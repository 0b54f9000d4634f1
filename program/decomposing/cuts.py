"""Every cut of a query into sub-queries, each with what speaks for it.

Two kinds. *Clauses*: the query falls apart at some of its joints; what stands before may be told with each clause, and
what points back in a later one may be what the first is about, or its answer ("who coined it, and what does she read":
``what does {1} read``). *Lists*: several items share what stands around them ("compare A's and B's view of C").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from ...signatures.types import MAX_SUB_QUERIES, MIN_SUB_QUERIES
from ..rewriting.moves import WHOSE
from ..rewriting.words import is_unspaced
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
    Closes,
    Dropped,
    Items,
    Kinds,
    Lead,
    Left,
    Lengths,
    Named,
    Opens,
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

MOST_SEGMENTS = 5
"""A query of more is not cut: it has many hundred cuts, and of the podcast's 70 such queries one was cut rightly."""
LEADS = 2
"""So many segments at most stand before the first clause."""
REACH = 3
"""So many units of a segment at most are a list's first or last item, unless they look like the item beside it."""

NOTHING = (0, 0)
"""The span of no unit."""
Part = tuple[Span | str, ...]
"""What a sub-query is put together from: stretches of the query, and words that are not there."""


Seen = tuple[Own, ...]


class Cut(NamedTuple):
    """One way of cutting a query.

    Attributes:
        kind: ``clauses`` or ``list``.
        before: what is said before each part; ``behind`` what is said behind it.
        parts: of the sub-queries, in order.
        needs: of each sub-query the number of the one whose answer it needs; 0 for none.
        seen: what is seen of it.
    """

    kind: str
    before: Span
    parts: Sequence[Part]
    behind: Span
    needs: Sequence[int]
    seen: Seen

    def texts(self, reading: Reading) -> list[str]:
        """The sub-queries."""
        return [_text(reading, (self.before, *part, self.behind)) for part in self.parts]


class Family(NamedTuple):
    """Cuts with the same parts, which differ in what is said before and behind each.

    Attributes:
        kind, parts, needs: as a cut has them.
        seen: what is seen of all of them, in groups that other families share.
        fronts: what may be said before each part, and what is seen of that.
        ends: likewise behind it.
    """

    kind: str
    parts: Sequence[Part]
    needs: Sequence[int]
    seen: tuple[Seen, ...]
    fronts: Sequence[tuple[Span, Seen]]
    ends: Sequence[tuple[Span, Seen]]

    def cut(self, front: int, end: int) -> Cut:
        """One of them."""
        (before, first), (behind, last) = self.fronts[front], self.ends[end]
        seen = tuple(own for group in (*self.seen, first, last) for own in group)
        return Cut(self.kind, before, self.parts, behind, self.needs, seen)


def _text(reading: Reading, part: Part) -> str:
    said = (piece if isinstance(piece, str) else reading.text(piece) for piece in part)
    return " ".join(piece for piece in said if piece)


class Side(NamedTuple):
    """Where a list's first item may begin, or its last may end.

    Attributes:
        at: before which unit.
        how: why there.
        own: what is seen of that.
        around: what may be said beyond it, and what is seen of that.
    """

    at: int
    how: str
    own: Own
    around: Sequence[tuple[Span, Seen]]


Choice = Callable[[Sequence[Side]], Sequence[Side]]


def all_sides(sides: Sequence[Side]) -> Sequence[Side]:
    """Every side, unlikely ones, too: what is learned from all of them is looked at of the likely ones."""
    return sides


def families(reading: Reading, chosen: Choice = all_sides) -> Iterator[Family]:
    """All cuts of a query; none of one without joints, or with too many.

    Args:
        chosen: which of the sides of a list are looked at together with all of the other sides.
    """
    if MIN_SUB_QUERIES <= len(reading.segments) <= MOST_SEGMENTS:
        yield from _clauses(reading)
        if not is_unspaced(reading.query):  # a run of signs may be half of what a list's item is
            yield from _lists(reading, chosen)


def cuts(reading: Reading) -> Iterator[Cut]:
    """All cuts, one by one, to learn from."""
    for family in families(reading):
        for front in range(len(family.fronts)):
            for end in range(len(family.ends)):
                yield family.cut(front, end)


# -- clauses ------------------------------------------------------------------------------------------


UNSAID: Sequence[tuple[Span, Seen]] = ((NOTHING, ()),)
"""Nothing behind, of which there is nothing to see."""


def _clauses(reading: Reading) -> Iterator[Family]:
    segments = len(reading.segments)
    at = [(_at(reading, joint, False), _at(reading, joint, True)) for joint in range(segments - 1)]
    alike: dict[tuple[Span, ...], Seen] = {}
    for begin in range(min(LEADS + 1, segments - 1)):
        for end in (segments, segments - 1) if segments - 1 - begin >= MIN_SUB_QUERIES else (segments,):
            for parts in range(MIN_SUB_QUERIES, min(MAX_SUB_QUERIES, end - begin) + 1):
                fronts = _fronts(reading, begin, end, parts)
                for where in combinations(range(begin, end - 1), parts - 1):
                    spans = _spans(reading, (begin, *(joint + 1 for joint in where), end))
                    joints = tuple([at[joint][joint in where] for joint in range(begin, end - 1)])
                    seen = alike.get(spans) or alike.setdefault(spans, _clauses_seen(reading, spans))
                    yield from _told(reading, spans, (joints, seen), fronts)


def _fronts(reading: Reading, begin: int, end: int, parts: int) -> list[tuple[Span, Seen]]:
    """What may be told with each of so many clauses: nothing, or what stands before them."""
    segments = len(reading.segments)
    tail = () if end == segments else (_tail(reading),)
    if not begin:
        return [(NOTHING, (Split(parts, segments, True, False, end == segments), *tail))]
    lead = (0, reading.segments[begin - 1][1])
    # "compare A" and "B on sleep": what *and* joins to a clause is not told with it.
    ways = (False,) if reading.said[begin - 1] in ("and", "or") else (False, True)
    return [
        (
            lead if told else NOTHING,
            (Split(parts, segments, False, told, end == segments), _lead(reading, begin, told), *tail),
        )
        for told in ways
    ]


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


def _clauses_seen(reading: Reading, spans: tuple[Span, ...]) -> Seen:
    seen = [reading.stretch(span) for span in spans]
    kinds, lengths = [one.first for one in seen], [one.words or 1 for one in seen]
    shortest, longest = min(lengths), max(lengths)
    named, telling = tuple([one.named for one in seen]), tuple([one.telling > 0 for one in seen])
    return (
        Begins(kinds[0], kinds[1], len(set(kinds)) < len(kinds)),
        Sizes(size(shortest), size(longest), size(longest / shortest)),
        Sorts(tuple([one.sort for one in seen]), named, telling),
    )


def _told(
    reading: Reading, spans: tuple[Span, ...], seen: tuple[Seen, ...], fronts: list[tuple[Span, Seen]]
) -> Iterator[Family]:
    """Clauses as they stand, with what the first is about, and with its answer."""
    stretches = [reading.stretch(span) for span in spans]
    first, later = stretches[0], stretches[1:]
    pointing = tuple([one.site[2] for one in later if one.site])
    nothing = (0,) * len(spans)
    as_is = AsIs(pointing, first.named and not all(one.named for one in later))
    yield Family("clauses", [(span,) for span in spans], nothing, (*seen, (as_is,)), fronts, UNSAID)
    for front in fronts:  # what is not told with them may be what they are about
        start = 0 if front[0] == NOTHING else spans[0][0]
        parts, own = _with_topic(reading, spans, later, reading.topic((start, spans[0][1])))
        if own:
            yield Family("clauses", parts, nothing, (*seen, own), (front,), UNSAID)
    if pointing:
        parts, needs, own = _with_answer(reading, spans, stretches)
        yield Family("clauses", parts, needs, (*seen, own), fronts, UNSAID)


def _with_topic(
    reading: Reading, spans: tuple[Span, ...], later: list[Stretch], topic: tuple[str, str]
) -> tuple[list[Part], Seen]:
    """Clauses of which later ones say what the first is about, in the place of what points, or at the end."""
    (said, kind), own, parts = topic, list[Own](), list[Part]([(spans[0],)])
    folded = said.lower()
    for span, one in zip(spans[1:], later, strict=True):
        if not said or folded in reading.text(span).lower():
            parts.append((span,))
        elif one.site is not None:
            own.append(TopicPut(kind, one.site[2], reading.kind(one.site[1])))
            parts.append(_put(span, one.site, said))
        else:
            own.append(TopicAdded(kind, one.sort, one.telling, one.named, one.first, one.last))
            parts.append((span, said))
    return parts, tuple(own)


def _with_answer(
    reading: Reading, spans: tuple[Span, ...], stretches: list[Stretch]
) -> tuple[list[Part], list[int], Seen]:
    """Clauses of which those that point need the answer to the one before."""
    needs, own, first, parts = [0], list[Own](), stretches[0], list[Part]([(spans[0],)])
    for number, (span, one) in enumerate(zip(spans[1:], stretches[1:], strict=True), 1):
        if one.site is None:
            parts.append((span,))
            needs.append(0)
        else:
            before = stretches[number - 1].site
            # "... it cost, and ... it break": what points alike asks of the same answer.
            need = needs[-1] if needs[-1] and before and before[2] == one.site[2] else number
            own.append(AnswerPut(one.site[2], reading.kind(one.site[1]), first.named, first.first))
            parts.append(_put(span, one.site, f"{{{need}}}"))
            needs.append(need)
    return parts, needs, tuple(own)


def _put(span: Span, site: Site, said: str) -> Part:
    """A span with something else in the place of the words that point, as an owner where they are one."""
    start, end, words = site
    return (span[0], start), said + ("'s" if words in WHOSE else ""), (end, span[1])


# -- lists --------------------------------------------------------------------------------------------


def _lists(reading: Reading, chosen: Choice) -> Iterator[Family]:
    segments, behind = len(reading.segments), dict[Span, Seen]()
    for first in range(segments - 1):
        for last in range(first + 1, min(segments, first + MAX_SUB_QUERIES)):
            yield from _list(reading, first, last, chosen, behind)


def _list(reading: Reading, first: int, last: int, chosen: Choice, behind: dict[Span, Seen]) -> Iterator[Family]:
    """The cuts of the list whose items are in the segments from ``first`` to ``last``.

    Args:
        behind: what is seen of what stands behind the items, as far as it is known.
    """
    opens, closes, count = reading.segments[first], reading.segments[last], last - first + 1
    around, middle = _around(reading, first, last), reading.segments[first + 1 : last]
    between, needs, kind = [reading.stretch(span) for span in middle], (0,) * count, reading.kind
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
    rights = chosen(rights)
    for left in chosen(lefts):
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
    """Where what is said before each item may begin: the query, the list's first segment, or the one before that."""
    if not first:
        return (0,)
    own, before = reading.segments[first][0], reading.segments[first - 1][0]
    return (0, own, before) if first > 1 else (0, own)


def _ends(reading: Reading, right: int, last: int) -> tuple[Span, ...]:
    """What may be said behind each item: all that follows, or what follows in the list's last segment."""
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


def _beside(reading: Reading, first: int, last: int, opens: bool) -> Seen:
    """The joints next to the list, and whether its first item fills its segment."""
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
