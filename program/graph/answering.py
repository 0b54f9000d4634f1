"""From a question to its best plans with their probabilities: names, paths and endings put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...signatures.graph_steps import Condition, GraphPlan
from ..encoder import Encoder
from ..heads import softmax
from .endings import ELEMENTS, Ending, EndingParts, Values, endings, numbers_in
from .linking import Mention, NameIndex
from .paths import NOTHING
from .ranking import Ranked, Ranker, gram_columns, gram_norm
from .sketch import Branch, Hop, Sketch, canonical
from .store import Learned
from .view import Hypothesis, View

Probe = Callable[[GraphPlan], bool]
PROBED = 8
NOWHERE = 0.08
"""How much less likely a path is that finds nothing; about one labelled plan in ten does."""
LOOKED_AT = 4
"""Paths that endings are tried on; the fifth is practically never the right one."""


@dataclass(frozen=True)
class Found:
    """A plan for a question.

    Attributes:
        chance: its probability among all candidates.
        sure: the probability that it is right at all, as fitted on labelled questions.
        covered: share of the question's words that it explains.
        none: the schema cannot say what is asked; the plan is what comes nearest.
    """

    plan: GraphPlan
    sketch: Sketch
    hypothesis: Hypothesis
    chance: float
    sure: float
    covered: float
    none: bool = False


class Answerer:
    """Finds the best plans of questions over one graph. Safe to share between threads."""

    def __init__(
        self,
        ranker: Ranker,
        learned: Learned,
        index: NameIndex,
        values: Values,
        encoder: Encoder,
        probe: Probe | None = None,
    ) -> None:
        """An answerer from its parts.

        Args:
            probe: whether a plan finds anything, where that can be asked in well under a millisecond.
        """
        self.ranker, self.learned, self.index, self.values = ranker, learned, index, values
        self._probe = probe
        self._endings = EndingParts(ranker.table.schema, encoder)
        self._rows = {name: row for row, name in enumerate(ELEMENTS)}

    def mentions(self, question: str) -> tuple[Mention, ...]:
        """Everything in the question that may name a node."""
        return self.index.mentions(question, self.ranker.ordinary)

    def best(self, question: str, mentions: Sequence[Mention] | None = None, count: int = 3) -> list[Found]:
        """The likeliest plans, the best first; none where no name leads anywhere."""
        ranked = self.ranker.rank(question, self.mentions(question) if mentions is None else mentions)
        if not any(len(r.scores) for r in ranked):
            return []
        chances = softmax(np.concatenate([r.scores for r in ranked])[None])[0]
        starts = np.cumsum([0, *(len(r.scores) for r in ranked)])
        order = np.argsort(-chances, kind="stable")[:PROBED]
        places = [(int(np.searchsorted(starts, i, side="right")) - 1, int(i)) for i in order]
        if self._probe is not None:
            chances = self._probed(ranked, starts, places, chances)
        places = sorted(places, key=lambda place: -chances[place[1]])[:LOOKED_AT]
        found = [
            one
            for which, i in places
            for one in self._ended(question, ranked[which], i - int(starts[which]), float(chances[i]))
        ]
        return self._judged(question, _merged(found))[:count]

    def _probed(
        self, ranked: Sequence[Ranked], starts: np.ndarray, places: Sequence[tuple[int, int]], chances: np.ndarray
    ) -> np.ndarray:
        """Chances where a path that leads nowhere counts for less: people ask for what there is, as a rule.

        Only branches are tried, not what they are combined to: that two sets share nothing is an answer.
        """
        tried: dict[str, bool] = {}
        weighed = chances.copy()
        for which, i in places:
            sketch = ranked[which].pool.sketch(i - int(starts[which]), self.ranker.table)
            for branch in sketch.branches:
                weighed[i] *= 1.0 if self._leads_somewhere(branch, tried) else NOWHERE
        return weighed / weighed.sum()

    def _leads_somewhere(self, branch: Branch, tried: dict[str, bool]) -> bool:
        if not branch.hops or self._probe is None:
            return True
        plan = Sketch((replace(branch, every=False),)).to_plan()
        text = canonical(plan)
        if text not in tried:
            tried[text] = self._probe(plan)
        return tried[text]

    def _ended(self, question: str, ranked: Ranked, place: int, chance: float) -> list[Found]:
        """A path with its likeliest endings."""
        table = self.ranker.table
        sketch = ranked.pool.sketch(place, table)
        view, spans = ranked.view, [(m.start, m.end) for m in ranked.hypothesis.mentions]
        numbers = numbers_in(question, spans)
        edges = [table.hops[h].edge.name for h in ranked.pool.hops[place] if h != NOTHING]
        options = endings(table.schema, self.values, table.types[int(ranked.pool.end[place])], edges, question, numbers)
        if not edges:  # the names themselves are no answer; the first of them by something is
            options = [one for one in options if one.none or one.final.kind in ("order", "degree")]
        covered = self.ranker.covered(ranked, place)
        chances = self._ending_chances(options, view, numbers, covered) if options else np.zeros(0)
        best = np.argsort(-chances, kind="stable")[:2]
        made = [(_with(sketch, options[i]), float(chances[i]), options[i].none) for i in best]
        return [Found(s.to_plan(), s, ranked.hypothesis, chance * c, 0.0, covered, none) for s, c, none in made]

    def _ending_chances(
        self, options: Sequence[Ending], view: View, numbers: Sequence[float], covered: float
    ) -> np.ndarray:
        weights = self.learned.endings
        dense, elements = self._endings.of(options, view, numbers, covered, self._rows)
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


def _merged(found: Sequence[Found]) -> list[Found]:
    """Plans that always give the same answers as one, with their probabilities added."""
    best: dict[str, Found] = {}
    for one in sorted(found, key=lambda f: -f.chance):
        text = "" if one.none else canonical(one.plan)
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
