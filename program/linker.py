"""Names of the card found in a text: exact spelling first, then aliases; no guessing.

Matching is on whole words, so that "class" is found in no other word, and ignores case and how a keyboard spells
quotes and hyphens. The longest name wins where several overlap. A text is read word by word, and only names that begin
with a word of it are compared: with a card's seventy names that is five times as fast as one pattern of them all. In
scripts that write no spaces a name inside a sentence is not seen here; a graph's own index reads them sign by sign.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ..data.card import KnownName
from .spelling import folded

WORD = re.compile(r"\w+")
NEXT = 2
"""So many signs after a word rule nearly all names out that begin with one as common as "the"."""
Lengths = dict[str, tuple[int, ...]]
"""Of the names that begin with a word, by the signs after it, the longest first; ``""``: whatever signs come."""


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
        read, end = folded(text), 0
        for start, word in self._places(read):
            if start < end or (start and _is_word(read[start - 1])):
                continue
            lengths = self._starting[word]
            following = start + len(word)
            for length in lengths.get(read[following : following + NEXT]) or lengths[""]:
                name = self._by_spelling.get(read[start : start + length])
                after = read[start + length : start + length + 1]
                if name is not None and not _is_word(after):
                    found.setdefault(name.name, Link(text[start : start + length], name, start))
                    end = start + length
                    break
        return tuple(found.values())

    def _places(self, read: str) -> list[tuple[int, str]]:
        """Where a word stands that names begin with."""
        starting = self._starting
        return [(m.start(), word) for m in self._starts.finditer(read) if (word := m[0]) in starting]

    def surfaces(self, text: str) -> tuple[str, ...]:
        """The names in ``text`` as written there."""
        return tuple(link.surface for link in self.links(text))


@lru_cache(maxsize=8)
def _tables(names: tuple[KnownName, ...]) -> tuple[dict[str, KnownName], dict[str, Lengths]]:
    """Names by their spellings, and lengths by first words; a planner makes several linkers of one card."""
    found: dict[str, KnownName] = {}
    for name in names:
        for spelling in name.spellings:
            found.setdefault(folded(unicodedata.normalize("NFC", spelling)), name)
    return found, _by_start(found)


def _by_start(spellings: Iterable[str]) -> dict[str, Lengths]:
    """Lengths of the spellings that begin with a word, or with a sign."""
    beginning: dict[str, list[str]] = {}
    for spelling in spellings:
        first = WORD.match(spelling)
        beginning.setdefault(first.group() if first else spelling[:1], []).append(spelling)
    return {start: _by_next(len(start), found) for start, found in beginning.items()}


def _by_next(first: int, spellings: Iterable[str]) -> Lengths:
    """Lengths of spellings by the signs after their first word; those that end before are among all of them."""
    by_next: dict[str, set[int]] = {"": set()}
    for spelling in spellings:
        after = spelling[first : first + NEXT]
        by_next.setdefault(after if len(after) == NEXT else "", set()).add(len(spelling))
    return {after: tuple(sorted(found | by_next[""], reverse=True)) for after, found in by_next.items()}


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()
