"""What no step of a plan can say, read by form: another node's value, and a number of neighbours.

"Routes harder than AC/DC" compares with what AC/DC has, and "climbers of more than one route" tests how many
neighbours each has. A plan from the same names leaves that out, and its answers look like those that are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..names.linking import Mention
from ..ranking.completing import Option
from ..ranking.paths import PathTable
from ..values import Values
from .asked_type import TypeWords, is_form
from .said_bounds import BOUNDS, compared_word, said_bounds
from .said_numbers import placed_numbers
from .view import Hypothesis
from .words import folded_words, name_words, words_of


class Beyond:
    """Tells what no plan over one schema can say."""

    def __init__(self, table: PathTable, values: Values, types: TypeWords) -> None:
        """Read the words of numbers that nodes and edges have.

        Args:
            types: the words for types.
        """
        self._places, self._types = table.place, types
        self._numbers = {word for _, name in values.numbers for part in name_words(name) for word in folded_words(part)}

    def compared(self, question: str, hypothesis: Hypothesis) -> tuple[Mention, ...]:
        """The names with which a question compares something: "harder than *AC/DC*".

        "More genes than KCNJ11", where that is a gene, are others beside it.
        """
        found = []
        for mention, reading in zip(hypothesis.mentions, hypothesis.readings, strict=True):
            word = compared_word(question, mention.start, mention.end)
            if word is not None and self._places.get(reading.type) not in self._types.of(word):
                found.append(mention)
        return tuple(found)

    def counted(self, question: str, hypothesis: Hypothesis) -> dict[str, frozenset[int]]:
        """What is bounded in number, with the places of the types that it may be: "more than *one route*"."""
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
        """The types that a word is for, none where it is one for a number: "two moons" where a planet has ``moons``."""
        return frozenset() if any(is_form(word, own) for own in self._numbers) else self._types.of(word)

    def without(self, question: str, options: Sequence[Option], chances: np.ndarray) -> np.ndarray:
        """Chances where plans that leave out what no step can say have none; theirs are for no plan."""
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
        counted = self.counted(question, option.hypothesis).values()
        # "At least three routes of Marta" may be what is asked for, and not what others have.
        return any(end not in kinds for kinds in counted) or bool(self.compared(question, option.hypothesis))
