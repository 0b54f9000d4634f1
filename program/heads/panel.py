"""Asks several heads about one query at once, with one distance to each training row that all of them share.

Heads of one program learn from the same rows, so their support vectors are kept once, and their coefficients side by
side. The answers are those of the heads one by one, up to rounding in single precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .features import Seen

if TYPE_CHECKING:
    from .heads import Head

# A matrix with so few numbers, times a vector, stays below what OpenBLAS gives to several threads, which wait for
# each other on a busy machine: p99 was 4 ms with them.
BLOCK = 36_000
MOST = 300.0
"""Scores are kept within this, so that no exponential overflows or leaves a head without weight; none is near it."""
SPREAD = 80.0
"""Logarithm of the greatest factor that single precision is used for; the podcast's heads have one of ten."""


class Panel:
    """Heads with features of the same length.

    Attributes:
        heads: in the order of the answers.
    """

    def __init__(self, heads: Sequence[Head], beside: Panel | None = None) -> None:
        """Lay the heads side by side.

        Args:
            beside: a panel that may have the same support vectors, which are held once then.
        """
        self.heads = tuple(heads)
        support, places = shared_rows([head.support for head in heads])
        squares = (support.astype(np.float32) ** 2).sum(axis=1)
        widths = sorted({head.width for head in heads})
        # exp(-w |x - s|^2) = exp(2w xs - w |x|^2 - w m) exp(w m - w |s|^2): the last factor goes into the
        # coefficients, so that of a distance there is left one product, and two numbers a query.
        self._middle = float(squares.max() + squares.min()) / 2
        spread = widths[-1] * (float(squares.max()) - self._middle)
        kind = np.float32 if spread < SPREAD else np.float64
        self._rows, self._narrowest = support, widths[0]
        same = beside is not None and beside._narrowest == widths[0] and np.array_equal(beside._rows, support)
        self._support = beside._support if beside and same else _blocks((2 * widths[0] * support).astype(kind))
        self._wider = [(width, width / widths[0]) for width in widths]
        # A column for each label but the first of a head, whose score is nought.
        self._scale = np.concatenate([np.full(len(h.labels) - 1, h.scale, dtype=np.float32) for h in heads])
        self._linear = np.concatenate([head.weights() for head in heads], axis=1) * self._scale
        ends = np.cumsum([0, *(len(head.labels) - 1 for head in heads)]).tolist()
        self._spans = list(pairwise(ends))
        self._bias = np.array([b for head in heads for b in _bias(head)], dtype=np.float32)
        self._duals = self._by_width(places, squares, widths)

    def _by_width(self, places: Sequence[np.ndarray], squares: np.ndarray, widths: Sequence[float]) -> list[np.ndarray]:
        """For each kernel width the coefficients of all labels times their scale, nought for heads of another."""
        filled = self._support.shape[0] * self._support.shape[2]
        found = [np.zeros((filled, len(self._scale)), dtype=self._support.dtype) for _ in widths]
        for head, rows, (start, _) in zip(self.heads, places, self._spans, strict=True):
            columns = start + np.arange(len(head.labels) - 1)
            np.add.at(
                found[widths.index(head.width)], (rows[:, None], columns), head.scale * head.dual.astype(np.float32)
            )
        for width, duals in zip(widths, found, strict=True):
            duals[: len(squares)] *= np.exp(width * (self._middle - squares.astype(duals.dtype)))[:, None]
        return found

    def probabilities(self, seen: Seen) -> list[list[float]]:
        """Label probabilities of each head."""
        dense, grams = seen.dense, seen.grams
        products = (dense @ self._support).ravel()
        less = float(dense.dot(dense)) + self._middle
        scores = self._bias
        for (width, wider), duals in zip(self._wider, self._duals, strict=True):
            near = products if len(self._wider) == 1 else products * wider
            near -= width * less
            scores = np.exp(near, out=near).dot(duals) + scores
        if len(grams.columns):
            scores += grams.values.dot(self._linear.take(grams.columns, axis=0))
        given = scores.tolist()
        if given and (max(given) > MOST or min(given) < -MOST):
            given = [min(max(score, -MOST), MOST) for score in given]
        weights = [*map(math.exp, given)]
        return [_shares([1.0, *weights[start:end]]) for start, end in self._spans]


def _bias(head: Head) -> list[float]:
    """Of each label but the first, against that of the first."""
    return [b - head.bias[0] for b in head.bias[1:]] if head.bias else [0.0] * (len(head.labels) - 1)


def _shares(weights: list[float]) -> list[float]:
    """Each of a few numbers over their sum; numpy takes several times as long for so few."""
    total = sum(weights)
    return [weight / total for weight in weights]


def shared_rows(supports: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Rows of several matrices without repetition, and for each matrix which of them its rows are.

    By their bytes: sorting rows, as ``numpy.unique`` does, took half of the time of loading a program. Where all
    matrices are one and the same, as in a loaded program, there is nothing to compare.
    """
    if all(support is supports[0] for support in supports):
        return supports[0], [np.arange(len(supports[0]))] * len(supports)
    known: dict[bytes, int] = {}
    places = [
        np.array([known.setdefault(row.tobytes(), len(known)) for row in rows], dtype=np.intp) for rows in supports
    ]
    stacked = np.concatenate(supports)
    _, first = np.unique(np.concatenate(places), return_index=True)
    return stacked[first], places


def _blocks(rows: np.ndarray) -> np.ndarray:
    """Rows in blocks, as columns: shape (blocks, d, n), the last filled with noughts.

    As columns, since a vector times them takes three quarters of the time of them times a vector.
    """
    most = max(1, BLOCK // max(1, rows.shape[1]))
    count = max(1, -(-len(rows) // most))
    each = -(-len(rows) // count)
    filled = np.zeros((count * each, rows.shape[1]), dtype=np.float32)
    filled[: len(rows)] = rows
    return np.ascontiguousarray(filled.reshape(count, each, rows.shape[1]).transpose(0, 2, 1))
