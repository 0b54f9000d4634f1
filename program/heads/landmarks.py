"""Heads that learned from many rows but keep few support vectors, and so stay small and quick.

A head has a coefficient for every row that it learned from, so it takes longer the more rows are labelled. Fewer
support vectors, the *landmarks*, span nearly the same functions (Williams and Seeger, "Using the Nyström method to
speed up kernel machines", 2001). They are the centres of clusters of rows (k-means; Zhang, Tsang and Kwok, "Improved
Nyström low-rank approximation and error analysis", 2008), so most of them lie where most rows do. The coefficients are
those of the ridge regression that fitted the head, restricted to functions that the landmarks span. Only the RBF part
changes; n-grams and frames have one weight for each column anyway.

Rows chosen by pivoted Cholesky decomposition, as before, are those that others explain least: outliers. All labels
right of rows that were left out of learning, without the heads that look closer; gained and lost are against pivoted
Cholesky:

================================  ===================  =================  ====================
support vectors (queries, turns)  podcast, 1,781 rows  engineering, 943   biomedical, 2,572
================================  ===================  =================  ====================
1,200 and 600, Cholesky           0.595                0.672              0.693
1,200 and 600, k-means            0.603 (+57 -43)      0.676 (+26 -23)    0.715 (+130 -74)
800 and 400, k-means              0.607 (+68 -46)      0.684 (+29 -18)    0.707 (+111 -77)
400 and 200, k-means              0.593 (+56 -59)      0.683 (+28 -18)
all rows                          0.601 (+56 -45)      0.685 (+31 -19)    0.722 (+144 -71)
================================  ===================  =================  ====================
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.cluster.vq import kmeans2
from threadpoolctl import threadpool_limits

from .fit_head import Fitted
from .heads import Head
from .panel import shared_rows
from .ridge import kernel, rbf

MOST = 1200
"""The most support vectors of heads that see a query alone."""
TURNS = 400
"""The most support vectors of the head that sees a turn. With 800 for queries, 400 are as good as 600 on all three."""
ROUNDS = 12
"""Rounds of k-means. What it reaches is no matter, since any centres near the rows do."""
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
        exact = rows.astype(np.float64)
        few = _centres(exact, most)  # one array for all heads, so that a panel need not compare rows
        found = _Duals(exact, few.astype(np.float64), heads[0].width)
        return [
            replace(fitted.head, support=few, dual=found.of(fitted, place))
            for fitted, place in zip(fits, places, strict=True)
        ]


class _Duals:
    """Computes the coefficients of the landmarks, for heads that each learned from some of all rows.

    Args:
        rows: the rows of all heads, shape (n, d).
        few: the landmarks, shape (landmarks, d).
        width: gamma of the RBF kernel.
    """

    def __init__(self, rows: np.ndarray, few: np.ndarray, width: float) -> None:
        self._of_few = kernel(rows, few, width)
        self._among = rbf(few, width) + JITTER * np.eye(len(few))
        self._last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def of(self, fitted: Fitted, place: np.ndarray) -> np.ndarray:
        """The coefficients of a head, shape (landmarks, labels - 1); ``place`` has the numbers of the rows it learned.

        The RBF part's targets (the labels less what the linear parts predict) are not stored. They need not be: they
        are its predictions plus the residuals, and a ridge regression's residual is the penalty times the row's
        coefficient, over the row's weight.
        """
        head, penalty = fitted.head, fitted.penalty
        weights = np.ones(len(place)) if fitted.weights is None else fitted.weights
        said = fitted.said
        if said is None:
            raise ValueError(f"the head {head.name!r} came without what it gives for its training rows")
        near, squares = self._of_rows(place, weights)
        return np.linalg.solve(
            squares + penalty * self._among, near.T @ (weights[:, None] * said + penalty * head.dual)
        ).astype(np.float32)

    def _of_rows(self, place: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The kernel K of a head's rows with the landmarks, and K^T W K; cached, the next head may use it, too."""
        key = np.concatenate([place, weights])
        if self._last is None or not np.array_equal(self._last[0], key):
            near = self._of_few[place]
            self._last = key, near, near.T @ (weights[:, None] * near)
        return self._last[1:]


def _centres(rows: np.ndarray, count: int) -> np.ndarray:
    """The centres of ``count`` clusters of the rows, shape (count, d), in single precision."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a cluster may lose all its rows; its centre stays where it was
        centres, _ = kmeans2(rows, count, iter=ROUNDS, minit="points", rng=np.random.default_rng(0))
    return centres.astype(np.float32)
