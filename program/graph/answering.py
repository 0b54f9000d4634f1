"""From a question to its best plans with their probabilities: names, paths and endings put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...signatures.graph_steps import Condition, GraphPlan
from ..encoder import Encoder
from ..heads import softmax
from .endings import ELEMENTS, Ending, EndingParts, Values, endings, numbers_in
from .evidence import DENSE, Shape, dense_of
from .linking import Mention, NameIndex
from .paths import NOTHING
from .pool import taken
from .ranking import Ranked, Ranker, gram_columns, gram_norm
from .sketch import Hop, Sketch, canonical
from .store import Learned
from .view import Hypothesis, View

LOOKED_AT = 4
"""Paths that endings are tried on; the fifth is practically never the right one."""


@dataclass(frozen=True)
class Found:
    """A plan for a question.

    Attributes:
        chance: its probability among all candidates.
        sure: the probability that it is right at all, as fitted on labelled questions.
    """

    plan: GraphPlan
    sketch: Sketch
    hypothesis: Hypothesis
    chance: float
    sure: float
    covered: float


class Answerer:
    """Finds the best plans of questions over one graph. Safe to share between threads."""

    def __init__(self, ranker: Ranker, learned: Learned, index: NameIndex, values: Values, encoder: Encoder) -> None:
        self.ranker, self.learned, self.index, self.values = ranker, learned, index, values
        self.common = frozenset(word for word, weight in learned.paths.common.items() if weight < 1)
        self._endings = EndingParts(ranker.table.schema, encoder)
        self._rows = {name: row for row, name in enumerate(ELEMENTS)}

    def mentions(self, question: str) -> tuple[Mention, ...]:
        """Everything in the question that may name a node."""
        return self.index.mentions(question, self.common)

    def best(self, question: str, mentions: Sequence[Mention] | None = None, count: int = 3) -> list[Found]:
        """The likeliest plans, the best first; none where no name leads anywhere."""
        ranked = self.ranker.rank(question, self.mentions(question) if mentions is None else mentions)
        if not any(len(r.scores) for r in ranked):
            return []
        chances = softmax(np.concatenate([r.scores for r in ranked])[None])[0]
        starts = np.cumsum([0, *(len(r.scores) for r in ranked)])
        order = np.argsort(-chances, kind="stable")[:LOOKED_AT]
        places = [(int(np.searchsorted(starts, i, side="right")) - 1, int(i)) for i in order]
        found = [
            one
            for which, i in places
            for one in self._ended(question, ranked[which], i - int(starts[which]), float(chances[i]))
        ]
        return self._judged(question, _merged(found))[:count]

    def _ended(self, question: str, ranked: Ranked, place: int, chance: float) -> list[Found]:
        """A path with its likeliest endings."""
        table = self.ranker.table
        sketch = ranked.pool.sketch(place, table)
        view, spans = ranked.view, [(m.start, m.end) for m in ranked.hypothesis.mentions]
        numbers = numbers_in(question, view, spans)
        edges = [table.hops[h].edge.name for h in ranked.pool.hops[place] if h != NOTHING]
        options = endings(table.schema, self.values, table.types[int(ranked.pool.end[place])], edges, question, numbers)
        if not edges:  # the names themselves are no answer; the first of them by something is
            options = [one for one in options if one.final.kind in ("order", "degree")]
        chances = self._ending_chances(options, view, numbers) if options else np.zeros(0)
        covered = _covered(ranked, place, self.ranker)
        best = np.argsort(-chances, kind="stable")[:2]
        made = [(_with(sketch, options[i]), float(chances[i])) for i in best]
        return [Found(s.to_plan(), s, ranked.hypothesis, chance * c, 0.0, covered) for s, c in made]

    def _ending_chances(self, options: Sequence[Ending], view: View, numbers: Sequence[float]) -> np.ndarray:
        weights = self.learned.endings
        dense, elements = self._endings.of(options, view, numbers, self._rows)
        columns = gram_columns(view.grams, weights.grams)
        said = weights.table[:, columns].sum(axis=1) / gram_norm(len(view.grams))
        scores = dense @ weights.dense + np.append(said, 0.0)[elements].sum(axis=1)
        return softmax(scores[None])[0]

    def _judged(self, question: str, found: list[Found]) -> list[Found]:
        rest = [one.chance for one in found[1:2]] or [0.0]
        features = [sure_features(one, rest[0] if one is found[0] else found[0].chance) for one in found]
        values = 1 / (1 + np.exp(-(np.array(features) @ self.learned.sure)))
        return [replace(one, sure=float(value)) for one, value in zip(found, values, strict=True)]


def sure_features(found: Found, rival: float) -> list[float]:
    """What says whether a plan is right, as named in ``store.SURE``."""
    readings = found.hypothesis.readings
    chance = min(max(found.chance, 1e-4), 1 - 1e-4)
    return [
        1.0,
        float(np.log(chance / (1 - chance))) / 4,
        chance - rival,
        found.covered,
        1.0 - found.covered**2,
        float(any(r.how == "fuzzy" for r in readings)),
        float(any(r.how == "unknown" for r in readings)),
        float(len(readings) > 1),
    ]


def _covered(ranked: Ranked, place: int, ranker: Ranker) -> float:
    one = taken(ranked.pool, np.array([place]))
    dense = dense_of(one, Shape(one, ranker.table), ranked.view, 0.0)
    return float(dense[0, DENSE.index("covered share")])


def _merged(found: Sequence[Found]) -> list[Found]:
    """Plans that always give the same answers as one, with their probabilities added."""
    best: dict[str, Found] = {}
    for one in sorted(found, key=lambda f: -f.chance):
        text = canonical(one.plan)
        first = best.get(text)
        best[text] = replace(first, chance=min(1.0, first.chance + one.chance)) if first else one
    return sorted(best.values(), key=lambda f: -f.chance)


def _with(sketch: Sketch, ending: Ending) -> Sketch:
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
