"""Exceptions of one language, mostly English: words and figures that other languages read as dates."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest

from ...text.languages import detect_language
from .tokens import Token, tokens_of
from .words import date_words

LONGEST_SHORT = 3
_BEHIND = frozenset("last this next past the these yesterday today tomorrow".split())
_OTHER_WORDS = {"de": ("hier", "eilen"), "nl": ("hier",)}
"""Words of a language that are days in another one: *hier* is here, and no French yesterday."""
_ONE = frozenset("day week month quarter year sprint hour weekend".split())
"""Units in the singular: a figure before one of these does not count it."""


def counts_something_else(count: int, unit: Token) -> bool:
    """Whether a figure does not count the unit that stands behind it: *error 500 last week*."""
    return count != 1 and unit.text.casefold() in _ONE


def as_spoken(text: str) -> tuple[Token, ...]:
    """The tokens of a text; if it is English, its short words lose the meanings that they have in other languages.

    "What did we *do* last week" says no Thursday and no end, as *do* does in Dutch, Portuguese and Polish. German and
    Dutch *hier* is no French yesterday.
    """
    tokens = tokens_of(text)
    language = detect_language(text)
    english = language == "en"
    if others := _OTHER_WORDS.get(language):
        tokens = tuple(replace(t, words=frozenset()) if t.text.casefold() in others else t for t in tokens)
    return tuple(
        token if token.text.casefold() not in _short() or not (english or _is_english(behind)) else _plain(token)
        for token, behind in zip_longest(tokens, tokens[1:])
        if token is not None
    )


def _is_english(token: Token | None) -> bool:
    return token is not None and token.text.casefold().removesuffix("'s") in _BEHIND


def _plain(token: Token) -> Token:
    """A token without its meanings as a weekday; *do* without any meaning."""
    if token.text.casefold() == "do":
        return replace(token, words=frozenset())
    return replace(token, words=frozenset(word for word in token.words if word.kind != "weekday_said"))


@lru_cache(maxsize=1)
def _short() -> frozenset[str]:
    """Short names of weekdays in other languages; *do* among them also bounds time."""
    found = (surface for surface, words in date_words().items() if any(word.kind == "weekday_said" for word in words))
    return frozenset({"do", *(surface for surface in found if len(surface) <= LONGEST_SHORT)})
