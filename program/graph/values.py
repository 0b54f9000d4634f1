"""What is known of the values that properties have: texts, numbers and between what they lie, true or false."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...data.other_words import each_word
from ...signatures.graph_steps import GraphSchema

ANY = (-math.inf, math.inf)


@dataclass(frozen=True)
class Values:
    """What is known of properties: the texts they may have, which of them are numbers, and which are true or false.

    Keys are (type, property) of a node, and (edge, property) of an edge; of ``words``, how people say values in other
    words, the value. Of ``numbers`` the least and the greatest are told.
    """

    texts: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    numbers: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    flags: frozenset[tuple[str, str]] = frozenset()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def values_of(schema: GraphSchema, properties: Iterable[tuple[str, Mapping[str, Any]]] = ()) -> Values:
    """What a schema says of its properties, and what a graph at hand shows.

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
    """Whether a question may ask for this number: it is not farther from what there is than that is apart."""
    low, high = bounds
    apart = (high - low) or math.inf
    return low - apart <= number <= high + apart


def _words_of_values(schema: GraphSchema) -> dict[str, tuple[str, ...]]:
    said = [(line.element.partition("=")[2], each_word(line.words)) for line in schema.words]
    return {value: words for value, words in said if value}
