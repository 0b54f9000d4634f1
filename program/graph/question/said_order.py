"""The order that a question asks for, read from its superlatives: "fewest", "the two oldest", "最低", "menos caro".

What is oldest, or longest something, has the smallest year, but the largest age: so the direction depends on what a
plan orders by. Where nodes have a year, "oldest" and "newest" mean that one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ....data.grammar_words import read_grammar
from ..ranking.endings import Ending
from .clauses import begins_at, ends_at
from .spoken import phrases_in
from .words import folded_words, words_of

STRONG = {
    **{"asc": (False, False), "desc": (True, True), "earliest": (False, True), "latest": (True, False)},
    **{"longest": (False, True), "shortest": (True, False)},
}
"""For each line of the grammar, whether the largest comes first: of years, and of anything else."""
WEAK = {"most": True, "least": False}
TIMES = ("earliest", "latest")
ORDINALS = {2: "2nd", 3: "3rd", 4: "4th", 5: "5th"}
BETWEEN = 2
"""Words between an ordinal and a superlative at most: "le deuxième plus ancien", "al doilea cel mai vechi"."""
STEM = 4
"""The least length of a phrase's last word from which it also matches longer words: "ältest" matches "ältesten"."""


@dataclass(frozen=True)
class Ordered:
    """The direction in which a question orders nodes.

    Attributes:
        by_year, by_other: whether the largest comes first, of years and of other numbers; None where that is not said.
        of_time: whether a year is rather meant.
        after: how many come before what is asked for: 1 for the second oldest.
    """

    by_year: bool | None = None
    by_other: bool | None = None
    of_time: bool = False
    after: int = 0

    def __bool__(self) -> bool:
        return self.by_other is not None

    def ending(self, ending: Ending, years: Collection[str]) -> Ending:
        """The ending with the stated direction, if it orders.

        Args:
            years: the properties of its nodes that are years.
        """
        final = ending.final
        if final.kind not in ("order", "degree") or self.by_year is None or self.by_other is None:
            return ending
        by_year = final.kind == "order" and final.key in years
        after = self.after if final.limit == 1 else 0
        return replace(ending, final=replace(final, descending=self.by_year if by_year else self.by_other, after=after))

    def slights(self, ending: Ending, years: Collection[str]) -> bool:
        """Whether an ending orders by something else than the year that is meant."""
        final = ending.final
        return self.of_time and bool(years) and final.kind in ("order", "degree") and final.key not in years


NO_ORDER_SAID = Ordered()


def said_order(question: str, spans: Sequence[tuple[int, int]]) -> Ordered:
    """The direction that a question's superlatives state; nothing where two of them state different ones.

    Args:
        spans: the (start, end) characters of its names, which are not read.
    """
    free = [w.text for w in words_of(question) if not any(a < w.end and w.start < b for a, b in spans)]
    words = [part for word in free for part in _parts(word)]
    told = list(_told(words))
    strong = [(place, line) for place, line in told if line in STRONG]
    ways = {_turned(STRONG[line], words, place) for place, line in strong}
    if len(ways) == 1:
        by_year, by_other = ways.pop()
        return Ordered(by_year, by_other, all(line in TIMES for _, line in strong), _after(words, strong))
    weak = {WEAK[line] for _, line in told if line in WEAK}
    if strong or len(weak) != 1:
        return NO_ORDER_SAID
    way = weak.pop()
    return Ordered(way, way, after=_after(words, [(place, line) for place, line in told if line in WEAK]))


def _after(words: Sequence[str], told: Sequence[tuple[int, str]]) -> int:
    """How many come before, by the ordinal beside a superlative, a few words between: "segundo más antiguo"."""
    for place, _ in told:
        for ordinal, phrases in _ordinals().items():
            if any(ends_at(words, place - gap, phrases) for gap in range(min(place, BETWEEN) + 1)):
                return ordinal - 1
            if begins_at(words, place + 1, phrases):
                return ordinal - 1
    return 0


@lru_cache(maxsize=4096)
def _parts(word: str) -> Sequence[str]:
    """A word, or the ordinal and the superlative that it is written of: "zweitälteste"."""
    for phrases in _ordinals().values():
        for first, *more in phrases:
            rest = word.removeprefix(first)
            if not more and len(first) >= STEM and rest not in ("", word) and any(_told([rest])):
                return first, rest
    return (word,)


def _turned(ways: tuple[bool, bool], words: Sequence[str], place: int) -> tuple[bool, bool]:
    """The directions, reversed where a word for "least" stands right before the superlative."""
    if place and words[place - 1] in _weak():
        return not ways[0], not ways[1]
    return ways


def _told(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The place and the line of the grammar of each superlative, the longest one at a place."""
    for place, word in enumerate(words):
        phrases = (*_phrases().get(word[:2], ()), *(_phrases().get(word, ()) if len(word) == 1 else ()))
        found = [(phrase, line) for phrase, line in phrases if _is_at(phrase, words, place)]
        if found:
            yield place, max(found, key=lambda one: (len(one[0]), sum(map(len, one[0]))))[1]


def _is_at(phrase: Sequence[str], words: Sequence[str], place: int) -> bool:
    said = words[place : place + len(phrase)]
    if len(said) < len(phrase) or tuple(said[:-1]) != tuple(phrase[:-1]):
        return False
    last = phrase[-1]
    return said[-1] == last or (len(last) >= STEM and said[-1].startswith(last))


@lru_cache(maxsize=1)
def _phrases() -> Mapping[str, Sequence[tuple[tuple[str, ...], str]]]:
    """(Words, line of the grammar) of each superlative, by the first two characters of its first word."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for phrase in read_grammar():
        words = tuple(folded_words(phrase.text))
        if words and (phrase.line in STRONG or phrase.line in WEAK):
            found.setdefault(words[0][:2], []).append((words, phrase.line))
    return found


@lru_cache(maxsize=1)
def _ordinals() -> Mapping[int, frozenset[tuple[str, ...]]]:
    return {ordinal: phrases_in(line, frozenset()) for ordinal, line in ORDINALS.items()}


@lru_cache(maxsize=1)
def _weak() -> frozenset[str]:
    return frozenset(folded_words(phrase.text)[0] for phrase in read_grammar() if phrase.line == "least")
