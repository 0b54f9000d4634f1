"""Numbers in a question, in figures or in words, and the ranges between them.

A number is also read in a script without spaces ("不低于0.8的"), with a leading point (".8"), with a decimal comma
("0,9"), in groups ("1,234.5", "12.000,50"), below zero ("-5") and as a year of two digits ("'95"). A range is two
numbers that follow each other, or a decade ("the eighties").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...text.number_words import number_of
from .words import fold, words_of

# A figure with a letter beside it is part of a name or an ordinal, and no number: "P2RY12", "5HT", "2nd".
_LETTER = r"0-9_A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_NO_LETTER = rf"(?![{_LETTER}])"
# A minus sign: a dash behind a space and before a figure, unless a figure stands before it, as in "1990 -2000".
_SIGN = r"(?:(?<![^\s(])(?<!\d\s)(?P<sign>[-\u2212]))?"
_GROUPED = (
    rf"{_SIGN}(?<![{_LETTER}])(?<!\d[.,])(?:"
    r"(?P<commas>\d{1,3}(?:,\d{3})+(?:\.\d+)?)"
    r"|(?P<points>\d{1,3}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,}))"
    r"|(?P<spaces>\d{1,3}(?:(?:[\u00a0\u202f]\d{3})+|(?: \d{3}){2,})(?:[.,]\d+)?))"
    rf"(?![.,]?[{_LETTER}])"
)
FIGURES = re.compile(
    rf"{_GROUPED}"
    rf"|{_SIGN.replace('sign', 'sign_')}(?<![{_LETTER}.,])(?P<figures>(?:\d+[.,])?\d+|\.\d+)(?![.,]?[{_LETTER}])"
)
SHORT_YEAR = re.compile(rf"(?<![{_LETTER}])['’](\d\d){_NO_LETTER}(?!['’])")
DECADE = re.compile(
    rf"(?<![{_LETTER}])((?:1[89]|20)?\d0)(?:(?:['’]?s|ern?|erne|-?tal(?:let|et)|-[ехх]){_NO_LETTER}|\s?年代|\s?년대)"
)
PIVOT = 30
"""A year of two digits is of the 20th century from this number on, else of the 21st."""
TENS = (20, 30, 40, 50, 60, 70, 80, 90)
BY_THEMSELVES = (
    "twenties thirties forties fifties sixties seventies eighties nineties",
    "zwanziger dreissiger vierziger funfziger sechziger siebziger achtziger neunziger",
)
"""The decades from 20 to 90 as single words, folded; English and German."""
AFTER_YEARS = {
    "annees": "vingt trente quarante cinquante soixante soixante_dix quatre_vingt quatre_vingt_dix",
    "anni": "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    "anos": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "os anos": "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    "jaren": "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
}
"""The decades of other languages, which stand behind the word for "years", folded."""


class SaidNumbers(NamedTuple):
    """The numbers and ranges that a question states.

    Attributes:
        numbers: the numbers in their order, without decades.
        ranges: (low, high) of each two numbers that follow each other and ascend, and of each decade, both included.
        decades: those of ``ranges`` that are decades.
    """

    numbers: tuple[float, ...] = ()
    ranges: tuple[tuple[float, float], ...] = ()
    decades: tuple[tuple[float, float], ...] = ()


def said_numbers(question: str, spans: Sequence[tuple[int, int]]) -> SaidNumbers:
    """The numbers and ranges of a question.

    Args:
        spans: the (start, end) characters of its names; what is there is no number.
    """

    tens = [(m.start(1), m.end(1), float(m[1])) for m in DECADE.finditer(question) if _is_free(m.start(1), spans)]
    found = placed_numbers(question, (*spans, *((start, end) for start, end, _ in tens)))
    numbers = tuple(one.value for one in found)
    begins = dict.fromkeys([*(_year(number) for _, _, number in tens), *map(float, _spelled_decades(question))])
    decades = tuple((begin, begin + 9) for begin in begins)
    between = tuple((low, high) for low, high in pairwise(numbers) if low < high)
    return SaidNumbers(numbers, (*between, *decades), decades)


class Placed(NamedTuple):
    """A number, and the characters of the question that it stands in."""

    start: int
    end: int
    value: float


def placed_numbers(question: str, spans: Sequence[tuple[int, int]]) -> list[Placed]:
    """The numbers of a question in their order, without those inside the spans."""
    return sorted(one for one in (*_figures(question), *_spelled(question)) if _is_free(one.start, spans))


def _is_free(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return not any(a <= place < b for a, b in spans)


def _figures(question: str) -> Iterator[Placed]:
    short = {match.start(1): match for match in SHORT_YEAR.finditer(question)}
    yield from (Placed(start, match.end(1), _year(float(match[1]))) for start, match in short.items())
    for match in FIGURES.finditer(question):
        if match.start() not in short:
            yield Placed(match.start(), match.end(), _number(match))


def _number(match: re.Match[str]) -> float:
    """The value of a figure: groups of three digits by commas, points or spaces; decimals by a point or a comma."""
    if (text := match["commas"]) is not None:
        text = text.replace(",", "")
    else:
        text = match["points"] or match["spaces"] or match["figures"]
        text = re.sub(r"\s", "", text.replace(".", "") if match["points"] else text).replace(",", ".")
    return -float(text) if match["sign"] or match["sign_"] else float(text)


def _spelled(question: str) -> Iterator[Placed]:
    for word in words_of(question):
        if (number := number_of(question[word.start : word.end])) is not None:
            yield Placed(word.start, word.end, float(number))


def _year(number: float) -> float:
    """A year of two digits as one of four."""
    return number if number >= 100 else number + (1900 if number >= PIVOT else 2000)


def _spelled_decades(question: str) -> list[int]:
    """The years that spelled decades begin with."""
    said = f" {fold(question)} "
    found = [
        1900 + tens for words in BY_THEMSELVES for tens, word in zip(TENS, words.split(), strict=True) if word in said
    ]
    for years, words in AFTER_YEARS.items():
        told = ((tens, f" {years} {word.replace('_', ' ')}") for tens, word in zip(TENS, words.split(), strict=True))
        here = [1900 + tens for tens, words in told if words in said]
        found += here[-1:]  # the last match is the longest one: "quatre vingt dix" also has "quatre vingt" in it
    return found
