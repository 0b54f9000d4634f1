"""Cuts of a query into clauses, at some of its joints.

What stands before the first clause (the *lead*) is repeated with each of them, or dropped. A word that points back in a
later clause is replaced by what the first is about (its *topic*), or by its answer: "who coined it, and what does she
read" gives ``what does {1} read``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from ...signatures.types import MAX_SUB_QUERIES, MIN_SUB_QUERIES
from ..rewriting.moves import WHOSE
from .family import NOTHING, Choice, Division, Family, Part, Seen
from .reading import Reading, Site, Span, Stretch
from .traits import (
    AnswerPut,
    AsIs,
    At,
    Begins,
    Lead,
    Own,
    Sizes,
    Sorts,
    Split,
    Tail,
    TopicAdded,
    TopicPut,
    size,
)

LEADS = 2
"""The most segments that stand before the first clause."""


UNSAID: Sequence[tuple[Span, Seen]] = ((NOTHING, ()),)
"""The only end of clauses: nothing is said behind each of them, and this has no features."""


def clauses(reading: Reading, chosen: Choice) -> Iterator[Family]:
    """The families of cuts into clauses, for the divisions that ``chosen`` selects."""
    for division in chosen.divisions(list(_divisions(reading))):
        yield from _told(reading, division)


def _divisions(reading: Reading) -> Iterator[Division]:
    """Every way of dividing the query into several clauses."""
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
                    yield Division(spans, joints, seen, fronts)


def _fronts(reading: Reading, begin: int, end: int, parts: int) -> list[tuple[Span, Seen]]:
    """What may be said before each clause, nothing or the lead, with its features.

    Args:
        begin, end: the segments from which to before which the clauses reach.
        parts: the number of clauses.
    """
    segments = len(reading.segments)
    tail = () if end == segments else (_tail(reading),)
    if not begin:
        return [(NOTHING, (Split(parts, segments, True, False, end == segments), *tail))]
    lead = (0, reading.segments[begin - 1][1])
    # A lead that *and* joins to the first clause is not repeated: "compare A and B on sleep".
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
    """The clauses between successive bounds, which are numbers of segments."""
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


def _told(reading: Reading, division: Division) -> Iterator[Family]:
    """The families of a division: clauses as they stand, with the first one's topic, and with an answer."""
    spans, fronts, seen = division.spans, division.fronts, (division.joints, division.seen)
    stretches = [reading.stretch(span) for span in spans]
    first, later = stretches[0], stretches[1:]
    pointing = tuple([one.site[2] for one in later if one.site])
    nothing = (0,) * len(spans)
    as_is = AsIs(pointing, first.named and not all(one.named for one in later))
    yield Family("clauses", [(span,) for span in spans], nothing, (*seen, (as_is,)), fronts, UNSAID)
    for front in fronts:  # a lead that is not repeated may have the topic
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
    """Clauses with the topic of the first in later ones, for a pointing word or else at the end; and the features."""
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
    """Clauses of which each pointing one needs an answer: the parts, what each needs, and the features."""
    needs, own, first, parts = [0], list[Own](), stretches[0], list[Part]([(spans[0],)])
    for number, (span, one) in enumerate(zip(spans[1:], stretches[1:], strict=True), 1):
        if one.site is None:
            parts.append((span,))
            needs.append(0)
        else:
            before = stretches[number - 1].site
            # Successive clauses with the same pointing word mean the same answer: "… it cost, and … it break".
            need = needs[-1] if needs[-1] and before and before[2] == one.site[2] else number
            own.append(AnswerPut(one.site[2], reading.kind(one.site[1]), first.named, first.first))
            parts.append(_put(span, one.site, f"{{{need}}}"))
            needs.append(need)
    return parts, needs, tuple(own)


def _put(span: Span, site: Site, said: str) -> Part:
    """A span with ``said`` in the place of its pointing words, as a possessive if they are one."""
    start, end, words = site
    return (span[0], start), said + ("'s" if words in WHOSE else ""), (end, span[1])
