"""Applies what a question states outright, beside its names, to every ending: bounds, flags, order, each word once.

Endings that become equal are merged, with the sum of their probabilities. Those that the question cannot mean are
dropped, and those that ignore what it states are weighed down.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from ....signatures.graph_steps import Condition
from ..ranking.endings import Conditions, Ending, conditions_of
from ..ranking.schema_words import written_alike
from ..values import Values, number_of
from .bounded import Bounded
from .neither import is_excluded
from .said_bounds import YEARS, said_bounds
from .said_flags import UNUSED_FLAG, Flags, said_flags
from .said_numbers import placed_numbers
from .said_order import Ordered, said_order
from .words import fold, folded_name, is_whole_in, words_of

UNUSED = 0.15
"""The factor on the probability of a plan that tests nothing against a number which the question bounds."""
SAYS_NOTHING = 0.2
"""The factor for a plan whose test every node passes, or none: people ask for what tells nodes apart."""
OTHER_NUMBER = 0.1
"""The factor for a plan that tests a number on another property than the one whose word stands before it."""
ALIKE = 0.5
"""The similarity of spelling, 0 to 1, from which a word is taken for a property's ("catégorie")."""
OTHER_TIME = 0.1
"""The factor for a plan that does not order by a year where the oldest or the newest is asked for."""


@dataclass(frozen=True)
class Grouped:
    """Endings corrected to what a question states, and grouped where they become equal.

    Attributes:
        groups: each corrected ending, with the places of the given endings that become it.
        slighted: for each given ending, the factor on its probability for what it leaves out, 1 for nothing.
    """

    groups: Mapping[Ending, Sequence[int]]
    slighted: Sequence[float]

    def together(self, found: Sequence[Ending], chances: np.ndarray) -> tuple[Sequence[Ending], np.ndarray]:
        """The corrected endings and their probabilities, summing to one.

        Endings that became equal have their sum at the place of the likeliest of them, and 0 at the others.
        """
        if not self.groups:
            return found, chances
        said, summed = list(found), np.zeros(len(chances))
        for ending, places in self.groups.items():
            first = places[int(np.argmax(chances[list(places)]))]
            said[first], summed[first] = ending, chances[list(places)].sum()
        return said, summed / summed.sum()


class AsSaid:
    """What one question states outright, under one choice of which of its words are names."""

    def __init__(self, question: str, spans: Sequence[tuple[int, int]], values: Values) -> None:
        """Read a question.

        Args:
            spans: the (start, end) characters of its names.
            values: the known values of the schema's properties.
        """
        self._question, self._spans, self._values = question, spans, values
        self.bounded = Bounded(said_bounds(question, spans))
        self.flags: Flags = said_flags(question, spans, frozenset(name for _, name in values.flags))
        self.order: Ordered = said_order(question, spans)
        self.beside = _beside(question, spans)
        self._excluded: dict[str, bool] = {}

    def grouped(self, found: Sequence[Ending], kind: str, edges: Sequence[str], followed: bool) -> Grouped:
        """The endings for nodes of a type, corrected to what the question states, and grouped.

        Args:
            found: the endings.
            kind: the type of the nodes that they are for.
            edges: the edges over which these nodes are reached.
            followed: whether any edge was followed; otherwise the nodes are the named ones themselves.
        """
        if not (self.bounded or self.flags or self.order or self.beside or self._spans):
            return Grouped({}, [1.0] * len(found))
        own = [name for name in self.flags.said if (kind, name) in self._values.flags]
        of_edges = [name for name in self.flags.said for edge in edges if (edge, name) in self._values.flags]
        years = self._years(kind) if self.order else frozenset()
        groups: dict[Ending, list[int]] = {}
        slighted = [1.0] * len(found)
        for place, ending in enumerate(found):
            said = self._said(ending, own, years, followed)
            if said is None:
                continue
            groups.setdefault(said, []).append(place)
            slighted[place] = self._slight(said, kind, [*own, *of_edges], years)
        return Grouped(groups, slighted)

    def is_outright(self, ending: Ending) -> bool:
        """Whether an ending is a test of nodes that the question states: by a value, a property's word or a bound."""
        if ending.where is not None or ending.final.kind != "set":
            return False
        return any(self._is_said(condition) for condition in ending.final.filters)

    def _is_said(self, condition: Condition) -> bool:
        if isinstance(condition.value, bool):
            return condition.property in self.flags.said
        if isinstance(condition.value, str):
            return condition.op in ("eq", "ne") and is_whole_in(fold(condition.value), f" {fold(self._question)} ")
        return self._is_beside(condition) or _number(condition) in self.bounded.compared

    def _said(self, ending: Ending, own: Collection[str], years: Collection[str], followed: bool) -> Ending | None:
        if any(map(self._is_in_a_name, conditions_of(ending))):
            if followed or ending.where is not None or any(c.op != "eq" for c in ending.final.filters):
                return None
            ending = replace(ending, final=replace(ending.final, filters=()))  # the names have that value
        bounded = self.bounded.said(self._excluding(self._equal(ending)))
        return None if bounded is None else self.order.ending(self.flags.ending(bounded, own), years)

    def _excluding(self, ending: Ending) -> Ending:
        """The same, but that a value behind "neither" or "nor" is not wanted, nor others of the property behind it."""
        conditions = conditions_of(ending)
        turned = tuple(dict.fromkeys(said for one in conditions for said in self._without(one)))
        if turned == conditions:
            return ending
        if ending.where is not None:
            return replace(ending, where=(ending.where[0], turned))
        return replace(ending, final=replace(ending.final, filters=turned))

    def _without(self, condition: Condition) -> Conditions:
        if condition.op not in ("eq", "ne") or not isinstance(condition.value, str):
            return (condition,)
        if not self._is_excluded(condition.value):
            return (condition,)
        texts = (text for (_, name), own in self._values.texts.items() if name == condition.property for text in own)
        values = dict.fromkeys([condition.value, *filter(self._is_excluded, texts)])
        return tuple(Condition(property=condition.property, op="ne", value=value) for value in values)

    def _is_excluded(self, text: str) -> bool:
        if text not in self._excluded:
            self._excluded[text] = is_excluded(self._question, text)
        return self._excluded[text]

    def _equal(self, ending: Ending) -> Ending:
        """The ending, with an equality test for a number right behind its property's word ("category 3")."""
        conditions = conditions_of(ending)
        if len(conditions) != 1 or conditions[0].op in ("eq", "ne") or not self._is_beside(conditions[0]):
            return ending
        equal = (conditions[0].model_copy(update={"op": "eq"}),)
        if ending.where is not None:
            return replace(ending, where=(ending.where[0], equal))
        return replace(ending, final=replace(ending.final, filters=equal))

    def _is_beside(self, condition: Condition) -> bool:
        """Whether the number that is tested stands in the question right behind the word for its property."""
        word = self.beside.get(number) if (number := _number(condition)) is not None else None
        return word is not None and _is_word_for(word, condition.property)

    def _slight(self, ending: Ending, kind: str, flags: Collection[str], years: Collection[str]) -> float:
        conditions = conditions_of(ending)
        weight = 1.0
        if self.bounded.compared and not self.bounded.uses(conditions):
            weight *= UNUSED
        if self.flags.unused(ending, flags):
            weight *= UNUSED_FLAG
        if self._is_of_another(conditions, kind, ending):
            weight *= OTHER_NUMBER
        if self.order.slights(ending, years):
            weight *= OTHER_TIME
        at = ending.where[0] if ending.where is not None else kind
        return weight * (SAYS_NOTHING if any(self._says_nothing(at, one) for one in conditions) else 1.0)

    def _is_of_another(self, conditions: Conditions, kind: str, ending: Ending) -> bool:
        """Whether a number that stands right behind the word for one property is tested on another."""
        numbers = {number for one in conditions if (number := _number(one)) is not None}
        words = {self.beside[number] for number in numbers if number in self.beside}
        if not words or any(map(self._is_beside, conditions)):
            return False
        at = (kind, ending.where[0] if ending.where is not None else kind)
        return any(_is_word_for(word, name) for word in words for of, name in self._values.numbers if of in at)

    def _says_nothing(self, at: str, condition: Condition) -> bool:
        """Whether all known values of the property pass the test, or none does."""
        bounds = self._values.numbers.get((at, condition.property))
        n = _number(condition)
        if bounds is None or n is None:
            return False
        low, high = bounds
        every = {"lt": high < n, "le": high <= n, "gt": low > n, "ge": low >= n}
        none = {"lt": low >= n, "le": low > n, "gt": high <= n, "ge": high < n}
        return every.get(condition.op, False) or none.get(condition.op, False)

    def _years(self, kind: str) -> frozenset[str]:
        return frozenset(
            name
            for (at, name), (low, high) in self._values.numbers.items()
            if at == kind and low >= YEARS[0] and high <= YEARS[1]
        )

    @cached_property
    def _named_alone(self) -> str:
        """The folded words of the names."""
        return f" {' '.join(fold(self._question[a:b]) for a, b in self._spans)} "

    @cached_property
    def _rest(self) -> str:
        """The folded words beside the names."""
        kept, place = [], 0
        for start, end in sorted(self._spans):
            kept.append(fold(self._question[place:start]))
            place = max(place, end)
        return f" {' '.join([*kept, fold(self._question[place:])])} "

    def _is_in_a_name(self, condition: Condition) -> bool:
        """Whether a text that is tested stands only inside a name: a word cannot both name a node and state a value."""
        if not isinstance(condition.value, str) or condition.op == "contains":
            return False
        folded = fold(condition.value)
        if not folded or not is_whole_in(folded, self._named_alone):
            return False
        return not is_whole_in(folded, self._rest) and number_of(condition.value) is None


def _beside(question: str, spans: Sequence[tuple[int, int]]) -> dict[float, str]:
    """Each number that stands right behind a word, with that word, folded."""
    numbers = placed_numbers(question, spans)
    ends = {word.end: word.text for word in words_of(question) if not word.text.isdecimal()} if numbers else {}
    return {number.value: ends[number.start - 1] for number in numbers if number.start - 1 in ends}


def _number(condition: Condition) -> float | None:
    """The number that a condition compares with; None if it compares with something else."""
    return None if isinstance(condition.value, str | bool | tuple) else float(condition.value)


@lru_cache(maxsize=4096)
def _is_word_for(word: str, name: str) -> bool:
    """Whether a word is one of those in a property's name, or is spelled much like one."""
    own = folded_name(name)
    return any(word == other or (len(other) >= 4 and written_alike(word, other) >= ALIKE) for other in own)
