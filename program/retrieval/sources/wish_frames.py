"""A query as a frame of wishes: marks for its cues, filter values, dates and names, between the rest of its words.

Question words are mapped to one word for all languages (``asking_words.py``). One that is part of a mark's words also
stands before the mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ....data.card import DomainCard
from ...heads.wish_grams import AND, MARK
from ...text.asking_words import SIGN, with_asking_words
from ...text.linker import Linker
from ..dates.finding import find_dates
from .read_filters import FilterReader

MAX_CHARACTERS = 600
_PIECE = re.compile(r"\w+|[?,;.:!，、？。]")

RECORD = "#"
"""The end of the mark for the number of a record (*ATL-219*); no other cue has digits."""
_DIGIT = re.compile(r"\d")
_JOINS = (AND, f"{SIGN}or")

CueSpan = tuple[int, int, Sequence[int]]
"""Where a cue stands, and the numbers of the intents that it is of."""
Place = tuple[int, int, str]
"""Where something stands, and its mark."""


class FrameReader:
    """Makes frames of queries, with the names and values of one card."""

    def __init__(self, card: DomainCard, filters: FilterReader) -> None:
        self._filters = filters
        self._linker = Linker(card.names)

    def frame(self, text: str, cues: Sequence[CueSpan]) -> tuple[str, ...]:
        """The marks and the other words of a text in order, in lower case.

        Args:
            cues: start and end of each cue, and the numbers of its kinds. Its mark has these numbers, so that it means
                the same in every text of the card, and shows whether the cue is the number of a record (*ATL-219*).
        """
        text = text[:MAX_CHARACTERS]
        found: list[str] = []
        at = 0
        for start, end, mark in self._places(text, cues):
            found += _pieces(text[at:start])
            found += _asking(text[start:end])
            found.append(mark)
            at = end
        return (*found, *_pieces(text[at:]))

    def _places(self, text: str, cues: Sequence[CueSpan]) -> list[Place]:
        """What is marked, without overlaps: dates first, then the longest, and cues before values and names.

        A value that is also a cue has both marks.
        """
        marked = [(a, b, _cue_mark(text[a:b], kinds)) for a, b, kinds in cues if b <= len(text)]
        values = [(a, b, _mark(key)) for key in self._filters.keys for a, b in self._filters.spans(key, text)]
        names = [(n.start, n.start + len(n.surface), _mark(n.name.type)) for n in self._linker.links(text)]
        kept = _dates(text)
        for start, end, mark in sorted([*marked, *values, *names], key=lambda place: place[0] - place[1]):
            same = next((i for i, other in enumerate(kept) if other[:2] == (start, end)), None)
            if same is not None and mark not in kept[same][2]:
                kept[same] = (start, end, kept[same][2] + mark)
            elif same is None and all(end <= a or b <= start for a, b, _ in kept):
                kept.append((start, end, mark))
        return sorted(kept)


def _dates(text: str) -> list[Place]:
    found, at = list[Place](), 0
    for phrase in find_dates(text):
        start = text.find(phrase, at)
        if start >= 0:
            at = start + len(phrase)
            found.append((start, at, _mark("dates")))
    return found


def _pieces(text: str) -> list[str]:
    return with_asking_words(_PIECE.findall(text.lower()))


@lru_cache(maxsize=4096)
def _asking(marked: str) -> tuple[str, ...]:
    """The question words inside a mark's text; cached, since the same cues recur."""
    return tuple(word for word in _pieces(marked) if word[0] == SIGN and word not in _JOINS)


def _cue_mark(cue: str, kinds: Sequence[int]) -> str:
    return _mark(",".join(map(str, sorted(set(kinds)))) + RECORD * bool(_DIGIT.search(cue)))


def _mark(what: str) -> str:
    return f"{MARK}{what}»"


def kinds_at(places: Iterable[CueSpan], count: int) -> list[list[int]]:
    """For each of ``count`` kinds, where its cues begin."""
    found: list[list[int]] = [[] for _ in range(count)]
    for start, _, kinds in places:
        for kind in kinds:
            found[kind].append(start)
    return found
