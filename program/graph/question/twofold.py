"""Questions that combine two paths from one name: "owned or run by", "claims but has not got".

Fewer than one in thirty questions with one name combine two paths, and there are many pairs of paths. So a classifier
of whole questions (``combining``) says how likely that is, and pairs are candidates only where it is likely enough. The
ranking of paths has learned from questions with several names how sets are combined; the four numbers below adjust its
scores for pairs from one name. They were fitted on the 244 questions of 58 lessons for which pairs were candidates,
with models that had not learned from these. 95 of them were answered right before and 163 after, cross-validated by
lesson.
"""

from __future__ import annotations

import numpy as np

from ..ranking.combining import WAYS
from ..ranking.evidence import Sight, centre, ending_in
from ..ranking.pool import COMBINES, Pool
from ..ranking.shape import Shape

TWOFOLD = ("union", "intersect", "difference")
"""The ways in which two paths from one name are combined."""
LIKELY = 0.03
"""The probability above which pairs of paths from one name are candidates; one question in ten has it."""
SCORES = {"union": 6.2, "intersect": 3.8, "difference": -0.2}
ORDER = 2.9
"""What a difference gains in log-odds, at most, where the words for what is taken away stand behind the others."""


def may_be_twofold(chances: np.ndarray) -> bool:
    """Whether two paths from a question's only name are likely enough to be candidates.

    Args:
        chances: the log-probability of each of ``combining.WAYS``.
    """
    return bool(np.exp(chances[[WAYS.index(way) for way in TWOFOLD]]).sum() > LIKELY)


def twofold_scores(pool: Pool, shape: Shape, sight: Sight) -> np.ndarray:
    """What is added to the log-scores of candidates that are pairs of paths from one name, shape (n,)."""
    added = np.array([SCORES.get(combine, 0.0) for combine in COMBINES])[pool.combine]
    if not len(sight.view.words):
        return added
    places = ending_in(centre(sight.edges, sight.view.place), 0.0)[shape.edges]
    told = [_mean(places, shape.used & (pool.branch == branch)[:, None]) for branch in (0, 1)]
    away = pool.combine == COMBINES.index("difference")
    return np.where(away, added + ORDER * np.tanh((told[1] - told[0]) / 2), added)


def _mean(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(where, values, 0.0).sum(axis=0) / np.maximum(where.sum(axis=0), 1))
