"""Words of other languages that point as English words do: *sie* as *they*, 她 as *she*.

Nine in ten labelled follow-ups are English. What is learned of an English pronoun is known of its like elsewhere, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ...data.function_words import languages_with_function_words, read_function_words
from ..text.function_words import ENGLISH
from ..text.languages import SEARCHED, language_of
from ..text.unspaced import pieces_of, small_words
from ..text.words import Word, is_unspaced

POINTING = frozenset("he him his she her hers it its they them their this that these those there here both".split())
"""English words that point to what was said, which other languages have a word for."""
OWNING = frozenset("his hers its their".split())
"""They need another order of words in most languages ("su libro", "el libro de Priya"), so they are left."""


def as_in_english(words: Sequence[Word], text: str) -> list[str]:
    """Each word in small letters; those that point, in English."""
    language = language_of(text.lower())
    if language == ENGLISH or language not in languages():
        return [word.low for word in words]
    known = _in_english(language)
    return [known.get(word.low, word.low) for word in words]


def joining_word(text: str) -> str:
    """What a text's language puts between two names, with the spaces around it: " and ", " und ", 和."""
    language = language_of(text.lower())
    word = _and_in(language) if language in languages() else "and"
    return word if is_unspaced(word) else f" {word} "


@cache
def _and_in(language: str) -> str:
    return next((typed[0] for english, typed in read_function_words(language) if english == "and" and typed), "and")


@cache
def languages() -> frozenset[str]:
    """The languages with a file of function words."""
    return frozenset(languages_with_function_words())


@cache
def _in_english(language: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for english, typed in read_function_words(language):
        for text in typed if english in POINTING else ():
            words = pieces_of(text)
            # 彼は (he, with a particle) is two pieces, of which the first one points.
            alone = len(words) == 1 or (language == "ja" and all(word.low in small_words() for word in words))
            if alone and (language in SEARCHED or english not in OWNING):
                found.setdefault(words[0].low, english)
    return found
