"""Property values that a question states in other words: "wooden" for ``wood``, "settlement" for ``settled``.

Only properties with few values are looked at, since some value of many always resembles any word a little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ...heads.encoder import Encoder
from ..ranking.evidence import ORDINARY
from ..ranking.schema_words import FLOOR, FULL, written_alike
from .view import View
from .words import fold, is_whole_in

FEW = 12
"""Only properties with at most this many values are read by similarity."""
ALIKE = 0.45
"""The least similarity, 0 to 1, that every word of a value must have to some word of the question."""


def is_said(text: str, said: str) -> bool:
    """Whether a question has a value, in singular or plural; ``said`` is the folded question between two spaces."""
    folded = fold(text)
    return bool(folded) and is_whole_in(folded, said)


class ValueWords:
    """Compares the words of questions with the values of one schema's properties."""

    def __init__(
        self, properties: Iterable[Sequence[str]], encoder: Encoder, said: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """Read the values of every property, and the other words that people use for each value (``said``)."""
        self._said = {text: (text, *words) for text, words in (said or {}).items()}
        self._folded = {text: frozenset(" ".join(map(fold, ways)).split()) for text, ways in self._said.items()}
        few = [texts for texts in properties if len(texts) <= FEW]
        split = {text: words for texts in few for text in texts if (words := fold(text).split())}
        self._encoder = encoder
        self._words = list(dict.fromkeys(word for words in split.values() for word in words))
        places = {word: place for place, word in enumerate(self._words)}
        self._places = {text: [places[word] for word in words] for text, words in split.items()}
        self._vectors = encoder.encode(self._words)
        self._of_word = lru_cache(maxsize=8192)(self._compare)

    def unsaid(self, view: View, question: str) -> dict[str, float]:
        """Values that the question does not have, but words like each of theirs, with that similarity, 0 to 1.

        A value's similarity is that of its least similar word.
        """
        heavy = [word for word, weight in zip(view.words, view.weight, strict=True) if weight > ORDINARY]
        if not heavy or not self._words:
            return {}
        near, said = np.stack([self._of_word(word) for word in heavy]).max(axis=0), f" {fold(question)} "
        found = {text: float(near[places].min()) for text, places in self._places.items()}
        likely = {text: like for text, like in found.items() if like >= ALIKE}
        return {
            text: like
            for text, like in likely.items()
            if not any(is_said(word, said) for word in self._said.get(text, (text,)))
        }

    def by_word(self, view: View, text: str) -> np.ndarray:
        """The similarity of each word of the question to the value ``text``, shape (words,); 0 below ``ALIKE``."""
        places, folded = self._places.get(text), self._folded.get(text, frozenset())
        if not view.words or not (places or folded):
            return np.zeros(len(view.words))
        if any(word in folded for word in view.words):
            return np.array([float(word in folded) for word in view.words])
        if not places:
            return np.zeros(len(view.words))
        near = np.stack([self._of_word(word)[places].max() for word in view.words])
        return np.where(near >= ALIKE, near, 0.0)

    def _compare(self, word: str) -> np.ndarray:
        """The similarity of a word to each word of the values, in meaning or spelling, 0 to 1, shape (words,)."""
        meaning = np.clip((self._vectors @ self._encoder.encode([word])[0] - FLOOR) / (FULL - FLOOR), 0, 1)
        return np.maximum(meaning, [written_alike(word, other) for other in self._words])
