"""Splits a text into words with their places; recognises the texts that are not split here."""

from __future__ import annotations

import re
from typing import NamedTuple

# Combining marks are parts of words in Hindi, Arabic or Thai, but no word characters for Python's ``\w``.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0981-\u0983\u09bc\u09be-\u09cd\u0a01-\u0a03"
    "\u0a3c-\u0a4d\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0d3e-\u0d4d\u0e31"
    "\u0e34-\u0e3a\u0e47-\u0e4e"
)
_LETTERS = rf"[^\W_](?:[^\W_]|[{_MARKS}])*"
_WORD = re.compile(rf"{_LETTERS}(?:[-’'.]{_LETTERS})*|[^\w\s]|_")

# The one table of scripts that are written without spaces, as ranges for a pattern's brackets.
THAI, LAO, BURMESE, KHMER = r"\u0e00-\u0e7f", r"\u0e80-\u0eff", r"\u1000-\u109f", r"\u1780-\u17ff"
KANA, HAN = r"\u3040-\u30ff", r"\u3400-\u9fff\uf900-\ufaff"
UNSPACED_SCRIPTS = THAI + LAO + BURMESE + KHMER + KANA + HAN
UNSPACED = re.compile(f"[{UNSPACED_SCRIPTS}]")


class Word(NamedTuple):
    """A word or a sign: as written, in lower case, and where it begins and ends."""

    text: str
    low: str
    start: int
    end: int

    @property
    def spoken(self) -> bool:
        """Whether it is a word and no sign."""
        return self.low[0].isalnum()

    @property
    def capital(self) -> bool:
        """Whether it is written as a name may be."""
        return self.text[0].isupper() and len(self.text) > 1


def words_of(text: str) -> list[Word]:
    """The words and signs of a text, in order."""
    return [Word(m.group(), m.group().lower(), m.start(), m.end()) for m in _WORD.finditer(text)]


def is_unspaced(text: str) -> bool:
    """Whether a text has a script that is written without spaces; ``unspaced.py`` guesses its pieces."""
    return UNSPACED.search(text) is not None


def between(text: str, words: list[Word], start: int, end: int) -> str:
    """The part of ``text`` from word ``start`` up to, but without, word ``end``."""
    return text[words[start].start : words[end - 1].end]
