"""The retriever interface, one method that a store must have, and two retrievers over passages in memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import numpy as np

from ..heads.encoder import Encoder, default_encoder
from .passages import Passage
from .results import Hit
from .terms import terms

Hits = Sequence[Hit | Exception]
"""Hits; an exception among them says why one of them is not there."""


class Retriever(Protocol):
    """Anything that ranks passages for a query; ``retrieve`` may be a coroutine function."""

    @property
    def name(self) -> str:
        """The name of its ranking in traces and gaps."""
        ...

    def retrieve(self, query: str, limit: int) -> Hits | Awaitable[Hits]:
        """At most ``limit`` hits, best first; scores have to be comparable within one answer only."""
        ...


class Bm25Retriever:
    """Okapi BM25 (Lucene's variant, as ``bm25s`` computes it) over the searchable text of passages."""

    name = "bm25"

    def __init__(self, passages: Sequence[Passage]) -> None:
        import bm25s

        self._passages = tuple(passages)
        corpus = [terms(passage.searchable) for passage in passages]
        self._index = bm25s.BM25()
        self._empty = not any(corpus)
        if not self._empty:
            self._index.index(corpus, show_progress=False)
        self._known = frozenset(term for document in corpus for term in document)

    def retrieve(self, query: str, limit: int) -> list[Hit]:
        """The passages that share a word with the query, best first."""
        asked = [term for term in terms(query) if term in self._known]
        if self._empty or not asked:
            return []
        scores = np.asarray(self._index.get_scores(asked))
        return _best(self._passages, scores, limit)


class VectorRetriever:
    """Cosine of static vectors over the searchable text of passages."""

    name = "vector"

    def __init__(self, passages: Sequence[Passage], encoder: Encoder | None = None) -> None:
        self._passages = tuple(passages)
        self._encoder = encoder or default_encoder()
        self._vectors = self._encoder.encode([passage.searchable for passage in passages])

    def retrieve(self, query: str, limit: int) -> list[Hit]:
        """The nearest passages, best first; none for a text that the encoder cannot read."""
        if not self._passages:
            return []
        return _best(self._passages, self._vectors @ self._encoder.encode([query])[0], limit)


def _best(passages: Sequence[Passage], scores: np.ndarray, limit: int) -> list[Hit]:
    """Passages with a positive score, best first, ties in the order of the store."""
    found = np.flatnonzero(scores > 0)
    order = found[np.argsort(-scores[found], kind="stable")][:limit]
    return [Hit(passages[i], float(scores[i])) for i in order]


def term_weights(passages: Sequence[Passage]) -> Callable[[str], float]:
    """How informative a term is: log(1 + passages / passages that have it); unknown terms weigh most."""
    counts: Counter[str] = Counter()
    for passage in passages:
        counts.update(passage.known_terms)
    weights = {term: math.log(1 + len(passages) / count) for term, count in counts.items()}
    unknown = math.log(1 + len(passages))
    return lambda term: weights.get(term, unknown)
