"""Splits a query into the units between which it may be cut: names, quotations, codes, ranges, words and signs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..retrieval.dates.finding import find_dates
from ..text.asking_words import asking_word
from ..text.linker import Linker
from ..text.words import Word, words_of

NAME, QUOTE, CODE, NUMBER, CAPITAL, RARE, SIGN = "name", "quote", "code", "number", "capital", "rare", "sign"
TELLING = frozenset({NAME, QUOTE, CODE, NUMBER, CAPITAL, RARE})
"""The kinds of units that say what a query is about: all but signs, question words and common words."""
NAMING = frozenset({NAME, QUOTE, CODE})
ASK = "?"
"""The first character of the kind of a question word, before the English word for it: the same in every language."""
_QUOTED = re.compile(r"[\"“«„「『][^\"“”«»„「」『』]{2,60}[\"”»“」』]")
_FIGURES = re.compile(r"\d+")
_MARKS, _AMOUNTS = frozenset("#!@"), frozenset("+-−€$£")
"""Signs that belong to a number or name behind them (``#12``, ``!90``), and those that belong to a number (``-5``)."""


class Unit(NamedTuple):
    """A piece of a query that is never cut.

    Attributes:
        text: as typed.
        low: in lower case.
        start, end: its characters in the query.
        kind: ``name`` and the like, ``?what`` and the like for a question word, or a common word itself.
    """

    text: str
    low: str
    start: int
    end: int
    kind: str


def units_of(query: str, linker: Linker, common: frozenset[str]) -> list[Unit]:
    """The units of a query, in order.

    Args:
        common: words that many queries have, in lower case.
    """
    whole = [(link.start, link.start + len(link.surface), NAME) for link in linker.mentions(query)]
    whole += [(match.start(), match.end(), QUOTE) for match in _QUOTED.finditer(query)]
    whole += _ranges(query)
    whole = _outermost(whole)
    return list(_together(query, _marked(query, list(_read(query, whole, common)))))


def _ranges(query: str) -> list[tuple[int, int, str]]:
    """Dates with several figures, so that no joint is seen inside them: *between 2022 and 2024*, *4 to 14 November*."""
    if len(_FIGURES.findall(query)) < 2:
        return []
    found = [(query.find(phrase), phrase) for phrase in find_dates(query) if len(_FIGURES.findall(phrase)) > 1]
    return [(start, start + len(phrase), CODE) for start, phrase in found if start >= 0]


def _outermost(spans: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The spans without overlaps: of two that overlap, the one that begins first, or the longer one."""
    found: list[tuple[int, int, str]] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1][1]:
            found.append((start, end, kind))
    return found


def _read(query: str, whole: Sequence[tuple[int, int, str]], common: frozenset[str]) -> Iterator[Unit]:
    """The units of a query, where each span in ``whole`` (a name, a quotation …) is a single one."""
    last: Unit | None = None
    for word in words_of(query):
        span = next((one for one in whole if one[0] <= word.start < one[1]), None)
        if span is None:
            unit = Unit(*word, _kind(word, common))
        elif last is not None and last.start >= span[0]:
            last = _unit(query, last.start, max(word.end, last.end), span[2])
            continue
        else:
            unit = Unit(*word, span[2])
        if last is not None:
            yield last
        last = unit
    if last is not None:
        yield last


def _kind(word: Word, common: frozenset[str]) -> str:
    if not word.spoken:
        return SIGN
    if any(letter.isdigit() for letter in word.low):
        return NUMBER if word.low.isdigit() else CODE
    asked = asking_word(word.low)
    if asked is not None:
        return ASK + asked
    if word.low in common:
        return word.low
    return CAPITAL if word.capital and word.start else RARE


def _marked(query: str, units: Sequence[Unit]) -> list[Unit]:
    """The units, with a sign and the number or name that it belongs to as one."""
    made: list[Unit] = []
    for unit in units:
        if made and _is_one(query, made[-1], unit):
            made[-1] = _unit(query, made[-1].start, unit.end, CODE)
        else:
            made.append(unit)
    return made


def _is_one(query: str, before: Unit, unit: Unit) -> bool:
    """Whether a sign and the unit behind it belong together, or a number and its per cent sign."""
    if before.end != unit.start:
        return False
    if unit.text == "%":
        return before.kind == NUMBER
    free = not before.start or query[before.start - 1].isspace()
    number = unit.kind in (NUMBER, CODE)
    return free and unit.kind != SIGN and (before.text in _MARKS or (number and before.text in _AMOUNTS))


def _together(query: str, units: Sequence[Unit]) -> Iterator[Unit]:
    """The units, with successive capitalised words as one, since they are mostly one name."""
    last: Unit | None = None
    for unit in units:
        joins = last is not None and unit.kind == CAPITAL and last.kind in (CAPITAL, NAME)
        if last is not None and joins and query[last.end : unit.start] == " ":
            last = _unit(query, last.start, unit.end, last.kind)
            continue
        if last is not None:
            yield last
        last = unit
    if last is not None:
        yield last


def _unit(query: str, start: int, end: int, kind: str) -> Unit:
    return Unit(query[start:end], query[start:end].lower(), start, end, kind)
