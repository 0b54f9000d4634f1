"""Finds all pairs of word sets above a Jaccard threshold, exactly, without comparing all of them.

Prefix filtering (Chaudhuri, Ganti and Kaushik 2006; Xiao et al. 2008, "PPJoin"): with words ordered from rare to
frequent, two sets can only be that similar if they share one of the first ``n - ⌈t·n⌉ + 1`` words of each. Shared
prefixes are counted by a sparse matrix product in blocks, so memory stays bounded; what survives is intersected.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

# Products of one block of the matrix product; about 50 MB while it is looked through.
_BLOCK = 1_000_000
# Guards the ceilings below against 0.8 * 5 = 4.000000001.
_SLACK = 1e-9


class WordSets:
    """Distinct sets of words, with words as numbers from the rarest to the most frequent.

    Attributes:
        groups: for each distinct set, its positions in the input; empty sets are in none.
    """

    def __init__(self, sets: Iterable[Iterable[str]]) -> None:
        known: dict[str, int] = {}
        words, sizes = array("i"), array("i")
        for tokens in sets:
            before = len(words)
            words.extend(known.setdefault(token, len(known)) for token in tokens)
            sizes.append(len(words) - before)
        flat, lengths = _from_rare(np.array(words, dtype=np.int32), len(known)), np.array(sizes, dtype=np.int64)
        owner = np.repeat(np.arange(len(lengths)), lengths)
        flat = flat[np.lexsort((flat, owner))]
        self.groups, self.words, self.sizes = _distinct(flat, lengths)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each distinct set begins in ``words``, and where the last ends; shape (sets + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def pairs(self, threshold: float) -> Iterator[tuple[int, int, float]]:
        """(g, h, Jaccard) of every two distinct sets above the threshold, by position in ``groups``."""
        for first, second in _Prefixes(self, threshold).candidates():
            for g, h in zip(first.tolist(), second.tolist(), strict=True):
                jaccard = self._jaccard(g, h)
                if jaccard > threshold:
                    yield g, h, jaccard

    def comparisons(self, threshold: float) -> int:
        """The number of products that ``pairs`` would compute, to which its time is proportional."""
        counts = np.bincount(_Prefixes(self, threshold).words, minlength=1).astype(np.int64)
        return int((counts * (counts + 1) // 2).sum())

    def affordable(self, thresholds: Sequence[float], budget: int) -> float:
        """The first of rising thresholds whose comparisons are within the budget; the last if none is."""
        return next((t for t in thresholds if self.comparisons(t) <= budget), thresholds[-1])

    def _jaccard(self, g: int, h: int) -> float:
        a, b = (self.words[self.starts[k] : self.starts[k + 1]] for k in (g, h))
        shared = len(set(a.tolist()).intersection(b.tolist()))
        return shared / (len(a) + len(b) - shared)


class _Prefixes:
    """The rare words of each set that two similar sets must share one of."""

    def __init__(self, sets: WordSets, threshold: float) -> None:
        needed = np.ceil(threshold * sets.sizes - _SLACK).astype(np.int64)
        self.threshold = threshold
        self.sizes = sets.sizes
        self.lengths = np.minimum(sets.sizes - needed + 1, sets.sizes)
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])
        shift = np.repeat(sets.starts[:-1] - self.starts[:-1], self.lengths)
        self.words = sets.words[np.arange(len(shift)) + shift]
        self.last = self.words[self.starts[1:] - 1] if len(self.words) else self.words

    def candidates(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs ``g < h`` that may be over the threshold, in blocks of arrays."""
        from scipy.sparse import csr_array

        if not len(self.words):
            return
        ones = np.ones(len(self.words), dtype=np.int16)
        shape = (len(self.sizes), int(self.words.max()) + 1)
        matrix: Any = csr_array((ones, self.words, self.starts), shape=shape)
        turned = matrix.T.tocsr()
        for begin, end in self._blocks():
            product = (matrix[begin:end] @ turned).tocoo()
            g, h = product.coords[0] + begin, product.coords[1]
            later = g < h
            g, h, shared = g[later], h[later], product.data[later]
            keep = self._may_reach(g, h, shared)
            yield g[keep], h[keep]

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Ranges of sets whose products fit a block."""
        work = np.concatenate([[0], np.cumsum(np.bincount(self.words)[self.words])])[self.starts]
        begin = 0
        while begin < len(self.sizes):
            end = int(np.searchsorted(work, work[begin] + _BLOCK, side="right")) - 1
            end = min(max(end, begin + 1), len(self.sizes))
            yield begin, end
            begin = end

    def _may_reach(self, g: np.ndarray, h: np.ndarray, shared: np.ndarray) -> np.ndarray:
        """Whether sizes and shared prefix words leave room for the overlap that the threshold needs.

        Of two sets, the one whose prefix ends at the rarer word can share no more than its prefix
        does and the rest of it.
        """
        needed = np.ceil(self.threshold / (1 + self.threshold) * (self.sizes[g] + self.sizes[h]) - _SLACK)
        earlier = np.where(self.last[g] <= self.last[h], g, h)
        rest = self.sizes[earlier] - self.lengths[earlier]
        return (shared + rest >= needed) & (np.minimum(self.sizes[g], self.sizes[h]) >= needed)


def _from_rare(words: np.ndarray, known: int) -> np.ndarray:
    """Words renumbered from the rarest to the most frequent."""
    rank = np.empty(known, dtype=np.int32)
    rank[np.argsort(np.bincount(words, minlength=known), kind="stable")] = np.arange(known, dtype=np.int32)
    return rank[words]


def _distinct(flat: np.ndarray, lengths: np.ndarray) -> tuple[list[list[int]], np.ndarray, np.ndarray]:
    """Positions of each distinct set, the words of all sets, and the number of words in each."""
    groups: dict[bytes, list[int]] = {}
    ends = np.cumsum(lengths).tolist()
    for position, (size, end) in enumerate(zip(lengths.tolist(), ends, strict=True)):
        if size:
            groups.setdefault(flat[end - size : end].tobytes(), []).append(position)
    words = np.frombuffer(b"".join(groups), dtype=np.int32)
    return list(groups.values()), words, np.array([len(key) // 4 for key in groups], dtype=np.int64)
