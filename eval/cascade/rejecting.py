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
    """The share of queries out of domain that are rejected at the threshold that falsely rejects so many of ours.

    Attributes:
        false_rejects: the share of queries in domain that may be rejected.
        recall: with its interval, the threshold chosen anew in every resample.
        threshold: rejection probability from which on a query is rejected, on these rows.
    """

    false_rejects: float
    recall: Estimate
    threshold: float


def recall_at(rows: Sequence[RowResult], false_rejects: float) -> RecallAt | None:
    """Out-of-scope recall at a share of false rejects (Larson et al. 2019 give both); None without either kind of row.

    The probability is `RowResult.rejection_probability`; rows of equal probability are rejected together,
    so the threshold is the lowest that rejects no more than the share.
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
    """The rows by falling probability.

    Attributes:
        outside: which rows are out of domain.
        index: the number of each row's conversation.
        ends: the last row of each probability.
        levels: the probabilities.
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
        """Recall and the last level rejected (-1 for none), of conversations so weighted; shape (resamples,)."""
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
