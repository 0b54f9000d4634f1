"""Heads that learned from many rows but keep the support vectors of some, and so stay small and quick.

A head has a coefficient for every row that it learned from, so it takes longer the more rows are labelled. Rows that
are nearly linear combinations of others (in the kernel's feature space) can be left out (Williams and Seeger, "Using
the Nyström method to speed up kernel machines", 2001). The rows that are kept, the *landmarks*, are chosen by pivoted
Cholesky decomposition: each is the row that those before it explain least (Fine and Scheinberg, 2001). The coefficients
are those of the ridge regression that fitted the head, restricted to functions that the landmarks span. Only the RBF
part changes; n-grams and frames have one weight for each column anyway.

Heads of 2,063 rows of the podcast had all labels right for 0.647 of the 611 rows of ``dev`` and ``calibrate`` with
every support vector, for 0.650 with 1,200, and for 0.651 with 600 for the head of turns, too. With 1,000 and 800 it was
0.638 and 0.645, so these differ by chance. Their file went from 2.20 to 1.53 MB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from .fit_head import Fitted
from .heads import Head
from .panel import shared_rows
from .ridge import rbf

MOST = 1200
"""The most support vectors of heads that see a query alone."""
TURNS = 600
"""The most support vectors of the head that sees a turn."""
JITTER = 1e-6


def condensed(fits: Sequence[Fitted], most: int = MOST) -> list[Head]:
    """Heads with the same features, reduced to at most ``most`` support vectors, which they share.

    They are returned unchanged if they have no more than that, or if their kernels differ in width.
    """
    heads = [fitted.head for fitted in fits]
    if len({head.width for head in heads}) != 1:
        return heads
    rows, places = shared_rows([head.support for head in heads])
    if len(rows) <= most:
        return heads
    with threadpool_limits(limits=1, user_api="blas"):
        near = rbf(rows.astype(np.float64), heads[0].width)
        kept = np.sort(_pivots(near, most))
        few, found = rows[kept], _Duals(near, kept)  # one array for all heads, so that a panel need not compare rows
        return [
            replace(fitted.head, support=few, dual=found.of(fitted, place))
            for fitted, place in zip(fits, places, strict=True)
        ]


class _Duals:
    """Computes the coefficients of the kept rows, for heads that each learned from some of all rows.

    Args:
        near: the RBF kernel of all rows, shape (n, n).
        kept: row numbers of the landmarks.
    """

    def __init__(self, near: np.ndarray, kept: np.ndarray) -> None:
        self._near, self._kept = near, kept
        self._among = near[np.ix_(kept, kept)] + JITTER * np.eye(len(kept))
        self._last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def of(self, fitted: Fitted, place: np.ndarray) -> np.ndarray:
        """The coefficients of a head, shape (landmarks, labels - 1); ``place`` has the numbers of the rows it learned.

        The RBF part's targets (the labels less what the linear parts predict) are not stored. They need not be: they
        are its predictions plus the residuals, and a ridge regression's residual is the penalty times the row's
        coefficient, over the row's weight.
        """
        head, penalty = fitted.head, fitted.penalty
        weights = np.ones(len(place)) if fitted.weights is None else fitted.weights
        spread = np.zeros((len(self._near), head.dual.shape[1]))
        np.add.at(spread, place, head.dual)
        said = (self._near @ spread)[place]
        near, squares = self._of_rows(place, weights)
        return np.linalg.solve(
            squares + penalty * self._among, near.T @ (weights[:, None] * said + penalty * head.dual)
        ).astype(np.float32)

    def _of_rows(self, place: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The kernel K of a head's rows with the kept ones, and K^T W K; cached, the next head may use it, too."""
        key = np.concatenate([place, weights])
        if self._last is None or not np.array_equal(self._last[0], key):
            near = self._near[np.ix_(place, self._kept)]
            self._last = key, near, near.T @ (weights[:, None] * near)
        return self._last[1:]


def _pivots(near: np.ndarray, count: int) -> np.ndarray:
    """The first ``count`` row numbers that a pivoted Cholesky decomposition of the kernel chooses, in its order."""
    left, factor = np.ones(len(near)), np.zeros((count, len(near)))
    chosen = np.empty(count, dtype=np.intp)
    for place in range(count):
        row = chosen[place] = int(left.argmax())
        column = near[row] - factor[:place, row] @ factor[:place]
        factor[place] = column / np.sqrt(max(left[row], JITTER))
        left = np.maximum(left - factor[place] ** 2, 0.0)
        left[row] = 0.0
    return chosen
