"""``Rewriter``: turns a follow-up and its conversation into the likeliest standalone form, with its probability.

It is a log-linear model over the edits of ``edits.py`` (Berger, Della Pietra and Della Pietra 1996). Its features
(*traits*) are only words and places, so each weight can be looked up by name.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...signatures.types import Turn
from ..heads.packed import packed, unpacked
from ..text.linker import Linker
from .edits import KEEP, choices
from .lexicon import Lexicon
from .moves import Move
from .parallel import paralleled
from .referents import Referent
from .traits import FARTHEST, PLACE, Look, Own
from .wording import led, with_its_mark

TABLE = "rewrite.table"
WEIGHTS = "rewrite.weights"
KEPT_SUMS, KEPT_QUERIES, KEPT_PARTS = 20_000, 1000, 200
"""So many sums, kinds of queries, and parts of each are kept: together some 20 MB at most, mostly a tenth of that."""
PARALLEL = 0.75
"""How sure a question is that is said again with one part of it otherwise: 25 of 32 labelled ones are."""
MOVES = ("put", "add", "turn")
SAID = {
    "keep": "left as it is",
    "put": "{!r} for a word that points to it",
    "add": "{!r} added",
    "turn": "the question before, with what is new for {!r}",
}
"""What each move does; the referent goes into the braces."""


class Rewritten(NamedTuple):
    """The standalone form that was chosen.

    Attributes:
        text: the standalone form; the query as typed where ``move`` is ``keep``.
        referent: what was inserted or replaced; empty for none.
        certainty: the probability of the chosen edit among all, 0 to 1.
        heading: the referent, if it stands before the query as a heading ("sleep debt: why?"); else empty.
    """

    text: str
    move: str
    referent: str
    certainty: float
    heading: str = ""

    @property
    def reason(self) -> str:
        """What was done, in words, for a plan's trace."""
        return SAID[self.move].format(self.referent)


class Best(NamedTuple):
    """The best of several ways with its score, and the log-sum-exp of all of their scores (``together``)."""

    score: float
    way: int
    together: float


NOTHING = Best(-math.inf, -1, -math.inf)


def _share(score: float, scores: Sequence[float]) -> float:
    """The softmax of one edit's score among all scores."""
    top = max(scores)
    return math.exp(score - top) / sum([math.exp(other - top) for other in scores])


class Rewriter:
    """Chooses an edit by weights of its traits.

    Attributes:
        lexicon: the pointing words, joints and common words.
        weights: the weight of each trait by name; others weigh 0.
    """

    def __init__(self, lexicon: Lexicon, weights: Mapping[str, float]) -> None:
        self.lexicon = lexicon
        self.weights = dict(weights)
        # Caches: queries that are alike in some respect share these sums.
        self._sums: dict[Own, float] = {}
        self._looks: dict[Look, Mapping[str, float]] = {}
        self._bests: dict[tuple[str, tuple[Hashable, ...]], dict[Hashable, Best]] = {}

    def rewrite(self, query: str, turns: Sequence[Turn], shown: str, linker: Linker) -> Rewritten:
        """The likeliest standalone form of a follow-up that can be worded as a sentence.

        Edits are scored by their features, and only the best ones are made into texts.

        Args:
            shown: what the application shows the user, or empty.
        """
        question = next((turn.content for turn in reversed(turns) if turn.role == "user"), "")
        if (parallel := paralleled(query, question, self.lexicon, linker)) is not None:
            return Rewritten(parallel[0], "turn", parallel[1], PARALLEL)
        typed, groups = choices(query, turns, shown, self.lexicon, linker)
        kept = self._own(typed.keep())
        ways, scores = list[tuple[float, int, Move[Any], Referent]](), [kept]
        for moves, of in groups:
            looks = [self._look(one.look) for one in of]
            for move in moves:
                best, together, found = self._best(move, of, looks)
                scores += together
                if found is not None and best.score > kept:
                    ways.append((best.score, best.way, move, found))
        for score, way, move, found in sorted(ways, key=lambda one: -one[0]):
            marked = found if move.name == "turn" else with_its_mark(found, turns)
            if (text := move.worded(way, marked)) is not None:
                heading = marked.text if text == led(marked.text, typed.text) else ""
                return Rewritten(text, move.name, marked.text, _share(score, scores), heading)
        return Rewritten(typed.text, KEEP, "", _share(kept, scores))

    def _best(
        self, move: Move[Any], of: Sequence[Referent], looks: Sequence[Mapping[str, float]]
    ) -> tuple[Best, list[float], Referent | None]:
        """The best way of a move, the log-score of each referent over all its ways, and the best way's referent.

        Args:
            of: the referents.
            looks: for each referent, the sum of its weights under each move.
        """
        name, known, far = move.name, self._known(move), self.weights.get(f"{move.name} {PLACE}", 0.0) / FARTHEST
        top, top_way, found, together = -math.inf, -1, None, list[float]()
        for referent, look in zip(of, looks, strict=True):
            part = move.part(referent)
            best = known.get(part)
            if best is None:
                best = known[part] = self._of_ways(move.ways(part))
            if best.way < 0:
                continue
            place = referent.place
            looked = look[name] + far * (place if place < FARTHEST else FARTHEST)
            together.append(looked + best.together)
            if looked + best.score > top:
                top, top_way, found = looked + best.score, best.way, referent
        return Best(top, top_way, 0.0), together, found

    def _known(self, move: Move[Any]) -> dict[Hashable, Best]:
        """The cached best ways of a move by part, shared by queries for which the move's ways are the same."""
        key = move.name, move.seen
        known = self._bests.get(key)
        if known is None:
            if len(self._bests) >= KEPT_QUERIES:
                self._bests.clear()
            known = self._bests[key] = {None: NOTHING}
        elif len(known) >= KEPT_PARTS:
            known = self._bests[key] = {None: NOTHING}
        return known

    def _of_ways(self, ways: Sequence[tuple[int, tuple[Own, ...]]]) -> Best:
        scores = [sum([self._own(own) for own in seen]) for _, seen in ways]
        if not scores:
            return NOTHING
        top = max(scores)
        together = top + math.log(sum(math.exp(score - top) for score in scores))
        return Best(top, ways[scores.index(top)][0], together)

    def _own(self, own: Own) -> float:
        """The sum of the weights of some features of a way."""
        score = self._sums.get(own)
        if score is None:
            if len(self._sums) >= KEPT_SUMS:
                self._sums.clear()
            score = self._sums[own] = self._sum(own.traits())
        return score

    def _look(self, look: Look) -> Mapping[str, float]:
        """The sum of the weights of a referent's features, for each move."""
        scores = self._looks.get(look)
        if scores is None:
            if len(self._looks) >= KEPT_SUMS:
                self._looks.clear()
            scores = {move: self._sum((f"{move} {name}", size) for name, size in look.traits()) for move in MOVES}
            self._looks[look] = scores
        return scores

    def _sum(self, traits: Iterable[tuple[str, float]]) -> float:
        return sum(self.weights.get(name, 0.0) * size for name, size in traits)

    def tensors(self) -> dict[str, np.ndarray]:
        """The rewriter as tensors by name, for safetensors: the weights, and a table of their names and the lexicon."""
        table = {
            "traits": list(self.weights),
            "pointing": sorted(self.lexicon.pointing),
            "joints": self.lexicon.joints,
            "common": sorted(self.lexicon.common),
        }
        return {
            TABLE: packed(table),
            WEIGHTS: np.array(list(self.weights.values()), dtype=np.float16),
        }


def load_rewriter(tensors: Mapping[str, np.ndarray]) -> Rewriter | None:
    """The rewriter from the tensors of ``tensors()``; None if a program has none."""
    if TABLE not in tensors:
        return None
    table = unpacked(tensors[TABLE])
    lexicon = Lexicon(
        frozenset(table["pointing"]), tuple((p, j) for p, j in table["joints"]), frozenset(table["common"])
    )
    return Rewriter(lexicon, dict(zip(table["traits"], tensors[WEIGHTS].astype(float).tolist(), strict=True)))
