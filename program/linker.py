"""Names of the card found in a text: exact spelling first, then aliases; no guessing.

Matching is on whole words and ignores case, so that "class" is found in no other word. The longest
name wins where several overlap. A text is read word by word, and only names that begin with a word of it are
compared: with a card's seventy names that is five times as fast as one pattern of them all. In scripts that
write no spaces a name inside a sentence is not seen here; a graph's own index reads them sign by sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ..data.card import KnownName

WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Link:
    """A name found in a text: as written there, and the card's name for it."""

    surface: str
    name: KnownName
    start: int


class Linker:
    """Finds a card's names in texts.

    Attributes:
        names: those of the card.
    """

    def __init__(self, names: Iterable[KnownName]) -> None:
        self.names = tuple(names)
        self._by_spelling, self._starting = _tables(self.names)
        odd = "".join(sorted(start for start in self._starting if not WORD.fullmatch(start)))
        self._starts = re.compile(rf"\w+|[{re.escape(odd)}]") if odd else WORD
        # The same few texts are asked about several times in one plan.
        self._links = lru_cache(maxsize=128)(self._find)

    def links(self, text: str) -> tuple[Link, ...]:
        """Every name in ``text``, in order, each name once."""
        return self._links(text)

    def forget(self) -> None:
        """Drop what is kept of earlier texts; for measuring."""
        self._links.cache_clear()

    def _find(self, text: str) -> tuple[Link, ...]:
        found: dict[str, Link] = {}
        end = 0
        for start, lengths in self._places(text):
            if start < end or (start and _is_word(text[start - 1])):
                continue
            for length in lengths:
                surface = text[start : start + length]
                name = self._by_spelling.get(surface.casefold())
                after = text[start + length : start + length + 1]
                if name is not None and not _is_word(after):
                    found.setdefault(name.name, Link(surface, name, start))
                    end = start + length
                    break
        return tuple(found.values())

    def _places(self, text: str) -> list[tuple[int, tuple[int, ...]]]:
        """Where a word stands that names begin with, and how long these names are."""
        starting, words = self._starting, self._starts.finditer
        if text.isascii():
            return [(m.start(), starting[word]) for m in words(text.lower()) if (word := m[0]) in starting]
        return [(m.start(), starting[word]) for m in words(text) if (word := m[0].casefold()) in starting]

    def surfaces(self, text: str) -> tuple[str, ...]:
        """The names in ``text`` as written there."""
        return tuple(link.surface for link in self.links(text))


@lru_cache(maxsize=8)
def _tables(names: tuple[KnownName, ...]) -> tuple[dict[str, KnownName], dict[str, tuple[int, ...]]]:
    """Names by their spellings, and lengths by first words; a planner makes several linkers of one card."""
    found: dict[str, KnownName] = {}
    for name in names:
        for spelling in name.spellings:
            found.setdefault(spelling.casefold(), name)
    return found, _by_start(found)


def _by_start(spellings: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Lengths of the spellings that begin with a word, or with a sign; the longest first."""
    lengths: dict[str, set[int]] = {}
    for spelling in spellings:
        first = WORD.match(spelling)
        lengths.setdefault(first.group() if first else spelling[:1], set()).add(len(spelling))
    return {start: tuple(sorted(found, reverse=True)) for start, found in lengths.items()}


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()
