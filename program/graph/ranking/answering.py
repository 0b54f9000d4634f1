"""Finds the best plans for a question, with their probabilities, from its names, paths and endings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ....signatures.graph_steps import GraphPlan
from ...heads.encoder import Encoder
from ...heads.heads import softmax
from ..learning.store import Learned
from ..names.itself import asks_of_itself, itself
from ..names.linking import Mention, NameIndex
from ..names.outright import with_outright
from ..names.unknown import SchemaValues
from ..question.asked_type import TypeWords
from ..question.beyond import Beyond
from ..question.denying import Denying
from ..question.lacking import Lacking
from ..question.leaning import Leaning
from ..question.only import Only
from ..question.view import Hypothesis
from ..sketch import Sketch
from ..values import Values
from .choosing import CHOICE, Chooser, Chosen
from .combining import takes_both_away
from .completing import SLIGHT, Completer, Option
from .probing import Probe, Probing
from .ranking import Ranker

PROBED, LIKELY = 6, 0.02
"""The most plans that are probed on the graph, and the least probability of one over that of the likeliest."""
ASKED = 0.1
"""The factor on the probability that no plan says what is asked, where the likeliest plan answers with the type that is
asked for."""
WITHOUT = 0.03
"""The same factor where that plan is a difference: "genes of A not found in B"."""
UNSAID, FAR = CHOICE.index("most unsaid"), 0.8
"""The factor ``ASKED`` applies only if no word of the question is left unexplained by the plan to this degree."""
LOOKED_AT = 10
"""The number of likeliest paths that are completed with endings."""


@dataclass(frozen=True)
class Found:
    """A plan for a question.

    Attributes:
        chance: its probability among all candidates.
        sure: the probability that it is right, as fitted on labelled questions.
        covered: share of the question's words that it explains.
        none: whether the schema cannot say what is asked; the plan is then the nearest one.
        instead_of: for the first plan, the one that is likelier by the question alone but finds less in the graph.
    """

    sketch: Sketch
    hypothesis: Hypothesis
    chance: float
    sure: float
    covered: float
    none: bool = False
    instead_of: Sketch | None = None

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
            probe: tests whether a plan finds anything; only for graphs that answer in well under a millisecond.
        """
        self.ranker, self.learned, self.index, self.values = ranker, learned, index, values
        self._probe = probe
        self._completer = Completer(ranker, learned.endings, values, encoder)
        self._chooser = Chooser(ranker, self._completer)
        self.encoder, self.types = encoder, TypeWords(ranker.table.schema)
        self.of_values = SchemaValues(values, encoder)
        self._denying = Denying(ranker.table, values, self.types)
        self.beyond = Beyond(ranker.table, values, self.types)
        self._lacking = Lacking(ranker.table, values, self._denying.words, self.types)
        self._only = Only(ranker.table, self._denying.words, self.types)

    def mentions(self, question: str) -> tuple[Mention, ...]:
        """Everything in the question that may name a node."""
        return with_outright(question, self.index.mentions(question, self.ranker.ordinary))

    def only_denied(self, question: str, mentions: Sequence[Mention]) -> bool:
        """Whether a question negates each of these names, so that no plan can give what is left."""
        return self._denying.only_denied(question, mentions)

    def best(self, question: str, mentions: Sequence[Mention] | None = None, count: int = 3) -> list[Found]:
        """At most ``count`` plans, the likeliest first; empty where no name leads anywhere."""
        chosen = self.chosen(question, mentions)
        chances = chosen.chances(self.learned.choice)
        if not len(chances):
            return []
        chances = _leaning(chosen, _sayable(chosen.options, chances))
        chances = self._denying.without(question, chosen.options, chances)
        chances = self.beyond.without(question, chosen.options, chances)
        options, chances = self._only.said(question, chosen.options, chances)
        options, chances = self._lacking.said(question, options, chances)
        likeliest = options[int(np.argmax(chances))]
        if self._probe is not None:
            chances = self._probed(options, chances)
        order = np.argsort(-chances, kind="stable")
        found = [_found(options[i], float(chances[i])) for i in order]
        return self._judged(_standing(found, likeliest))[:count]

    def chosen(self, question: str, mentions: Sequence[Mention] | None = None) -> Chosen:
        """The complete plans for a question that are compared, with their numbers."""
        mentions = self.mentions(question) if mentions is None else mentions
        ranked = [r for r in self.ranker.rank(question, mentions) if len(r.scores)]
        if not ranked:
            return self._chooser.look(question, mentions, ())
        completing = self._completer.of(question)
        if asks_of_itself(question, mentions):
            ranked += filter(completing.is_tested, itself(question, mentions, ranked, self.ranker))
        chances = softmax(np.concatenate([r.scores for r in ranked])[None])[0]
        starts = np.cumsum([0, *(len(r.scores) for r in ranked)])
        leaning = Leaning(question, self.types, self.ranker.table.place, self._denying.names)
        weights = np.concatenate([leaning.weights(r) for r in ranked])
        order = np.argsort(-chances * weights, kind="stable")[:LOOKED_AT]
        places = [(int(np.searchsorted(starts, i, side="right")) - 1, int(i)) for i in order]
        top = max(float(chances[i]) for _, i in places)
        likeliest = max(float(chances[i] * weights[i]) for _, i in places)
        options = [
            option
            for which, i in places
            if chances[i] * weights[i] > SLIGHT * likeliest
            for option in completing.options(
                ranked[which],
                i - int(starts[which]),
                float(chances[i]),
                top,
                float(weights[i]),
                leaning.asked(ranked[which]),
            )
        ]
        return self._chooser.look(question, mentions, options)

    def _probed(self, options: Sequence[Option], chances: np.ndarray) -> np.ndarray:
        """The probabilities with those of plans lowered that find nothing in the graph; they sum to one.

        The single branches are probed for each of the likeliest plans. The whole plan, which takes longer, is probed
        for the first plan only, and again for whichever is then first, until one stays first.
        """
        assert self._probe is not None
        probing, weighed = Probing(self._probe), chances.copy()
        likely = [i for i in np.argsort(-chances, kind="stable")[:PROBED] if chances[i] >= chances.max() * LIKELY]
        for i in likely:
            if not options[i].ending.none:
                weighed[i] *= probing.by_branches(options[i].sketch)
        asked: list[int] = []
        while (first := int(np.argmax(weighed))) not in asked and len(asked) < PROBED:
            asked.append(first)
            if not options[first].ending.none:
                weighed[first] *= probing.together(options[first].sketch)
        return weighed / weighed.sum()

    def _judged(self, found: list[Found]) -> list[Found]:
        rest = [one.chance for one in found[1:2]] or [0.0]
        features = [sure_features(one, rest[0] if one is found[0] else found[0].chance) for one in found]
        values = 1 / (1 + np.exp(-(np.array(features) @ self.learned.sure)))
        return [replace(one, sure=float(value)) for one, value in zip(found, values, strict=True)]


def _sayable(options: Sequence[Option], chances: np.ndarray) -> np.ndarray:
    """The probabilities with those of differences moved to "cannot be said" where both names are taken away."""
    none = next((i for i, option in enumerate(options) if option.ending.none), None)
    takes = {id(option.view): option.view for option in options if _takes_one(option)}
    unsayable = {key for key, view in takes.items() if takes_both_away(view)}
    moved = np.array([_takes_one(option) and id(option.view) in unsayable for option in options])
    if none is None or not moved.any():
        return chances
    kept = np.where(moved, 0.0, chances)
    kept[none] += chances[moved].sum()
    return kept


def _leaning(chosen: Chosen, chances: np.ndarray) -> np.ndarray:
    """The probabilities weighed by what the question states outright; they sum to one.

    Plans that ignore it count for less. "Cannot be said" counts for less where the likeliest plan answers with the type
    that is asked for and is a difference or explains all words about.
    """
    options = chosen.options
    weighed = chances * [option.slighted for option in options]
    none = next((i for i, option in enumerate(options) if option.ending.none), None)
    others = [i for i, option in enumerate(options) if not option.ending.none]
    if none is not None and others:
        first = max(others, key=lambda i: float(weighed[i]))
        if options[first].asked and options[first].sketch.combine == "difference":
            weighed[none] *= WITHOUT
        elif options[first].asked and chosen.numbers[first, UNSAID] < FAR:
            weighed[none] *= ASKED
    return weighed / weighed.sum()


def _takes_one(option: Option) -> bool:
    return option.sketch.combine == "difference" and not option.ending.none


def _standing(found: list[Found], likeliest: Option) -> list[Found]:
    """The plans in order, the first with ``instead_of`` if probing put it before the likeliest by the question alone.

    A plan that finds nothing gives way to another plan, but never to "cannot be said": then it stays first.
    """
    if likeliest.ending.none:
        return found
    own = next(one for one in found if not one.none and one.sketch == likeliest.sketch)
    if found[0].none:
        return [own, *(one for one in found if one is not own)]
    return found if found[0] is own else [replace(found[0], instead_of=own.sketch), *found[1:]]


def sure_features(found: Found, rival: float) -> list[float]:
    """The features that tell whether a plan is right, in the order of ``store.SURE``.

    Args:
        rival: the probability of the best other plan.
    """
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
