"""Completes paths: each of the likeliest paths with its likeliest endings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ....signatures.graph_steps import Condition, GraphPlan
from ...heads.encoder import Encoder
from ...heads.heads import softmax
from ..names.itself import is_itself
from ..question.alike import ValueWords
from ..question.as_said import AsSaid, Grouped
from ..question.said_numbers import SaidNumbers, said_numbers
from ..question.said_texts import Piece
from ..question.view import Hypothesis, View, gram_columns
from ..sketch import Hop, Sketch
from ..values import Values
from .endings import DENSE as ENDING_NUMBERS
from .endings import ELEMENTS, Ending, EndingParts, EndingWeights, endings
from .evidence import DENSE
from .paths import NOTHING
from .ranking import Ranked, Ranker, gram_norm

ENDINGS = 8
"""The most endings kept for each path, beside "the schema cannot say it"."""
SLIGHT = 0.003
"""The probability, over that of the likeliest, below which endings and paths are dropped; they are never chosen."""
COVERED = DENSE.index("covered share")
UNSAYABLE = ENDING_NUMBERS.index("unsayable")


@dataclass(frozen=True)
class Option:
    """A complete plan that a question may mean, with what the ranking of paths and that of endings say of it.

    Attributes:
        place: the path's place among the candidates of ``ranked``.
        path_chance: the path's probability among all paths; ``best_path`` is the likeliest path's.
        ending_chance: the ending's probability after this path; ``best_ending`` is the likeliest ending's, and
            ``none_chance`` that of "the schema cannot say it".
        numbers, elements: those of the ending, see ``endings``.
        told: what the question's n-grams say for these elements.
        slighted: the factor on its probability for ignoring what the question states outright, 1 if it does not.
        asked: whether it answers with a type that the question asks for by its word.
    """

    ranked: Ranked
    place: int
    path_chance: float
    best_path: float
    ending: Ending
    ending_chance: float
    best_ending: float
    none_chance: float
    numbers: np.ndarray
    elements: tuple[int, ...]
    told: float
    sketch: Sketch
    slighted: float = 1.0
    asked: bool = False

    @property
    def hypothesis(self) -> Hypothesis:
        """What the names were taken for."""
        return self.ranked.hypothesis

    @property
    def view(self) -> View:
        """The question with these names."""
        return self.ranked.view

    @property
    def covered(self) -> float:
        """Share of the question's words that the path explains."""
        return float(self.ranked.dense[self.place, COVERED])

    @property
    def chance(self) -> float:
        """The probability of the whole plan by the two rankings."""
        return self.path_chance * self.ending_chance

    @cached_property
    def text(self) -> str:
        """A text that is equal for options with the same plan; empty for "the schema cannot say it", with any path."""
        return "" if self.ending.none else self.sketch.canonical()

    @cached_property
    def plan(self) -> GraphPlan:
        """The typed plan; where the schema cannot say what is asked, the set that comes nearest."""
        return self.sketch.to_plan()


class Completer:
    """Completes the paths over one schema with endings."""

    def __init__(self, ranker: Ranker, weights: EndingWeights, values: Values, encoder: Encoder) -> None:
        self.ranker, self.weights, self.values = ranker, weights, values
        self.parts = EndingParts(ranker.table.schema, encoder)
        self.value_words = ValueWords(values.texts.values(), encoder, values.words)
        self.rows = {name: row for row, name in enumerate(ELEMENTS)}
        self.tested = frozenset(edge.name for edge in ranker.table.schema.edges if edge.properties)

    def of(self, question: str) -> Completing:
        """A completer for the paths of one question, which computes what they share only once."""
        return Completing(self, question)

    def options(self, question: str, ranked: Ranked, place: int, chance: float, best: float) -> list[Option]:
        """A path with its likeliest endings; for several paths of a question, ``of`` is faster."""
        return self.of(question).options(ranked, place, chance, best)

    def told(self, view: View) -> np.ndarray:
        """What the question's n-grams and words say for each element, shape (elements + 1,).

        The last one, 0, is for no element.
        """
        table, width = self.weights.table, len(self.weights.grams)
        by_grams = table[:, gram_columns(view.grams, self.weights.grams)].sum(axis=1) / gram_norm(len(view.grams))
        return np.append(by_grams + table[:, width:] @ view.sound, 0.0)


@dataclass(frozen=True)
class _Ends:
    """The endings for all paths of a question that end in one type and follow the same edges with properties.

    Attributes:
        found: the endings.
        dense: their numbers for a path that explains all of the question, shape (n, numbers).
        elements: their elements, shape (n, 4); ``told``, shape (n,), is what the question says for these.
        none: the place of "the schema cannot say it".
        grouped: the endings corrected to what the question states.
    """

    found: list[Ending]
    dense: np.ndarray
    elements: np.ndarray
    told: np.ndarray
    none: int
    grouped: Grouped

    def numbers(self, covered: float) -> np.ndarray:
        """The endings' numbers for a path that explains this share of the question's words."""
        dense = self.dense.copy()
        dense[self.none, UNSAYABLE] = 1.0 - covered
        return dense


class Completing:
    """Completes the paths of one question with endings; what paths share is computed once."""

    def __init__(self, completer: Completer, question: str) -> None:
        self._by, self._question = completer, question
        self._told: dict[int, tuple[View, np.ndarray]] = {}
        self._said: dict[int, tuple[SaidNumbers, tuple[Piece, ...], dict[str, float], AsSaid]] = {}
        self._ends: dict[tuple[object, ...], _Ends] = {}

    def options(
        self,
        ranked: Ranked,
        place: int,
        chance: float,
        best: float,
        weight: float = 1.0,
        asked: frozenset[int] = frozenset(),
    ) -> list[Option]:
        """A path with its likeliest endings, "the schema cannot say it" among them; empty if it has none.

        Args:
            ranked, place: the path, as a candidate's place.
            chance, best: the probability of this path, and of the likeliest.
            weight: the factor on it for what the question states outright, see ``leaning``.
            asked: the numbers of the types that the question asks for.
        """
        ends = self._of_path(ranked, place)
        if not ends.found:
            return []
        dense = ends.numbers(float(ranked.dense[place, COVERED]))
        chances = softmax((dense @ self._by.weights.dense + ends.told)[None])[0]
        sketch = ranked.pool.sketch(place, self._by.ranker.table)
        said, chances = ends.grouped.together(ends.found, chances)
        top = float(chances.max())
        likely = [i for i in np.argsort(-chances, kind="stable")[:ENDINGS].tolist() if chances[i] > SLIGHT * top]
        kept = dict.fromkeys([*likely, ends.none])
        return [
            Option(
                ranked,
                place,
                chance,
                best,
                said[i],
                float(chances[i]),
                top,
                float(chances[ends.none]),
                dense[i],
                tuple(int(e) for e in ends.elements[i] if e < len(ELEMENTS)),
                float(ends.told[i]),
                with_ending(sketch, said[i]),
                (1.0 if i == ends.none else weight) * ends.grouped.slighted[i],
                int(ranked.pool.end[place]) in asked,
            )
            for i in kept
        ]

    def is_tested(self, ranked: Ranked) -> bool:
        """Whether some ending for a name itself is a test that the question states outright."""
        return any(not ending.none for ending in self._of_path(ranked, 0).found)

    def _of_path(self, ranked: Ranked, place: int) -> _Ends:
        table, view = self._by.ranker.table, ranked.view
        edges = [table.hops[h].edge.name for h in ranked.pool.hops[place] if h != NOTHING]
        tested = tuple(dict.fromkeys(edge for edge in edges if edge in self._by.tested))
        if id(view) not in self._told:  # the view is kept in the value, so that no other object gets its id
            self._told[id(view)] = view, self._by.told(view)
        key = (id(view), int(ranked.pool.end[place]), tested, bool(edges), is_itself(ranked.pool))
        if key not in self._ends:
            self._ends[key] = self._looked_at(ranked, place, tested, bool(edges))
        return self._ends[key]

    def _looked_at(self, ranked: Ranked, place: int, tested: Sequence[str], followed: bool) -> _Ends:
        by, table = self._by, self._by.ranker.table
        kind = table.types[int(ranked.pool.end[place])]
        numbers, pieces, alike, said = self._said_in(ranked)
        found = endings(table.schema, by.values, kind, tested, self._question, numbers, alike, pieces)
        if not followed and all(reading.field in ("name", "id") for reading in ranked.hypothesis.readings):
            # The names alone are no answer, but the first of them in some order is, and those that pass a condition.
            found = [one for one in found if one.none or one.final.kind in ("order", "degree") or one.final.filters]
        if is_itself(ranked.pool):
            found = [one for one in found if one.none or said.is_outright(one)]
        dense, elements = by.parts.of(found, ranked.view, numbers, 1.0, by.rows, kind, alike, pieces)
        none = next(i for i, ending in enumerate(found) if ending.none)
        told = self._told[id(ranked.view)][1][elements].sum(axis=1)
        return _Ends(found, dense, elements, told, none, said.grouped(found, kind, tested, followed))

    def _said_in(self, ranked: Ranked) -> tuple[SaidNumbers, tuple[Piece, ...], dict[str, float], AsSaid]:
        """What the question states beside a view's names: numbers, pieces of text, words like values, and the rest."""
        view = ranked.view
        if id(view) not in self._said:
            spans = [(m.start, m.end) for m in ranked.hypothesis.mentions]
            pieces = self._by.parts.pieces(self._question, spans, view)
            alike = self._by.value_words.unsaid(view, self._question)
            said = AsSaid(self._question, spans, self._by.values)
            numbers = said.bounded.numbers(said_numbers(self._question, spans))
            self._said[id(view)] = numbers, pieces, alike, said
        return self._said[id(view)]


def with_ending(sketch: Sketch, ending: Ending) -> Sketch:
    """A sketch with an ending: its final step, and its conditions on edges."""
    where = ending.where
    if where is not None:
        sketch = replace(
            sketch,
            branches=tuple(replace(b, hops=_conditioned(b.hops, *where)) for b in sketch.branches),
            tail=_conditioned(sketch.tail, *where),
        )
    return replace(sketch, final=ending.final)


def _conditioned(hops: tuple[Hop, ...], edge: str, conditions: tuple[Condition, ...]) -> tuple[Hop, ...]:
    return tuple(replace(hop, where=conditions) if hop.edge == edge else hop for hop in hops)
