"""Guesses a question's possible languages from its small words: "no" is "not" in Spanish, "in the" in Portuguese."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ....data.element_words import read_phrases_of_plans
from ....data.grammar_words import read_grammar
from .words import folded_words, spelled_out

NOUNS = frozenset({"de"})
"""Languages that capitalize every noun, so that a capital does not tell a name."""
SHARE = 0.5
"""The share of the likeliest language's votes that another language needs to be kept."""


def spoken_in(words: Iterable[str]) -> frozenset[str]:
    """The possible languages of folded words, by the small words among them; empty if there are none.

    Small words are those in the tables of the grammar and of phrases of plans. Each has one vote, which its languages
    share.
    """
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
    """The phrases of a line of the grammar as folded words, in these languages; in all if none is given.

    Endings of words ("*mayan") are left out; ``ends_in`` has them.
    """
    return frozenset(
        tuple(spelled_out(folded_words(phrase.text)))
        for phrase in read_grammar()
        if phrase.line == line and not phrase.text.startswith("*") and (not languages or phrase.language in languages)
    )


@lru_cache(maxsize=256)
def ends_in(line: str, languages: frozenset[str]) -> tuple[str, ...]:
    """The folded endings of words of a line of the grammar ("*mayan"), in these languages; in all if none is given."""
    return tuple(
        "".join(folded_words(phrase.text[1:]))
        for phrase in read_grammar()
        if phrase.line == line and phrase.text.startswith("*") and (not languages or phrase.language in languages)
    )


@lru_cache(maxsize=1)
def _languages() -> dict[str, tuple[str, ...]]:
    """The languages that have each small word."""
    found: dict[str, set[str]] = {}
    phrases = [(phrase.text, phrase.language) for phrase in read_grammar()]
    for text, language in (*phrases, *read_phrases_of_plans()):
        for word in folded_words(text):
            found.setdefault(word, set()).add(language)
    return {word: tuple(sorted(languages)) for word, languages in found.items()}
