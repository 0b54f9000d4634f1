"""Finds names of the card in a text: by exact spelling first, then by aliases; nothing is guessed.

Only whole words match, so that "class" is found inside no other word. Case and the different characters for quotes and
hyphens are ignored. Where several names overlap, the longest wins. A text is read word by word, and only names whose
rarest word it has are compared, since in an index by first words many would begin with "the".

In a script without spaces a name may stand anywhere: one in another script ends where the script changes (她和Takeda),
one of two signs or more in the same script is found inside a sentence, but katakana only where no katakana goes on.
Behind a Korean name of two signs or more there may be a particle (이마티닙은).
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
from .words import UNSPACED, is_unspaced

WORD = re.compile(r"\w+")
_KATAKANA, _HANGUL = re.compile("[\u30a0-\u30ff]"), re.compile("[\uac00-\ud7af]")
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

    def __init__(self, names: Iterable[KnownName], inside: bool = True) -> None:
        """Index names.

        Args:
            inside: whether they are found inside what is written without spaces; older programs learned without.
        """
        self.names = tuple(names)
        self._by_word = _by_rarest_word(self.names)
        odd = "".join(sorted(word for word in self._by_word if not WORD.fullmatch(word)))
        self._inside = [word for word in self._by_word if is_unspaced(word) or _HANGUL.search(word)] if inside else None
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
        if self._inside is not None and not read.isascii() and (is_unspaced(read) or _HANGUL.search(read)):
            rare |= self._by_word.keys() & self._words.findall(UNSPACED.sub(" ", read))
            rare |= {word for word in self._inside if word in read}
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
        is_whole = _stands_apart if self._inside is None else _is_whole
        for spelling, name in spellings:
            start = read.find(spelling)
            while start >= 0:
                if is_whole(read, start, start + len(spelling)):
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
    several = end - start > 1
    begins = not start or not _goes_on(text[start - 1], text[start], several)
    return begins and (
        end == len(text) or _is_particle(text, end, several) or not _goes_on(text[end], text[end - 1], several)
    )


def _stands_apart(text: str, start: int, end: int) -> bool:
    return not (start and _is_word(text[start - 1])) and not _is_word(text[end : end + 1])


def _is_particle(text: str, end: int, several: bool) -> bool:
    return several and bool(_HANGUL.match(text[end - 1]) and _HANGUL.match(text[end]))


def _goes_on(beside: str, edge: str, several: bool) -> bool:
    """Whether the character beside a name's first or last one goes on with its word.

    Args:
        several: whether the name has several characters.
    """
    if not _is_word(beside):
        return False
    unspaced = is_unspaced(beside), is_unspaced(edge)
    if all(unspaced):
        return not several or bool(_KATAKANA.match(beside) and _KATAKANA.match(edge))
    return not any(unspaced)


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()
