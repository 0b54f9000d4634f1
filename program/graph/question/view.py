"""A question as the ranking sees it, under one choice of which of its words name nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ...heads.ngrams import hashed
from ..names.linking import Mention, Reading
from ..names.roles import context_of
from ..ranking.phrases import Told
from ..ranking.schema_words import Nearness, SchemaWords
from .words import words_of

MASK = "_e_"
CHARACTERS = 4
PLACES = (1, 2, 4, 7)
NONE = np.zeros(0, dtype=np.uint32)


@dataclass(frozen=True)
class Hypothesis:
    """One choice of a question's names and of what each means.

    ``readings`` has one for each mention; ``log_prior`` is its log-probability, unnormalised, before paths are ranked.
    """

    mentions: tuple[Mention, ...]
    readings: tuple[Reading, ...]
    log_prior: float = 0.0


@dataclass(frozen=True)
class View:
    """A question under a hypothesis.

    Attributes:
        words: the n words that name nothing, folded.
        place: the place of each of these in the sentence, where a name counts as one word, shape (n,).
        weight: the weight of each, 0 for a common word to 1, shape (n,).
        names: the place of each mention in the sentence.
        near: the similarity of each word to each type and edge of the schema.
        grams: hashes of the n-grams of the sentence with its names masked.
        contexts: for each mention, hashes of what stands around it.
        zones: hashes of what stands before, between and behind the mentions, where there are several.
        vector: the mean vector of the words by weight, of length one or zero.
        sound: the same with all words weighing alike: "how many" says nothing of edges, but all of how a plan ends.
        meaning: the similarity of ``vector`` to each edge type.
        done: the match, 0 to 1, with a phrase for each of ``element_words.DONE``.
        distances: the number of words from each word to each mention, shape (n, mentions).
    """

    words: tuple[str, ...]
    place: np.ndarray
    weight: np.ndarray
    names: tuple[int, ...]
    near: Nearness
    grams: np.ndarray
    contexts: tuple[np.ndarray, ...]
    zones: np.ndarray
    vector: np.ndarray
    sound: np.ndarray
    meaning: np.ndarray
    done: np.ndarray
    distances: np.ndarray = field(repr=False)


VIEWS = (View, Nearness, Told)
"""The dataclasses that a view consists of."""


def view_of(question: str, hypothesis: Hypothesis, schema: SchemaWords, weights: Mapping[str, float]) -> View:
    """The view of a question under a hypothesis; ``weights`` has the weight of each folded word, by default 1."""
    masked, names = _masked(question, hypothesis)
    plain = [(word, place) for place, word in enumerate(masked) if place not in names]
    words = tuple(word for word, _ in plain)
    places = np.array([place for _, place in plain], dtype=np.int32)
    says = np.array([weights.get(word, 1.0) for word in words])
    vector = schema.vector(words, says)
    return View(
        words=words,
        place=places,
        weight=says,
        names=names,
        near=schema.nearness(words),
        grams=_hashed(grams_of(masked, names, [r.type for r in hypothesis.readings])),
        contexts=tuple(_hashed(context_of(masked, place, names)) for place in names) if len(names) > 1 else (),
        zones=_hashed(_zones_of(masked, names)) if len(names) > 1 else NONE,
        vector=vector,
        sound=schema.vector(words, np.ones(len(words))),
        meaning=schema.meaning(vector),
        done=schema.done(words),
        distances=np.abs(places[:, None] - np.array(names or (0,))[None]),
    )


def _masked(question: str, hypothesis: Hypothesis) -> tuple[list[str], tuple[int, ...]]:
    """The folded words with each mention as one masked word, and the places of these in the order of the mentions."""
    mentions = hypothesis.mentions
    rests = {mention.last - 1: mention.rest for mention in mentions if mention.rest}
    starting = {mention.first: i for i, mention in enumerate(mentions)}
    covered = {place for m in mentions for place in range(m.first, m.last)}
    masked: list[str] = []
    places: dict[int, int] = {}
    for place, word in enumerate(words_of(question)):
        if place in starting:
            places[starting[place]] = len(masked)
            masked.append(MASK)
        elif place not in covered:
            masked.append(word.text)
        if place in rests:
            masked.append(rests[place])
    return masked, tuple(places[i] for i in range(len(mentions)))


def grams_of(masked: Sequence[str], names: Sequence[int], types: Sequence[str]) -> set[str]:
    """The n-grams that the ranking learns from, as texts.

    They are words, pairs, triples, skipped pairs, words by their distance to a name and beside its type, and the
    character sequences of words.
    """
    padded = ["^", *masked, "$"]
    # The empty gram is in every question: its weight says how likely an element is whatever is asked.
    found = {""} | {" ".join(padded[i : i + n]) for n in (1, 2, 3) for i in range(len(padded) - n + 1)}
    found |= {f"{a} .. {b}" for a, b in zip(padded, padded[2:], strict=False)}
    for place, word in enumerate(masked):
        if place not in names:
            found |= {f"{word}@{_bucket(place - name)}" for name in names}
            found |= set(_pieces(word))
    kinds = dict(zip(names, types, strict=True))
    for name, kind in kinds.items():
        around = [masked[i] for i in (name - 1, name + 1) if 0 <= i < len(masked)]
        found |= {f"{word} ~{kind}" for word in (*around, "")}
    return found


def _zones_of(masked: Sequence[str], names: Sequence[int]) -> set[str]:
    """The words and pairs before the first name, between the names, and behind the last."""
    first, last = min(names), max(names)
    zones = ["before" if i < first else "between" if i < last else "behind" for i in range(len(masked))]
    found = {f"{zone}:{word}" for i, (zone, word) in enumerate(zip(zones, masked, strict=True)) if i not in names}
    pairs = zip(zones, masked, masked[1:], strict=False)
    return found | {f"{zone}:{a} {b}" for i, (zone, a, b) in enumerate(pairs) if i not in names}


def _bucket(offset: int) -> str:
    """The side of the name on which a word stands, and about how far from it, as a text."""
    far = sum(abs(offset) >= place for place in PLACES)
    return f"{'-' if offset < 0 else '+'}{far}"


@lru_cache(maxsize=8192)
def _pieces(word: str) -> tuple[str, ...]:
    padded = f" {word} "
    return tuple(f"#{padded[i : i + CHARACTERS]}" for i in range(max(1, len(padded) - CHARACTERS + 1)))


@lru_cache(maxsize=65536)
def gram_hash(gram: str) -> int:
    """A gram as 32 bits, the same in every process, as a program stores it."""
    return hashed(gram)


def gram_columns(grams: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The columns of those n-grams that are in ``known``, shape (found,), int64; both are hashes, ``known`` sorted."""
    if not len(known):
        return np.zeros(0, dtype=np.int64)
    places = np.minimum(np.searchsorted(known, grams), len(known) - 1)
    return places[known[places] == grams]


def _hashed(grams: set[str]) -> np.ndarray:
    return np.fromiter(sorted(map(gram_hash, grams)), dtype=np.uint32, count=len(grams))
