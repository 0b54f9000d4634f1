"""Builds bounds (*since X*), ranges (*X to Y*) and references (*the one before*) from periods."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from .forms import Make, Parse
from .period_parts import Almanac
from .periods import DAY, Period
from .table import day_month, order_of, slashed
from .tokens import Token

_RECURRING = frozenset({"weekday", "nth", "month", "dom month", "month dom", "dom", "nth month", "day_month"})
"""Forms of days and months that recur, as weekdays do."""


class NamedDay(int):
    """A number at an end of a range that names a day, as *the 30th* does, and so no sprint."""


def bounded(sign: str, parse: Parse) -> Make:
    """The days since, before, until or after a period, as ``sign`` says."""
    make = parse.point or parse.make
    if sign == "since":
        return lambda here: here.since(make(here))
    if sign == "after":
        return lambda here: here.after(make(here))
    if sign == "until" or (sign == "before" and parse.kind == "edge end"):
        return lambda here: here.until(make(here))
    return lambda here: here.earlier(make(here))


def halves(lower: Parse, upper: Parse) -> Make:
    """The range from a lower to an upper bound, as if it were from the one period to the other.

    Where both recur (*since Monday until Wednesday*, said on a Tuesday), the end is the first one after the beginning.
    """
    form = upper.kind.partition(" ")[2]
    comes_back = form in _RECURRING and form == lower.kind.partition(" ")[2]

    def make(here: Almanac) -> Period:
        first, last = lower.make(here).first, upper.make(here).last
        if first is not None and last < first and comes_back:
            seen = (upper.make(Almanac(first + days * DAY, here.calendar)).last for days in (7, 31, 366))
            last = next((there for there in seen if there >= first and there.year == first.year), last)
        return here.span(first, last)

    return make


def edge_day_of(parse: Parse, where: str) -> Parse:
    """The beginning or the end of a period, for a bound such as *before this quarter began*."""
    day = lambda here: here.edge_day(parse.make(here), where)  # noqa: E731
    return parse._replace(make=day, point=day, kind=f"edge {where}")


def aged(here: Almanac, sign: str, count: int, unit: str) -> Period:
    """The days that are older, or newer, than ``count`` units."""
    there = Period(here.away(-count, unit), here.today)
    return here.earlier(there) if sign == "older" else here.since(there)


def lent(tokens: Sequence[Token], start: int, end: int) -> tuple[str, int | str] | None:
    """What one end of a range lends to a bare number at the other: a month, a unit, or an order of day and month.

    It is a pair of what is lent (``month``, ``order`` or a unit's name) and its value; None for nothing.
    """
    for i, token in enumerate(tokens[start:end], start):
        if token.value("weekday_said") is not None and any(t.value("month") is not None for t in tokens[i + 1 : end]):
            continue  # "mar 25 nov", a Tuesday
        if (text := token.value("day_month")) is not None:
            return "order", text
        if (text := token.value("slashed")) is not None:
            return "order", f"{text} {order_of(text)}"
        if isinstance(month := token.value("month"), int):
            return "month", month
        if token.value("week") is not None:
            return "week", 0  # "KW43–44"
        if (unit := token.value("unit")) in ("sprint", "week", "quarter"):
            return str(unit), 0
    return None


def between(here: Almanac, first: Any, second: Any) -> Period:
    """The range between two ends, each a bare number or a parse with what it lends to the other end."""
    a = _end(here, first, second)
    b = _end(here, second, first)
    if a.first is not None and b.last < a.first and (isinstance(second, int) or second[0].kind in _RECURRING):
        b = _coming(here, a.first, first, second) or b
    return here.span(a.first, b.last)


def _coming(here: Almanac, start: date, first: Any, second: Any) -> Period | None:
    """The first occurrence, after the beginning of a range, of an end that recurs; None if there is none.

    In *1 to 15 November* asked on the 5th, *Monday to Wednesday* on a Tuesday, and *the 28th to the 3rd*, the end is
    yet to come, and not a year, a week or a month ago.
    """
    for days in (7, 31, 366):
        there = _end(Almanac(start + days * DAY, here.calendar), second, first)
        if there.first is not None and there.first >= start:
            same_year = there.end.year == start.year
            return here.as_far_as_today(there) if days < 366 or same_year else None
    return None


def _end(here: Almanac, end: Any, other: Any) -> Period:
    if not isinstance(end, int):
        if not isinstance(other, int) and other[1] and other[1][0] == "order":
            order = str(other[1][1]).split()[1]
            if end[0].kind.endswith("day_month"):
                return day_month(here, end[1][1], order=order)
            if end[0].kind == "slashed":
                return slashed(here, str(end[1][1]).split()[0], order)
        return end[0].make(here)
    loan = None if isinstance(other, int) else other[1]
    if not isinstance(other, int) and (other[0].kind in ("nth of", "dotted", "iso") or (loan and loan[0] == "order")):
        month = other[0].make(here).last
        return here.on(month.year, month.month, end)
    if loan is not None and loan[0] == "month":
        return here.on(None, loan[1], end)
    if isinstance(end, NamedDay) and loan is not None and loan[0] == "sprint":
        return here.day_of_month(end)  # "from sprint 38 up to the 19th"
    if loan is not None:
        return {"sprint": here.sprint, "week": here.week, "quarter": here.quarter}[loan[0]](end)
    if here.calendar is not None and end >= here.calendar.first_sprint and (end > 31 or isinstance(other, tuple)):
        return here.sprint(end)
    return here.day_of_month(end)


def referred(here: Almanac, said: Parse, period: Period) -> Period:
    """The period that a reference means, seen from the one named before it; *the week after* October is a week."""
    if said.kind == "same":
        return period
    if said.unit in ("week", "month", "sprint") and period.unit not in (said.unit, "days", "sprints"):
        return here.beside(period, 1, said.unit, after=said.kind == "subsequent")
    return here.before(period) if said.kind == "previous" else here.following(period)
