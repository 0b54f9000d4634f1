"""Finds by form what no step of a plan can say: another node's value, a number of neighbours, an edge's opposite.

"Routes harder than AC/DC" compares with a value of AC/DC, and "climbers of at least two routes" tests how many
neighbours each has. A plan from the same names would leave that out, and its answers would look like those asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

import numpy as np

from ..names.linking import Mention
from ..ranking.completing import Option
from ..ranking.paths import NOTHING, PathTable
from ..values import Values
from .asked_type import START, TypeWords, is_form
from .clauses import begins_at
from .said_bounds import BOUNDS, compared_word, said_bounds
from .said_numbers import placed_numbers
from .spoken import phrases_in, spoken_in
from .view import Hypothesis
from .words import Word, folded_name, folded_words, words_of

OPPOSITE = ("dis", "un", "non")
"""The prefixes that make the opposite of an English word; edges are nearly always named in English."""
STEM = 4
"""The least number of letters of the word without the prefix."""


class Beyond:
    """Tells what no plan over one schema can say."""

    def __init__(self, table: PathTable, values: Values, types: TypeWords) -> None:
        """Read the words of numbers that nodes and edges have.

        Args:
            types: the words for types.
        """
        self._places, self._types = table.place, types
        self._hops, self._edges = table.hops, {edge.name: _words_of(edge.name) for edge in table.schema.edges}
        self._said = {word for edge in table.schema.edges for word in folded_words(edge.description)}
        self._known: dict[str, set[str]] = {}  # the words of all edges, by what two forms of a word share at least
        for word in self._said.union(*self._edges.values()):
            self._known.setdefault(word[:START], set()).add(word)
        self._numbers = {word for _, name in values.numbers for word in folded_name(name)}
        # These are asked for every plan of one question.
        self.compared = lru_cache(maxsize=64)(self._compared_names)
        self.counted = lru_cache(maxsize=64)(self._counted_types)
        self._strange = lru_cache(maxsize=64)(self._words_of_no_edge)

    def _compared_names(self, question: str, hypothesis: Hypothesis) -> tuple[Mention, ...]:
        """The names with which a question compares something: "harder than *AC/DC*".

        "More genes than KCNJ11" compares nothing, where that is a gene: it asks for other genes beside it.
        """
        found = []
        for mention, reading in zip(hypothesis.mentions, hypothesis.readings, strict=True):
            word = compared_word(question, mention.start, mention.end)
            if word is not None and self._places.get(reading.type) not in self._types.of(word):
                found.append(mention)
        return tuple(found)

    def _counted_types(self, question: str, hypothesis: Hypothesis) -> dict[str, frozenset[int]]:
        """The counted nouns with a bound ("at least *two routes*"), each with the numbers of the types it may be."""
        spans = [(mention.start, mention.end) for mention in hypothesis.mentions]
        words = words_of(question)
        named = [any(a < word.end and word.start < b for a, b in spans) for word in words]
        folded = ["" if name else word.text for word, name in zip(words, named, strict=True)]
        phrases = phrases_in("different", spoken := spoken_in(filter(None, folded)))
        found: dict[int, tuple[int, frozenset[int]]] = {}
        for start, place in (*_numbered(question, spans, words), *_several(folded, spoken)):
            while place < len(folded) and (more := begins_at(folded, place, phrases)):
                place += more
            kinds, count = self._counted(folded, place) if place < len(folded) else (frozenset[int](), 0)
            if kinds:
                found.setdefault(place + count - 1, (start, kinds))
        return {question[words[start].start : words[end].end]: kinds for end, (start, kinds) in found.items()}

    def _counted(self, folded: Sequence[str], place: int) -> tuple[frozenset[int], int]:
        """The types that words are for, and how many they are.

        None where the first is one for a number: "two moons" where a planet has ``moons``.
        """
        if any(is_form(folded[place], own) for own in self._numbers):
            return frozenset(), 0
        return self._types.at(folded, place)

    def opposite(self, question: str, edges: Collection[str]) -> tuple[str, ...]:
        """The words of a question that are the opposite of one in an edge's name, as "dislikes" is for ``LIKES``.

        Words in the name or description of any edge do not count, since there may be edges for both.

        Args:
            edges: the names of a plan's edges.
        """
        own = [word for edge in edges for word in self._edges[edge]]
        said = self._strange(question)
        return tuple(question[w.start : w.end] for w in said if any(_is_opposite(w.text, one) for one in own))

    def _words_of_no_edge(self, question: str) -> tuple[Word, ...]:
        known = self._known
        return tuple(
            w for w in words_of(question) if not any(is_form(w.text, own) for own in known.get(w.text[:START], ()))
        )

    def without(self, question: str, options: Sequence[Option], chances: np.ndarray) -> np.ndarray:
        """The probabilities of the options, with 0 for plans that leave out what no step can say.

        What these had goes to the option that there is no plan; without such an option nothing is changed.
        """
        none = next((i for i, option in enumerate(options) if option.ending.none), None)
        left = np.array([self._leaves_out(question, option) for option in options], dtype=bool)
        if none is None or not left.any():
            return chances
        kept = np.where(left, 0.0, chances)
        kept[none] += chances[left].sum()
        return kept

    def _leaves_out(self, question: str, option: Option) -> bool:
        if option.ending.none:
            return False
        end = int(option.ranked.pool.end[option.place])
        edges = {self._hops[hop].edge.name for hop in option.ranked.pool.hops[option.place] if hop != NOTHING}
        if self.opposite(question, edges):
            return True
        counted = self.counted(question, option.hypothesis).values()
        # Where the plan answers with the counted type ("at least three routes of Marta"), the number may be of answers.
        return any(end not in kinds for kinds in counted) or bool(self.compared(question, option.hypothesis))


def _numbered(question: str, spans: Sequence[tuple[int, int]], words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """The words that are numbers with a bound, each with the place of the next word."""
    bounded = {bound.value for bound in said_bounds(question, spans) if bound.op in (*BOUNDS, "eq")}
    starts = {word.start: place for place, word in enumerate(words)} if bounded else {}
    for number in placed_numbers(question, spans) if bounded else ():
        if number.value in bounded and number.start in starts and number.end + 1 in starts:
            yield starts[number.start], starts[number.end + 1]


def _several(folded: Sequence[str], spoken: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Where words say a number of two or more without a figure ("more than one", "several"), and where they end."""
    phrases = phrases_in("several", spoken)
    for place in range(len(folded)):
        if count := begins_at(folded, place, phrases):
            yield place, place + count


def _words_of(name: str) -> frozenset[str]:
    """The folded words of an edge's name that are long enough to have an opposite."""
    return frozenset(word for word in folded_name(name) if len(word) >= STEM)


def _is_opposite(word: str, other: str) -> bool:
    """Whether one of two folded words is a form of the other with a prefix that makes it the opposite."""
    pairs = ((word, other), (other, word))
    return any(
        len(short) >= STEM and long.startswith(prefix) and is_form(long.removeprefix(prefix), short)
        for long, short in pairs
        for prefix in OPPOSITE
    )
