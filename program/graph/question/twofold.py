"""Questions that combine two paths from one name: "owned or run by", "claims but has not got".

Hardly one question with one name in thirty combines two paths, and there are many pairs of paths. So a model of whole
questions (``combining``) says how likely it is, and pairs are candidates only where it is likely enough. The ranking
of paths has learned from questions with several names what it means to combine sets; four numbers adjust it to pairs.
They were fitted on 244 questions of 58 lessons for which pairs were looked at, by models that had not learned from
them; of these 95 were right before and 163 after, cross-validated by lesson.
"""

from __future__ import annotations

import numpy as np

from ..ranking.combining import WAYS
from ..ranking.evidence import Shape, Sight, centre, ending_in
from ..ranking.pool import COMBINES, Pool

TWOFOLD = ("union", "intersect", "difference")
"""How two ways from one name are put together."""
LIKELY = 0.03
"""Two ways from one name are looked at from this probability of them on: one question in ten."""
SCORES = {"union": 6.2, "intersect": 3.8, "difference": -0.2}
ORDER = 2.9
"""What it is worth that what is taken away is told behind what it is taken from."""


def may_be_twofold(chances: np.ndarray) -> bool:
    """Whether two ways from a question's one name are likely enough to be looked at.

    Args:
        chances: log-probability of each of ``combining.WAYS``.
    """
    return bool(np.exp(chances[[WAYS.index(way) for way in TWOFOLD]]).sum() > LIKELY)


def twofold_scores(pool: Pool, shape: Shape, sight: Sight) -> np.ndarray:
    """What is added to the scores of pairs of ways from one name, shape (n,)."""
    added = np.array([SCORES.get(combine, 0.0) for combine in COMBINES])[pool.combine]
    if not len(sight.view.words):
        return added
    places = ending_in(centre(sight.edges, sight.view.place), 0.0)[shape.edges]
    told = [_mean(places, shape.used & (pool.branch == branch)[None]) for branch in (0, 1)]
    away = pool.combine == COMBINES.index("difference")
    return np.where(away, added + ORDER * np.tanh((told[1] - told[0]) / 2), added)


def _mean(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(where, values, 0.0).sum(axis=1) / np.maximum(where.sum(axis=1), 1))
