"""The table of forms that name a period: the kinds of their words, their meaning, and their unit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .period_parts import Almanac
from .periods import DAYS_OF, MONTHS_OF, NoSuchDateError, Period


def _dotted(here: Almanac, text: str) -> Period:
    day, month, year = (*text.split("."), "")[:3]
    return here.on(int(year) if year else None, int(month), int(day))


def slashed(here: Almanac, text: str, order: str = "") -> Period:
    """A day with slashes and a year; ``order`` (``dm`` or ``md``) comes from another date, if it is not certain.

    Raises:
        NoSuchDateError: day and month cannot be told apart.
    """
    a, b, year = map(int, re.split("[/-]", text))
    year += 2000 * (year < 100)
    if a != b and a <= 12 and b <= 12 and order not in ("dm", "md"):
        raise NoSuchDateError("day and month cannot be told apart; write it as YEAR-MONTH-DAY")
    return here.on(year, b, a) if b <= 12 and (a > 12 or order != "md") else here.on(year, a, b)


def order_of(text: str) -> str:
    """The order of a day with slashes: ``dm``, ``md``, or ``?`` where either number could be the month."""
    a, b = map(int, re.split("[/-]", text)[:2])
    return "dm" if a > 12 else "md" if b > 12 else "?"


def day_month(here: Almanac, text: str, order: str = "") -> Period:
    """A day and a month with a slash, given as ``14/10 dm``; ``order`` comes from another date, if it is not certain.

    Raises:
        NoSuchDateError: day and month cannot be told apart.
    """
    said, own = text.split()
    a, b = map(int, said.split("/"))
    meant = order or own if own == "?" else own
    if meant == "?" and a != b:
        raise NoSuchDateError("day and month cannot be told apart; write it as YEAR-MONTH-DAY")
    month, day = (b, a) if meant == "dm" else (a, b)
    return here.on(None, month, day)


def _iso(here: Almanac, text: str) -> Period:
    year, month, day = (text[:4], text[4:6], text[6:]) if text.isdigit() else re.split(r"[-/.]", text)
    return here.on(int(year), int(month), int(day))


def _iso_month(here: Almanac, text: str) -> Period:
    year, month = map(int, re.split("[-/]", text))
    if not 1 <= month <= 12:
        raise NoSuchDateError(f"a year has no month {month}")
    return here.month(month, year)


def _month_year(here: Almanac, text: str) -> Period:
    month, year = map(int, text.split("/"))
    return here.month(month, year)


def _dashed(here: Almanac, text: str) -> Period:
    day, month, year = re.split("[-/]", text)
    return here.on(int(year), _MONTHS.index(month[:3]) // 3 + 1, int(day))


_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"


def _with_year(make: Callable[[Almanac, int, int], Period], here: Almanac, text: str) -> Period:
    """Quarter or half and year in one word: Q3/2025, 2025-Q3, Q3'25, 3Q25."""
    letter = re.search("[A-Za-z]", text)
    assert letter is not None, "a quarter and a half have a letter"
    before, behind = (re.sub(r"\D", "", part) for part in (text[: letter.start()], text[letter.end() :]))
    number, year = (behind[0], behind[1:]) if not before else (before, behind) if len(before) == 1 else (behind, before)
    return make(here, int(number), int(year) + 2000 * (len(year) == 2))


def _iso_week(here: Almanac, text: str) -> Period:
    year, week = text.casefold().replace("-", "").split("w")
    return here.week(int(week), int(year))


def _numbered(here: Almanac, unit: str, number: int, year: int | None = None) -> Period:
    if unit == "sprint":
        return here.sprint(number)
    if number == -1 and year is not None:  # -1 means the last one of a year
        number = {"month": 12, "quarter": 4, "half": 2}.get(unit, number)
    if unit == "month" and year is not None and 1 <= number <= 12:
        return here.month(number, year)
    if unit in ("week", "quarter", "half"):
        return {"week": here.week, "quarter": here.quarter, "half": here.half}[unit](number, year)
    raise NoSuchDateError(f"{unit}s have no numbers")


def _two(here: Almanac, unit: str, *numbers: Any) -> Period:
    first, second = numbers[0], numbers[-1]  # what is between them does not matter
    return here.span(_numbered(here, unit, first).first, _numbered(here, unit, second).last)


def _whole_ones(here: Almanac, relation: str, count: int, unit: str) -> Period:
    """*The last three full months*: those that are over."""
    if relation not in ("last", "past") or unit == "sprint":
        return here.lasting(relation, count, unit)
    return here.span(here.shifted(-count, unit).first, here.shifted(-1, unit).last)


def _on_weekday(here: Almanac, weekday: int, day: int, month: int) -> Period:
    """A day of a month with its weekday, which may show that the coming year's is meant and not the latest."""
    latest = here.on(None, month, day)
    if latest.first is None or latest.last.weekday() == weekday or (month, day) == (2, 29):
        return latest
    coming = here.on(latest.last.year + 1, month, day)
    return coming if coming.last.weekday() == weekday else latest


def _negative(_: Almanac, *__: Any) -> Period:
    raise NoSuchDateError("no period is shorter than nothing")


def _stretch(here: Almanac, relation: str, text: str) -> Period:
    count, unit = text.split()
    return here.lasting(relation, int(count), unit)


def _stretch_ago(here: Almanac, text: str, _: Any) -> Period:
    count, unit = text.split()
    return here.ago(int(count), unit)


def _ago_from(here: Almanac, count: int, unit: str, _: Any, offset: int) -> Period:
    """*A week ago yesterday*, *4 years ago today*."""
    if unit in MONTHS_OF:
        there = here.day(offset).last
        months = there.year * 12 + there.month - 1 - count * MONTHS_OF[unit]
        return here.on(months // 12, months % 12 + 1, there.day)
    if unit not in DAYS_OF:
        raise NoSuchDateError(f"no day is {count} {unit}s from another")
    return here.day(offset - count * DAYS_OF[unit])


def _unit_edge(here: Almanac, value: str) -> Period:
    unit, where = value.split()
    return here.edge(here.related("this", unit), where)


def _unit_off(here: Almanac, value: str) -> Period:
    unit, by = value.split()
    return here.shifted(int(by), unit)


def _either_day(_: Almanac, __: Any) -> Period:
    raise NoSuchDateError("the word is as far before today as behind it, and does not say which")


def _weekday_before_last(here: Almanac, weekday: int, _: Any, relation: str) -> Period:
    if relation != "last":
        raise NoSuchDateError("the weekday before which is not said")
    last = here.weekday(weekday)
    return here.before(last)


def _before_last(here: Almanac, unit: str, _: Any, relation: str, count: int = 1) -> Period:
    """*The week before last*, *the sprint before this one*."""
    if count != 1:
        raise NoSuchDateError(f"the {unit} before which is not said")
    return here.shifted({"last": -2, "past": -2, "this": -1, "next": 0}[relation], unit)


Form = tuple[tuple[str, ...], Callable[..., Period], "str | int"]
FORMS: tuple[Form, ...] = (
    (("iso",), _iso, "day"),
    (("iso_span",), lambda here, text: here.span(_iso(here, text[:10]).first, _iso(here, text[-10:]).last), "days"),
    (("iso_month",), _iso_month, "month"),
    (("iso_week",), _iso_week, "week"),
    (("month_year",), _month_year, "month"),
    (("dashed",), _dashed, "day"),
    (("dotted",), _dotted, "day"),
    (("slashed",), slashed, "day"),
    (("quarter_year",), lambda h, t: _with_year(Almanac.quarter, h, t), "quarter"),
    (("half_year",), lambda h, t: _with_year(Almanac.half, h, t), "half"),
    (("sprint_number",), lambda here, number: here.sprint(number), "sprint"),
    (("week",), lambda here, number: here.week(number), "week"),
    (("year", "month", "dom"), lambda here, year, month, day: here.on(year, month, day), "day"),
    (("weekday", "dom", "month", "year"), lambda here, _, day, month, year: here.on(year, month, day), "day"),
    (("weekday", "month", "dom", "year"), lambda here, _, month, day, year: here.on(year, month, day), "day"),
    (("weekday", "dom", "month"), lambda here, _, day, month: here.on(None, month, day), "day"),
    (("weekday", "month", "dom"), lambda here, _, month, day: here.on(None, month, day), "day"),
    (("weekday", "iso"), lambda here, _, text: _iso(here, text), "day"),
    (("weekday", "dotted"), lambda here, _, text: _dotted(here, text), "day"),
    (("weekday", "slashed"), lambda here, _, text: slashed(here, text), "day"),
    (("weekday", "day_month"), lambda here, _, text: day_month(here, text), "day"),
    (("day_month",), day_month, "day"),
    (("weekday_said", "dom", "month", "year"), lambda here, _, day, month, year: here.on(year, month, day), "day"),
    (("weekday_said", "dom", "month"), lambda here, _, day, month: here.on(None, month, day), "day"),
    (("weekday_said", "dotted"), lambda here, _, text: _dotted(here, text), "day"),
    (("weekday_said", "day_month"), lambda here, _, text: day_month(here, text), "day"),
    (("weekday_said", "relation_after"), lambda here, day, relation: here.weekday(day, relation), "day"),
    (("weekday_of_last",), lambda here, day: here.weekday_of(here.shifted(-1, "week"), day), "day"),
    (("weekday", "nth"), lambda here, weekday, day: here.day_of_month(day, weekday), "day"),
    (("dom", "month", "year"), lambda here, day, month, year: here.on(year, month, day), "day"),
    (("month", "dom", "year"), lambda here, month, day, year: here.on(year, month, day), "day"),
    (("dom", "month"), lambda here, day, month: here.on(None, month, day), "day"),
    (("month", "dom"), lambda here, month, day: here.on(None, month, day), "day"),
    (("ordinal", "of_strict", "month"), lambda here, day, _, month: here.on(None, month, max(day, 1)), "day"),
    (("ordinal", "of_strict", "month", "year"), lambda here, d, _, month, year: here.on(year, month, max(d, 1)), "day"),
    (("weekday", "ordinal", "of_strict", "month"), lambda h, w, d, _, m: _on_weekday(h, w, max(d, 1), m), "day"),
    (("day_said", "month", "year"), lambda here, day, month, year: here.on(year, month, day), "day"),
    (("day_said", "month"), lambda here, day, month: here.on(None, month, day), "day"),
    (("dia", "day_said", "month"), lambda here, _, day, month: here.on(None, month, day), "day"),
    (("weekday", "day_said", "month"), lambda here, w, day, month: _on_weekday(here, w, day, month), "day"),
    (("day_of", "of_strict", "month", "year"), lambda here, day, _, month, year: here.on(year, month, day), "day"),
    (("day_of", "of_strict", "month"), lambda here, day, _, month: here.on(None, month, day), "day"),
    (("weekday", "day_of", "of_strict", "month"), lambda h, w, day, _, month: _on_weekday(h, w, day, month), "day"),
    (("month", "bare_article", "day_of", "year"), lambda here, month, _, day, year: here.on(year, month, day), "day"),
    (("month", "bare_article", "day_of"), lambda here, month, _, day: here.on(None, month, day), "day"),
    (("weekday", "month", "bare_article", "day_of"), lambda h, w, month, _, day: _on_weekday(h, w, day, month), "day"),
    (("year", "month"), lambda here, year, month: here.month(month, year), "month"),
    (("month", "year"), lambda here, month, year: here.month(month, year), "month"),
    (("relation", "month"), lambda here, relation, month: here.related_month(relation, month), "month"),
    (("month", "relation_after"), lambda here, month, relation: here.related_month(relation, month), "month"),
    (("month", "slash", "year"), lambda here, month, _, year: here.month(month, year), "month"),
    (("month",), lambda here, month: here.month(month), "month"),
    (("dia", "dom", "month"), lambda here, _, day, month: here.on(None, month, day), "day"),
    (("dia", "dom"), lambda here, _, day: here.day_of_month(day), "day"),
    (("nth",), lambda here, day: here.day_of_month(day), "day"),
    (("relation", "weekday"), lambda here, relation, day: here.weekday(day, relation), "day"),
    (("weekday", "relation_after"), lambda here, day, relation: here.weekday(day, relation), "day"),
    (("weekday",), lambda here, day: here.weekday(day), "day"),
    (("unit", "before_last"), lambda here, unit, _: here.shifted(-2, unit), 0),
    (("before_last", "unit"), lambda here, _, unit: here.shifted(-2, unit), 1),
    (("unit", "before", "relation"), _before_last, 0),
    (("unit", "before", "relation", "number"), _before_last, 0),
    (("weekday", "before", "relation"), _weekday_before_last, "day"),
    (("relation", "number", "whole", "unit"), lambda h, rel, n, _, unit: _whole_ones(h, rel, n, unit), "days"),
    (("relation", "whole", "number", "unit"), lambda h, rel, _, n, unit: _whole_ones(h, rel, n, unit), "days"),
    (("relation", "number", "unit", "whole"), lambda h, rel, n, unit, _: _whole_ones(h, rel, n, unit), "days"),
    (("number", "relation", "unit", "whole"), lambda h, n, rel, unit, _: _whole_ones(h, rel, n, unit), "days"),
    (("relation", "number", "unit"), lambda here, relation, count, unit: here.lasting(relation, count, unit), "days"),
    (("number", "relation", "unit"), lambda here, count, relation, unit: here.lasting(relation, count, unit), "days"),
    (("number", "unit", "ago"), lambda here, count, unit, _: here.ago(count, unit), 1),
    (("number", "unit", "relation_after"), lambda here, n, unit, relation: here.lasting(relation, n, unit), "days"),
    (("relation", "minus", "number", "unit"), _negative, "days"),
    (("relation", "too_many", "unit"), lambda here, relation, n, unit: here.lasting(relation, n, unit), "days"),
    (("too_many", "relation", "unit"), lambda here, n, relation, unit: here.lasting(relation, n, unit), "days"),
    (("too_many", "unit", "relation_after"), lambda here, n, unit, relation: here.lasting(relation, n, unit), "days"),
    (("too_many", "unit", "ago"), lambda here, count, unit, _: here.ago(count, unit), 1),
    (("ago_before", "too_many", "unit"), lambda here, _, count, unit: here.ago(count, unit), 2),
    (("relation", "stretch"), _stretch, "days"),
    (("stretch", "relation_after"), lambda here, text, relation: _stretch(here, relation, text), "days"),
    (("stretch", "ago"), _stretch_ago, "day"),
    (("ago_before", "stretch"), lambda here, _, text: _stretch_ago(here, text, _), "day"),
    (("relation", "unit"), lambda here, relation, unit: here.related(relation, unit), 1),
    (("unit", "relation_after"), lambda here, unit, relation: here.related(relation, unit), 0),
    (("number", "weekday", "ago"), lambda here, n, day, _: here.weekday_ago(day, n), "day"),
    (("number", "unit", "ago", "day"), _ago_from, "day"),
    (("half_year_word", "ago"), lambda here, _, __: here.shifted(-1, "half"), "half"),
    (("ago_before", "number", "unit"), lambda here, _, count, unit: here.ago(count, unit), 2),
    (("unit", "number", "and", "number"), _two, "days"),
    (("unit", "number", "fill", "number", "and", "number"), _two, "days"),
    (("unit", "number", "year"), _numbered, 0),
    (("unit", "number"), _numbered, 0),
    (("ordinal", "unit", "year"), lambda here, number, unit, year: _numbered(here, unit, number, year), 1),
    (("year", "ordinal", "unit"), lambda here, year, number, unit: _numbered(here, unit, number, year), 2),
    (("ordinal", "unit"), lambda here, number, unit: _numbered(here, unit, number), 1),
    (("quarter", "year"), lambda here, number, year: here.quarter(number, year), "quarter"),
    (("year", "quarter"), lambda here, year, number: here.quarter(number, year), "quarter"),
    (("quarter",), lambda here, number: here.quarter(number), "quarter"),
    (("year", "half"), lambda here, year, number: here.half(number, year), "half"),
    (("half", "year"), lambda here, number, year: here.half(number, year), "half"),
    (("half",), lambda here, number: here.half(number), "half"),
    (("ordinal", "half_part", "of", "year"), lambda here, number, _, __, year: here.half(number, year), "half"),
    (("relation", "unit", "to_date"), lambda here, relation, unit, _: here.related(relation, unit), 1),
    (("to_date", "relation", "unit"), lambda here, _, relation, unit: here.related(relation, unit), 2),
    (("to_date", "unit"), lambda here, _, unit: here.related("this", unit), 1),
    (("unit", "to_date"), lambda here, unit, _: here.related("this", unit), 0),
    (("so_far",), lambda here, unit: here.related("this", unit), "days"),
    (("fixed", "year"), lambda here, text, year: here.on(year, *map(int, text.split("-"))), "day"),
    (("fixed",), lambda here, text: here.on(None, *map(int, text.split("-"))), "day"),
    (("unit_off",), _unit_off, "days"),
    (("since_weekday",), lambda here, day: here.since(here.weekday(day)), "days"),
    (("either_day",), _either_day, "day"),
    (("years_off",), lambda here, offset: here.shifted(offset, "year"), "year"),
    (("unit_edge",), _unit_edge, "part"),
    (("year",), lambda here, year: here.year(year), "year"),
    (("day",), lambda here, offset: here.day(offset), "day"),
    (("weekend",), lambda here, _: here.latest_weekend(), "weekend"),
)  # fmt: skip
"""Each way of naming a period: the kinds of its words, a function to the period, and the unit, as its name or as the
place of the word for it."""

FIRST = frozenset(kinds[0] for kinds, _, _ in FORMS) | {
    "ordinal",
    "edge",
    "number",
    "unit",
    "dom",
    "relation",
    "weekday_said",
    "week_from",
}
