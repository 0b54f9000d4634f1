"""What is done with the set that a plan has found: nothing, count it, keep some, or order it.

Endings are ranked like paths, by numbers that mean the same in every schema and by elements times
n-grams; which words ask for a count or for the newest is learned from labelled questions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from ...data.element_words import DONE
from ...data.other_words import each_word
from ...signatures.graph_steps import Condition, GraphSchema
from ..encoder import DIMENSIONS, Encoder
from ..number_words import number_of
from .alike import is_said
from .schema_words import FLOOR, FULL
from .sketch import Final
from .view import View
from .words import fold, name_words, words_of

NUMBERS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\w)")
VECTOR = DIMENSIONS
COMPARISONS = ("lt", "le", "gt", "ge", "eq")
TEXTS = {"eq": "text", "ne": "not text"}
MOST_LIMIT = 50
COMPARED = {"gt": "gt", "ge": "gt", "lt": "lt", "le": "lt"}
COMBINES = ("union", "intersect", "difference")
ELEMENTS = (
    *("none", "set", "count", "order desc", "order asc", "degree desc", "degree asc", "one", "many"),
    *("unfiltered", "text", "not text", "edge", *COMPARISONS),
    *("alike", "true", "false"),
)
DENSE = (
    "property named",
    "edge named",
    "counted named",
    "value said",
    "number used",
    "number left",
    "limit said",
    "filtered",
    "value weight",
    "value near",
    "yes or no",
    "done said",
    "done left out",
    "unsayable",
)


@dataclass(frozen=True)
class Values:
    """What is known of properties: the texts they may have, which of them are numbers, and which are true or false.

    Keys are (type, property) of a node, and (edge, property) of an edge; of ``words``, how people say values in other
    words, the value.
    """

    texts: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    numbers: frozenset[tuple[str, str]] = frozenset()
    flags: frozenset[tuple[str, str]] = frozenset()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Ending:
    """One way to end a plan.

    Attributes:
        where: a condition on the edges of that name that the plan follows.
        none: the schema cannot say what is asked.
    """

    final: Final = field(default_factory=Final)
    where: tuple[str, Condition] | None = None
    none: bool = False


@dataclass(frozen=True)
class EndingWeights:
    """What was learned of endings: numbers, and elements times n-grams and then times what the words mean together."""

    dense: np.ndarray
    grams: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.uint32))
    table: np.ndarray = field(default_factory=lambda: np.zeros((len(ELEMENTS), VECTOR), dtype=np.float32))


def values_of(schema: GraphSchema, properties: Iterable[tuple[str, Mapping[str, Any]]] = ()) -> Values:
    """What a schema says of its properties, and what a graph at hand shows.

    Args:
        properties: (type or edge, properties) of every node and edge, where they can be listed.
    """
    texts: dict[tuple[str, str], dict[str, None]] = {}
    numbers: set[tuple[str, str]] = set()
    flags: set[tuple[str, str]] = set()
    for kind in (*schema.nodes, *schema.edges):
        for detail in kind.details:
            texts.setdefault((kind.name, detail.name), {}).update(dict.fromkeys(detail.values))
            numbers |= {(kind.name, detail.name)} if detail.kind == "number" else set()
            flags |= {(kind.name, detail.name)} if detail.kind == "boolean" else set()
    declared = {(kind.name, name) for kind in (*schema.nodes, *schema.edges) for name in kind.properties}
    for kind, given in properties:
        for name, value in given.items():
            if (kind, name) not in declared or value is None:
                continue
            if isinstance(value, bool):
                flags.add((kind, name))
            elif isinstance(value, int | float):
                numbers.add((kind, name))
            else:
                texts.setdefault((kind, name), {})[str(value)] = None
    flags -= numbers
    told = {key: tuple(found) for key, found in texts.items() if key not in numbers | flags}
    return Values(told, frozenset(numbers), frozenset(flags), _words_of_values(schema))


def _words_of_values(schema: GraphSchema) -> dict[str, tuple[str, ...]]:
    said = [(line.element.partition("=")[2], each_word(line.words)) for line in schema.words]
    return {value: words for value, words in said if value}


def numbers_in(question: str, spans: Sequence[tuple[int, int]]) -> list[float]:
    """The numbers of a question outside its names, in figures or in words."""
    figures = [(match.start(), float(match.group())) for match in NUMBERS.finditer(question)]
    words = ((word.start, number_of(question[word.start : word.end])) for word in words_of(question))
    spelled = [(start, float(number)) for start, number in words if number is not None]
    return [number for place, number in sorted([*figures, *spelled]) if not any(a <= place < b for a, b in spans)]


def endings(
    schema: GraphSchema,
    values: Values,
    kind: str,
    edges: Sequence[str],
    question: str,
    numbers: Sequence[float],
    alike: Collection[str] = frozenset(),
) -> list[Ending]:
    """Every ending of a set of nodes of a type, reached over these edges.

    Args:
        alike: values that the question does not have, but a word like them.
    """
    node = schema.node(kind)
    properties = node.properties if node else ()
    finals = [Final(), Final("count")]
    limits = [1, *(int(n) for n in numbers if n.is_integer() and 1 < n <= MOST_LIMIT)]
    ordered = [(kind, p) for p in properties if (kind, p) in values.numbers]
    joined = [e.name for e in schema.edges if kind in (e.source, e.target)]
    for limit, descending in product(limits, (True, False)):
        finals += [Final("order", p, descending, limit) for _, p in ordered]
        finals += [Final("degree", name, descending, limit) for name in joined]
    said = f" {fold(question)} "
    filters = [((c,), None) for c in _conditions(kind, properties, values, said, numbers, alike)]
    for name in dict.fromkeys(edges):
        edge = schema.edge(name)
        found = _conditions(name, edge.properties if edge else (), values, said, numbers, alike)
        filters += [((), (name, c)) for c in found]
    plain = [Ending(final) for final in finals]
    # A condition goes with no ending or a count; with an order, a question would have to say very much at once.
    kept = [Ending(Final(f.kind, filters=given), where) for given, where in filters for f in finals[:2]]
    return [*plain, *kept, Ending(none=True)]


def _conditions(
    kind: str,
    properties: Sequence[str],
    values: Values,
    said: str,
    numbers: Sequence[float],
    alike: Collection[str],
) -> list[Condition]:
    found = []
    for name in properties:
        texts = values.texts.get((kind, name), ())
        if (kind, name) in values.flags:
            found += [Condition(property=name, value=value) for value in (True, False)]
        found += [Condition(property=name, value=text) for text in texts if text in alike]
        found += [
            Condition(property=name, op=op, value=text)  # type: ignore[arg-type]
            for text in texts
            if any(is_said(word, said) for word in (text, *values.words.get(text, ())))
            for op in ("eq", "ne")
        ]
        if (kind, name) in values.numbers:
            found += [
                Condition(property=name, op=op, value=int(n) if n.is_integer() else n)  # type: ignore[arg-type]
                for n in numbers
                for op in COMPARISONS
            ]
    return found


class EndingParts:
    """Numbers and elements of endings for one schema."""

    def __init__(self, schema: GraphSchema, encoder: Encoder) -> None:
        self._encoder = encoder
        said = {
            prop: [
                *name_words(prop),
                *(w.text for d in kind.details if d.name == prop for w in words_of(d.description)),
            ]
            for kind in (*schema.nodes, *schema.edges)
            for prop in kind.properties
        }
        self._names = list(said)
        self._vectors = [encoder.encode(list(words)) for words in said.values()]
        self._of_word = lru_cache(maxsize=8192)(self._compare)
        self._edges = {e.name: i for i, e in enumerate(schema.edges)}
        self._schema = schema
        self._types = {node.name: i for i, node in enumerate(schema.nodes)}

    def of(
        self,
        found: Sequence[Ending],
        view: View,
        numbers: Sequence[float],
        covered: float,
        rows: Mapping[str, int],
        kind: str,
        alike: Mapping[str, float] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numbers, shape (n, len(DENSE)), and rows of elements, shape (n, 4), of each ending.

        Args:
            covered: share of the question's words that the path explains.
            kind: the type of the nodes that the path ends in.
            alike: how like a word is to each value that the question does not have, see ``ValueWords.unsaid``.
        """
        near = {name: float((near * view.weight).max(initial=0.0)) for name, near in self.near_words(view).items()}
        edges = (np.maximum(view.near.edge_names, view.near.edge_texts) * view.weight[:, None]).max(axis=0, initial=0.0)
        types = (view.near.types * view.weight[:, None]).max(axis=0, initial=0.0)
        by_edge = {name: (float(edges[i]), float(types[self.counted(name, kind)])) for name, i in self._edges.items()}
        like = alike or {}
        said = dict(zip(DONE, view.done.tolist(), strict=True))
        dense = [[*self._dense(e, near, by_edge, numbers, like), *_done(e, said), _unsaid(e, covered)] for e in found]
        none = len(rows)
        elements = [[rows.get(name, none) for name in _elements(ending, like)] for ending in found]
        return np.array(dense).reshape(-1, len(DENSE)), np.array(elements, dtype=np.int32).reshape(-1, 4)

    def counted(self, edge: str, kind: str) -> int:
        """The place of the type that is counted where nodes of a type are put in order by their edges of this name."""
        alike = [e for e in self._schema.edges if e.name == edge]
        found = next((e for e in alike if kind in (e.source, e.target)), alike[0])
        return self._types[found.source if found.target == kind else found.target]

    def near_words(self, view: View) -> dict[str, np.ndarray]:
        """How near each word is to each property, shape (words,)."""
        if not view.words or not self._names:
            return {name: np.zeros(len(view.words)) for name in self._names}
        near = np.stack([self._of_word(word) for word in view.words])
        if view.near.told is not None:
            near = np.maximum(near, view.near.told.properties)
        return dict(zip(self._names, near.T, strict=True))

    def _compare(self, word: str) -> np.ndarray:
        """Similarity of a word to each property."""
        vector = self._encoder.encode([word])[0]
        best = np.array([(vectors @ vector).max(initial=0.0) for vectors in self._vectors])
        return np.clip((best - FLOOR) / (FULL - FLOOR), 0, 1)

    def _dense(
        self,
        ending: Ending,
        near: Mapping[str, float],
        edges: Mapping[str, tuple[float, float]],
        numbers: Sequence[float],
        alike: Mapping[str, float],
    ) -> list[float]:
        if ending.none:
            return [0.0] * (len(DENSE) - 3)
        final, condition = ending.final, condition_of(ending)
        named = near.get(final.key, 0.0) if final.kind == "order" else 0.0
        if condition is not None:
            named = max(named, near.get(condition.property, 0.0))
        flag = condition is not None and isinstance(condition.value, bool)
        with_number = condition is not None and not flag and not isinstance(condition.value, str)
        near_value = 0.0 if condition is None or flag or with_number else alike.get(str(condition.value), 0.0)
        said = condition is not None and not flag and not with_number and near_value == 0.0
        limit = final.limit > 1
        return [
            named,
            *(edges[final.key] if final.kind == "degree" else (0.0, 0.0)),
            float(said),
            float(with_number),
            float(len(numbers) - with_number - limit),
            float(limit),
            float(condition is not None),
            float(len(str(condition.value).split())) if condition is not None else 0.0,
            near_value,
            float(flag),
        ]


def _done(ending: Ending, said: Mapping[str, float]) -> tuple[float, float]:
    """How well the phrases for what an ending does are told; and the best of those for what it does not do."""
    own, condition = _elements(ending, {})[0], condition_of(ending)
    used = {own, COMPARED.get(condition.op, "") if condition is not None else ""}
    left = (value for name, value in said.items() if name not in used and name not in COMBINES)
    return sum(said.get(name, 0.0) for name in used), max(left, default=0.0)


def _unsaid(ending: Ending, covered: float) -> float:
    return 1.0 - covered if ending.none else 0.0


def condition_of(ending: Ending) -> Condition | None:
    """The condition of an ending, on nodes or edges."""
    if ending.where is not None:
        return ending.where[1]
    return ending.final.filters[0] if ending.final.filters else None


def _elements(ending: Ending, alike: Mapping[str, float]) -> tuple[str, str, str, str]:
    final, condition = ending.final, condition_of(ending)
    if ending.none:
        return "none", "", "", ""
    way = f"{final.kind} {'desc' if final.descending else 'asc'}" if final.kind in ("order", "degree") else final.kind
    how = "unfiltered"
    if condition is not None:
        how = _compared(condition, alike)
    many = ("one", "many")[final.limit > 1] if final.kind in ("order", "degree") else ""
    return way, many, how, "edge" if ending.where else ""


def _compared(condition: Condition, alike: Mapping[str, float]) -> str:
    """How a condition compares, as one of ``ELEMENTS``."""
    if isinstance(condition.value, bool):
        return str(condition.value).lower()
    if isinstance(condition.value, str):
        return "alike" if condition.value in alike else TEXTS.get(condition.op, condition.op)
    return condition.op
