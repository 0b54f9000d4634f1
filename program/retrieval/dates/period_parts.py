"""Parts of periods and their neighbours: their second week, their end, the two weeks before.

Parts are those of the whole period, including days that are yet to come. A result that contains today ends today.
"""

from __future__ import annotations

from datetime import date

from . import periods
from .periods import DAY, DAYS_OF, MONTHS_OF, NoSuchDateError, Period, month_start


class Almanac(periods.Almanac):
    """Periods seen from one day, with their parts and neighbours."""

    def nth(self, period: Period, number: int, unit: str, count: int = 1) -> Period:
        """``count`` units at a place in a period: its second week, its last three days; -1 is the last place.

        A week of a month is seven days counted from its first day, or up to its last. For a high number in a year it is
        the calendar week.
        """
        first, end = start_of(period), period.end
        if unit == "week" and count == 1 and number > 4 and period.unit == "year":
            return self.week(number, first.year)
        if unit == "sprint":
            return self._nth_sprint(period, number, count)
        if unit == "weekend":
            saturdays = [d for d in (first + n * DAY for n in range((end - first).days + 1)) if d.weekday() == 5]
            if not 1 <= abs(number) * count <= len(saturdays):
                raise NoSuchDateError(f"it has no weekend {abs(number) * count}")
            there = saturdays[(number - 1) * count if number > 0 else number * count]
            return self._clipped(there, there + (1 + 7 * (count - 1)) * DAY, unit)
        if unit in MONTHS_OF:
            step = count * MONTHS_OF[unit]
            base = first if number > 0 else month_start(end, 1)
            there = month_start(base, step * (number - 1 if number > 0 else number))
            last = month_start(there, step) - DAY
        elif unit in DAYS_OF:
            days = count * DAYS_OF[unit]
            there = first + (number - 1) * days * DAY if number > 0 else end + DAY + number * days * DAY
            last = there + (days - 1) * DAY
        else:
            raise NoSuchDateError(f"{unit}s of a period are not numbered")
        if there < first or last > end + (DAYS_OF["week"] - 1) * DAY * (unit == "week"):
            raise NoSuchDateError(f"it has no {unit} {abs(number) * count}")
        return self._clipped(there, min(last, end), unit)

    def _nth_sprint(self, period: Period, number: int, count: int) -> Period:
        """Sprints at a place among those that begin in the period."""
        one = self._sprint_number(start_of(period) - DAY) + 1
        end = self._sprint_number(period.end)
        first = one + (number - 1) * count if number > 0 else end + 1 + number * count
        if not one <= first <= first + count - 1 <= end:
            raise NoSuchDateError(f"no {abs(number) * count} sprints begin in it")
        return self._clipped(start_of(self.sprint(first)), self.sprint(first + count - 1).end, "sprint")

    def nth_weekday(self, period: Period, number: int, weekday: int) -> Period:
        """A weekday of a period by its place: the first Monday, the last Friday."""
        first, end = start_of(period), period.end
        if number > 0:
            there = first + ((weekday - first.weekday()) % 7 + 7 * (number - 1)) * DAY
        else:
            there = end - (end.weekday() - weekday) % 7 * DAY
        if not first <= there <= end:
            raise NoSuchDateError("it has no such weekday")
        return Period(there, there)

    def half_of(self, period: Period, number: int) -> Period:
        """The first or second half of a period; of a year six months each."""
        if not 1 <= number <= 2:
            raise NoSuchDateError(f"nothing has a half {number}")
        first, end = start_of(period), period.end
        if period.unit == "year":
            return self.half(number, first.year)
        middle = first + (end - first + DAY) // 2
        return self._clipped(*((first, middle - DAY) if number == 1 else (middle, end)), "half of one")

    def edge(self, period: Period, where: str) -> Period:
        """The beginning, middle or end of a period: a third of it each, in whole months for a quarter or a year.

        The beginning of a week is Monday and Tuesday. ``whole`` means all of the period (*earlier this week*).
        """
        first, end = start_of(period), period.end
        if where == "whole":
            return period
        if period.unit in ("quarter", "half", "year"):
            months = MONTHS_OF[period.unit] // 3
            starts = [month_start(first, n * months) for n in range(4)]
        else:
            third = max(((end - first).days + 1) // 3, 1)
            starts = [first, min(first + third * DAY, end), min(first + 2 * third * DAY, end), end + DAY]
        n = ("start", "middle", "end").index(where)
        return self._clipped(starts[n], max(starts[n + 1] - DAY, starts[n]), f"{where} of one")

    def edge_day(self, period: Period, where: str) -> Period:
        """The one day that a bound means by the beginning, the middle or the end of a period."""
        first, end = start_of(period), period.end
        there = {"start": first, "middle": first + (end - first) // 2, "end": end, "whole": first}[where]
        return Period(there, there)

    def beside(self, period: Period, count: int, unit: str, *, after: bool) -> Period:
        """``count`` units directly before or after a period."""
        first, last = start_of(period), period.end
        if unit == "sprint":
            number = self._sprint_number(last) + 1 if after else self._sprint_number(first) - count
            return self._clipped(start_of(self.sprint(number)), self.sprint(number + count - 1).end, "sprint")
        if unit == "weekend":  # only weekends that lie wholly on that side
            near = last + DAY if after else first - 2 * DAY
            saturday = near + (5 - near.weekday()) % 7 * DAY if after else near - (near.weekday() - 5) % 7 * DAY
            more = 7 * (count - 1) * DAY
            return self._clipped(
                saturday if after else saturday - more, saturday + DAY + (more if after else 0 * DAY), unit
            )
        if after:
            end = Almanac(last + DAY, self.calendar).away(count, unit) - DAY
            return self._clipped(last + DAY, max(end, last + DAY), unit)
        return self._clipped(Almanac(first, self.calendar).away(-count, unit), first - DAY, unit)

    def following(self, period: Period) -> Period:
        """The one after a period: the same unit, directly behind it."""
        if period.unit in ("sprint", "week", *MONTHS_OF):
            return self.beside(period, 1, period.unit, after=True)
        first = start_of(period)
        length = 7 * DAY if period.unit == "week_day" else period.end - first + DAY
        return Period(first + length, period.end + length, period.unit)

    def containing(self, period: Period, unit: str) -> Period:
        """The week, month or other unit in which a period begins."""
        there = Almanac(start_of(period), self.calendar).shifted(0, unit)
        return self._clipped(start_of(there), there.end, unit)

    def weekday_of(self, period: Period, weekday: int) -> Period:
        """A weekday of the week in which a period begins."""
        first = start_of(period)
        there = first + (weekday - first.weekday()) * DAY
        return Period(there, there, "week_day")

    def as_far_as_today(self, period: Period) -> Period:
        """A period that was resolved from another day, cut off at today if it contains today."""
        return self._clipped(start_of(period), period.end, period.unit)

    def latest_weekend(self) -> Period:
        """The current weekend, else the one before."""
        return self._weekend(0 if self.today.weekday() >= 5 else -1)


def start_of(period: Period) -> date:
    """The first day of a period that has one."""
    if period.first is None:
        raise NoSuchDateError("a period without a beginning has no parts")
    return period.first
