"""``Decomposer``: a query that needs several searches in, the likeliest sub-queries out, with how sure that is.

A log-linear model over the cuts of ``cuts.py`` (Berger, Della Pietra and Della Pietra 1996), as for follow-ups
(``rewriting/``). Its traits are joints, kinds of words and lengths, so that each weight can be looked up by name.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...signatures.types import SubQuery
from ..linker import Linker
from .cuts import Cut, cuts
from .lexicon import Lexicon
from .reading import Reading
from .traits import Own

REFERENCE = re.compile(r"\{(\d+)\}")
TABLE, WEIGHTS = "decompose.table", "decompose.weights"
ENDS = " ?.!"
KEPT_SUMS = 5000
"""So many sums of weights are kept of each class of traits, together some 20 MB at most."""
TRIED = 12
"""So many of the likeliest cuts at most are looked at for one that passes the check."""
SAID = {"clauses": "cut at {} joints", "list": "what is said of a list, of each of its {} items"}


class Decomposed(NamedTuple):
    """The sub-queries of the chosen cut.

    Attributes:
        certainty: the share of the chosen cut among all, between 0 and 1.
        reason: what was done, in words.
    """

    sub_queries: tuple[SubQuery, ...]
    certainty: float
    reason: str


class Decomposer:
    """Chooses a cut by weights of its traits.

    Attributes:
        lexicon: what is common, what joins, what points back.
        weights: of each trait by name; others weigh nothing.
    """

    def __init__(self, lexicon: Lexicon, weights: Mapping[str, float]) -> None:
        self.lexicon = lexicon
        self.weights = dict(weights)
        # Apart by class, since tuples of different classes may be equal.
        self._sums: dict[type[Own], dict[Own, float]] = {kind: {} for kind in Own.__args__}

    def decompose(self, query: str, linker: Linker) -> Decomposed | None:
        """The likeliest sub-queries of a query that stands alone; None where there is no way to cut it."""
        reading = Reading(query, self.lexicon, linker)
        found = list(cuts(reading))
        if not found:
            return None
        scores = self._scores(found)
        best = sorted(range(len(found)), key=scores.__getitem__, reverse=True)
        for place in best[:TRIED]:
            sub_queries = checked(query, found[place], reading)
            if sub_queries:
                top = scores[place]
                certainty = 1.0 / sum([math.exp(min(score - top, 50.0)) for score in scores])
                return Decomposed(sub_queries, certainty, _reason(found[place]))
        return None

    def _scores(self, found: Sequence[Cut]) -> list[float]:
        """The sum of the weights of each cut; what several share is added up once."""
        own, sums = self._own, dict[int, float]()
        scores = []
        for cut in found:
            score = 0.0
            for group in cut.seen:
                known = sums.get(id(group))
                if known is None:
                    known = sums[id(group)] = sum([own(one) for one in group])
                score += known
            scores.append(score)
        return scores

    def _own(self, own: Own) -> float:
        """The sum of the weights of what is seen of a cut in one respect."""
        sums = self._sums[own.__class__]
        score = sums.get(own)
        if score is None:
            if len(sums) >= KEPT_SUMS:
                sums.clear()
            score = sums[own] = sum(self.weights.get(name, 0.0) for name in own.traits())
        return score

    def tensors(self) -> dict[str, np.ndarray]:
        """Everything, for safetensors: the weights, and as JSON in UTF-8 their names and the lexicon."""
        words = {name: sorted(getattr(self.lexicon, name)) for name in ("common", "joining", "pointing")}
        text = json.dumps({"traits": list(self.weights), **words}, ensure_ascii=False, separators=(",", ":")).encode()
        return {
            TABLE: np.frombuffer(text, dtype=np.uint8),
            WEIGHTS: np.array(list(self.weights.values()), dtype=np.float16),
        }


def may_be(query: str, texts: Sequence[str]) -> bool:
    """Whether sub-queries ask something each, nothing twice, and none the whole query again."""
    asked = {text.casefold().rstrip(ENDS) for text in texts}
    return len(asked) == len(texts) and not asked & {"", query.strip().casefold().rstrip(ENDS)}


def checked(query: str, cut: Cut, reading: Reading) -> tuple[SubQuery, ...]:
    """The sub-queries of a cut if they may enter a plan; none otherwise.

    A number in braces that the user typed would stand for an answer, so such a query is not cut.
    """
    texts = cut.texts(reading)
    named = [{int(number) for number in REFERENCE.findall(text)} for text in texts]
    if not may_be(query, texts) or any(found - {need} for found, need in zip(named, cut.needs, strict=True)):
        return ()
    numbered = enumerate(zip(texts, cut.needs, strict=True), 1)
    return tuple(SubQuery(id=at, text=text, depends_on=(need,) if need else ()) for at, (text, need) in numbered)


def _reason(cut: Cut) -> str:
    return SAID[cut.kind].format(len(cut.parts) - (cut.kind == "clauses"))


def load_decomposer(tensors: Mapping[str, np.ndarray]) -> Decomposer | None:
    """What ``tensors()`` gave; None where a program has none."""
    if TABLE not in tensors:
        return None
    table = json.loads(tensors[TABLE].tobytes().decode())
    lexicon = Lexicon(*(frozenset(table[name]) for name in ("common", "joining", "pointing")))
    return Decomposer(lexicon, dict(zip(table["traits"], tensors[WEIGHTS].astype(float).tolist(), strict=True)))
