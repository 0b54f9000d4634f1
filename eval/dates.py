"""The dates that a text names, as far as their form shows them."""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections import Counter

_NAMES = {
    name.casefold(): str(number)
    for names in (calendar.month_name, calendar.month_abbr)
    for number, name in enumerate(names)
    if name
}
# "may" is a verb far more often than a month, and "sept" is written beside "sep".
_MONTHS = {**{name: number for name, number in _NAMES.items() if name != "may"}, "sept": "9"}
_MONTH = "|".join(sorted((*_MONTHS, "may"), key=len, reverse=True))
_DAYS = frozenset(name.casefold() for name in calendar.day_name)

_ISO = re.compile(r"(?<!\d)(\d{4})[-/.年](\d{1,2})(?:[-/.月](\d{1,2}))?(?!\d)")
_NUMERIC = re.compile(r"(?<!\d)(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})(?!\d)")
_DAY_MONTH = re.compile(rf"(?<!\w)(\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?({_MONTH})\b\.?(?:,?\s+(\d{{4}}))?")
_MONTH_DAY = re.compile(rf"\b({_MONTH})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(\d{{4}}))?")
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\b\.?,?\s+(\d{{4}})(?!\d)")
_QUARTER = re.compile(r"\bq([1-4])\b(?:\s*(\d{4}))?")
_YEAR = re.compile(r"(?<![\d.,])(1[5-9]\d\d|20\d\d|21\d\d)(?![\d]|[.,]\d)")
_WORD = re.compile(r"\w+")


def dates(text: str) -> Counter[str]:
    """The dates of ``text`` in a canonical form, with their counts.

    Read: ``2024-03-05`` with its relatives, ``5.3.2024`` (day first, as more of the world writes it; the
    same text gives the same date, which is all that a comparison needs), English month names with a
    day or a year, quarters, bare years from 1500 to 2199, English names of weekdays. Not read: words
    such as "yesterday", and month names of other languages, whose numbers ``numbers`` still compares.
    """
    rest = unicodedata.normalize("NFKC", text).casefold()
    found: Counter[str] = Counter()
    for pattern, form in _FORMS:
        for match in pattern.finditer(rest):
            found[form(*match.groups())] += 1
        rest = pattern.sub(" ", rest)
    found.update(word for word in _WORD.findall(rest) if word in _DAYS or (word in _MONTHS and len(word) > 3))
    return found


def _date(year: str | None, month: str | None = None, day: str | None = None) -> str:
    parts = (year or "*", month, day)
    return "-".join(str(int(part)) if part.isdecimal() else part for part in parts if part)


def _month(name: str) -> str:
    return _MONTHS.get(name, "5")


_FORMS = (
    (_ISO, _date),
    (_NUMERIC, lambda day, month, year: _date(year, month, day)),
    (_DAY_MONTH, lambda day, month, year: _date(year, _month(month), day)),
    (_MONTH_DAY, lambda month, day, year: _date(year, _month(month), day)),
    (_MONTH_YEAR, lambda month, year: _date(year, _month(month))),
    (_QUARTER, lambda quarter, year: f"{_date(year)}-q{quarter}"),
    (_YEAR, _date),
)
