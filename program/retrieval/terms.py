"""Splits text into the terms that an index compares."""

from __future__ import annotations

import re
import unicodedata

from ..text.words import UNSPACED, UNSPACED_SCRIPTS

# Vowel signs of Indic scripts and points of Hebrew and Arabic, which ``\w`` does not count as parts of words.
_SIGNS = r"\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_TOKEN = re.compile(rf"[{UNSPACED_SCRIPTS}]+|(?:[^\W_{UNSPACED_SCRIPTS}]|[{_SIGNS}])+")
_WORD = re.compile(r"[a-z0-9]+")
_ACCENT = re.compile("[\u0300-\u036f]")


def terms(text: str) -> list[str]:
    """Index terms of a text: words without case, accents and English plural; pairs of characters elsewhere.

    The plural rules are those of Harman's S-stemmer (JASIS 42, 1991): a stronger stemmer needs a
    language, and queries come in a dozen. Unspaced scripts give single characters and pairs.
    """
    if text.isascii():  # nearly always, and four times as fast
        return [singular(token) if token[-1] == "s" else token for token in _WORD.findall(text.lower())]
    found: list[str] = []
    for token in _TOKEN.findall(_plain(text)):
        found += _pairs(token) if UNSPACED.match(token) else [singular(token)]
    return found


def _plain(text: str) -> str:
    """Text without case and without the accents of alphabets; other scripts keep their marks."""
    unaccented = _ACCENT.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", unaccented)


def singular(word: str) -> str:
    """An English word without its plural ending; other words as they are."""
    if not word.endswith("s") or len(word) < 4 or word.endswith(("ss", "us")):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word[:-1]


def _pairs(run: str) -> list[str]:
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))] if len(run) > 1 else [run]
