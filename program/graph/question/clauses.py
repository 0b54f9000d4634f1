"""A question word by word, with what the readers of its names need: what is spoken, where its clauses stop.

``denied.py`` (names that are negated) and ``only.py`` (names that are the only ones) read so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..names.linking import Mention
from .spoken import phrases_in, spoken_in
from .words import Word, spelled_out, stands_alone, words_of

LONGEST = 6
"""The most words of a phrase that is looked for."""
SENTENCE = 3
"""The fewest words of a further sentence."""
SENTENCE_END = re.compile(r"[.!?。！？]")
ARTICLE = 3
"""The most letters of a word before a name that is taken for an article."""
STOPS = re.compile(r"[,;:.?!()、，；：。？！（）]")
"""Punctuation that ends a clause."""
ARTICLES = frozenset("any many die en of".split())
"""Words that begin a clause in one language but are articles and the like in another: "do not use any garlic"."""
Told = Callable[[str], bool]


@dataclass(frozen=True)
class Words:
    """Tests for the words beside a question's names, each a function of the folded word.

    Attributes:
        values: whether it is a word of a true-or-false property's name, or of a value.
        kinds: whether it is a word for a type of nodes.
    """

    values: Told
    kinds: Told


class ClauseReading:
    """A question with names, read word by word; readers of one kind of form build on it."""

    def __init__(self, question: str, mentions: Sequence[Mention], told: Words) -> None:
        self._question, self._mentions, self._told = question, mentions, told
        self._words: Sequence[Word] = words_of(question)
        self._folded = spelled_out([word.text for word in self._words])
        self._named = {place: i for i, one in enumerate(mentions) for place in range(one.first, one.last)}
        self._spoken = spoken_in(word for place, word in enumerate(self._folded) if place not in self._named)
        self._clauses = clause_words(self._spoken)

    def _line(self, name: str) -> frozenset[tuple[str, ...]]:
        """The phrases of a line of the grammar, in the languages that the question may be of."""
        return phrases_in(name, self._spoken)

    def _is_apart(self, one: int, other: int) -> bool:
        """Whether punctuation that ends a clause stands between two words that follow each other."""
        if not 0 <= one < other < len(self._words):
            return False
        return bool(STOPS.search(self._question[self._words[one].end : self._words[other].start]))


def begins_at(words: Sequence[str], place: int, phrases: frozenset[tuple[str, ...]]) -> int:
    """How many words from a place on are one of the phrases; 0 if none are."""
    most = min(LONGEST, len(words) - place)
    return next((n for n in range(most, 0, -1) if tuple(words[place : place + n]) in phrases), 0)


def ends_at(words: Sequence[str], place: int, phrases: frozenset[tuple[str, ...]]) -> int:
    """How many words before a place are one of the phrases; 0 if none are."""
    return next((n for n in range(min(LONGEST, place), 0, -1) if tuple(words[place - n : place]) in phrases), 0)


@lru_cache(maxsize=64)
def clause_words(languages: frozenset[str]) -> frozenset[str]:
    """Words that begin another clause, or another part of one; a letter alone is more often an article."""
    lines = ("which", "who", "relates", "joins", "clause")
    words = {words[0] for line in lines for words in phrases_in(line, languages) if len(words) == 1}
    return frozenset(word for word in words if len(word) > 1 or stands_alone(word)) - ARTICLES
