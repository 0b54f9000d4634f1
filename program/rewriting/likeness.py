"""How well a name fits a pronoun that may point to it: *she* to Anna, *he* to Mr Brook.

No list says who is a woman. Vectors of words do: those of first names and titles lie nearer to the pronouns that go
with them, relative to the mean of all pointing words (Bolukbasi et al. 2016 measured this as a bias; here it decides
nothing but whom a pronoun may mean, and labelled follow-ups say how much it is worth).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache

import numpy as np

from ..heads.encoder import default_encoder

STEPS = 8
"""A likeness of one is so many steps, so that what is worked out for one name serves others."""
KEPT = 4096


class Likeness:
    """Compares first words of names with the words that point in a domain's follow-ups.

    Args:
        pointing: words and pairs of words; a pair is compared by its mean, as texts are.
    """

    def __init__(self, pointing: Iterable[str]) -> None:
        self._places = {said: place for place, said in enumerate(sorted(pointing))}
        self._of_word = lru_cache(maxsize=KEPT)(self._steps)

    def of(self, name: str, said: str) -> int:
        """Cosine of the first word of a name and what points, from whose vector the mean of all is taken, in steps."""
        return self._of_word(name.split(" ", 1)[0])[self._places[said]]

    def _steps(self, word: str) -> tuple[int, ...]:
        cosines = self._centred @ default_encoder().encode([word])[0]
        return tuple(np.rint(cosines * STEPS).astype(int).tolist())

    @cached_property
    def _centred(self) -> np.ndarray:
        """Vectors of what points less their mean, of length one or zero, shape (said, dimensions)."""
        vectors = default_encoder().encode(list(self._places))
        vectors = vectors - vectors.mean(axis=0)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
