"""Ranks endings, the last part of a plan: return the set that a path reaches, count it, filter it, or order it.

Endings are ranked as paths are: by numbers that mean the same in every schema, and by products of elements and
n-grams. Which words ask for a count or for the newest is learned from labelled questions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

import numpy as np

from ....data.element_words import DONE
from ....signatures.graph_steps import Condition, GraphSchema
from ...heads.encoder import DIMENSIONS, Encoder
from ..question.alike import FEW
from ..question.said_numbers import SaidNumbers
from ..question.said_texts import Piece, said_texts
from ..question.view import View
from ..question.words import fold, name_words, words_of
from ..sketch import Final
from ..values import Values, may_be, number_of
from .phrases import denied
from .schema_words import FLOOR, FULL

VECTOR = DIMENSIONS
COMPARISONS = ("lt", "le", "gt", "ge", "eq")
RANGES = (("ge", "le"), ("gt", "lt"))
TEXTS = {"eq": "text", "ne": "not text"}
MOST_LIMIT = 50
COMPARED = {"gt": "gt", "ge": "gt", "lt": "lt", "le": "lt"}
OPPOSITE = {"gt": "lt", "lt": "gt"}
COMBINES = ("union", "intersect", "difference")
ELEMENTS = (
    *("none", "set", "count", "order desc", "order asc", "degree desc", "degree asc", "one", "many"),
    *("unfiltered", "text", "not text", "edge", *COMPARISONS),
    *("alike", "true", "false"),
    "range",
    "contains",
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
    "decade said",
    "not said",
    "turned round",
    "piece marked",
    "piece rare",
)
NAME = "name"
"""A property that every node has, though no schema lists it."""
HANGUL = re.compile(r"(?<=[A-Za-z0-9])(?=[\uac00-\ud7a3])")


Conditions = tuple[Condition, ...]


@dataclass(frozen=True)
class Ending:
    """One way to end a plan.

    Attributes:
        where: an edge's name, and conditions on the edges of that name that the plan follows.
        none: whether this is "the schema cannot say it".
    """

    final: Final = field(default_factory=Final)
    where: tuple[str, tuple[Condition, ...]] | None = None
    none: bool = False


@dataclass(frozen=True)
class EndingWeights:
    """Weights of the numbers, and a table for each element: of n-grams, then of the question's vector."""

    dense: np.ndarray
    grams: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.uint32))
    table: np.ndarray = field(default_factory=lambda: np.zeros((len(ELEMENTS), VECTOR), dtype=np.float32))


def endings(
    schema: GraphSchema,
    values: Values,
    kind: str,
    edges: Sequence[str],
    question: str,
    numbers: SaidNumbers,
    alike: Collection[str] = frozenset(),
    pieces: Sequence[Piece] = (),
) -> list[Ending]:
    """Every ending for a set of nodes of a type (``kind``) that is reached over these edges.

    Args:
        alike: values that the question does not have, but words like them.
        pieces: texts that names and text properties may have to contain.
    """
    node = schema.node(kind)
    properties = node.properties if node else ()
    finals = [Final(), Final("count")]
    limits = [1, *(int(n) for n in numbers.numbers if n.is_integer() and 1 < n <= MOST_LIMIT)]
    ordered = [(kind, p) for p in properties if (kind, p) in values.numbers]
    joined = [e.name for e in schema.edges if kind in (e.source, e.target)]
    for limit, descending in product(limits, (True, False)):
        finals += [Final("order", p, descending, limit) for _, p in ordered]
        finals += [Final("degree", name, descending, limit) for name in joined]
    said = values.said(f" {fold(HANGUL.sub(' ', question))} ", numbers.numbers)
    filters: list[tuple[Conditions, tuple[str, Conditions] | None]] = [
        (found, None) for found in _conditions(kind, properties, values, said, numbers, alike)
    ]
    texts = dict.fromkeys([NAME, *(p for p in properties if is_text((kind, p), values))])
    filters += [((_containing(name, piece),), None) for name in texts for piece in pieces]
    for name in dict.fromkeys(edges):
        edge = schema.edge(name)
        found = _conditions(name, edge.properties if edge else (), values, said, numbers, alike)
        filters += [((), (name, conditions)) for conditions in found]
    plain = [Ending(final) for final in finals]
    # Conditions go with the set itself or a count. Few questions also order, as they would have to say much at once.
    kept = [Ending(Final(f.kind, filters=given), where) for given, where in filters for f in finals[:2]]
    return [*plain, *kept, Ending(none=True)]


def is_text(key: tuple[str, str], values: Values) -> bool:
    """Whether a property has free texts, and not one of a few values."""
    found = values.texts.get(key)
    return found is not None and (not found or len(found) > FEW)


def _containing(name: str, piece: Piece) -> Condition:
    return Condition(property=name, op="contains", value=piece.text)


def _conditions(
    kind: str,
    properties: Sequence[str],
    values: Values,
    said: Collection[str],
    numbers: SaidNumbers,
    alike: Collection[str],
) -> list[Conditions]:
    found: list[Conditions] = []
    for name in properties:
        if (kind, name) in values.flags:
            found += [(Condition(property=name, value=value),) for value in (True, False)]
        found += [(Condition(property=name, value=text),) for text in values.among((kind, name), alike)]
        found += [
            (Condition(property=name, op=op, value=text),)  # type: ignore[arg-type]
            for text in values.among((kind, name), said)
            for op in ("eq", "ne")
        ]
        if (bounds := values.numbers.get((kind, name))) is not None:
            found += _compared_with(name, bounds, numbers)
    return found


def _compared_with(name: str, bounds: tuple[float, float], numbers: SaidNumbers) -> list[Conditions]:
    """A property compared with each number that it may have, and with each range."""

    def condition(op: str, n: float) -> Condition:
        return Condition(property=name, op=op, value=int(n) if n.is_integer() else n)  # type: ignore[arg-type]

    single = [(condition(op, n),) for n in numbers.numbers if may_be(n, bounds) for op in COMPARISONS]
    ranges = [pair for pair in numbers.ranges if all(may_be(n, bounds) for n in pair)]
    return [*single, *((condition(a, low), condition(b, high)) for low, high in ranges for a, b in RANGES)]


class EndingParts:
    """Computes the numbers and elements of endings for one schema."""

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
        said.setdefault(NAME, [NAME])
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
        numbers: SaidNumbers,
        covered: float,
        rows: Mapping[str, int],
        kind: str,
        alike: Mapping[str, float] | None = None,
        pieces: Sequence[Piece] = (),
    ) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of each ending, shape (n, len(DENSE)), and the rows of its elements, shape (n, 4).

        Args:
            covered: share of the question's words that the path explains.
            rows: the row of each element; their number stands for no element.
            kind: the type of the nodes that the path ends in.
            alike: similarity of a word to each value that the question does not have, see ``ValueWords.unsaid``.
            pieces: what the method ``pieces`` found.
        """
        near = {name: float((near * view.weight).max(initial=0.0)) for name, near in self.near_words(view).items()}
        edges = (np.maximum(view.near.edge_names, view.near.edge_texts) * view.weight[:, None]).max(axis=0, initial=0.0)
        types = (view.near.types * view.weight[:, None]).max(axis=0, initial=0.0)
        by_edge = {name: (float(edges[i]), float(types[self.counted(name, kind)])) for name, i in self._edges.items()}
        like = alike or {}
        said = dict(zip(DONE, view.done.tolist(), strict=True))
        flags = {c.property for e in found for c in conditions_of(e) if isinstance(c.value, bool)}
        away = {name: denied(name, view.words, said["difference"]) for name in flags}
        of_piece = {piece.text: piece for piece in pieces}
        dense = [
            [
                *self._dense(e, near, by_edge, numbers, like),
                *_done(e, said),
                _unsaid(e, covered),
                _decade(e, numbers),
                *_negated(e, said, away),
                *_piece(e, of_piece),
            ]
            for e in found
        ]
        none = len(rows)
        elements = [[rows.get(name, none) for name in _elements(ending, like)] for ending in found]
        return np.array(dense).reshape(-1, len(DENSE)), np.array(elements, dtype=np.int32).reshape(-1, 4)

    def pieces(self, question: str, spans: Sequence[tuple[int, int]], view: View) -> tuple[Piece, ...]:
        """The pieces of text of a question, see ``said_texts``."""
        if not view.words:
            return said_texts(question, spans, {}, {})
        near = view.near
        explained = np.stack(
            [
                *(part.max(axis=1, initial=0.0) for part in (near.edge_names, near.type_names)),
                *(0.8 * part.max(axis=1, initial=0.0) for part in (near.edge_texts, near.type_texts)),
                *self.near_words(view).values(),
            ]
        ).max(axis=0)
        says, known = dict[str, float](), dict[str, float]()
        for word, weight, share in zip(view.words, view.weight.tolist(), explained.tolist(), strict=True):
            says[word], known[word] = weight, max(share, known.get(word, 0.0))
        return said_texts(question, spans, says, known)

    def counted(self, edge: str, kind: str) -> int:
        """The number of the type that is counted where nodes of type ``kind`` are ordered by edges of this name."""
        alike = [e for e in self._schema.edges if e.name == edge]
        found = next((e for e in alike if kind in (e.source, e.target)), alike[0])
        return self._types[found.source if found.target == kind else found.target]

    def near_words(self, view: View) -> dict[str, np.ndarray]:
        """For each property, the similarity of each word to it, 0 to 1, shape (words,)."""
        if not view.words or not self._names:
            return {name: np.zeros(len(view.words)) for name in self._names}
        near = np.stack([self._of_word(word) for word in view.words])
        if view.near.told is not None:
            told = view.near.told.properties  # has no column for the last property, the name, unless the schema does
            near[:, : told.shape[1]] = np.maximum(near[:, : told.shape[1]], told)
        return dict(zip(self._names, near.T, strict=True))

    def _compare(self, word: str) -> np.ndarray:
        """The similarity of a word to each property, 0 to 1, shape (properties,)."""
        vector = self._encoder.encode([word])[0]
        best = np.array([(vectors @ vector).max(initial=0.0) for vectors in self._vectors])
        return np.clip((best - FLOOR) / (FULL - FLOOR), 0, 1)

    def _dense(
        self,
        ending: Ending,
        near: Mapping[str, float],
        edges: Mapping[str, tuple[float, float]],
        numbers: SaidNumbers,
        alike: Mapping[str, float],
    ) -> list[float]:
        if ending.none:
            return [0.0] * DENSE.index("done said")  # the numbers from there on are added for every ending
        final, condition = ending.final, condition_of(ending)
        named = near.get(final.key, 0.0) if final.kind == "order" else 0.0
        if condition is not None:
            named = max(named, near.get(condition.property, 0.0))
        flag = condition is not None and isinstance(condition.value, bool)
        with_number = condition is not None and not flag and not isinstance(condition.value, str)
        near_value = 0.0 if condition is None or flag or with_number else alike.get(str(condition.value), 0.0)
        text = condition is not None and not flag and not with_number and condition.op != "contains"
        said = text and near_value == 0.0
        limit = final.limit > 1
        return [
            named,
            *(edges[final.key] if final.kind == "degree" else (0.0, 0.0)),
            float(said),
            float(with_number),
            float(len(numbers.numbers) - _used(ending, numbers) - limit),
            float(limit),
            float(condition is not None),
            float(len(str(condition.value).split())) if condition is not None else 0.0,
            near_value,
            float(flag),
        ]


def _used(ending: Ending, numbers: SaidNumbers) -> int:
    """The number of the question's numbers that an ending's conditions use."""
    conditions = conditions_of(ending)
    said = [one for one in conditions if not isinstance(one.value, str | bool) or number_of(one.value) is not None]
    return 0 if _decade(ending, numbers) else len(said)


def _decade(ending: Ending, numbers: SaidNumbers) -> float:
    """1.0 if an ending's conditions are the range of a decade that the question names."""
    conditions = conditions_of(ending)
    return float(len(conditions) > 1 and tuple(one.value for one in conditions) in numbers.decades)


def _done(ending: Ending, said: Mapping[str, float]) -> tuple[float, float]:
    """The match with the phrases for what an ending does, and the best match with those for what it does not do."""
    used = {_elements(ending, {})[0], *(COMPARED.get(condition.op, "") for condition in conditions_of(ending))}
    left = (value for name, value in said.items() if name not in used and name not in COMBINES)
    return sum(said.get(name, 0.0) for name in used), max(left, default=0.0)


def _piece(ending: Ending, pieces: Mapping[str, Piece]) -> tuple[float, float]:
    """For a condition "contains", whether its text is marked as one (quotation marks, hyphen), and its ``rare``."""
    condition = condition_of(ending)
    if condition is None or condition.op != "contains":
        return 0.0, 0.0
    piece = pieces[str(condition.value)]
    return float(piece.marked), piece.rare


def _negated(ending: Ending, said: Mapping[str, float], denials: Mapping[str, float]) -> tuple[float, float]:
    """The match with phrases for "not" where a value is excluded, and where a comparison is the opposite of the words'.

    "Nothing after 1960" has words for "after", and means until 1960. A test for "false" counts as excluding a value:
    ``denials`` has for each true-or-false property how well the question denies it.
    """
    ways = {
        "ne" if condition.value is False else COMPARED.get(condition.op, condition.op)
        for condition in conditions_of(ending)
    }
    condition = condition_of(ending)
    told = said.get("difference", 0.0)
    away = told if condition is None else denials.get(condition.property, told)
    other = max((said.get(OPPOSITE[way], 0.0) for way in ways if way in OPPOSITE and len(ways) == 1), default=0.0)
    return away * ("ne" in ways), away * other


def _unsaid(ending: Ending, covered: float) -> float:
    return 1.0 - covered if ending.none else 0.0


def conditions_of(ending: Ending) -> Conditions:
    """The conditions of an ending, on nodes or on edges; two conditions are a range."""
    return ending.where[1] if ending.where is not None else ending.final.filters


def condition_of(ending: Ending) -> Condition | None:
    """The first condition of an ending; None if it has none."""
    return next(iter(conditions_of(ending)), None)


def _elements(ending: Ending, alike: Mapping[str, float]) -> tuple[str, str, str, str]:
    final, condition = ending.final, condition_of(ending)
    if ending.none:
        return "none", "", "", ""
    way = f"{final.kind} {'desc' if final.descending else 'asc'}" if final.kind in ("order", "degree") else final.kind
    how = "unfiltered"
    if condition is not None:
        how = "range" if len(conditions_of(ending)) > 1 else _compared(condition, alike)
    many = ("one", "many")[final.limit > 1] if final.kind in ("order", "degree") else ""
    return way, many, how, "edge" if ending.where else ""


def _compared(condition: Condition, alike: Mapping[str, float]) -> str:
    """How a condition compares, as one of ``ELEMENTS``."""
    if isinstance(condition.value, bool):
        return str(condition.value).lower()
    if isinstance(condition.value, str):
        return "alike" if condition.value in alike else TEXTS.get(condition.op, condition.op)
    return condition.op
