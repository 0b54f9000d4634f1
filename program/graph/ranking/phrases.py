"""Matches a question against phrases for a schema's elements and for what every plan may do.

A match is a number from 0 to 1: the share of a phrase's words that are in the question, where informative words count
most ("gegen" is in phrases of many edges, "lindert" in those of one). Words are compared by how they begin and end, so
that inflected and compound forms are found; scripts without spaces are compared by pairs of characters. How much a
match is worth is learned from labels, over all phrases and languages at once: see the numbers of ``evidence`` and
``endings``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ....data.element_words import DONE, read_words_of_plans
from ....data.word_tables import BETWEEN
from ....signatures.graph_steps import GraphSchema
from ..question.words import folded_words, name_words, shared_start, spelled_out, stands_alone

BUCKET = 3
"""Letters that two words which are compared begin or end with."""
LONG, SHORT = 5, 4
"""The least length of a word that is looked for at the end of another; and that below which words must be equal."""
EDITED, SAME = 0.6, 0.9
"""The share of two words' letters that they begin with together counts from the first; from the second they are one."""
AWAY = DONE.index("difference")
INSIDE = 0.8
"""The similarity of a word to one that it ends with, as "Hauptsymptome" with "symptome"."""
PREFIX, PREFIXED = 3, 4
"""The most letters of a prefix that denies ("unpaid"), and the least of the word behind it."""
SIDES = ("out", "in")
Hit = tuple[tuple[int, ...], np.ndarray, np.ndarray]
Near = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Told:
    """The matches of a question with the phrases of a schema, 0 to 1.

    Attributes:
        ways: the best match with a phrase of each edge type's two sides, out and in, shape (edges, 2).
        edges, types, properties: how much each word contributes to the match with each of these, shape (words, edges),
            (words, types) and (words, properties).
    """

    ways: np.ndarray
    edges: np.ndarray
    types: np.ndarray
    properties: np.ndarray


class PhraseBook:
    """Phrases for some elements, ready to be compared with questions."""

    def __init__(self, lines: Iterable[tuple[int, str]], size: int, apart: bool = False) -> None:
        """Read phrases.

        Args:
            lines: an element's number, with phrases for it that are separated by "; ".
            size: the number of elements.
            apart: whether a phrase that contains another element's phrase needs its remaining words: "fewer than" in a
                question then is no match with "no fewer than".
        """
        told = sorted(((place, words) for place, line in lines for words in _phrases(line)), key=lambda one: one[0])
        counts = [len(words) for _, words in told]
        rarity = _rarity(told)
        weights = np.array([rarity[word] for _, words in told for word in words])
        elements = np.array([place for place, _ in told], dtype=np.int64)
        self._size = size
        self._starts = np.cumsum([0, *counts[:-1]]) if counts else np.zeros(0, dtype=np.int64)
        self._phrase_of = np.repeat(np.arange(len(told)), counts)
        whole = np.maximum(np.add.reduceat(weights, self._starts), 1.0) if counts else weights
        self._weights = weights / whole[self._phrase_of]
        shares = _shares(told) if apart else [[0.0] * count for count in counts]
        self._rest = np.array([share for phrase in shares for share in phrase])
        self._plain = np.array([float(not any(phrase)) for phrase in shares])
        self._element_of = elements[self._phrase_of]
        self._found, self._firsts = np.unique(elements, return_index=True)
        self._slots: dict[str, list[int]] = defaultdict(list)
        for slot, word in enumerate(word for _, words in told for word in words):
            self._slots[word].append(slot)
        self._begins, self._ends = _buckets(self._slots, slice(0, BUCKET)), _buckets(self._slots, slice(-BUCKET, None))
        self._of_word = lru_cache(maxsize=8192)(self._compare)

    def look(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The match of each element's best phrase, shape (size,), and each word's part in it, shape (words, size).

        Args:
            words: the folded words of a question; characters of scripts without spaces are words by themselves.
        """
        said, by_word = np.zeros(self._size), np.zeros((len(words), self._size))
        hits = list(self._hits(words))
        if not hits:
            return said, by_word
        every = np.concatenate([slots for _, slots, _ in hits])
        slots, back = np.unique(every, return_inverse=True)
        best = np.zeros(len(slots))
        np.maximum.at(best, back, np.concatenate([near for *_, near in hits]))
        # Few of the thousands of words in phrases are like one in a question, so only these are summed.
        phrase_of, count = self._phrase_of[slots], len(self._starts)
        rest = self._plain + np.bincount(phrase_of, best * self._rest[slots], count)
        phrases = np.bincount(phrase_of, best * self._weights[slots], count) * rest
        said[self._found] = np.maximum.reduceat(phrases, self._firsts)
        for places, slots, near in hits:
            part = near * phrases[self._phrase_of[slots]]
            for place in places:
                np.maximum.at(by_word[place], self._element_of[slots], part)
        return said, by_word

    def has(self, word: str) -> bool:
        """Whether a folded word is in some phrase."""
        return word in self._slots

    def _hits(self, words: Sequence[str]) -> Iterator[Hit]:
        """For each word or pair of characters: its places, the words of phrases similar to it, and the similarities."""
        alone = [stands_alone(word) for word in words]
        for i, word in enumerate(words):
            pairs = [((i,), word)]
            if i + 1 < len(words) and alone[i] and alone[i + 1]:
                pairs.append(((i, i + 1), word + words[i + 1]))  # type: ignore[arg-type]
            for places, text in pairs:
                slots, near = self._of_word(text)
                if len(slots):
                    yield places, slots, near

    def _compare(self, word: str) -> Near:
        """The words of phrases that a word is similar to, as places in the list of all, and the similarities."""
        pairs = [(slot, near) for other, near in dict(self._near(word)).items() for slot in self._slots[other]]
        return np.array([slot for slot, _ in pairs], dtype=np.int64), np.array([near for _, near in pairs])

    def _near(self, word: str) -> Iterator[tuple[str, float]]:
        if len(word) >= SHORT:
            for other in self._ends.get(word[-BUCKET:], ()):
                if LONG <= len(other) < len(word) and word.endswith(other):
                    yield other, INSIDE
            for other in self._begins.get(word[:BUCKET], ()):
                if (near := _begin_alike(word, other)) > 0:
                    yield other, near
        if word in self._slots:
            yield word, 1.0


class Phrases:
    """The phrases of one schema, which must have words."""

    def __init__(self, schema: GraphSchema) -> None:
        """Read the schema's words."""
        properties = dict.fromkeys(name for kind in (*schema.nodes, *schema.edges) for name in kind.properties)
        self._edges, self._types = len(schema.edges), len(schema.nodes)
        names = [edge.name for edge in schema.edges], [node.name for node in schema.nodes], list(properties)
        self._book = PhraseBook(_lines(schema, *names), 2 * self._edges + self._types + len(properties))

    def look(self, words: Sequence[str]) -> Told:
        """Compare the words of a question."""
        said, by_word = self._book.look(words)
        edges, types = 2 * self._edges, 2 * self._edges + self._types
        ways = by_word[:, :edges].reshape(len(words), self._edges, 2).max(axis=2)
        return Told(said[:edges].reshape(self._edges, 2), ways, by_word[:, edges:types], by_word[:, types:])


def _lines(
    schema: GraphSchema, edges: Sequence[str], types: Sequence[str], properties: Sequence[str]
) -> Iterator[tuple[int, str]]:
    """Each line of a schema's words with its element's number: first edges (out, in), then types, then properties."""
    for line in schema.words:
        if line.side:
            yield 2 * edges.index(line.element) + SIDES.index(line.side), line.words
        elif line.element in types:
            yield 2 * len(edges) + types.index(line.element), line.words
        elif "." in line.element and "=" not in line.element:  # values are matched elsewhere
            yield 2 * len(edges) + len(types) + properties.index(line.element.rpartition(".")[2]), line.words


@lru_cache(maxsize=1)
def phrases_of_plans() -> PhraseBook:
    """The phrases for what every plan may do, in the order of ``DONE``."""
    lines = ((DONE.index(name), words) for name, words in read_words_of_plans().items())
    return PhraseBook(lines, len(DONE), apart=True)


def denied(name: str, words: Sequence[str], away: float) -> float:
    """How well a question denies a true-or-false property, 0 to 1.

    The words of the property's own name deny nothing ("step-free"), but with a short prefix they do ("unpaid").

    Args:
        name: the property.
        words: the folded words of the question.
        away: their match with the phrases for taking something away.
    """
    own = {folded for word in name_words(name) for folded in folded_words(word)}
    ends = tuple(word for word in own if len(word) >= PREFIXED)
    if any(word.endswith(end) and 0 < len(word) - len(end) <= PREFIX for word in words for end in ends):
        return 1.0
    rest = [word for word in words if word not in own]
    return away if len(rest) == len(words) else float(phrases_of_plans().look(spelled_out(rest))[0][AWAY])


def _phrases(line: str) -> Iterator[tuple[str, ...]]:
    for phrase in dict.fromkeys(line.split(BETWEEN)):
        if words := tuple(_pieces(phrase)):
            yield words


def _pieces(phrase: str) -> Iterator[str]:
    """The words of a phrase; for scripts without spaces, each pair of characters that follow each other."""
    words = folded_words(phrase)
    alone = [stands_alone(word) for word in (*words, "")]
    for i, word in enumerate(words):
        if alone[i] and alone[i + 1]:
            yield word + words[i + 1]
        elif not alone[i] or i == 0 or not alone[i - 1]:
            yield word


def _shares(told: Sequence[tuple[int, tuple[str, ...]]]) -> list[list[float]]:
    """For each phrase, the shares of its words that are outside another element's phrase; all 0 if it contains none."""
    elements: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for element, words in told:
        elements[words].add(element)
    return [_beyond(words, lambda run, own=element: bool(elements.get(run, {own}) - {own})) for element, words in told]


def _beyond(words: tuple[str, ...], is_other: Callable[[tuple[str, ...]], bool]) -> list[float]:
    """Equal shares for the words outside the longest run that is another element's phrase, and 0 inside; else all 0."""
    count = len(words)
    runs = ((first, first + n) for n in range(count - 1, 0, -1) for first in range(count - n, -1, -1))
    found = next((run for run in runs if is_other(words[slice(*run)])), None)
    if found is None:
        return [0.0] * count
    share = 1 / (count - found[1] + found[0])
    return [0.0 if found[0] <= place < found[1] else share for place in range(count)]


def _rarity(told: Iterable[tuple[int, Sequence[str]]]) -> dict[str, float]:
    """How informative each word is, from 1 if it is in phrases of one element to 0 if it is in those of all."""
    elements: dict[str, set[int]] = defaultdict(set)
    for element, words in told:
        for word in words:
            elements[word].add(element)
    most = max(2, len({element for found in elements.values() for element in found}))
    return {word: 1 - math.log(len(found)) / math.log(most) for word, found in elements.items()}


def _buckets(words: Iterable[str], cut: slice) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for word in words:
        if len(word) >= SHORT:
            found[word[cut]].append(word)
    return dict(found)


def _begin_alike(word: str, other: str) -> float:
    """The similarity of two words by their common beginning, at most 1; 0 or less for none."""
    same = shared_start(word, other)
    share = 2 * same / (len(word) + len(other))
    return min(1.0, (share - EDITED) / (SAME - EDITED))
