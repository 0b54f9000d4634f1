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

# A product with so few rows stays below what OpenBLAS gives to several threads, which wait for each other
# on a busy machine: p99 was 4 ms with them.
BLOCK = 128


class Panel:
    """Heads with features of the same length.

    Attributes:
        heads: in the order of the answers.
    """

    def __init__(self, heads: Sequence[Head]) -> None:
        self.heads = tuple(heads)
        support, places = shared_rows([head.support for head in heads])
        self._support = _blocks(support.astype(np.float32))
        self._squares = (self._support**2).sum(axis=2).ravel()
        self._linear = np.concatenate([head.linear for head in heads], axis=1).astype(np.float32)
        ends = np.cumsum([0, *(len(head.labels) for head in heads)]).tolist()
        self._spans = list(pairwise(ends))
        self._scale = np.concatenate([np.full(len(h.labels), h.scale, dtype=np.float32) for h in heads])
        self._bias = np.array([b for h in heads for b in h.bias or (0.0,) * len(h.labels)], dtype=np.float32)
        self._duals = self._by_width(places)

    def _by_width(self, places: Sequence[np.ndarray]) -> list[tuple[float, np.ndarray]]:
        """For each kernel width the coefficients of all labels, nought for heads of another width."""
        duals = {head.width: np.zeros((len(self._squares), len(self._scale)), dtype=np.float32) for head in self.heads}
        for head, rows, (start, _) in zip(self.heads, places, self._spans, strict=True):
            np.add.at(duals[head.width], (rows[:, None], start + np.arange(len(head.labels))), head.dual)
        return list(duals.items())

    def probabilities(self, seen: Seen) -> list[list[float]]:
        """Label probabilities of each head."""
        distance = (self._support @ seen.dense).ravel()
        distance *= -2
        distance += self._squares
        distance += float(seen.dense @ seen.dense)
        np.maximum(distance, 0.0, out=distance)
        scores = np.zeros(len(self._scale), dtype=np.float32)
        for width, dual in self._duals:
            scores += np.exp(distance * -width) @ dual
        if len(seen.grams.columns):
            scores += seen.grams.values @ self._linear.take(seen.grams.columns, axis=0)
        scaled = (scores * self._scale + self._bias).tolist()
        return [_shares(scaled[start:end]) for start, end in self._spans]


def _shares(scores: list[float]) -> list[float]:
    """The softmax of a few numbers; numpy takes several times as long for so few."""
    most = max(scores)
    weights = [math.exp(score - most) for score in scores]
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
    """Rows in blocks, shape (blocks, BLOCK, d), the last filled with noughts, whose coefficients are nought."""
    count = -(-len(rows) // BLOCK)
    filled = np.zeros((count * BLOCK, rows.shape[1]), dtype=np.float32)
    filled[: len(rows)] = rows
    return filled.reshape(count, BLOCK, rows.shape[1])
