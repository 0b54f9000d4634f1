"""Guesses a question's possible languages from its small words: "no" is "not" in Spanish, "in the" in Portuguese."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ....data.element_words import read_phrases_of_plans
from ....data.grammar_words import read_grammar
from .words import folded_words, spelled_out

NOUNS = frozenset({"de"})
"""Languages that write every noun with a capital, which then says nothing of names."""
SHARE = 0.5
"""Of what the small words say for the likeliest language, another must have so much to be looked at."""


def spoken_in(words: Iterable[str]) -> frozenset[str]:
    """The languages that folded words may be of, by those that both tables of small words have; empty if none are."""
    known, votes = _languages(), dict[str, float]()
    for word in set(words):
        languages = known.get(word, ())
        for language in languages:
            votes[language] = votes.get(language, 0.0) + 1 / len(languages)
    most = max(votes.values(), default=0.0)
    return frozenset(language for language, vote in votes.items() if vote >= SHARE * most)


def is_small(word: str) -> bool:
    """Whether a folded word is one of the small words of any language."""
    return word in _languages()


@lru_cache(maxsize=256)
def phrases_in(line: str, languages: frozenset[str]) -> frozenset[tuple[str, ...]]:
    """The phrases of a line of the grammar, folded, but for ends of words, in some languages; in all if none is."""
    return frozenset(
        tuple(spelled_out(folded_words(phrase.text)))
        for phrase in read_grammar()
        if phrase.line == line and not phrase.text.startswith("*") and (not languages or phrase.language in languages)
    )


@lru_cache(maxsize=256)
def ends_in(line: str, languages: frozenset[str]) -> tuple[str, ...]:
    """The folded ends of words of a line of the grammar ("*mayan"), in some languages; in all if none are given."""
    return tuple(
        "".join(folded_words(phrase.text[1:]))
        for phrase in read_grammar()
        if phrase.line == line and phrase.text.startswith("*") and (not languages or phrase.language in languages)
    )


@lru_cache(maxsize=1)
def _languages() -> dict[str, tuple[str, ...]]:
    """The languages of each small word."""
    found: dict[str, set[str]] = {}
    phrases = [(phrase.text, phrase.language) for phrase in read_grammar()]
    for text, language in (*phrases, *read_phrases_of_plans()):
        for word in folded_words(text):
            found.setdefault(word, set()).add(language)
    return {word: tuple(sorted(languages)) for word, languages in found.items()}
