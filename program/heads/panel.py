"""Asks several heads about one query at once, and computes its distance to each shared training row only once.

Heads of one program learn from the same rows, so their support vectors are held once, and their coefficients side by
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

# The most numbers in a matrix that is multiplied by a vector. OpenBLAS gives larger ones to several threads, which wait
# for each other on a busy machine: p99 was 4 ms with them.
BLOCK = 36_000
MOST = 300.0
"""Scores are clipped to this magnitude, so that no exponential overflows or underflows; in practice none is near it."""
SPREAD = 80.0
"""Logarithm of the largest factor in the coefficients up to which single precision is used; the podcast's heads have
one of ten."""


class Panel:
    """Heads with features of the same length.

    Attributes:
        heads: in the order of the answers.
    """

    def __init__(self, heads: Sequence[Head], beside: Panel | None = None) -> None:
        """Lay the heads side by side.

        Args:
            beside: another panel. If it has the same support vectors, they are held once for both.
        """
        self.heads = tuple(heads)
        support, places = shared_rows([head.support for head in heads])
        squares = (support.astype(np.float32) ** 2).sum(axis=1)
        widths = sorted({head.width for head in heads})
        # exp(-w |x - s|^2) = exp(2w xs - w |x|^2 - w m) exp(w m - w |s|^2), with m in the middle of all |s|^2. The last
        # factor does not depend on the query and goes into the coefficients. So a query costs one product with the
        # support vectors, and one number that is subtracted from all of it.
        self._middle = float(squares.max() + squares.min()) / 2
        spread = widths[-1] * (float(squares.max()) - self._middle)
        kind = np.float32 if spread < SPREAD else np.float64
        self._rows, self._narrowest = support, widths[0]
        same = beside is not None and beside._narrowest == widths[0] and np.array_equal(beside._rows, support)
        self._support = beside._support if beside and same else _blocks((2 * widths[0] * support).astype(kind))
        self._wider = [(width, width / widths[0]) for width in widths]
        # One column for each label but the first of each head: the first label's score is always 0.
        self._scale = np.concatenate([np.full(len(h.labels) - 1, h.scale, dtype=np.float32) for h in heads])
        self._linear = np.concatenate([head.weights() for head in heads], axis=1) * self._scale
        ends = np.cumsum([0, *(len(head.labels) - 1 for head in heads)]).tolist()
        self._spans = list(pairwise(ends))
        self._bias = np.array([b for head in heads for b in _bias(head)], dtype=np.float32)
        self._duals = self._by_width(places, squares, widths)

    def _by_width(self, places: Sequence[np.ndarray], squares: np.ndarray, widths: Sequence[float]) -> list[np.ndarray]:
        """For each kernel width, the coefficients of all labels times their scale; 0 for heads of another width.

        Each has shape (rows of all blocks, columns). ``places`` has the support rows of each head, ``squares`` the
        squared length of every support row.
        """
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
        """The label probabilities of each head, in the order of ``heads`` and of its labels."""
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
    """The bias of each label but the first, minus the first label's."""
    return [b - head.bias[0] for b in head.bias[1:]] if head.bias else [0.0] * (len(head.labels) - 1)


def _shares(weights: list[float]) -> list[float]:
    """Each number divided by their sum; for so few numpy takes several times as long."""
    total = sum(weights)
    return [weight / total for weight in weights]


def shared_rows(supports: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The distinct rows of several matrices, and for each matrix the numbers of its rows among them.

    Rows are compared by their bytes, since sorting them, as ``numpy.unique`` does, took half of the time of loading a
    program. Where all matrices are the same object, as in a loaded program, nothing is compared.
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
    """The rows as columns of equal blocks, shape (blocks, d, n), the last padded with zeros.

    They are columns because a vector times such a block takes three quarters of the time of rows times a vector.
    """
    most = max(1, BLOCK // max(1, rows.shape[1]))
    count = max(1, -(-len(rows) // most))
    each = -(-len(rows) // count)
    filled = np.zeros((count * each, rows.shape[1]), dtype=np.float32)
    filled[: len(rows)] = rows
    return np.ascontiguousarray(filled.reshape(count, each, rows.shape[1]).transpose(0, 2, 1))
