"""Classifies from the whole question how sets are combined: both, either, or one without the other.

The ranking, which weighs everything at once, learns little of this: the regularisation that it needs for unseen schemas
also shrinks what it learns of words like "without". So this is a model of its own. Its features are n-grams, what
stands before, between and behind the names, and the match with phrases for what plans do. It learns from all questions
with several names, whatever their schema. A second model of this kind says for a question with one name whether two
paths from it are combined (``twofold``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ....data.element_words import DONE
from ....signatures.graph_steps import (
    AnchorStep,
    DifferenceStep,
    ExpandStep,
    GraphPlan,
    IntersectStep,
    NodeRef,
    UnionStep,
)
from ..learning.gold import behind
from ..question.view import View, gram_columns
from ..question.words import spelled_out
from .loglinear import Problem, fit
from .paths import NOTHING
from .phrases import AWAY, phrases_of_plans
from .pool import COMBINES, Pool

WAYS = ("alone", "union", "intersect", "among", "difference", "but")
"""How sets are combined. ``alone``: one set; ``union``: what any name has; ``intersect``: what all have; ``among``:
whether a name is among what another has; ``difference``: what the first has and the second has not; ``but``: what one
has, without names themselves."""
COUNTS = 1.0
"""The weight of this model's log-probability beside a path's score."""
SCALE = 3.0
"""The length of a question's n-grams as a vector; each phrase counts from 0 to 1 beside it."""
OTHERS = len(DONE) + 1
TAKEN = 0.85
"""The match with a phrase for "without", both before and between two names, from which both count as taken away.

It is reached by 2 of 841 labelled questions whose plan takes one of two names from the other, and by none of 2,027
others.
"""
HOLD = 0.1
MIN_COUNT = 2


@dataclass(frozen=True)
class CombineWeights:
    """Log-linear weights: ``grams`` has sorted n-gram hashes, ``table`` has shape (len(WAYS), grams + OTHERS)."""

    grams: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.uint32))
    table: np.ndarray = field(default_factory=lambda: np.zeros((len(WAYS), OTHERS), dtype=np.float32))


@dataclass(frozen=True)
class Said:
    """The features of one question.

    ``grams`` has n-gram hashes. ``others``, shape (OTHERS,), has the match with the phrases of each of ``DONE``, and
    whether all names are of one type.
    """

    grams: np.ndarray
    others: np.ndarray


def said_of(view: View, types: Sequence[str]) -> Said:
    """The features of a question with names of these types."""
    grams = np.union1d(view.grams, view.zones)
    return Said(grams, np.append(view.done, float(len(set(types)) == 1)))


def log_chances(said: Said, weights: CombineWeights) -> np.ndarray:
    """The log-probability of each of ``WAYS``, shape (len(WAYS),)."""
    grams, table = weights.grams, weights.table
    scores = table[:, len(grams) :] @ said.others
    scores = scores + table[:, gram_columns(said.grams, grams)].sum(axis=1) * _share(said)
    return scores - np.logaddexp.reduce(scores)


def _share(said: Said) -> float:
    """The value of each n-gram, so that those of any question together have the same length."""
    return SCALE / max(1.0, len(said.grams)) ** 0.5


def takes_both_away(view: View) -> bool:
    """Whether a question takes away both of its two names ("in neither A nor B"), so that no set is left to start with.

    False for another number of names.
    """
    if len(view.names) != 2:
        return False
    first, last = sorted(view.names)
    placed = list(zip(view.words, view.place.tolist(), strict=True))
    zones = [w for w, at in placed if at < first], [w for w, at in placed if first < at < last]
    return all(phrases_of_plans().look(spelled_out(zone))[0][AWAY] >= TAKEN for zone in zones)


def ways_of(pool: Pool) -> np.ndarray:
    """Which of ``WAYS`` each candidate is, as its place there, shape (n,)."""
    several = any(len(group.nodes) > 1 for group in pool.groups)
    every = any(group.every for group in pool.groups)
    one = "intersect" if every else "union" if several else "alone"
    of_combine = {"alone": one, "union": "intersect" if every else "union", "intersect": "intersect"}
    found = np.array([WAYS.index(of_combine.get(combine, "difference")) for combine in COMBINES])[pool.combine]
    if len(pool.groups) < 2:
        return found
    unfollowed = [(pool.hops[:, pool.branch == i] == NOTHING).all(axis=1) for i in range(len(pool.groups))]
    named = [not _is_value(group.nodes[0]) for group in pool.groups]
    bare = np.any([where for where, name in zip(unfollowed, named, strict=True) if name] or [found < 0], axis=0)
    found = np.where(bare & (found == WAYS.index("intersect")), WAYS.index("among"), found)
    return np.where(unfollowed[1] & (found == WAYS.index("difference")), WAYS.index("but"), found)


def way_of(plan: GraphPlan) -> str:
    """Which of ``WAYS`` a labelled plan is."""
    steps = {step.store_as: step for step in plan.steps}

    def followed(name: str) -> bool:
        return any(isinstance(steps[one], ExpandStep) for one in behind(name, steps))

    def values(name: str) -> bool:
        return any(isinstance(s := steps[one], AnchorStep) and _is_value(s.node) for one in behind(name, steps))

    # Where a step excludes what it started from itself ("other films"), no other name is taken away.
    left_out = [set(s.exclude) - behind(s.start, steps) for s in plan.steps if isinstance(s, ExpandStep)]
    away = {name for names in left_out for name in names}
    away |= {name for s in plan.steps if isinstance(s, DifferenceStep) for name in s.inputs[1:]}
    if away:
        return "difference" if any(map(followed, away)) else "but"
    met = [name for s in plan.steps if isinstance(s, IntersectStep) for name in s.inputs]
    if met:
        return "intersect" if all(followed(name) or values(name) for name in met) else "among"
    return "union" if any(isinstance(s, UnionStep) for s in plan.steps) else "alone"


def _is_value(node: NodeRef) -> bool:
    """Whether a reference means all nodes with a value, and not one node by its name or id."""
    return node.field not in ("name", "id")


def fit_combines(seen: Sequence[tuple[Said, str]]) -> CombineWeights:
    """Fit the weights to questions and the way of each one's labelled plan; no weights if no n-gram occurs twice."""
    from scipy.sparse import csr_matrix, hstack

    counts = Counter(int(gram) for said, _ in seen for gram in said.grams)
    grams = sorted(gram for gram, count in counts.items() if count >= MIN_COUNT)
    if not grams:
        return CombineWeights()
    columns = {gram: place for place, gram in enumerate(grams)}
    rows = [[columns[int(gram)] for gram in said.grams if int(gram) in columns] for said, _ in seen]
    data = np.repeat([_share(said) for said, _ in seen], [len(row) for row in rows])
    ends = np.cumsum([0, *map(len, rows)])
    by_gram = csr_matrix((data, np.concatenate(rows).astype(np.int64), ends), shape=(len(seen), len(grams)))
    others = csr_matrix(np.stack([said.others for said, _ in seen]))
    each = np.repeat(np.arange(len(seen)), len(WAYS))
    every = np.tile(np.arange(len(WAYS)), len(seen))
    wanted = np.repeat([WAYS.index(way) for _, way in seen], len(WAYS))
    told = hstack([by_gram, others]).tocsr()
    problem = Problem(np.zeros((len(each), 1)), every[:, None], each, each, every == wanted, told)
    table = np.zeros((len(WAYS), len(grams) + OTHERS))
    fitted = fit(problem, np.zeros(1), table, hold_dense=1.0, hold_table=HOLD)
    return CombineWeights(np.array(grams, dtype=np.uint32), fitted.table.astype(np.float32))
