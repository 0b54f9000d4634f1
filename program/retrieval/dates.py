"""Dates in a text: found as they are typed, and resolved to days.

A text is cut into words of dates (``date_words.py``), figures, and the rest. Each way of naming a period is a
sequence of kinds of words; of those that fit at a place the longest is taken. What a period is, is said in
``periods.py``. A phrase that is a date in form but not in the calendar (31 September, Q5) is found, too: leaving
it out silently would ask for more than was wanted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from ...data.sources import Calendar
from .date_tokens import CJK, Token, tokens_of
from .date_words import FIRM
from .periods import Almanac, NoSuchDateError, Period

Make = Callable[[Almanac], Period]
MAX_CHARACTERS = 2000

# A year by itself is a date only where something says so: versions, amounts and names look the same.
_INTRODUCED = frozenset("in during for im en nel em i v w since".split())


@dataclass(frozen=True)
class Resolved:
    """A phrase, the days it means, or why there are none."""

    phrase: str
    period: Period | None
    why: str = ""


def find_dates(text: str) -> tuple[str, ...]:
    """The phrases of a text that are dates in form, as typed, in order, each once.

    Words that bound belong to it (*since Monday*, *between 1 and 10 October*), prepositions do not.
    """
    tokens = tokens_of(text[:MAX_CHARACTERS])
    found, i = [], 0
    while i < len(tokens):
        best = _longest(tokens, i)
        if best is None and found and tokens[i].value("previous") is not None:
            best = (lambda here: here.day(0)), i + 1, "previous"
        if best is not None and _stands(tokens, i, best[2]):
            found.append(text[tokens[i].start : tokens[best[1] - 1].end].strip(" ,"))
        i = best[1] if best is not None else i + 1
    return tuple(dict.fromkeys(found))


def resolve_dates(phrases: Sequence[str], today: date, calendar: Calendar | None = None) -> list[Resolved]:
    """The days of each phrase, seen from a day; *the one before* refers to the phrase before it."""
    found: list[Resolved] = []
    before: Period | None = None
    for phrase in phrases:
        resolved = _resolve(phrase, Almanac(today, calendar), before)
        before = resolved.period or before
        found.append(resolved)
    return found


def _resolve(phrase: str, almanac: Almanac, before: Period | None) -> Resolved:
    tokens = _trimmed(tokens_of(phrase[:MAX_CHARACTERS]))
    if len(tokens) and len(tokens) == sum(1 for t in tokens if t.value("previous") is not None):
        if before is None:
            return Resolved(phrase, None, "no period was named before it")
        make: Make = lambda here: here.before(before)  # noqa: E731
    else:
        best = _longest(tokens, 0) if tokens else None
        if best is None or best[1] < len(tokens):
            return Resolved(phrase, None, "it cannot be read as a date")
        make = best[0]
    try:
        return Resolved(phrase, make(almanac))
    except NoSuchDateError as error:
        return Resolved(phrase, None, str(error))
    except (ValueError, OverflowError):
        return Resolved(phrase, None, "it is beyond the calendar")


def _trimmed(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Without filling words at both ends."""
    kept = list(tokens)
    while kept and _is_fill(kept[0]) and len(kept[0].words) == 1:
        kept.pop(0)
    while kept and _is_fill(kept[-1]) and len(kept[-1].words) == 1:
        kept.pop()
    return tuple(kept)


def _is_fill(token: Token) -> bool:
    return token.value("fill") is not None


# -- grammar -------------------------------------------------------------------------------------

Parse = tuple[Make, int, str]
"""What a phrase means, the token after it, and the kind of phrase."""


def _longest(tokens: Sequence[Token], i: int) -> Parse | None:
    """The longest phrase that begins here; of equal ones the first."""
    if not tokens[i].words:
        return None
    found = [*_ranges(tokens, i), *_bounded(tokens, i), *_periods(tokens, i)]
    return max(found, key=lambda parse: parse[1], default=None)


def _periods(tokens: Sequence[Token], i: int) -> Iterator[Parse]:
    begins = {word.kind for word in tokens[i].words} if i < len(tokens) else set()
    for kinds, make in _FORMS if begins & _FIRST else ():
        if kinds[0] in begins and (match := _match(tokens, i, kinds)) is not None:
            values, j = match
            yield (lambda here, m=make, v=values: m(here, *v)), j, " ".join(kinds)


def _match(tokens: Sequence[Token], i: int, kinds: Sequence[str]) -> tuple[tuple[Any, ...], int] | None:
    """The values of tokens of these kinds one after the other, filling words between them left out."""
    values = []
    for n, kind in enumerate(kinds):
        while n and i < len(tokens) and tokens[i].value(kind) is None and _is_fill(tokens[i]):
            i += 1
        if i >= len(tokens) or (value := tokens[i].value(kind)) is None:
            return None
        values.append(value)
        i += 1
    return tuple(values), i


def _longest_period(tokens: Sequence[Token], i: int) -> Parse | None:
    while i < len(tokens) and _is_fill(tokens[i]) and not any(True for _ in _periods(tokens, i)):
        i += 1
    return max(_periods(tokens, i), key=lambda parse: parse[1], default=None)


def _bounded(tokens: Sequence[Token], i: int) -> Iterator[Parse]:
    token = tokens[i]
    for sign in ("since", "before", "until", "after"):
        if token.value(sign) is not None and (parse := _longest_period(tokens, i + 1)) is not None:
            yield _bound(sign, parse[0]), parse[1], f"{sign} {parse[2]}"
        elif token.value(sign) is not None and sign == "until" and (j := _match(tokens, i, (sign, "now"))):
            yield _bound(sign, lambda here: here.day(0)), j[1], "until now"
    for sign in ("older", "newer"):
        if (match := _match(tokens, i, (sign, "number", "unit"))) is not None:
            (_, count, unit), j = match
            j += j < len(tokens) and tokens[j].value("old") is not None
            yield (lambda here, s=sign, c=count, u=unit: _aged(here, s, c, u)), j, sign
    parse = _longest_period(tokens, i)  # 周一以来, 月曜日から: the sign stands behind
    if parse is not None and parse[1] < len(tokens) and re.match(f"[{CJK}]", tokens[parse[1]].text):
        for sign in ("since", "before", "until", "after"):
            if tokens[parse[1]].value(sign) is not None:
                yield _bound(sign, parse[0]), parse[1] + 1, f"{sign} {parse[2]}"


def _bound(sign: str, make: Make) -> Make:
    if sign == "since":
        return lambda here: here.since(make(here))
    if sign == "after":
        return lambda here: here.after(make(here))
    if sign == "until":
        return lambda here: here.until(make(here))
    return lambda here: here.earlier(make(here))


def _aged(here: Almanac, sign: str, count: int, unit: str) -> Period:
    there = Period(here.away(-count, unit), here.today)
    return here.earlier(there) if sign == "older" else here.since(there)


def _ranges(tokens: Sequence[Token], i: int) -> Iterator[Parse]:
    """*between A and B*, *from A to B*, *A to B*; the one may lend the other its month or unit."""
    token = tokens[i]
    openings = [(i + 1, "and")] if token.value("between") is not None else []
    openings += [(i + 1, "to")] if token.value("from") is not None else []
    for start, joint in [*openings, (i, "to")]:
        for first, middle in _ends(tokens, start):
            while middle < len(tokens) and tokens[middle].value(joint) is None and _is_fill(tokens[middle]):
                middle += 1
            if middle >= len(tokens) or tokens[middle].value(joint) is None:
                continue
            for second, end in _ends(tokens, middle + 1):
                if start == i and isinstance(first, int) and isinstance(second, int):
                    continue  # "3 - 4" alone says nothing
                end += end < len(tokens) and tokens[end].text == "まで"
                yield (lambda here, a=first, b=second: _between(here, a, b)), end, "range"


End = tuple[Any, int]


def _ends(tokens: Sequence[Token], i: int) -> list[End]:
    """What may stand at an end of a range: a period, now, or a bare number (as an int)."""
    while i < len(tokens) and _is_fill(tokens[i]) and len(tokens[i].words) == 1:
        i += 1
    if i >= len(tokens):
        return []
    found: list[End] = []
    if (parse := max(_periods(tokens, i), key=lambda p: p[1], default=None)) is not None:
        found.append(((parse[0], _lent(tokens, i, parse[1])), parse[1]))
    if not found and tokens[i].value("now") is not None:
        found.append(((lambda here: here.day(0), None), i + 1))
    if not found and isinstance(number := tokens[i].value("number"), int):
        found.append((number, i + 1))
    return found


def _lent(tokens: Sequence[Token], start: int, end: int) -> tuple[str, int] | None:
    """The month or the unit that a bare number at the other end of a range borrows."""
    for token in tokens[start:end]:
        if isinstance(month := token.value("month"), int):
            return "month", month
        if (unit := token.value("unit")) in ("sprint", "week", "quarter"):
            return str(unit), 0
    return None


def _between(here: Almanac, first: Any, second: Any) -> Period:
    """From the first day of one to the last of the other."""
    a = _end(here, first, second)
    b = _end(here, second, first)
    # "1 to 15 November", asked on the 5th: the end is yet to come, not a year ago.
    if a.first is not None and b.first is not None and b.last < a.first and b.unit == "day" and a.unit == "day":
        later = b.last.replace(year=b.last.year + 1) if (b.last.month, b.last.day) != (2, 29) else b.last
        if later.year == a.first.year and later >= a.first:
            b = Period(later, later)
    return here.span(a.first, b.last)


def _end(here: Almanac, end: Any, other: Any) -> Period:
    if not isinstance(end, int):
        return end[0](here)
    lent = None if isinstance(other, int) else other[1]
    if lent is not None and lent[0] == "month":
        return here.on(None, lent[1], end)
    if lent is not None:
        return {"sprint": here.sprint, "week": here.week, "quarter": here.quarter}[lent[0]](end)
    if here.calendar is not None and end >= here.calendar.first_sprint and (end > 31 or isinstance(other, tuple)):
        return here.sprint(end)
    return here.day_of_month(end)


def _stands(tokens: Sequence[Token], i: int, kind: str) -> bool:
    """Whether a phrase found in a text is a date there, and not other words of the same form."""
    first = tokens[i]
    if kind in ("until now", "until day"):  # everything is until today
        return False
    bare = re.sub(r"['’]s?$", "", first.text.casefold())
    if kind == "month" and bare in FIRM:
        return first.text[:1].isupper() and i > 0 and bare == first.text.casefold()
    if kind == "year":
        before = tokens[i - 1] if i else None
        said = {word.kind for word in before.words} - {"fill"} if before is not None else set()
        return before is not None and (before.text.casefold() in _INTRODUCED or bool(said))
    return not (kind == "older" and first.text.casefold() in ("over", "more than"))


def _dotted(here: Almanac, text: str) -> Period:
    day, month, year = (*text.split("."), "")[:3]
    return here.on(int(year) if year else None, int(month), int(day))


def _slashed(here: Almanac, text: str) -> Period:
    a, b, year = map(int, text.split("/"))
    if a != b and a <= 12 and b <= 12:
        raise NoSuchDateError("day and month cannot be told apart; write it as YEAR-MONTH-DAY")
    return here.on(year, b, a) if b <= 12 else here.on(year, a, b)


def _iso(here: Almanac, text: str) -> Period:
    return here.on(*map(int, text.split("-")))


def _iso_month(here: Almanac, text: str) -> Period:
    year, month = map(int, text.split("-"))
    if not 1 <= month <= 12:
        raise NoSuchDateError(f"a year has no month {month}")
    return here.month(month, year)


def _numbered(here: Almanac, unit: str, number: int, year: int | None = None) -> Period:
    if unit == "sprint":
        return here.sprint(number)
    if unit == "week":
        return here.week(number, year)
    if unit == "quarter":
        return here.quarter(number, year)
    raise NoSuchDateError(f"{unit}s have no numbers")


def _two(here: Almanac, unit: str, first: int, _: str, second: int) -> Period:
    return here.span(_numbered(here, unit, first).first, _numbered(here, unit, second).last)


def _week_of(here: Almanac, unit: str, day: int, month: int) -> Period:
    there = here.on(None, month, day)
    if unit != "week" or there.first is None:
        raise NoSuchDateError(f"no {unit} is named by a day")
    year, week, _ = there.first.isocalendar()
    return here.week(week, year)


_FORMS: tuple[tuple[tuple[str, ...], Callable[..., Period]], ...] = (
    (("iso",), _iso),
    (("iso_month",), _iso_month),
    (("dotted",), _dotted),
    (("slashed",), _slashed),
    (("year", "month", "number"), lambda here, year, month, day: here.on(year, month, day)),
    (("weekday", "number", "month", "year"), lambda here, _, day, month, year: here.on(year, month, day)),
    (("weekday", "month", "number", "year"), lambda here, _, month, day, year: here.on(year, month, day)),
    (("weekday", "number", "month"), lambda here, _, day, month: here.on(None, month, day)),
    (("weekday", "month", "number"), lambda here, _, month, day: here.on(None, month, day)),
    (("number", "month", "year"), lambda here, day, month, year: here.on(year, month, day)),
    (("month", "number", "year"), lambda here, month, day, year: here.on(year, month, day)),
    (("number", "month"), lambda here, day, month: here.on(None, month, day)),
    (("month", "number"), lambda here, month, day: here.on(None, month, day)),
    (("year", "month"), lambda here, year, month: here.month(month, year)),
    (("month", "year"), lambda here, month, year: here.month(month, year)),
    (("relation", "month"), lambda here, relation, month: here.related_month(relation, month)),
    (("month", "relation_after"), lambda here, month, relation: here.related_month(relation, month)),
    (("month",), lambda here, month: here.month(month)),
    (("nth",), lambda here, day: here.day_of_month(day)),
    (("relation", "weekday"), lambda here, relation, day: here.weekday(day, relation)),
    (("weekday", "relation_after"), lambda here, day, relation: here.weekday(day, relation)),
    (("weekday",), lambda here, day: here.weekday(day)),
    (("unit", "before_last"), lambda here, unit, _: here.shifted(-2, unit)),
    (("before_last", "unit"), lambda here, _, unit: here.shifted(-2, unit)),
    (("relation", "number", "unit"), lambda here, relation, count, unit: here.lasting(relation, count, unit)),
    (("number", "relation", "unit"), lambda here, count, relation, unit: here.lasting(relation, count, unit)),
    (("number", "unit", "relation_after"), lambda here, count, unit, relation: here.lasting(relation, count, unit)),
    (("relation", "unit"), lambda here, relation, unit: here.related(relation, unit)),
    (("unit", "relation_after"), lambda here, unit, relation: here.related(relation, unit)),
    (("number", "unit", "ago"), lambda here, count, unit, _: here.ago(count, unit)),
    (("ago_before", "number", "unit"), lambda here, _, count, unit: here.ago(count, unit)),
    (("unit", "number", "month"), _week_of),
    (("unit", "number", "and", "number"), _two),
    (("unit", "number", "year"), _numbered),
    (("unit", "number"), _numbered),
    (("ordinal", "unit", "year"), lambda here, number, unit, year: _numbered(here, unit, number, year)),
    (("year", "ordinal", "unit"), lambda here, year, number, unit: _numbered(here, unit, number, year)),
    (("ordinal", "unit"), lambda here, number, unit: _numbered(here, unit, number)),
    (("quarter", "year"), lambda here, number, year: here.quarter(number, year)),
    (("year", "quarter"), lambda here, year, number: here.quarter(number, year)),
    (("quarter",), lambda here, number: here.quarter(number)),
    (("half", "year"), lambda here, number, year: here.half(number, year)),
    (("half",), lambda here, number: here.half(number)),
    (("relation", "unit", "to_date"), lambda here, relation, unit, _: here.related(relation, unit)),
    (("to_date", "relation", "unit"), lambda here, _, relation, unit: here.related(relation, unit)),
    (("unit", "to_date"), lambda here, unit, _: here.related("this", unit)),
    (("year",), lambda here, year: here.year(year)),
    (("day",), lambda here, offset: here.day(offset)),
)
"""Each way of naming a period: the kinds of its words, and what it is."""

_FIRST = frozenset(kinds[0] for kinds, _ in _FORMS)
