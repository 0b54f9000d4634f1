"""A text as tokens for the grammar of dates: words of dates, figures, and the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .date_words import Word, date_words

_LATIN = "A-Za-z\u00c0-\u024f"
CJK = "\u3040-\u30ff\u3400-\u9fff"
_FIGURES = (
    ("iso", r"\d{4}-\d{1,2}-\d{1,2}(?![\d-])"),
    ("iso_month", r"\d{4}-\d{2}(?![\d-])"),
    ("slashed", r"\d{1,2}/\d{1,2}/\d{4}"),
    ("dotted", r"\d{1,2}\.\d{1,2}\.(?:\d{4})?(?!\d)"),
    # What follows a Chinese or Japanese figure may be the next figure.
    ("cjk_year", r"\d{4}年"),
    ("cjk_month", r"\d{1,2}月(?!間)"),
    ("cjk_day", r"\d{1,2}(?:日(?!間)|号)"),
    ("cjk_nth", r"第\d"),
    ("quarter", r"[qQ]\d{1,2}"),
    ("half", r"[hH][12]"),
    ("year", r"(?:19|20)\d\d(?![.,]\d)"),
    ("nth", r"\d{1,2}(?:st|nd|rd|th|º|ª|er(?!\w))"),
    ("number", r"\d{1,3}(?:\.(?=\s+[^\W\d]))?(?![.,]\d)"),
)
_BEFORE_FIGURE = rf"(?<![{_LATIN}0-9_#!./])(?<![{_LATIN}]-)"
_AFTER_FIGURE = rf"(?![{_LATIN}0-9_%])"
_ENDS = {kind: "" if kind.startswith("cjk") else _AFTER_FIGURE for kind, _ in _FIGURES}
_PIECES = re.compile(
    rf"{_BEFORE_FIGURE}(?:{'|'.join(f'(?P<{kind}>{form}){_ENDS[kind]}' for kind, form in _FIGURES)})"
    rf"|(?P<word>[{_LATIN}]+)|(?P<rest>[0-9_]+|\S)"
)
_WORD = re.compile(f"[{_LATIN}]+")
_GOES_ON = re.compile(f"[{_LATIN}_]|-[{_LATIN}]")
_POSSESSIVE = re.compile(f"['’]s?(?![{_LATIN}])")


@dataclass(frozen=True)
class Token:
    """A piece of text and all that it may stand for; nothing for a word that is not of a date."""

    start: int
    end: int
    text: str
    words: frozenset[Word]

    def value(self, kind: str) -> Any:
        """What it stands for as one of that kind, or None."""
        return next((word.value for word in self.words if word.kind == kind), None)


@lru_cache(maxsize=1)
def _known() -> tuple[dict[str, frozenset[Word]], dict[str, tuple[str, ...]]]:
    """Every surface with what it stands for, and the surfaces that begin with a word or a character, longest first.

    One pattern of all the surfaces takes ten milliseconds a query.
    """
    known = date_words()
    starting: dict[str, list[str]] = {}
    for surface in known:
        first = _WORD.match(surface)
        starting.setdefault(first.group() if first else surface[:1], []).append(surface)
    return known, {start: tuple(sorted(found, key=len, reverse=True)) for start, found in starting.items()}


@lru_cache(maxsize=64)
def tokens_of(text: str) -> tuple[Token, ...]:
    lower = text.lower() if len(text.lower()) == len(text) else text
    found, end = [], 0
    for match in _PIECES.finditer(text):
        if match.start() >= end:
            token = _token(match, text, lower)
            found.append(token)
            end = token.end
    return tuple(found)


def _token(match: re.Match[str], text: str, lower: str) -> Token:
    start, kind = match.start(), match.lastgroup or "rest"
    words: frozenset[Word] = frozenset()
    end = match.end()
    if kind not in ("word", "rest"):
        words = frozenset(_figure(kind, match.group().casefold()))
    elif (surface := _surface(lower, start, match.group().lower(), kind == "word")) is not None:
        words, end = _known()[0][surface], start + len(surface)
        if kind == "word" and (ending := _POSSESSIVE.match(text, end)):
            end = ending.end()
    return Token(start, end, text[start:end], words)


def _surface(lower: str, start: int, first: str, is_word: bool) -> str | None:
    """The longest surface that stands here as a whole word."""
    if is_word and start and lower[start - 1] in "_'’-":
        return None
    for surface in _known()[1].get(first if is_word else first[:1], ()):
        if lower.startswith(surface, start) and not (is_word and _GOES_ON.match(lower, start + len(surface))):
            return surface
    return None


def _figure(kind: str, text: str) -> Iterator[Word]:
    digits = int("".join(re.findall(r"\d", text)) or 0)
    if kind in ("iso", "iso_month", "slashed", "dotted"):
        yield Word(kind, text)
    elif kind == "nth":
        yield from (Word("number", digits), Word("nth", digits), Word("ordinal", digits))
    elif kind == "cjk_day":
        yield from (Word("number", digits), Word("nth", digits))
    elif kind == "cjk_nth":
        yield Word("ordinal", digits)
    elif kind == "number":
        yield Word("number", digits)
    else:
        yield Word(kind.removeprefix("cjk_"), digits)
