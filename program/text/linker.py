"""Finds names of the card in a text: by exact spelling first, then by aliases; nothing is guessed.

Only whole words match, so that "class" is found inside no other word. Case and the different characters for quotes and
hyphens are ignored. Where several names overlap, the longest wins. A text is read word by word, and only names whose
rarest word it has are compared, since in an index by first words many would begin with "the". In scripts without spaces
a name inside a sentence is not found here; a graph's own index reads them character by character.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...data.card import KnownName
from .spelling import folded

WORD = re.compile(r"\w+")
ENDS = " ?!.,;…？！。，；"
"""Signs that are dropped at the end of a text, so that it and the same text without them (as heads read it) are one."""
Spelling = tuple[str, KnownName]
"""A spelling in lower case, and the name that has it."""


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
        self._by_word = _by_rarest_word(self.names)
        odd = "".join(sorted(word for word in self._by_word if not WORD.fullmatch(word)))
        self._words = re.compile(rf"\w+|[{re.escape(odd)}]") if odd else WORD
        last = {spelling[-1:] for spellings in self._by_word.values() for spelling, _ in spellings}
        self._ends = "".join(sign for sign in ENDS if sign not in last)
        # One plan looks for names in the same few texts several times.
        self._links = lru_cache(maxsize=128)(self._find)

    def links(self, text: str) -> tuple[Link, ...]:
        """Every name in ``text``, in order, each name once."""
        return self._links(text.rstrip(self._ends))

    def forget(self) -> None:
        """Empty the cache of texts, so that a measurement starts cold."""
        self._links.cache_clear()

    def _find(self, text: str) -> tuple[Link, ...]:
        found = dict[str, Link]()
        for link in self.mentions(text):
            found.setdefault(link.name.name, link)
        return tuple(found.values())

    def mentions(self, text: str) -> list[Link]:
        """Every occurrence of every name in ``text``, in order, without overlaps."""
        read = folded(text)
        rare = self._by_word.keys() & self._words.findall(read)
        if not rare:
            return []
        places = [place for word in rare for place in self._places(read, self._by_word[word])]
        found, end = list[Link](), 0
        for start, minus_length, _, name in sorted(places):
            if start >= end:
                end = start - minus_length
                found.append(Link(text[start:end], name, start))
        return found

    def _places(self, read: str, spellings: Sequence[Spelling]) -> Iterator[tuple[int, int, str, KnownName]]:
        """(Start, minus its length, spelling, name) of every occurrence, so that sorting puts the longest first."""
        for spelling, name in spellings:
            start = read.find(spelling)
            while start >= 0:
                if _is_whole(read, start, start + len(spelling)):
                    yield start, -len(spelling), spelling, name
                start = read.find(spelling, start + 1)

    def surfaces(self, text: str) -> tuple[str, ...]:
        """The names in ``text`` as written there."""
        return tuple(link.surface for link in self.links(text))


@lru_cache(maxsize=64)
def _by_rarest_word(names: tuple[KnownName, ...]) -> dict[str, tuple[Spelling, ...]]:
    """Spellings by their rarest word: the one that fewest spellings have, the longest of several.

    A spelling without a word is indexed by its first character. The cache is this large because a planner makes several
    linkers of one card, and training makes those of all lenders: with eight entries, that took half of the time of a
    small training.
    """
    of_name: dict[str, KnownName] = {}
    for name in names:
        for spelling in name.spellings:
            of_name.setdefault(folded(unicodedata.normalize("NFC", spelling)), name)
    words = {spelling: sorted(set(WORD.findall(spelling))) or [spelling[:1]] for spelling in of_name}
    having = Counter(word for said in words.values() for word in said)
    found: dict[str, list[Spelling]] = {}
    for spelling, name in of_name.items():
        rarest = min(words[spelling], key=lambda word: (having[word], -len(word)))
        found.setdefault(rarest, []).append((spelling, name))
    return {word: tuple(spellings) for word, spellings in found.items()}


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (start and _is_word(text[start - 1])) and not _is_word(text[end : end + 1])


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()
