"""The words of a text with their places, and the texts that are not cut into words here."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = re.compile(r"[^\W_]+(?:[-’'.][^\W_]+)*|[^\w\s]|_")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class Word(NamedTuple):
    """A word or a sign: as written, in small letters, and where it begins and ends."""

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
    """Whether a text has a script that is written without spaces, in which an edit of words means nothing."""
    return _UNSPACED.search(text) is not None


def between(text: str, words: list[Word], start: int, end: int) -> str:
    """What stands in ``text`` from word ``start`` to before word ``end``."""
    return text[words[start].start : words[end - 1].end]
