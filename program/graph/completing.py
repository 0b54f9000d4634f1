"""Paths completed: each of the likeliest ways to a set of nodes, with its likeliest endings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...signatures.graph_steps import Condition, GraphPlan
from ..encoder import Encoder
from ..heads import softmax
from .endings import ELEMENTS, Ending, EndingParts, EndingWeights, Values, endings, numbers_in
from .evidence import DENSE
from .paths import NOTHING
from .ranking import Ranked, Ranker, gram_columns, gram_norm
from .sketch import Hop, Sketch
from .view import Hypothesis, View

ENDINGS = 3
"""Endings looked at of each path, beside that the schema cannot say what is asked."""
SLIGHT = 0.003
"""Endings and paths so much less likely than the likeliest are not looked at; they are never chosen."""
COVERED = DENSE.index("covered share")


@dataclass(frozen=True)
class Option:
    """A complete plan that a question may mean, with what the ranking of paths and that of endings say of it.

    Attributes:
        place: of the path among the candidates of ``ranked``.
        path_chance: of the path among all paths; ``best_path`` is that of the likeliest.
        ending_chance: of the ending after this path; ``best_ending`` and ``none_chance`` are those of the likeliest and
            of "the schema cannot say it".
        numbers, elements: of the ending, see ``endings``; ``told`` is what the question's n-grams say for the elements.
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
        """Of the whole plan, as the two rankings see it."""
        return self.path_chance * self.ending_chance

    @cached_property
    def plan(self) -> GraphPlan:
        """The typed plan; where the schema cannot say what is asked, the set that comes nearest."""
        return self.sketch.to_plan()


class Completer:
    """Puts endings to the paths of one schema."""

    def __init__(self, ranker: Ranker, weights: EndingWeights, values: Values, encoder: Encoder) -> None:
        self.ranker, self.weights, self.values = ranker, weights, values
        self.parts = EndingParts(ranker.table.schema, encoder)
        self._rows = {name: row for row, name in enumerate(ELEMENTS)}

    def options(self, question: str, ranked: Ranked, place: int, chance: float, best: float) -> list[Option]:
        """A path with its likeliest endings.

        Args:
            chance, best: probability of this path, and of the likeliest.
        """
        view = ranked.view
        numbers = numbers_in(question, [(m.start, m.end) for m in ranked.hypothesis.mentions])
        found = self._endings(question, ranked, place, numbers)
        if not found:
            return []
        covered = float(ranked.dense[place, COVERED])
        dense, elements = self.parts.of(found, view, numbers, covered, self._rows)
        told = self._told(elements, view)
        chances = softmax((dense @ self.weights.dense + told)[None])[0]
        none = next(i for i, ending in enumerate(found) if ending.none)
        sketch = ranked.pool.sketch(place, self.ranker.table)
        top = float(chances.max())
        likely = [i for i in np.argsort(-chances, kind="stable")[:ENDINGS].tolist() if chances[i] > SLIGHT * top]
        kept = dict.fromkeys([*likely, none])
        return [
            Option(
                ranked,
                place,
                chance,
                best,
                found[i],
                float(chances[i]),
                top,
                float(chances[none]),
                dense[i],
                tuple(int(e) for e in elements[i] if e < len(ELEMENTS)),
                float(told[i]),
                with_ending(sketch, found[i]),
            )
            for i in kept
        ]

    def _endings(self, question: str, ranked: Ranked, place: int, numbers: Sequence[float]) -> list[Ending]:
        table = self.ranker.table
        edges = [table.hops[h].edge.name for h in ranked.pool.hops[place] if h != NOTHING]
        kind = table.types[int(ranked.pool.end[place])]
        found = endings(table.schema, self.values, kind, edges, question, numbers)
        if edges:
            return found
        # The names themselves are no answer; the first of them by something is.
        return [one for one in found if one.none or one.final.kind in ("order", "degree")]

    def _told(self, elements: np.ndarray, view: View) -> np.ndarray:
        columns = gram_columns(view.grams, self.weights.grams)
        said = self.weights.table[:, columns].sum(axis=1) / gram_norm(len(view.grams))
        return np.append(said, 0.0)[elements].sum(axis=1)


def with_ending(sketch: Sketch, ending: Ending) -> Sketch:
    """A sketch with what is done at its end."""
    where = ending.where
    if where is not None:
        sketch = replace(
            sketch,
            branches=tuple(replace(b, hops=_conditioned(b.hops, *where)) for b in sketch.branches),
            tail=_conditioned(sketch.tail, *where),
        )
    return replace(sketch, final=ending.final)


def _conditioned(hops: tuple[Hop, ...], edge: str, condition: Condition) -> tuple[Hop, ...]:
    return tuple(replace(hop, where=(condition,)) if hop.edge == edge else hop for hop in hops)
