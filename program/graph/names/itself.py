"""Questions about a name itself: "is TP53 on chromosome 17", "was Rustline made before 2010", "is it approved".

Such a plan follows no edge from the name, but tests its node: the answer is that node, or nothing. The question must
state the test outright.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from ....data.grammar_words import read_grammar
from ..question.view import Hypothesis
from ..question.words import folded_words, words_of
from ..ranking.candidates import node_of
from ..ranking.pool import Group, Pool, chains_pool
from ..ranking.ranking import Ranked, Ranker
from .linking import Mention

KEY = "itself"
LIKELY = 1e3
"""The factor on the probability of such a plan, where its test is stated outright, against plans that follow edges."""
NEAR = 1
"""The most words between the word that asks and the name: "is the Rustline …"."""
MEANT = 0.5


def asks_of_itself(question: str, mentions: Sequence[Mention]) -> bool:
    """Whether a question begins with a word that asks for yes or no ("is", "was"), and a name right behind it."""
    words = words_of(question)
    return bool(words) and words[0].text in _asking() and any(1 <= m.first <= 1 + NEAR for m in mentions)


def itself(question: str, mentions: Sequence[Mention], ranked: Sequence[Ranked], ranker: Ranker) -> list[Ranked]:
    """The candidate that is the first name itself, scored as the best path; empty where another name is meant, too."""
    chances = dict(zip(mentions, ranker.meant(question, mentions), strict=True))
    for one in ranked:
        hypothesis = one.hypothesis
        if _is_alone(hypothesis, chances):
            alone = ranker.alone(question, hypothesis, _pool(hypothesis, ranker))
            best = max(float(other.scores.max()) for other in ranked)
            return [replace(alone, scores=np.full(len(alone.scores), best))]
    return []


def is_itself(pool: Pool) -> bool:
    """Whether the pool's one candidate is a name itself."""
    return pool.key is not None and pool.key[0] == KEY


def _is_alone(hypothesis: Hypothesis, chances: dict[Mention, float]) -> bool:
    """Whether the hypothesis has one name, near the beginning, and all else that is meant are values of its type.

    Args:
        chances: for each mention, the probability that it is meant.
    """
    if len(hypothesis.mentions) != 1 or hypothesis.readings[0].field not in ("name", "id"):
        return False
    (name,), (reading,) = hypothesis.mentions, hypothesis.readings
    others = [m for m, chance in chances.items() if chance >= MEANT and not m.overlaps(name)]
    return name.first <= 1 + NEAR and all(
        any(r.how == "value" and r.type == reading.type for r in m.readings) for m in others
    )


def _pool(hypothesis: Hypothesis, ranker: Ranker) -> Pool:
    kind = ranker.table.place[hypothesis.readings[0].type]
    chains = ranker.table.chains(kind)
    group = Group((node_of(hypothesis.readings[0]),), kind, (0,))
    return chains_pool(group, chains.take(np.flatnonzero(chains.length == 0)), key=KEY)


@lru_cache(maxsize=1)
def _asking() -> frozenset[str]:
    return frozenset(folded_words(phrase.text)[0] for phrase in read_grammar() if phrase.line == "asks")
