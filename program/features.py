"""What the heads see of a query: a vector, a few surface features, and its n-grams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..signatures.types import Turn
from .encoder import Encoder
from .linker import Linker
from .ngrams import COLUMNS, Grams, count_grams, weigh

SURFACE_WEIGHT = 0.5


@dataclass(frozen=True)
class Seen:
    """One query as the heads see it: dense features, shape (d,), and weighed n-grams."""

    dense: np.ndarray
    grams: Grams


class Features:
    """Makes features of queries, with or without their conversation.

    Attributes:
        idf: inverse document frequency of each n-gram column, learned from the training queries.
    """

    def __init__(self, encoder: Encoder, linker: Linker, idf: np.ndarray | None = None) -> None:
        self.encoder = encoder
        self.linker = linker
        self.idf = np.ones(COLUMNS, dtype=np.float32) if idf is None else idf.astype(np.float32)

    def of_query(self, query: str) -> Seen:
        """Features of a query that stands alone."""
        vector = self.encoder.encode([query])[0]
        return self._seen(query, vector, self._surface(query))

    def of_turn(self, query: str, turns: Sequence[Turn]) -> Seen:
        """Features of a query after earlier turns: nearness to them, and names new and repeated."""
        vectors = self.encoder.encode([query, *(turn.content for turn in turns[-3:])])
        nearness = vectors[1:] @ vectors[0]
        last, best = (float(nearness[-1]), float(nearness.max())) if len(nearness) else (0.0, 0.0)
        known = {link.name.name for link in self.linker.links(query)}
        before = {link.name.name for turn in turns for link in self.linker.links(turn.content)}
        extra = np.array([last, best, len(known & before), len(known - before)], dtype=np.float32)
        return self._seen(query, vectors[0], np.concatenate([self._surface(query), extra]))

    def _seen(self, query: str, vector: np.ndarray, surface: np.ndarray) -> Seen:
        dense = np.concatenate([vector, SURFACE_WEIGHT * surface]).astype(np.float32)
        return Seen(dense, weigh(count_grams(query, self.linker), self.idf))

    def _surface(self, query: str) -> np.ndarray:
        """Length, punctuation and known names: the same in every language."""
        words = query.split()
        return np.array(
            [
                math.log1p(len(words)) / 2,
                math.log1p(len(query)) / 4,
                min(query.count("?") + query.count("？"), 3) / 2,
                min(query.count(",") + query.count("，") + query.count("、"), 4) / 4,
                min(sum(c.isdigit() for c in query), 6) / 6,
                min(len(self.linker.links(query)), 4) / 2,
            ],
            dtype=np.float32,
        )
