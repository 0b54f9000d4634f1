"""Periods of days: which days "last week", "sprint 43" or "the 14th" are, seen from a given day.

Weeks begin on Monday. A period that contains today ends today. *Last week* (month, quarter, year) is the whole one
before the current. *Last N* days, weeks or months reach from that long ago until today, while *last N sprints* are
whole sprints. A period named without its year, or a day without its month, is the latest that has begun; a bare weekday
is the latest before today.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta

from ....data.sources import Calendar

DAY = timedelta(days=1)
MONTHS_OF = {"month": 1, "quarter": 3, "half": 6, "year": 12}
DAYS_OF = {"day": 1, "week": 7, "fortnight": 14}
_MONTHS_BACK = 15
"""Number of months within which a day of the month, up to the 28th, falls on every weekday at least once."""
OF_A_DAY = {"hour": 24, "minute": 24 * 60}
"""The number of units in a day."""


class NoSuchDateError(ValueError):
    """A phrase that is a date in form, but there is no such day, sprint or quarter; says why."""


@dataclass(frozen=True)
class Period:
    """The days from ``first`` to ``last``, both included; without ``first`` there is no beginning.

    ``unit`` says what it is one of, so that *the one before* can be found. ``whole`` is its real last day where it was
    cut off at today (``last``).
    """

    first: date | None
    last: date
    unit: str = "day"
    whole: date | None = field(default=None, compare=False)

    @property
    def end(self) -> date:
        """Its last day, even if that is yet to come."""
        return self.whole or self.last

    def text(self) -> str:
        """``FIRST/LAST`` as ISO days, ``../LAST`` without a beginning."""
        return f"{self.first.isoformat() if self.first else '..'}/{self.last.isoformat()}"


class Almanac:
    """Periods seen from one day.

    Its methods raise `NoSuchDateError` for what the calendar does not have: a 31 June, a fifth quarter, a sprint where
    the card has none.

    Args:
        today: the local day of the one who asks.
        calendar: the card's sprints; without it no sprint can be resolved.
    """

    def __init__(self, today: date, calendar: Calendar | None = None) -> None:
        self.today = today
        self.calendar = calendar

    # -- named periods --------------------------------------------------------------------------

    def day(self, offset: int) -> Period:
        """The day that is ``offset`` days from today."""
        there = self.today + offset * DAY
        return Period(there, there)

    def on(self, year: int | None, month: int, day: int) -> Period:
        """A day of a month; without a year the latest that has begun."""
        if year is not None:
            there = _day(year, month, day)
            return Period(there, there)
        for back in range(9):  # 29 February recurs after eight years at most
            if _exists(self.today.year - back, month, day):
                there = date(self.today.year - back, month, day)
                if there <= self.today:
                    return Period(there, there)
        raise NoSuchDateError(f"there is no day {day} in month {month}")

    def day_of_month(self, day: int, weekday: int | None = None) -> Period:
        """The latest day with that number; with a weekday, the next or latest day that has both."""
        latest = self._latest_day(day)
        if weekday in (None, latest.weekday()):
            return Period(latest, latest)
        coming = (month_start(self.today, by) for by in (0, 1))
        before = (month_start(latest, -back) for back in range(1, _MONTHS_BACK))
        days = (first.replace(day=day) for first in (*coming, *before) if _exists(first.year, first.month, day))
        there = next((each for each in days if each.weekday() == weekday), latest)
        return Period(there, there)

    def _latest_day(self, day: int) -> date:
        for back in range(12):
            first = month_start(self.today, -back)
            if _exists(first.year, first.month, day) and first.replace(day=day) <= self.today:
                return first.replace(day=day)
        raise NoSuchDateError(f"no month has a day {day}")

    def month(self, month: int, year: int | None = None) -> Period:
        """A month; without a year the latest that has begun."""
        return self._latest("month", lambda y: date(y, month, 1), year)

    def quarter(self, number: int, year: int | None = None) -> Period:
        """A quarter of a year, from 1."""
        if not 1 <= number <= 4:
            raise NoSuchDateError(f"a year has no quarter {number}")
        return self._latest("quarter", lambda y: date(y, 3 * number - 2, 1), year)

    def half(self, number: int, year: int | None = None) -> Period:
        """A half of a year, 1 or 2."""
        if not 1 <= number <= 2:
            raise NoSuchDateError(f"a year has no half {number}")
        return self._latest("half", lambda y: date(y, 6 * number - 5, 1), year)

    def year(self, year: int) -> Period:
        """A calendar year."""
        return self._clipped(date(year, 1, 1), date(year, 12, 31), "year")

    def week(self, number: int, year: int | None = None) -> Period:
        """A week by its ISO number; without a year the latest that has begun."""
        years = (self.today.year + 1, self.today.year, self.today.year - 1) if year is None else (year,)
        for there in years:
            try:
                first = date.fromisocalendar(there, number, 1)
            except ValueError:
                continue
            if year is not None or first <= self.today:
                return self._clipped(first, first + 6 * DAY, "week")
        raise NoSuchDateError(f"there is no week {number}")

    def sprint(self, number: int) -> Period:
        """A sprint by its number."""
        calendar = self._sprints()
        if number < calendar.first_sprint:
            raise NoSuchDateError(f"there is no sprint {number}: the first is {calendar.first_sprint}")
        try:
            first = calendar.first_day + (number - calendar.first_sprint) * calendar.sprint_days * DAY
            last = first + (calendar.sprint_days - 1) * DAY
        except OverflowError as error:
            raise NoSuchDateError(f"there is no sprint {number}") from error
        return self._clipped(first, last, "sprint")

    def weekday(self, weekday: int, relation: str = "last") -> Period:
        """A weekday, where 0 is Monday: the latest before today, or the one in this or the next week."""
        if relation in ("this", "next"):
            there = self._start("week", 1 if relation == "next" else 0) + weekday * DAY
        else:
            there = self.today - ((self.today.weekday() - weekday - 1) % 7 + 1) * DAY
        return Period(there, there, "week_day")

    def weekday_ago(self, weekday: int, count: int) -> Period:
        """*Two Sundays ago*: the ``count``-th latest of that weekday before today."""
        latest = self.weekday(weekday).last
        there = latest - 7 * (count - 1) * DAY
        return Period(there, there, "week_day")

    def related_month(self, relation: str, month: int) -> Period:
        """*Last November* is the latest that is over, *next* the first that has not begun."""
        here = self.month(month)
        over = here.last < self.today or here.last == _month_end(here.last) < self.today
        if relation == "next":
            return self.month(month, here.first.year + 1 if here.first else None)
        if relation == "this" or over:
            return here
        return self.month(month, here.first.year - 1 if here.first else None)

    # -- periods by their distance ---------------------------------------------------------------

    def related(self, relation: str, unit: str) -> Period:
        """The *last*, *this* or *next* unit; *past* means that long until today."""
        if relation == "past" and unit == "weekend":
            return self._weekend(0 if self.today.weekday() >= 5 else -1)
        if relation == "past" and unit not in OF_A_DAY:
            return self.lasting("past", 1, unit)
        return self.shifted({"last": -1, "past": -1, "this": 0, "next": 1}[relation], unit)

    def shifted(self, by: int, unit: str) -> Period:
        """The unit that is ``by`` units from the one that contains today."""
        if unit in OF_A_DAY:
            return self.day(0)
        if unit == "day":
            return self.day(by)
        if unit == "fortnight":
            return self.lasting("last" if by < 0 else "next", 2, "week")
        if unit == "sprint":
            return self.sprint(self._sprint_number(self.today) + by)
        if unit == "weekend":
            return self._weekend(by)
        first = self._start(unit, by)
        return self._clipped(first, _last_of(unit, first), unit)

    def lasting(self, relation: str, count: int, unit: str) -> Period:
        """*Last N* units: from that long ago until today; of sprints, the whole ones before the current."""
        if relation == "this" and count > 1:  # "these two weeks"
            relation = "last"
        if relation == "this":
            raise NoSuchDateError("only one period can be the current one")
        if unit == "sprint":
            current = self._sprint_number(self.today)
            ends = (current - count, current - 1) if relation != "next" else (current + 1, current + count)
            return Period(self.sprint(ends[0]).first, self.sprint(ends[1]).last, "sprints")
        if relation == "next":
            return Period(self.today, self.away(count, unit), "days")
        return Period(self.away(-count, unit), self.today, "days")

    def away(self, count: int, unit: str) -> date:
        """The day that is ``count`` units from today.

        Raises:
            NoSuchDateError: it is beyond the calendar.
        """
        try:
            if each := OF_A_DAY.get(unit):
                return self.today + (count // each if count < 0 else -(-count // each)) * DAY
            if unit == "weekend":
                return self.today + 7 * count * DAY
            if unit == "sprint":
                return self.today + count * self._sprints().sprint_days * DAY
            if unit in MONTHS_OF:
                first = month_start(self.today, count * MONTHS_OF[unit])
                return first.replace(day=min(self.today.day, monthrange(first.year, first.month)[1]))
            return self.today + count * DAYS_OF[unit] * DAY
        except (OverflowError, ValueError) as error:
            raise NoSuchDateError(f"{abs(count)} {unit}s from today is beyond the calendar") from error

    def ago(self, count: int, unit: str) -> Period:
        """*N units ago*: that day, or that whole week, month, sprint."""
        if unit in ("day", "fortnight", *OF_A_DAY):
            there = self.away(-count, unit)
            return Period(there, there)
        return self.shifted(-count, unit)

    def before(self, period: Period) -> Period:
        """The one before a period: the same unit, directly before it."""
        if period.first is None:
            raise NoSuchDateError("nothing is before a period without a beginning")
        if period.unit == "sprint":
            return self.sprint(self._sprint_number(period.first) - 1)
        if period.unit in ("week", *MONTHS_OF):
            seen = Almanac(period.first, self.calendar)
            return Period(seen._start(period.unit, -1), period.first - DAY, period.unit)
        length = 7 * DAY if period.unit == "week_day" else period.last - period.first + DAY
        return Period(period.first - length, period.last - length, period.unit)

    # -- bounds ----------------------------------------------------------------------------------

    def since(self, period: Period) -> Period:
        """From its first day until today."""
        return self.span(period.first, self.today)

    def after(self, period: Period) -> Period:
        """From the day after it until today."""
        return self.span(period.end + DAY, self.today)

    def until(self, period: Period) -> Period:
        """Everything up to and including its last day."""
        return Period(None, period.last, "days")

    def earlier(self, period: Period) -> Period:
        """Everything before its first day."""
        if period.first is None:
            raise NoSuchDateError("nothing is before a period without a beginning")
        return Period(None, period.first - DAY, "days")

    def within(self, one: Period, other: Period) -> Period:
        """The days that are within both of two bounds."""
        firsts = [period.first for period in (one, other) if period.first is not None]
        return self.span(max(firsts, default=None), min(one.last, other.last))

    def span(self, first: date | None, last: date) -> Period:
        """From one day to another.

        Raises:
            NoSuchDateError: it would end before it begins.
        """
        if first is not None and first > last:
            raise NoSuchDateError(f"it would end on {last.isoformat()}, before it begins on {first.isoformat()}")
        return Period(first, last, "days")

    # -- inner parts -----------------------------------------------------------------------------

    def _latest(self, unit: str, start: Callable[[int], date], year: int | None) -> Period:
        first = start(year if year is not None else self.today.year)
        if year is None and first > self.today:
            first = start(self.today.year - 1)
        return self._clipped(first, _last_of(unit, first), unit)

    def _clipped(self, first: date, last: date, unit: str) -> Period:
        return Period(first, self.today if first <= self.today < last else last, unit, last)

    def _start(self, unit: str, by: int) -> date:
        """The first day of the unit that is ``by`` units after the one with today in it."""
        if unit == "week":
            return self.today - self.today.weekday() * DAY + 7 * by * DAY
        months = MONTHS_OF[unit]
        month = (self.today.month - 1) // months * months + 1
        return month_start(self.today.replace(month=month, day=1), by * months)

    def _weekend(self, by: int) -> Period:
        saturday = self._start("week", 0) + 5 * DAY
        # On a weekday the last weekend is that of last week, and "this" one is yet to come.
        first = saturday + 7 * by * DAY
        return self._clipped(first, first + DAY, "weekend")

    def _sprints(self) -> Calendar:
        if self.calendar is None:
            raise NoSuchDateError("the domain has no calendar of sprints")
        return self.calendar

    def _sprint_number(self, day: date) -> int:
        calendar = self._sprints()
        return calendar.first_sprint + (day - calendar.first_day).days // calendar.sprint_days


def _day(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError as error:
        raise NoSuchDateError(f"there is no day {year}-{month:02}-{day:02}") from error


def _exists(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def month_start(day: date, by: int) -> date:
    """The first day of the month that is ``by`` months after that of a day."""
    months = day.year * 12 + day.month - 1 + by
    return date(months // 12, months % 12 + 1, 1)


def _last_of(unit: str, first: date) -> date:
    """The last day of a week, month, quarter, half or year that begins on a day; as far as the calendar goes."""
    if unit == "week":
        return first + min(6, (date.max - first).days) * DAY
    return _month_end(month_start(first, MONTHS_OF[unit] - 1))


def _month_end(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])
