"""Extracts what a query is about: its key terms, and the query without words that say nothing.

There is one such extraction, and every stage that proposes candidates uses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ....data.paradigms import CandidateRules
from ...text.function_words import CJK_FUNCTION_WORDS, function_words
from ...text.words import UNSPACED, UNSPACED_SCRIPTS

MAX_TERMS = 10

_SPACED = rf"[^\W{UNSPACED_SCRIPTS}]+"
_PIECE = re.compile(rf"[{UNSPACED_SCRIPTS}]+|{_SPACED}(?:[-'’.]{_SPACED})*|[#!]\d+")
_APOSTROPHE = re.compile(r"['’](?:s|re|ve|ll|d|m|t)?$|^[a-zA-Z]{1,2}['’]")
_CUTS = {
    language: re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)))
    for language, words in CJK_FUNCTION_WORDS.items()
}


def key_terms(text: str, names: Sequence[str] = (), language: str = "en") -> tuple[str, ...]:
    """Names and content words of a text, in its order, each once, at most ten.

    Args:
        text: a query.
        names: surfaces that are kept whole, whatever words they are made of.
        language: the language whose function words are left out; if unknown, those of English.
    """
    idle = function_words(language)
    found: dict[str, str] = {}
    for piece, is_name in _pieces(text, names):
        for word in (piece,) if is_name else _words(piece, language):
            folded = word.casefold()
            if is_name or (folded not in idle and not (len(word) == 1 and word.isascii() and word.isalpha())):
                found.setdefault(folded, word)
                if len(found) == MAX_TERMS:
                    return tuple(found.values())
    return tuple(found.values())


class Cleaner:
    """Removes what the card lists as noise from queries, and makes its replacements; names stay as they are."""

    def __init__(self, rules: CandidateRules) -> None:
        self._noise = _whole_words(rules.noise)
        self._replaced = _whole_words(rules.replacements)
        self._replacements = {old.casefold(): new for old, new in rules.replacements.items()}

    def clean(self, text: str, names: Sequence[str] = ()) -> str:
        """The text without noise, or the text itself if nothing would be left."""
        if self._noise is None and self._replaced is None:
            return text
        kept = "".join(piece if is_name else self._change(piece) for piece, is_name in _pieces(text, names))
        tidy = re.sub(r"\s+([,.;:?!])", r"\1", " ".join(kept.split())).strip(" ,;:")
        return tidy if re.search(r"\w", tidy) else text

    def _change(self, piece: str) -> str:
        if self._noise is not None:
            piece = self._noise.sub(" ", piece)
        if self._replaced is not None:
            piece = self._replaced.sub(lambda found: self._replacements[found.group().casefold()], piece)
        return piece


def _whole_words(phrases: Iterable[str]) -> re.Pattern[str] | None:
    known = sorted(phrases, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, known))})(?!\w)", re.IGNORECASE) if known else None


def _pieces(text: str, names: Sequence[str]) -> list[tuple[str, bool]]:
    """The text cut into names and what stands between them, in order."""
    if not names:
        return [(text, False)]
    parts = _names_pattern(tuple(names)).split(text)
    return [(part, bool(i % 2)) for i, part in enumerate(parts) if part]


@lru_cache(maxsize=256)
def _names_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"({'|'.join(map(re.escape, sorted(filter(None, names), key=len, reverse=True)))})")


def _words(piece: str, language: str) -> Iterable[str]:
    spaced = piece.isascii()
    for word in _PIECE.findall(piece):
        if not spaced and UNSPACED.match(word):
            cut = _CUTS["ja" if language == "ja" else "zh"]
            yield from filter(None, cut.split(word))
        else:
            bare = word if word.isalnum() else _APOSTROPHE.sub("", word)
            if bare:
                yield bare
