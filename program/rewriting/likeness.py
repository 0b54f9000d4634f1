"""How well a name fits a pronoun that may point to it: *she* to Anna, *he* to Mr Brook.

No list of names with genders is needed. In word vectors, first names and titles are nearer to the pronouns that go with
them, relative to the mean of all pointing words. (Bolukbasi et al. 2016 measured this as a bias. Here it only helps to
decide whom a pronoun means, with a weight that is learned from labelled follow-ups.)
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache

import numpy as np

from ..heads.encoder import default_encoder

STEPS = 8
"""Cosines are rounded to multiples of 1 / ``STEPS``, so that sums of weights can be reused for other names."""
KEPT = 4096


class Likeness:
    """Compares the first words of names with the pointing words of a domain's follow-ups.

    Args:
        pointing: words and pairs of words; a pair is compared by the mean of its vectors.
    """

    def __init__(self, pointing: Iterable[str]) -> None:
        self._places = {said: place for place, said in enumerate(sorted(pointing))}
        self._of_word = lru_cache(maxsize=KEPT)(self._steps)

    def of(self, name: str, said: str) -> int:
        """The cosine of a name's first word with a pointing word's centred vector, times ``STEPS``, rounded."""
        return self._of_word(name.split(" ", 1)[0])[self._places[said]]

    def _steps(self, word: str) -> tuple[int, ...]:
        cosines = self._centred @ default_encoder().encode([word])[0]
        return tuple(np.rint(cosines * STEPS).astype(int).tolist())

    @cached_property
    def _centred(self) -> np.ndarray:
        """The vectors of the pointing words minus their mean, each of length one or zero, shape (words, dimensions)."""
        vectors = default_encoder().encode(list(self._places))
        vectors = vectors - vectors.mean(axis=0)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
