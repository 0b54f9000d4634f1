"""What the heads see of a query: a vector, a few surface features, and its n-grams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..signatures.types import Turn
from .encoder import Encoder
from .linker import Linker
from .ngrams import COLUMNS, Grams, count_grams, weigh

SURFACE_WEIGHT = 0.5


@dataclass(frozen=True)
class Seen:
    """One query as the heads see it: dense features, shape (d,), and weighed n-grams.

    ``readable`` is false where the encoder knows nothing of it: then nothing said of it means anything.
    """

    dense: np.ndarray
    grams: Grams
    readable: bool = True


@dataclass(frozen=True)
class Look:
    """What is seen of a text by itself."""

    vector: np.ndarray
    surface: np.ndarray
    grams: Grams
    names: frozenset[str]


class Features:
    """Makes features of queries, with or without their conversation.

    Attributes:
        idf: inverse document frequency of each n-gram column, learned from the training queries.
    """

    def __init__(self, encoder: Encoder, linker: Linker, idf: np.ndarray | None = None) -> None:
        self.encoder = encoder
        self.linker = linker
        self.idf = np.ones(COLUMNS, dtype=np.float32) if idf is None else idf.astype(np.float32)
        # A plan looks at its query as a turn and as a query; the next one has other texts.
        self._look = lru_cache(maxsize=16)(self._look_at)

    def of_query(self, query: str) -> Seen:
        """Features of a query that stands alone."""
        look = self._look(query)
        return _seen(look, look.surface)

    def of_turn(self, query: str, turns: Sequence[Turn]) -> Seen:
        """Features of a query after earlier turns: nearness to them, and names new and repeated."""
        look = self._look(query)
        recent = [turn.content for turn in turns[-3:]]
        nearness = [float(n) for n in self.encoder.encode(recent) @ look.vector] if recent else []
        last, best = (nearness[-1], max(nearness)) if nearness else (0.0, 0.0)
        before = {link.name.name for turn in turns for link in self.linker.links(turn.content)}
        extra = np.array([last, best, len(look.names & before), len(look.names - before)], dtype=np.float32)
        return _seen(look, np.concatenate([look.surface, extra]))

    def _look_at(self, query: str) -> Look:
        links = self.linker.links(query)
        return Look(
            self.encoder.encode([query])[0],
            self._surface(query),
            weigh(count_grams(query, self.linker), self.idf),
            frozenset(link.name.name for link in links),
        )

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


def _seen(look: Look, surface: np.ndarray) -> Seen:
    dense = np.concatenate([look.vector, SURFACE_WEIGHT * surface]).astype(np.float32)
    return Seen(dense, look.grams, readable=bool(look.vector.any()))
