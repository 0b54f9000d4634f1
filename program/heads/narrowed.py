"""Another encoder's vectors along the few directions in which a program's training texts differ most.

The middle layers of a model give vectors that are nearly parallel, since most of each is the same for every text. What
differs is told as well by a hundred numbers as by all 384: less the mean of the training texts' vectors, along their
first principal components (Pearson, 1901), and scaled to length one. Of left-out turns of podcast and journal 0.886 and
0.876 are rightly told to be follow-ups with 128 numbers, 0.884 and 0.874 with all 384.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .encoder import Encoder

DIMENSIONS = 96
"""With 128, complexity, intent and decomposition are together right for 0.739 and not 0.736 of the podcast's left-out
queries, 0.763 and not 0.764 of the journal's; heads have then half as many weights more."""
MOST = 2000
"""The most vectors that directions are learned from."""
STEPS = 127


class Axes(NamedTuple):
    """The mean of vectors, shape (d,), in half precision, and directions as integers of one byte, shape (d, few).

    The length of a direction does not matter much, so all share one step size, which falls out of a vector of length
    one.
    """

    centre: np.ndarray
    directions: np.ndarray


def learned_axes(vectors: np.ndarray, seed: int = 0) -> Axes | None:
    """The axes of vectors, shape (n, d); None if fewer than two can be read."""
    known = vectors[vectors.any(axis=1)]
    if len(known) < 2:
        return None
    if len(known) > MOST:
        known = known[np.random.default_rng(seed).permutation(len(known))[:MOST]]
    centre = known.mean(axis=0).astype(np.float16)
    found = np.linalg.svd(known - centre.astype(np.float32), full_matrices=False)[2][:DIMENSIONS].T
    whole = np.rint(found / np.abs(found).max() * STEPS).astype(np.int8)
    return Axes(centre, np.ascontiguousarray(whole))  # as after loading: sums depend on the order in memory


class Narrowed:
    """An encoder seen along axes."""

    nested = None

    def __init__(self, encoder: Encoder, axes: Axes) -> None:
        self.encoder, self.axes = encoder, axes
        self.name = encoder.name
        self._centre = axes.centre.astype(np.float32)
        self._directions = axes.directions.astype(np.float32)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors, shape (texts, directions), float32, each of length one or zero."""
        given = self.encoder.encode(texts)
        found = (given - self._centre) @ self._directions
        lengths = np.linalg.norm(found, axis=1)
        lengths[(lengths == 0) | ~given.any(axis=1)] = np.inf  # what cannot be read stays a row of zeros
        return (found / lengths[:, None]).astype(np.float32)

    def knows_whole(self, word: str) -> bool:
        """Whether a word is one token, as common words are."""
        return self.encoder.knows_whole(word)

    def fingerprint(self) -> str:
        """Hash of the other encoder's weights; the axes are a program's own."""
        return self.encoder.fingerprint()


class Remembering:
    """An encoder that keeps the vector of every text that it was given, for as long as heads are trained."""

    nested = None

    def __init__(self, encoder: Encoder) -> None:
        self.encoder, self.name = encoder, encoder.name
        self._kept: dict[str, np.ndarray] = {}

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """The other encoder's vectors; new texts are read together, in two thirds of the time of one by one."""
        new = [text for text in dict.fromkeys(texts) if text not in self._kept]
        if new:
            self._kept |= dict(zip(new, self.encoder.encode(new), strict=True))
        return np.stack([self._kept[text] for text in texts]) if texts else self.encoder.encode(())

    @property
    def known(self) -> np.ndarray:
        """The vectors of all texts, in the order in which they were first given, shape (texts, d)."""
        return np.stack(list(self._kept.values())) if self._kept else self.encoder.encode(())

    def knows_whole(self, word: str) -> bool:
        """Whether a word is one token, as common words are."""
        return self.encoder.knows_whole(word)

    def fingerprint(self) -> str:
        """Hash of the other encoder's weights."""
        return self.encoder.fingerprint()
