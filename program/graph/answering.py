"""From a question to its best plans with their probabilities: names, paths and endings put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...signatures.graph_steps import GraphPlan
from ..encoder import Encoder
from ..heads import softmax
from .choosing import Chooser, Chosen
from .completing import SLIGHT, Completer, Option
from .endings import Values
from .linking import Mention, NameIndex
from .ranking import Ranker
from .sketch import Branch, Sketch
from .store import Learned
from .view import Hypothesis

Probe = Callable[[GraphPlan], bool]
PROBED, LIKELY = 6, 0.02
"""Plans that are tried on the graph, and how likely they must be at least beside the likeliest."""
NOWHERE = 0.02
"""How much less likely a plan is that finds nothing, as one labelled plan in forty does.

Of 511 questions not learned from it was right on 0.591, with 0.08 on 0.586, untried on 0.564; where paths were tried
before their plans were compared, on 0.583.
"""
LOOKED_AT = 10
"""Paths that endings are tried on."""


@dataclass(frozen=True)
class Found:
    """A plan for a question.

    Attributes:
        chance: its probability among all candidates.
        sure: the probability that it is right at all, as fitted on labelled questions.
        covered: share of the question's words that it explains.
        none: the schema cannot say what is asked; the plan is what comes nearest.
    """

    sketch: Sketch
    hypothesis: Hypothesis
    chance: float
    sure: float
    covered: float
    none: bool = False

    @cached_property
    def plan(self) -> GraphPlan:
        """The typed plan."""
        return self.sketch.to_plan()


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
        self._completer = Completer(ranker, learned.endings, values, encoder)
        self._chooser = Chooser(ranker, self._completer)

    def mentions(self, question: str) -> tuple[Mention, ...]:
        """Everything in the question that may name a node."""
        return self.index.mentions(question, self.ranker.ordinary)

    def best(self, question: str, mentions: Sequence[Mention] | None = None, count: int = 3) -> list[Found]:
        """The likeliest plans, the best first; none where no name leads anywhere."""
        chosen = self.chosen(question, mentions)
        chances = chosen.chances(self.learned.choice)
        if self._probe is not None and len(chances):
            chances = self._probed(chosen.options, chances)
        order = np.argsort(-chances, kind="stable")
        found = [_found(chosen.options[i], float(chances[i])) for i in order]
        return self._judged(question, found)[:count] if found else []

    def chosen(self, question: str, mentions: Sequence[Mention] | None = None) -> Chosen:
        """The complete plans that are compared."""
        mentions = self.mentions(question) if mentions is None else mentions
        ranked = [r for r in self.ranker.rank(question, mentions) if len(r.scores)]
        if not ranked:
            return self._chooser.look(question, mentions, ())
        chances = softmax(np.concatenate([r.scores for r in ranked])[None])[0]
        starts = np.cumsum([0, *(len(r.scores) for r in ranked)])
        order = np.argsort(-chances, kind="stable")[:LOOKED_AT]
        places = [(int(np.searchsorted(starts, i, side="right")) - 1, int(i)) for i in order]
        top = max(float(chances[i]) for _, i in places)
        completing = self._completer.of(question)
        options = [
            option
            for which, i in places
            if chances[i] > SLIGHT * top
            for option in completing.options(ranked[which], i - int(starts[which]), float(chances[i]), top)
        ]
        return self._chooser.look(question, mentions, options)

    def _probed(self, options: Sequence[Option], chances: np.ndarray) -> np.ndarray:
        """Chances where a plan that leads nowhere counts for less: people ask for what there is, as a rule.

        Only branches are tried, not what they are combined to: that two sets share nothing is an answer.
        """
        tried: dict[str, bool] = {}
        weighed = chances.copy()
        likely = [i for i in np.argsort(-chances, kind="stable")[:PROBED] if chances[i] >= chances.max() * LIKELY]
        for i in likely:
            if not options[i].ending.none:
                branches = options[i].sketch.branches
                weighed[i] *= NOWHERE ** sum(not self._leads_somewhere(branch, tried) for branch in branches)
        return weighed / weighed.sum()

    def _leads_somewhere(self, branch: Branch, tried: dict[str, bool]) -> bool:
        if not branch.hops or self._probe is None:
            return True
        hops = tuple(replace(hop, where=()) for hop in branch.hops)
        sketch = Sketch((replace(branch, hops=hops, every=False),))
        text = sketch.canonical()
        if text not in tried:
            tried[text] = self._probe(sketch.to_plan())
        return tried[text]

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


def _found(option: Option, chance: float) -> Found:
    none = option.ending.none
    return Found(option.sketch, option.hypothesis, chance, 0.0, option.covered, none)
