"""Finds by form what no step of a plan can say: another node's value, a number of neighbours, an edge's opposite.

"Routes harder than AC/DC" compares with a value of AC/DC, and "climbers of at least two routes" tests how many
neighbours each has. A plan from the same names would leave that out, and its answers would look like those asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np

from ..names.linking import Mention
from ..ranking.completing import Option
from ..ranking.paths import NOTHING, PathTable
from ..values import Values
from .asked_type import TypeWords, is_form
from .said_bounds import BOUNDS, compared_word, said_bounds
from .said_numbers import placed_numbers
from .view import Hypothesis
from .words import Word, folded_words, name_words, words_of

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
        self._numbers = {word for _, name in values.numbers for part in name_words(name) for word in folded_words(part)}
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
        bounded = {bound.value for bound in said_bounds(question, spans) if bound.op in (*BOUNDS, "eq")}
        words = {word.start: word for word in words_of(question)} if bounded else {}
        found: dict[str, frozenset[int]] = {}
        for number in placed_numbers(question, spans) if bounded else ():
            word = words.get(number.end + 1)
            if number.value in bounded and word is not None and (kinds := self._counted(word.text)):
                found[question[number.start : word.end]] = kinds
        return found

    def _counted(self, word: str) -> frozenset[int]:
        """The types that a word is for; none where a number property is called so ("two moons" with ``moons``)."""
        return frozenset() if any(is_form(word, own) for own in self._numbers) else self._types.of(word)

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
        known = self._said.union(*self._edges.values())
        return tuple(word for word in words_of(question) if not any(is_form(word.text, own) for own in known))

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


def _words_of(name: str) -> frozenset[str]:
    """The folded words of an edge's name that are long enough to have an opposite."""
    return frozenset(word for part in name_words(name) for word in folded_words(part) if len(word) >= STEM)


def _is_opposite(word: str, other: str) -> bool:
    """Whether one of two folded words is a form of the other with a prefix that makes it the opposite."""
    pairs = ((word, other), (other, word))
    return any(
        len(short) >= STEM and long.startswith(prefix) and is_form(long.removeprefix(prefix), short)
        for long, short in pairs
        for prefix in OPPOSITE
    )
