"""The known values of a schema's properties: texts, numbers with their range, true or false."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...data.other_words import each_word
from ...signatures.graph_steps import GraphSchema
from .question.words import fold, is_whole_in

ANY = (-math.inf, math.inf)


@dataclass(frozen=True)
class Values:
    """What is known of properties: the texts they may have, which are numbers, and which are true or false.

    Keys are (type, property) for nodes and (edge, property) for edges. ``numbers`` has the least and the greatest
    value. ``words`` has for each value the other words that people use for it.
    """

    texts: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    numbers: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    flags: frozenset[tuple[str, str]] = frozenset()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def said(self, folded: str, numbers: Collection[float]) -> frozenset[str]:
        """The values of all properties that a question has, in singular or plural, or as a number.

        It is quick however many values there are, since only those that begin with a word of the question are compared.

        Args:
            folded: the folded question, with a space before and after it.
            numbers: the numbers in the question.
        """
        words = folded.split()
        firsts = {*words, *(word.removesuffix("s") for word in words)}
        spelled = [one for word in firsts for one in self._spelled.get(word, ())]
        found = {text for spelling, text in spelled if is_whole_in(spelling, folded)}
        return frozenset(found.union(*(self._in_figures.get(number, ()) for number in numbers)))

    def among(self, key: tuple[str, str], wanted: Iterable[str]) -> list[str]:
        """The values of one property that are in ``wanted``, in the property's own order."""
        places = self._places.get(key, {})
        return sorted((text for text in wanted if text in places), key=places.__getitem__)

    @cached_property
    def _spelled(self) -> dict[str, list[tuple[str, str]]]:
        """The (folded spelling, value) pairs of all values, by the spelling's first word."""
        found: dict[str, list[tuple[str, str]]] = {}
        for text in dict.fromkeys(text for texts in self.texts.values() for text in texts):
            for spelling in dict.fromkeys(fold(way) for way in (text, *self.words.get(text, ()))):
                if spelling:
                    found.setdefault(spelling.split(" ", 1)[0], []).append((spelling, text))
        return found

    @cached_property
    def _in_figures(self) -> dict[float, list[str]]:
        """The values that are written in figures, by their number."""
        found: dict[float, list[str]] = {}
        for text in dict.fromkeys(text for texts in self.texts.values() for text in texts):
            if (number := number_of(text)) is not None:
                found.setdefault(number, []).append(text)
        return found

    @cached_property
    def _places(self) -> dict[tuple[str, str], dict[str, int]]:
        return {key: {text: place for place, text in enumerate(texts)} for key, texts in self.texts.items()}


def number_of(value: Any) -> float | None:
    """The number that a text writes in figures; None if it is no such text."""
    return float(value) if isinstance(value, str) and value.isdecimal() else None


def values_of(schema: GraphSchema, properties: Iterable[tuple[str, Mapping[str, Any]]] = ()) -> Values:
    """The values that a schema declares for its properties, and those that a graph at hand has.

    Args:
        properties: (type or edge, properties) of every node and edge, where they can be listed.
    """
    texts: dict[tuple[str, str], dict[str, None]] = {}
    numbers: dict[tuple[str, str], tuple[float, float]] = {}
    flags: set[tuple[str, str]] = set()
    for kind in (*schema.nodes, *schema.edges):
        for detail in kind.details:
            texts.setdefault((kind.name, detail.name), {}).update(dict.fromkeys(detail.values))
            if detail.kind == "number":
                numbers[kind.name, detail.name] = _bounds(detail.minimum, detail.maximum)
            flags |= {(kind.name, detail.name)} if detail.kind == "boolean" else set()
    declared = {(kind.name, name) for kind in (*schema.nodes, *schema.edges) for name in kind.properties}
    seen: dict[tuple[str, str], tuple[float, float]] = {}
    for kind, given in properties:
        for name, value in given.items():
            if (kind, name) not in declared or value is None:
                continue
            if isinstance(value, bool):
                flags.add((kind, name))
            elif isinstance(value, int | float):
                low, high = seen.get((kind, name), (value, value))
                seen[kind, name] = min(low, value), max(high, value)
            else:
                texts.setdefault((kind, name), {})[str(value)] = None
    numbers = seen | {key: bounds for key, bounds in numbers.items() if key not in seen or bounds != ANY}
    told = {key: tuple(found) for key, found in texts.items() if key not in numbers and key not in flags - set(numbers)}
    return Values(told, numbers, frozenset(flags - set(numbers)), _words_of_values(schema))


def _bounds(low: float | None, high: float | None) -> tuple[float, float]:
    return -math.inf if low is None else low, math.inf if high is None else high


def may_be(number: float, bounds: tuple[float, float]) -> bool:
    """Whether a question may ask for this number: it is no farther from the property's range than the range is wide."""
    low, high = bounds
    apart = (high - low) or math.inf
    return low - apart <= number <= high + apart


def _words_of_values(schema: GraphSchema) -> dict[str, tuple[str, ...]]:
    said = [(line.element.partition("=")[2], each_word(line.words)) for line in schema.words]
    return {value: words for value, words in said if value}
