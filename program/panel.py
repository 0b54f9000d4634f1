"""Several heads asked at once about one query: one distance to each training row, shared by all of them.

Heads of one program learn from the same rows, so their support vectors are kept once, and their
coefficients side by side. The answers are those of the heads one by one, up to rounding in single precision.
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


class Panel:
    """Heads with features of the same length.

    Attributes:
        heads: in the order of the answers.
    """

    def __init__(self, heads: Sequence[Head]) -> None:
        self.heads = tuple(heads)
        support, places = shared_rows([head.support for head in heads])
        filled = _blocks(support.astype(np.float32))
        self._squares = (filled**2).sum(axis=2).ravel()
        # Of the squared distance to a row, all but the squares: the factor is exact in binary.
        self._support = -2 * filled
        # A column for each label but the first of a head, whose score is nought.
        self._scale = np.concatenate([np.full(len(h.labels) - 1, h.scale, dtype=np.float32) for h in heads])
        self._linear = np.concatenate([head.linear for head in heads], axis=1).astype(np.float32) * self._scale
        ends = np.cumsum([0, *(len(head.labels) - 1 for head in heads)]).tolist()
        self._spans = list(pairwise(ends))
        self._bias = np.array([b for head in heads for b in _bias(head)], dtype=np.float32)
        widths = sorted({head.width for head in heads})
        self._widths = -np.array(widths, dtype=np.float32)[:, None]
        self._duals = self._by_width(places, widths)

    def _by_width(self, places: Sequence[np.ndarray], widths: Sequence[float]) -> np.ndarray:
        """The coefficients of all labels times their scale, a block of rows a kernel width, nought for other heads."""
        count = len(self._squares)
        duals = np.zeros((count * len(widths), len(self._scale)), dtype=np.float32)
        for head, rows, (start, _) in zip(self.heads, places, self._spans, strict=True):
            first = count * widths.index(head.width)
            columns = start + np.arange(len(head.labels) - 1)
            np.add.at(duals, (first + rows[:, None], columns), head.scale * head.dual)
        return duals

    def probabilities(self, seen: Seen) -> list[list[float]]:
        """Label probabilities of each head."""
        dense, grams = seen.dense, seen.grams
        distance = (self._support @ dense).ravel()
        distance += self._squares
        distance += dense.dot(dense)
        np.maximum(distance, 0.0, out=distance)
        near = distance * self._widths
        scores = np.exp(near, out=near).ravel() @ self._duals
        if len(grams.columns):
            scores += grams.values @ self._linear.take(grams.columns, axis=0)
        scores += self._bias
        np.maximum(np.minimum(scores, MOST, out=scores), -MOST, out=scores)
        weights = [*map(math.exp, scores.tolist())]
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

    By their bytes: sorting rows, as ``numpy.unique`` does, took half of the time of loading a program.
    """
    known: dict[bytes, int] = {}
    places = [
        np.array([known.setdefault(row.tobytes(), len(known)) for row in rows], dtype=np.intp) for rows in supports
    ]
    stacked = np.concatenate(supports)
    _, first = np.unique(np.concatenate(places), return_index=True)
    return stacked[first], places


def _blocks(rows: np.ndarray) -> np.ndarray:
    """Rows in blocks, shape (blocks, n, d), the last filled with noughts, whose coefficients are nought."""
    most = max(1, BLOCK // max(1, rows.shape[1]))
    count = max(1, -(-len(rows) // most))
    each = -(-len(rows) // count)
    filled = np.zeros((count * each, rows.shape[1]), dtype=np.float32)
    filled[: len(rows)] = rows
    return filled.reshape(count, each, rows.shape[1])
