"""Enumerated dates of which only one has its unit: *sprint 42 vs 43*, *3, 5 and 7 November*.

The grammar of dates reads the date that has its unit; the other figures borrow it from there. A figure behind a comma
or *and* may count something else (*sprint 42 and 3 commits*), so it is taken for a date only where the enumeration ends
with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .finding import find_dates

_EITHER = r"(?:\s*/\s*|\s+(?:or|vs\.?|versus|against|compared\s+(?:to|with)|oder|ou|o|eller|lub|gegen|contre)\s+)"
_AND = r"(?:\s*(?:,|&|\+)\s*|\s*,?\s*(?:and|und|et|y|e|och|en|i)\s+)"
_FIGURE = r"(?:the\s+)?(\d{1,3})(?:st|nd|rd|th)?(?![\w.]*\w)"
_BEHIND = re.compile(rf"(?:{_EITHER}{_FIGURE}|{_AND}{_FIGURE}(?=\s*(?:$|[?!,;:.)&+]|(?:and|or|vs|und|et|y)\b)))", re.I)
_BEFORE = re.compile(rf"(?<![\w.#!/-])(\d{{1,3}})(?:st|nd|rd|th)?(?:{_EITHER}|{_AND})$", re.I)
_LAST = re.compile(r"\d+(?=(?:st|nd|rd|th)?\W*$)")
_FIRST = re.compile(r"^\d+")
_LONGEST = 40
"""The most characters before a date in which the next figure of its enumeration is looked for."""


def enumerated(text: str, phrases: Iterable[str]) -> tuple[str, ...]:
    """These dates, with further ones that are enumerated with them, in the order of the text, each once.

    Args:
        phrases: dates as they were found in the text.
    """
    places, at = list[tuple[int, int, str]](), 0
    for phrase in phrases:
        at = max(text.find(phrase, at), 0) + len(phrase)
        places.append((at - len(phrase), at, phrase))
    found = list[str]()
    for n, (start, end, phrase) in enumerate(places):
        after = places[n + 1][0] if n + 1 < len(places) else len(text)
        before = places[n - 1][1] if n else 0
        found += [*reversed(list(_listed_before(text[before:start], phrase))), phrase]
        found += _listed_behind(text, end, after, phrase)
    return tuple(dict.fromkeys(found))


def _listed_behind(text: str, at: int, until: int, phrase: str) -> Iterator[str]:
    while (match := _BEHIND.match(text, at)) and match.end() <= until:
        if not (other := _with_figure(_LAST, phrase, match[1] or match[2])):
            return
        yield other
        at = match.end()


def _listed_before(text: str, phrase: str) -> Iterator[str]:
    while match := _BEFORE.search(text[-_LONGEST:]):
        if not (other := _with_figure(_FIRST, phrase, match[1])):
            return
        yield other
        text = text[: len(text) - len(match[0])]


def _with_figure(place: re.Pattern[str], phrase: str, figure: str) -> str:
    """The phrase with another figure; empty if that is no date."""
    other, count = place.subn(figure, phrase)
    return other if count and find_dates(other) == (other,) else ""
