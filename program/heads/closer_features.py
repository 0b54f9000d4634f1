"""What the heads that look closer see: the first heads' numbers, with vectors of an encoder that reads sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...signatures.types import Turn
from ..text.linker import Linker
from . import quadratic
from .encoder import Encoder
from .features import NAMES_INSIDE, SURFACE, Features, Look, Seen
from .ngrams import WIDTH, Grams

TEXTS = 64
"""How many texts' vectors are kept: a plan reads its query several times, as a turn and as a query."""


class CloserFeatures(Features):
    """Features with another encoder's vectors, and of a query without how it is composed.

    Relevance lies in what is asked, not in how that is composed, and heads of other labels are pooled with the first
    ones, which see the composition. Earlier turns are compared by the first heads' vectors, since reading each of them
    anew would take milliseconds.

    Args:
        first: the features of the first heads.
        encoder: what reads a whole sentence.
        written_out: whether the kernel's features of a query (``quadratic.py``) follow its n-grams, as heads with
            weights of these need them. While heads are trained the kernel itself is enough. None in older programs,
            whose heads have support vectors.
    """

    def __init__(self, first: Features, encoder: Encoder, *, written_out: bool | None = True) -> None:
        learned = first.idf, first.common, encoder.nested, first.vocabulary
        super().__init__(encoder, first.linker, *learned, min(first.reads, NAMES_INSIDE), first.mending)
        self._first = first
        self.written_out = written_out is not None
        self._writes_out = bool(written_out)
        self._read = lru_cache(maxsize=TEXTS)(lambda text: encoder.encode([text])[0])

    def _read_with(self, linker: Linker) -> CloserFeatures:
        written_out = self._writes_out if self.written_out else None
        return CloserFeatures(self._first.reading(linker), self.encoder, written_out=written_out)

    def of_query(self, query: str) -> Seen:
        """Features of a query that stands alone."""
        seen = super().of_query(query)
        if not self._writes_out:
            return seen
        values = quadratic.written_out(seen.dense)
        columns = np.arange(WIDTH, WIDTH + len(values))
        grams = Grams(np.concatenate([seen.grams.columns, columns]), np.concatenate([seen.grams.values, values]))
        return seen._replace(grams=grams)

    def of_wishes(self, query: str) -> Seen:
        """Features of a query for heads of sources, whose kernel is not written out."""
        return super().of_query(query)

    def of_turn(self, query: str, turns: Sequence[Turn]) -> Seen:
        """Features of a query after earlier turns: its vector, and what the first heads see besides theirs."""
        seen = self._first.of_turn(query, turns)
        vector = self._vector(self.texts(query)[1])
        return seen._replace(dense=np.concatenate([vector, seen.dense[self._first.vector_length :]]))

    def texts(self, query: str) -> tuple[str, str]:
        """The two texts of a query whose vectors heads see: with its names masked, and with them."""
        return self._first.read_texts(query)

    def forget(self) -> None:
        """Empty the caches of texts."""
        super().forget()
        self._first.forget()
        self._read.cache_clear()

    def _look_at(self, query: str) -> Look:
        look = self._first.look(query)
        vector, surface = self._vector(look.asked), look.surface[:SURFACE]
        return look._replace(
            vector=vector, surface=surface, seen=self._seen(vector, surface, look.seen.grams, self._weight)
        )

    def _vector(self, text: str) -> np.ndarray:
        return self._read(text)
