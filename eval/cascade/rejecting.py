"""How well out-of-scope queries are separated from those in scope, at any threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...signatures.types import Frozen
from ..row_table import RowResult
from ..statistics import BLOCK, LEVEL, RESAMPLES, SHARE, Estimate, estimate_of, grouped, resampling_weights

FALSE_REJECTS = (0.02, 0.05)
SEED = 0


class RecallAt(Frozen):
    """The share of out-of-domain queries rejected, at the lowest threshold that keeps to a share of false rejections.

    Attributes:
        false_rejects: the share of queries in the domain that may be rejected.
        recall: the share of out-of-domain queries rejected; for its interval each resample has its own threshold.
        threshold: the probability of rejection from which on a query is rejected, on these rows.
    """

    false_rejects: float
    recall: Estimate
    threshold: float


def recall_at(rows: Sequence[RowResult], false_rejects: float) -> RecallAt | None:
    """Out-of-scope recall at a share of false rejections (Larson et al. 2019 report both).

    None unless there are rows both in and out of the domain. Queries are ordered by
    `RowResult.rejection_probability`; rows of equal probability are rejected together, so the threshold is the lowest
    that rejects no more than the share.
    """
    scores = np.array([row.rejection_probability for row in rows])
    outside = np.array([not row.gold.is_relevant for row in rows], dtype=bool)
    if not len(rows) or outside.all() or not outside.any():
        return None
    _, index, k = grouped(scores, [row.conversation for row in rows])
    line = _Line.of(scores, outside, index)
    recall, at = line.recall(np.ones((1, k)), false_rejects)
    draws = np.concatenate([line.recall(w, false_rejects)[0] for w in _blocks(k, len(rows))])
    asked = len(np.unique(index[outside]))
    estimate = estimate_of(float(recall[0]), draws, int(outside.sum()), asked, LEVEL, SHARE)
    threshold = float(line.levels[at[0]]) if at[0] >= 0 else 1.0
    return RecallAt(false_rejects=false_rejects, recall=estimate, threshold=threshold)


@dataclass(frozen=True)
class _Line:
    """The rows by falling probability of rejection.

    Attributes:
        outside: whether each row is out of the domain, shape (rows,).
        index: the number of each row's conversation, shape (rows,).
        ends: the place of the last row with each probability, shape (levels,).
        levels: the different probabilities, falling, shape (levels,).
    """

    outside: np.ndarray
    index: np.ndarray
    ends: np.ndarray
    levels: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, outside: np.ndarray, index: np.ndarray) -> _Line:
        order = np.argsort(-scores, kind="stable")
        levels, counts = np.unique(-scores, return_counts=True)
        return cls(outside[order], index[order], np.cumsum(counts) - 1, -levels)

    def recall(self, weights: np.ndarray, false_rejects: float) -> tuple[np.ndarray, np.ndarray]:
        """The recall of each resample, and the place of its last level rejected (-1 for none); shape (resamples,) each.

        ``weights`` says how often each conversation is in each resample, shape (resamples, conversations).
        """
        rows = weights[:, self.index]
        wrongly = np.cumsum(np.where(self.outside, 0.0, rows), axis=1)[:, self.ends]
        rightly = np.cumsum(np.where(self.outside, rows, 0.0), axis=1)[:, self.ends]
        last = (wrongly <= false_rejects * wrongly[:, -1:] + 1e-9).sum(axis=1) - 1
        found = np.where(last >= 0, rightly[np.arange(len(last)), np.maximum(last, 0)], 0.0)
        total = rightly[:, -1]
        return np.divide(found, total, out=np.zeros_like(found), where=total > 0), last


def _blocks(k: int, rows: int) -> Iterator[np.ndarray]:
    step = max(1, BLOCK // rows)
    return (w[i : i + step] for w in resampling_weights(k, RESAMPLES, SEED) for i in range(0, len(w), step))
