"""Similarity of a question's words to a schema's words: the part of ranking that needs no labels.

Two words are similar by meaning (static vectors) or by letters (character trigrams, for typing errors, inflections and
words that languages share, such as "Symptome"). Similarities to names and to descriptions of types and edges are kept
apart, because names say less, but say it more clearly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from rapidfuzz import fuzz, process

from ....data.element_words import DONE, UNSAYABLE, unsayable_words
from ....signatures.graph_steps import GraphSchema
from ...heads.encoder import Encoder
from ..question.words import folded_words, name_words, spelled_out
from .phrases import PhraseBook, Phrases, Told, phrases_of_plans

LONG, EDITED = 5, 0.55
"""The least length of words that are also compared by edit distance, and the similarity (0 to 1) that then counts as
0."""
NONE = DONE.index(UNSAYABLE)
FLOOR, FULL = 0.2, 0.65
"""The usual cosine of two unrelated words, and of two that mean the same; they count as similarities of 0 and 1."""


@dataclass(frozen=True)
class Nearness:
    """Similarity, 0 to 1, of each word of a question to each edge type and node type.

    Attributes:
        edge_names, edge_texts: to the most similar word of an edge's name, and of its description, shape (words,
            edges).
        type_names, type_texts: likewise for node types, shape (words, types).
        told: the question's matches with the schema's phrases; None where it has none.
    """

    edge_names: np.ndarray
    edge_texts: np.ndarray
    type_names: np.ndarray
    type_texts: np.ndarray
    told: Told | None = None

    @property
    def types(self) -> np.ndarray:
        """Similarity to each node type by name, or a little less by description, shape (words, types)."""
        return np.maximum(self.type_names, 0.8 * self.type_texts)


class SchemaWords:
    """The words of one schema, ready to be compared with those of questions."""

    def __init__(self, schema: GraphSchema, encoder: Encoder, common: dict[str, float]) -> None:
        """Read the schema's words.

        Args:
            common: the weight of each word, 0 for a common one to 1; words that are missing weigh 1.
        """
        self.encoder, self._common = encoder, common
        types = {node.name: name_words(node.name) for node in schema.nodes}
        of_types = {word for words in types.values() for word in words}
        edges = [name_words(edge.name) for edge in schema.edges]
        edge_texts = [
            [w for w in folded_words(edge.description) if w not in of_types] or list(name_words(edge.name))
            for edge in schema.edges
        ]
        type_texts = [[*types[n.name], *folded_words(n.description)] for n in schema.nodes]
        groups = [edges, edge_texts, list(types.values()), type_texts]
        self.vocabulary = list(dict.fromkeys(word for group in groups for words in group for word in words)) or [""]
        place = {word: i for i, word in enumerate(self.vocabulary)}
        self._groups = [_padded([[place[w] for w in words] for words in group]) for group in groups]
        self._vectors = encoder.encode(self.vocabulary)
        ends = [[*types[e.source], *types[e.target]] for e in schema.edges]
        self._edges = encoder.encode([" ".join(g) for g in map(_joined, edges, edge_texts, ends)])
        self._grams = [_grams(word) for word in self.vocabulary]
        self._gram_counts = np.array([len(grams) for grams in self._grams])
        self._long = np.array([len(word) >= LONG for word in self.vocabulary])
        self._plain = np.array([common.get(word, 1.0) for word in self.vocabulary])
        self._phrases = Phrases(schema) if schema.words else None
        unsayable = unsayable_words(schema)
        self._unsayable = PhraseBook([(0, unsayable)], 1) if unsayable else None
        self._of_word = lru_cache(maxsize=8192)(self._compare)
        self._vector = lru_cache(maxsize=8192)(lambda word: encoder.encode([word])[0])

    def nearness(self, words: Sequence[str]) -> Nearness:
        """Compare the words of a question with every type and edge of the schema."""
        if not words:
            none = [np.zeros((0, len(group))) for group in self._groups]
            return Nearness(none[0], none[1], none[2], none[3])
        near = np.stack([self._of_word(word) for word in words])
        padded = np.concatenate([near, np.zeros((len(words), 1))], axis=1)
        groups = [padded[:, group].max(axis=2) if len(group) else np.zeros((len(words), 0)) for group in self._groups]
        near = Nearness(groups[0], groups[1], groups[2], groups[3])
        return near if self._phrases is None else _with(near, self._phrases.look(words))

    def nearest(self, word: str) -> float:
        """The similarity of a folded word to the most similar edge, type or property, 0 to 1."""
        near = self.nearness([word])
        told = [] if near.told is None else [near.told.properties]
        every = (near.edge_names, near.edge_texts, near.type_names, near.type_texts, *told)
        return max(float(part.max(initial=0.0)) for part in every)

    def done(self, words: Sequence[str]) -> np.ndarray:
        """The match with phrases for each thing that a plan may do, 0 to 1, shape (len(DONE),).

        For "no plan can say it", the schema's own such phrases count, too.
        """
        said = phrases_of_plans().look(spelled_out(words))[0]
        if self._unsayable is not None:
            said[NONE] = max(said[NONE], self._unsayable.look(spelled_out(words))[0][0])
        return said

    def vector(self, words: Sequence[str], weights: np.ndarray) -> np.ndarray:
        """The weighted mean of the words' vectors, shape (dimensions,), scaled to length one; zeros without words."""
        if not words:
            return np.zeros(self._vectors.shape[1])
        mean = weights @ np.stack([self._vector(word) for word in words])
        return mean / (float(np.linalg.norm(mean)) or 1.0)

    def meaning(self, vector: np.ndarray) -> np.ndarray:
        """The cosine of a question's vector with that of each edge's words and end types, shape (edges,)."""
        return self._edges @ vector

    def _compare(self, word: str) -> np.ndarray:
        """The similarity of a word to each word of the schema, times that word's weight, shape (vocabulary,)."""
        meaning = np.clip((self._vectors @ self._vector(word) - FLOOR) / (FULL - FLOOR), 0, 1)
        return np.maximum(meaning, self._letters(word)) * self._plain

    def _letters(self, word: str) -> np.ndarray:
        """The similarity of a word's spelling to each word of the schema, as ``written_alike``, shape (vocabulary,)."""
        grams = _grams(word)
        shared = np.array([len(grams & others) for others in self._grams])
        dice = np.where(shared > 1, 2 * shared / (len(grams) + self._gram_counts), 0.0)
        if len(word) < LONG:
            return dice
        ratios = process.cdist([word], self.vocabulary, scorer=fuzz.ratio, dtype=np.float64)[0]
        return np.where(self._long, np.maximum(dice, (ratios / 100 - EDITED) / (1 - EDITED)), dice)


def _with(near: Nearness, told: Told) -> Nearness:
    """The similarities with matches of phrases added, which count as descriptions do."""
    edges, types = np.maximum(near.edge_texts, told.edges), np.maximum(near.type_texts, told.types)
    return replace(near, edge_texts=edges, type_texts=types, told=told)


def _joined(*groups: Sequence[str]) -> list[str]:
    return [word for group in groups for word in group]


def _padded(groups: Sequence[Sequence[int]]) -> np.ndarray:
    """The groups as rows of one array, filled up with -1, which is the place of a column of zeros."""
    width = max((len(group) for group in groups), default=0)
    out = np.full((len(groups), max(width, 1)), -1, dtype=np.int32)
    for i, group in enumerate(groups):
        out[i, : len(group)] = group
    return out


@lru_cache(maxsize=16384)
def _grams(word: str) -> frozenset[str]:
    padded = f" {word} "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


def written_alike(word: str, other: str) -> float:
    """The similarity of spelling of two words, 0 to 1: by shared trigrams, and for longer words by edit distance."""
    grams, others = _grams(word), _grams(other)
    shared = len(grams & others)
    dice = 2 * shared / (len(grams) + len(others)) if shared > 1 else 0.0
    if min(len(word), len(other)) < LONG:
        return dice
    return max(dice, (fuzz.ratio(word, other) / 100 - EDITED) / (1 - EDITED))
