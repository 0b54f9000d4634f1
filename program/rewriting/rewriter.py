"""``Rewriter``: a follow-up and its conversation in, the likeliest standalone form out, with how sure that is.

A log-linear model over the edits of ``edits.py`` (Berger, Della Pietra and Della Pietra 1996). Its traits are words and
places and nothing else, so that each weight can be looked up by name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...signatures.types import Turn
from ..linker import Linker
from .edits import Edit, Traits, edits
from .lexicon import Lexicon

TABLE = "rewrite.table"
WEIGHTS = "rewrite.weights"
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
        text: the query as typed where ``move`` is ``keep``.
        referent: what was put into it; empty for none.
        certainty: the share of the chosen text among all edits, between 0 and 1.
    """

    text: str
    move: str
    referent: str
    certainty: float

    @property
    def reason(self) -> str:
        """What was done, in words."""
        return SAID[self.move].format(self.referent)


class Rewriter:
    """Chooses an edit by weights of its traits.

    Attributes:
        lexicon: what points back, what joins, what is common.
        weights: of each trait by name; others weigh nothing.
    """

    def __init__(self, lexicon: Lexicon, weights: Mapping[str, float]) -> None:
        self.lexicon = lexicon
        self.weights = dict(weights)

    def rewrite(self, query: str, turns: Sequence[Turn], shown: str, linker: Linker) -> Rewritten:
        """The likeliest standalone form of a follow-up; edits that give the same text count together.

        Args:
            shown: what the application shows the user, or nothing.
        """
        found = edits(query, turns, shown, self.lexicon, linker)
        scores = self.scores(found)
        top = max(scores)
        chances: dict[str, float] = {}
        for edit, score in zip(found, scores, strict=True):
            chances[edit.text] = chances.get(edit.text, 0.0) + math.exp(score - top)
        best = found[scores.index(top)]
        said = best.referent.text if best.referent is not None else ""
        return Rewritten(best.text, best.move, said, chances[best.text] / sum(chances.values()))

    def scores(self, found: Sequence[Edit]) -> list[float]:
        """A number for each edit; the highest is chosen. What several edits have is added up once."""
        known: dict[tuple[str, int], float] = {}
        scores = []
        for edit in found:
            shared, own = (edit.move, id(edit.shared)), ("", id(edit.own))
            if shared not in known:
                known[shared] = self._sum(edit.shared, f"{edit.move} ")
            if own not in known:
                known[own] = self._sum(edit.own)
            scores.append(known[shared] + known[own])
        return scores

    def _sum(self, traits: Traits, prefix: str = "") -> float:
        weights, total = self.weights, 0.0
        for name, size in traits:
            total += weights.get(prefix + name, 0.0) * size
        return total

    def tensors(self) -> dict[str, np.ndarray]:
        """Everything, for safetensors: the weights, and as JSON in UTF-8 their names and the lexicon."""
        table = {
            "traits": list(self.weights),
            "pointing": sorted(self.lexicon.pointing),
            "joints": self.lexicon.joints,
            "common": sorted(self.lexicon.common),
        }
        text = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
        return {
            TABLE: np.frombuffer(text, dtype=np.uint8),
            WEIGHTS: np.array(list(self.weights.values()), dtype=np.float16),
        }


def load_rewriter(tensors: Mapping[str, np.ndarray]) -> Rewriter | None:
    """What ``tensors()`` gave; None where a program has none."""
    if TABLE not in tensors:
        return None
    table = json.loads(tensors[TABLE].tobytes().decode())
    lexicon = Lexicon(
        frozenset(table["pointing"]), tuple((p, j) for p, j in table["joints"]), frozenset(table["common"])
    )
    return Rewriter(lexicon, dict(zip(table["traits"], tensors[WEIGHTS].astype(float).tolist(), strict=True)))


def named(edit: Edit) -> list[tuple[str, float]]:
    """All traits of an edit that are there, by the names that weights have."""
    shared = [(f"{edit.move} {name}", size) for name, size in edit.shared]
    return [(name, size) for name, size in (*shared, *edit.own) if size]
