"""Names of the card found in a text: exact spelling first, then aliases; no guessing.

Matching is on whole words and ignores case, so that "class" is found in no other word. The longest
name wins where several overlap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..data.card import KnownName


@dataclass(frozen=True)
class Link:
    """A name found in a text: as written there, and the card's name for it."""

    surface: str
    name: KnownName
    start: int


class Linker:
    """Finds a card's names in texts."""

    def __init__(self, names: Iterable[KnownName]) -> None:
        self._by_spelling: dict[str, KnownName] = {}
        for name in names:
            for spelling in (name.name, *name.aliases):
                self._by_spelling.setdefault(spelling.casefold(), name)
        spellings = sorted(self._by_spelling, key=len, reverse=True)
        pattern = "|".join(re.escape(s) for s in spellings)
        self._pattern = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE) if spellings else None

    def links(self, text: str) -> tuple[Link, ...]:
        """Every name in ``text``, in order, each name once."""
        if self._pattern is None:
            return ()
        found: dict[str, Link] = {}
        for match in self._pattern.finditer(text):
            name = self._by_spelling.get(match.group().casefold())
            if name is not None:
                found.setdefault(name.name, Link(match.group(), name, match.start()))
        return tuple(found.values())

    def surfaces(self, text: str) -> tuple[str, ...]:
        """The names in ``text`` as written there."""
        return tuple(link.surface for link in self.links(text))
