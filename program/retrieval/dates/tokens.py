"""Splits a text into tokens for the grammar of dates: date words, figures, and the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from .compounds import compound
from .spellings import mistyped, written_otherwise
from .table import order_of
from .words import Word, date_words

_LATIN = "A-Za-z\u00c0-\u024f\u0370-\u052f\u1e00-\u1eff\u0620-\u065f\u0670-\u06d3\u0900-\u0963\u0970-\u097f"
"""Letters of scripts with spaces: Latin, Greek, Cyrillic, Arabic, Devanagari."""
CJK = "\u3040-\u30ff\u3400-\u9fff"
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_FIGURES = (
    ("clock", r"\d{1,2}:\d\d(?::\d\d)?(?:\s?[aApP]\.?[mM]\b)?|\d{1,2}\s?[aApP][mM]"),
    ("iso_week", r"\d{4}-?[wW]\d{1,2}"),
    (
        "quarter_year",
        r"[qQ]\d(?:[-/]?(?:19|20)\d\d|['’/]\d\d)|(?:19|20)\d\d[-/]?[qQ]\d|\d[qQ]\d\d(?:\d\d)?"
        r"|[1-4][tT] ?20\d\d|[tT][1-4] ?20\d\d",
    ),
    ("half_year", r"[hH][12](?:[-/]?(?:19|20)\d\d|['’/]\d\d)|(?:19|20)\d\d[-/]?[hH][12]"),
    ("iso_span", r"20\d\d-\d\d-\d\d(?:/|--)20\d\d-\d\d-\d\d"),
    ("iso", r"\d{4}(?P<sign>[-/.])\d{1,2}(?P=sign)\d{1,2}(?![\d-])|20[0-4]\d[01]\d[0-3]\d"),
    ("iso_month", r"\d{4}[-/](?:0[1-9]|1[0-9])(?![\d/-])"),
    ("dashed", rf"\d{{1,2}}(?P<dash>[-/])(?i:{_MONTHS})[a-z]*(?P=dash)\d{{4}}"),
    ("slashed", r"\d{1,2}/\d{1,2}/\d{2}(?:\d\d)?(?!/)|\d{1,2}-\d{1,2}-20\d\d(?![-/])"),
    ("month_year", r"(?:0?[1-9]|1[0-2])/20\d\d(?!/)"),
    ("day_month", r"(?!24/7)(?:0?[1-9]|[12]\d|3[01])/(?:0?[1-9]|[12]\d|3[01])(?!/)"),
    ("dotted", r"\d{1,2}\.\d{1,2}\.(?:\d{4})?(?!\d)"),
    ("sprint_number", r"(?i:sprint)(?: ?#|-)?\d{1,3}"),
    ("week", r"(?:[wW]|[kK][wW]|[cC][wW]|[wW][kK])\d{1,2}"),
    ("stretch", r"\d{1,3}(?:hrs?|h|days?|d|wks?|w|mos?|mths?|yrs?|y)|\d{1,3} [dh](?!['’])"),
    # A Chinese or Japanese figure may be followed directly by the next one, so these need no word boundary.
    ("cjk_year", r"\d{4}(?:年|년)"),
    ("cjk_month", r"\d{1,2}(?:月(?!間)|월)"),
    ("cjk_day", r"\d{1,2}(?:日(?!間|前|以内)|号|號|일(?!\s*(?:전|간|동안|이내)))"),
    ("cjk_nth", r"第\d{1,2}"),
    ("quarter", r"[qQ]\d{1,2}"),
    ("half", r"[hH][12]"),
    ("fiscal_year", r"[fF][yY][ '’]?(?:20)?\d\d"),
    ("year", r"(?:19|20)\d\d(?![.,]\d)"),
    ("short_year", r"['’]\d\d"),
    ("nth", r"\d{1,2}(?:st|nd|rd|th|º|ª|\.?er(?!\w))|1°(?!\s?[CF]\b)"),
    ("nth_said", r"\d{1,2}(?:e|de|ste|ème|:e|:a|-(?:es|as|os|ös|ik|го|е)|го|ης?)"),
    ("number", r"\d{1,3}(?:\.(?=\s+[^\W\d]|\s?[-–]\s?\d))?(?![.,]\d)"),
    ("too_many", r"\d{4,15}(?![.,]\d)"),
)
_BEFORE_FIGURE = rf"(?:(?<=\s[ول])|(?<![{_LATIN}0-9_#!/]))(?<![^.]\.)(?<![{_LATIN}]-)"
_AFTER_FIGURE = rf"(?![{_LATIN}0-9_%])"
_ENDS = {kind: "" if kind.startswith("cjk") else _AFTER_FIGURE for kind, _ in _FIGURES}
_PIECES = re.compile(
    rf"{_BEFORE_FIGURE}(?:{'|'.join(f'(?P<{kind}>{form}){_ENDS[kind]}' for kind, form in _FIGURES)})"
    rf"|(?P<word>[{_LATIN}]+)|(?P<rest>[0-9_]+|\S)"
)
_CJK = re.compile(f"[{CJK}]")
_WORD = re.compile(f"[{_LATIN}]+")
_GOES_ON = re.compile(rf"[{_LATIN}_]|-[{_LATIN}]|(?<=\d)\d")
_ENDING = re.compile(f"[-'’][{_LATIN}]")
"""How what follows a figure or a name begins: *3-án*, *Kasım'dan*."""
_POSSESSIVE = re.compile(f"['’]s?(?![{_LATIN}])")
_ABBREVIATED = re.compile(r"\.(?= ?[0-9])")
_ELIDED = re.compile(f"(?<![{_LATIN}])(?:[dl]|dall|dell|all|nell|quest)['’]$")
_WORD_BEFORE = re.compile(f"[{_LATIN}]+$")
_HYPHENED = frozenset({"month", "weekday", "edge"})


@dataclass(frozen=True)
class Token:
    """A piece of text with all that it may stand for in a date; ``words`` is empty for other words."""

    start: int
    end: int
    text: str
    words: frozenset[Word]

    def value(self, kind: str) -> Any:
        """Its value as a word of that kind, or None."""
        return self._values.get(kind)

    @cached_property
    def _values(self) -> Mapping[str, Any]:
        return _by_kind(self.words)


@lru_cache(maxsize=4096)
def _by_kind(words: frozenset[Word]) -> Mapping[str, Any]:
    """The value of each kind of word; if two are of one kind, always the same one of them."""
    return {word.kind: word.value for word in sorted(words, key=repr, reverse=True)}


@lru_cache(maxsize=1)
def _known() -> tuple[dict[str, frozenset[Word]], dict[str, tuple[str, ...]], dict[str, str]]:
    """All spellings with what they stand for; the spellings by their first word or character, longest first; and slips.

    With a single pattern of all spellings instead, a query takes ten milliseconds.
    """
    known = date_words()
    known |= written_otherwise(known)
    starting: dict[str, list[str]] = {}
    for surface in known:
        first = _WORD.match(surface)
        starting.setdefault(first.group() if first else surface[:1], []).append(surface)
    return (
        known,
        {start: tuple(sorted(found, key=len, reverse=True)) for start, found in starting.items()},
        mistyped(known),
    )


def first_words(of: Callable[[Word], bool]) -> frozenset[str]:
    """The first words, in lower case, of all spellings and slips that may stand for such a word of dates."""
    known, starting, slips = _known()
    said = {surface for surface, words in known.items() if any(map(of, words))}
    first = {start for start, surfaces in starting.items() if not said.isdisjoint(surfaces)}
    return frozenset(first | {slip for slip, surface in slips.items() if surface in said})


@lru_cache(maxsize=64)
def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a text in order: date words and figures with what they may stand for, and all other words."""
    lower = text.lower() if len(text.lower()) == len(text) else text
    found, end = [], 0
    for match in _PIECES.finditer(text):
        if match.start() >= end:
            token = _token(match, text, lower)
            end = token.end
            parts = compound(token.text.lower(), _known()[0]) if not token.words and match.lastgroup == "word" else ()
            found += [replace(token, words=_known()[0][part]) for part in parts] or [token]
    return tuple(found)


def _token(match: re.Match[str], text: str, lower: str) -> Token:
    start, kind = match.start(), match.lastgroup or "rest"
    words: frozenset[Word] = frozenset()
    end = match.end()
    if kind not in ("word", "rest"):
        words = frozenset(_figure(kind, match.group().casefold()))
        if kind == "day_month":
            words = frozenset(_day_month(match.group(), cjk=bool(_CJK.search(text)) or "〜" in text))
        if (ending := _POSSESSIVE.match(text, end)) and len(ending.group()) > 1:
            end = ending.end()
    elif (surface := _surface(lower, start, match.group().lower(), kind == "word")) is not None:
        words, end = _known()[0][surface], start + len(surface)
        if kind == "word" and (ending := _POSSESSIVE.match(text, end)):
            end = ending.end()
        elif len(surface) <= 5 and any(w.kind in ("month", "weekday") for w in words):
            end += bool(_ABBREVIATED.match(text, end))
    elif kind == "word" and (meant := _known()[2].get(match.group().lower())) and not _GOES_ON.match(lower, end):
        words = _known()[0][meant]
    return Token(start, end, text[start:end], words)


def _surface(lower: str, start: int, first: str, is_word: bool) -> str | None:
    """The longest known spelling that stands here as a whole word; None if there is none."""
    if is_word and start and lower[start - 1] in "_'’-" and not _may_follow(lower, start):
        return None
    at_end = not is_word and start and lower[start] in "-'’" and lower[start - 1].isalnum()
    for surface in _known()[1].get(first if is_word else first[:1], ()):
        if not lower.startswith(surface, start):
            continue
        end, is_ending = start + len(surface), not is_word and _ENDING.match(surface) is not None
        goes_on = surface[-1] not in "'’" and _GOES_ON.match(lower, end) and not _joins(lower, end)
        if not ((is_word or is_ending) and goes_on) and (at_end or not is_ending):
            return surface
    return None


def _may_follow(lower: str, start: int) -> bool:
    """Whether a date word may begin behind a hyphen or apostrophe here: *Mon-Wed*, *d'octobre*."""
    return _joins(lower, start - 1) if lower[start - 1] == "-" else bool(_ELIDED.search(lower, 0, start))


def _joins(lower: str, at: int) -> bool:
    """Whether the hyphen here stands between two names of days or months, or before one: *Mon-Wed*, *mid-October*."""
    if lower[at : at + 1] != "-":
        return False
    left, right = _WORD_BEFORE.search(lower, max(0, at - 20), at), _WORD.match(lower, at + 1)
    known = _known()[0]
    return (
        left is not None
        and right is not None
        and any(word.kind in _HYPHENED for word in known.get(left.group(), ()))
        and any(word.kind in _HYPHENED for word in known.get(right.group(), ()))
    )


def _day_month(text: str, *, cjk: bool) -> Iterator[Word]:
    """A day and a month with a slash and their order: ``dm``, ``md``, or ``?`` where either could be the month."""
    if min(map(int, text.split("/"))) <= 12:
        order = order_of(text)
        order = "md" if cjk and order == "?" else order
        yield Word("day_month", f"{text} {order}")


_WHOLE = frozenset("iso iso_span iso_month iso_week quarter_year half_year dashed slashed month_year dotted".split())
"""Kinds of figures that are kept as one text, which the grammar takes apart."""
_SPAN_UNITS = {"h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"}


def _figure(kind: str, text: str) -> Iterator[Word]:
    digits = int("".join(re.findall(r"\d", text)) or 0)
    if kind in _WHOLE:
        yield Word(kind, text)
    elif kind == "clock":  # a time of day does not change the day before it
        yield Word("tod", "")
    elif kind == "nth":
        yield from (Word("nth", digits), Word("dom", digits), Word("ordinal", digits))
    elif kind == "nth_said":  # alone it is an ordinal and no day: "2e team"
        yield from (Word("dom", digits), Word("ordinal", digits))
    elif kind == "cjk_day":
        yield from (Word("nth", digits), Word("dom", digits))
    elif kind == "cjk_nth":
        yield Word("ordinal", digits)
    elif kind == "number":
        yield from (Word("number", digits), Word("dom", digits))
        if text.endswith("."):
            yield Word("ordinal", digits)
    elif kind == "stretch":
        yield from (Word("stretch", f"{digits} {_SPAN_UNITS[re.sub('[0-9 ]', '', text)[0]]}"),)
    elif kind in ("short_year", "fiscal_year"):  # a fiscal year is read as the calendar's, since no card says otherwise
        yield Word("year", 2000 + digits % 100)
    else:
        yield Word(kind.removeprefix("cjk_"), digits)
