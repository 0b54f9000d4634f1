"""From a question to its best plans with their probabilities, out of names, paths and endings."""

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
"""Plans that are tried on the graph, and how likely they must be at least beside the likeliest."""
ASKED = 0.1
"""How much less likely it is that no plan says what is asked, where the likeliest answers with the type asked for."""
WITHOUT = 0.03
"""The same of what one name has and another has not: "genes of A not found in B"."""
UNSAID, FAR = CHOICE.index("most unsaid"), 0.8
"""How little of its likeliest word a plan may leave unsaid for that."""
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
        instead_of: of the first, the plan that was likelier by the question alone and finds less in the graph.
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
            probe: whether a plan finds anything, where that can be asked in well under a millisecond.
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
        """Whether a question denies each of these names, so that no plan says what is left."""
        return self._denying.only_denied(question, mentions)

    def best(self, question: str, mentions: Sequence[Mention] | None = None, count: int = 3) -> list[Found]:
        """The likeliest plans, the best first; none where no name leads anywhere."""
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
        return self._judged(question, _standing(found, likeliest))[:count]

    def chosen(self, question: str, mentions: Sequence[Mention] | None = None) -> Chosen:
        """The complete plans that are compared."""
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
        """Chances where a plan that finds nothing counts for less.

        The branches of the likeliest plans are tried; what they are put together to is tried of the first plan alone,
        until one stays first.
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

    def _judged(self, question: str, found: list[Found]) -> list[Found]:
        rest = [one.chance for one in found[1:2]] or [0.0]
        features = [sure_features(one, rest[0] if one is found[0] else found[0].chance) for one in found]
        values = 1 / (1 + np.exp(-(np.array(features) @ self.learned.sure)))
        return [replace(one, sure=float(value)) for one, value in zip(found, values, strict=True)]


def _sayable(options: Sequence[Option], chances: np.ndarray) -> np.ndarray:
    """The same, but that a difference of two names that are both taken away counts as what cannot be said."""
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
    """Chances where a plan counts for less that does nothing with what the question says outright.

    Where the likeliest plan answers with the type that is asked for, and no word is far from all that it says, it is
    less likely that none can.
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
    """Plans in the order of their chances, the first one said to be instead of the likeliest by the question alone.

    What finds nothing gives way to another plan, but is not taken for what the schema cannot say: then it stays first.
    """
    if likeliest.ending.none:
        return found
    own = next(one for one in found if not one.none and one.sketch == likeliest.sketch)
    if found[0].none:
        return [own, *(one for one in found if one is not own)]
    return found if found[0] is own else [replace(found[0], instead_of=own.sketch), *found[1:]]


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
