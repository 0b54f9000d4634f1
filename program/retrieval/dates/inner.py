"""Days and ranges relative to a period that is named behind them.

*Monday to Friday of last week*, *days 2 to 4 of sprint 41*, *between 12 and 5 days ago*, *the Thursday before sprint
41*, *the two weeks starting 3 November*, *the day sprint 42 ended*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .forms import YEARS, Parse, PeriodReader, is_fill, only_fills
from .period_parts import Almanac, start_of
from .periods import DAY, Period

_COUNTED = frozenset({"starting", "beginning", "commencing", "starting on", "ab", "from", "from the"})
"""Words between a number of days or weeks and the day on which they begin."""
_TO_COME = frozenset(
    "due expire expires expiring fällig ablaufen auslaufen vencen vence caducan caduca vencem deadline scheduled"
    " geplant planned anstehen".split()
)
"""Words beside which *in ten days* means a day; elsewhere it may be how long something took."""
_NOT_AHEAD = ("ago", "relation_after", "of", "before", "after")
_IN = frozenset({"in", "en", "em"})
_BEGINS = frozenset(
    {"of", "ahead", "between", "from", "weekday", "quarter", "month", "unit", "dom", "number", "ordinal"}
)


class _Piece(NamedTuple):
    """One end of a range within a period that is named later: its kind, its value, and the token after it."""

    kind: str
    value: Any
    end: int


class InnerReader:
    """Finds days and ranges within a period that is named behind them."""

    def __init__(self, periods: PeriodReader) -> None:
        self.periods, self.tokens = periods, periods.tokens

    def at(self, i: int) -> Iterator[Parse]:
        """Every such phrase that begins at a token."""
        if i >= len(self.tokens) or not any(word.kind in _BEGINS for word in self.tokens[i].words):
            return
        if (two := self._two(i)) is not None and two[0].kind == two[1].kind:
            yield from self._range_of(*two)
            yield from self._between_ago(*two)
        yield from self._numbered_of(i)
        yield from self._weekday_beside(i)
        yield from self._counted_from(i)
        yield from self._day_of_event(i)
        yield from self._ahead(i)

    def _value(self, i: int, kind: str) -> Any:
        return self.tokens[i].value(kind) if i < len(self.tokens) else None

    def _past_fills(self, i: int) -> int:
        while i < len(self.tokens) and (only_fills(self.tokens[i]) or self._value(i, "dia") is not None):
            i += 1
        return i

    def _two(self, i: int) -> tuple[_Piece, _Piece] | None:
        """Two ends of one kind with *to* or *and* between: *from A to B*, *between A and B*, *A to B*."""
        joint = "and" if self._value(i, "between") is not None else "to"
        first = self._piece(self._past_fills(i + (joint == "and" or self._value(i, "from") is not None)))
        at = None if first is None else first.end + (first.end < len(self.tokens) and is_fill(self.tokens[first.end]))
        if first is None or at is None:
            return None
        if joint == "to" and first.kind in ("month", "quarter") and self._value(first.end, "and") is not None:
            joint = "and"  # "Q2 and Q3 of last year"
        at = first.end if self._value(first.end, joint) is not None else at
        second = self._piece(self._past_fills(at + 1), first.kind) if self._value(at, joint) is not None else None
        return (first, second) if second is not None else None

    def _piece(self, i: int, like: str | None = None) -> _Piece | None:
        """The end of a range that stands here; a number that could be several things is one of kind ``like``."""
        for kind in ("weekday", "quarter"):
            if (value := self._value(i, kind)) is not None and like in (None, kind):
                return _Piece(kind, value, i + 1)
        if (month := self._value(i, "month")) is not None and like in (None, "month"):
            day = self._value(i + 1, "dom")
            return _Piece("month", (month, day), i + 1 + (day is not None))
        unit, number = self._value(i, "unit"), self._value(i + 1, "number")
        if unit in ("day", "week") and number is not None and like is None:
            return _Piece(f"{unit} of", number, i + 2)
        number = self._value(i, "dom") or self._value(i, "ordinal")
        if isinstance(number, int) and number > 0 and like != "weekday":
            return _Piece(like if like is not None and like.endswith(" of") else "number", number, i + 1)
        return None

    def _range_of(self, first: _Piece, second: _Piece) -> Iterator[Parse]:
        (kind, a, _), (_, b, end) = first, second
        units, make = _WITHIN[kind]
        for inner in self._wholes(end):
            if inner.unit in units and (
                not kind.endswith(" of") or inner.unit == "sprint" or self._value(end, "of") is not None
            ):
                whole = inner.make
                yield Parse(lambda here, m=whole: make(here, m(here), a, b), inner.end, "range")

    def _wholes(self, i: int) -> list[Parse]:
        """The periods that stand here or behind *of*, the longest first; *of the month* means this month."""
        of = self.periods.of(i, bare=True)
        return [*([of] if of is not None else []), *sorted(self.periods.at(i), key=lambda parse: -parse.end)]

    def _between_ago(self, first: _Piece, second: _Piece) -> Iterator[Parse]:
        """*Between 12 and 5 days ago*."""
        match = self.periods.match(second.end, ("unit", "ago")) if first.kind == "number" else None
        if match is None:
            return
        unit, (near, far) = match[0][0], sorted((first.value, second.value))  # "3 to 5 days ago", too
        make = lambda here: here.span(here.ago(far, unit).first, here.ago(near, unit).last)  # noqa: E731
        yield Parse(make, match[1], "range")

    def _numbered_of(self, i: int) -> Iterator[Parse]:
        """*Day 10 of sprint 37*."""
        unit, number = self._value(i, "unit"), self._value(i + 1, "number")
        inner = self.periods.of(i + 2) if unit in ("day", "week") and number is not None else None
        if inner is not None and inner.unit in ("sprint", "month"):
            yield Parse(lambda here: here.nth(inner.make(here), number, unit), inner.end, "nth unit", unit)

    def _weekday_beside(self, i: int) -> Iterator[Parse]:
        """*The Thursday before sprint 41*, *the first Tuesday after 12 November*."""
        i += self._value(i, "ordinal") == 1
        if (day := self._value(i, "weekday")) is None:
            return
        for sign in ("before", "after"):
            inner = self.periods.longest(i + 2) if self._value(i + 1, sign) is not None else None
            if inner is not None:
                make = lambda here, s=sign, p=inner, d=day: _nearest(here, p.make(here), d, after=s == "after")  # noqa: E731
                yield Parse(make, inner.end, f"beside {sign}", "day")

    def _counted_from(self, i: int) -> Iterator[Parse]:
        """*The two weeks starting 3 November*, *fünf Tage ab dem 3. November*."""
        match = self.periods.match(i, ("number", "unit"))
        if match is None or match[1] >= len(self.tokens):
            return
        (count, unit), j = match
        last = self.periods.longest(j + 1) if self._value(j, "ending") is not None else None
        if last is not None and (last.unit in ("day", "month") or last.point is not None):
            make = last.point or last.make
            yield Parse(lambda here: _counted_back(here, make(here), count, unit), last.end, "days")
        if self.tokens[j].text.casefold() not in _COUNTED:
            return
        inner = self.periods.longest(j + 1)
        if inner is not None and inner.unit == "day" and inner.kind != "day":  # "two weeks from today"
            yield Parse(lambda here: _counted(here, inner.make(here), count, unit), inner.end, "days")

    def _ahead(self, i: int) -> Iterator[Parse]:
        """*Dans dix jours*, *due in ten days*."""
        count, unit = self._value(i + 1, "number"), self._value(i + 2, "unit")
        if count is None or unit is None or any(self._value(i + 3, kind) is not None for kind in _NOT_AHEAD):
            return
        alone = i == 0 and len(self.tokens) == 3
        said = {token.text.casefold() for token in (*self.tokens[max(0, i - 2) : i], *self.tokens[i + 3 : i + 4])}
        if self._value(i, "ahead") is not None or (
            self.tokens[i].text.casefold() in _IN and (alone or said & _TO_COME)
        ):
            yield Parse(lambda here: here.ago(-int(count), unit), i + 3, "ahead", str(unit))

    def _day_of_event(self, i: int) -> Iterator[Parse]:
        """*The day the previous sprint started*."""
        if self._value(i, "unit") != "day" or self.tokens[i].text.casefold().endswith("s"):
            return
        inner = self.periods.longest(self._past_fills(i + 1))
        when = self._value(inner.end, "happened") if inner is not None else None
        if inner is not None and when is not None and inner.unit not in ("day", "days", "part"):
            yield Parse(lambda here: here.edge_day(inner.make(here), when), inner.end + 1, "edge day", "day")


def _weekdays(here: Almanac, week: Period, a: int, b: int) -> Period:
    return here.span(here.weekday_of(week, a).first, here.weekday_of(week, b).last)


def _days_of_month(here: Almanac, month: Period, a: int, b: int) -> Period:
    first = start_of(month)
    return here.span(here.on(first.year, first.month, a).first, here.on(first.year, first.month, b).last)


def _months(here: Almanac, year: Period, a: tuple[int, int | None], b: tuple[int, int | None]) -> Period:
    there = start_of(year).year
    first, last = (here.on(there, m, d) if d is not None else here.month(m, there) for m, d in (a, b))
    return here.span(first.first, last.last)


def _quarters(here: Almanac, year: Period, a: int, b: int) -> Period:
    there = start_of(year).year
    return here.span(here.quarter(a, there).first, here.quarter(b, there).last)


def _parts(unit: str) -> Callable[[Almanac, Period, int, int], Period]:
    return lambda here, whole, a, b: here.span(here.nth(whole, a, unit).first, here.nth(whole, b, unit).last)


_WITHIN: dict[str, tuple[tuple[str, ...], Callable[..., Period]]] = {
    "weekday": (("week",), _weekdays),
    "number": (("month",), _days_of_month),
    "month": (("year",), _months),
    "quarter": (("year",), _quarters),
    "day of": (("sprint", "month", "quarter", "week", "year"), _parts("day")),
    "week of": (("sprint", "month", "quarter"), _parts("week")),
}
"""For each kind of end, the units of the periods that it may be in, and a function to the days that are meant."""


def _nearest(here: Almanac, period: Period, weekday: int, *, after: bool) -> Period:
    """The nearest such weekday that lies before or after a period."""
    beside = period.end + DAY if after else start_of(period) - DAY
    away = (weekday - beside.weekday()) % 7 if after else -((beside.weekday() - weekday) % 7)
    return here.span(beside + away * DAY, beside + away * DAY)


def _counted(here: Almanac, day: Period, count: int, unit: str) -> Period:
    first = start_of(day)
    return here.span(first, Almanac(first, here.calendar).away(count, unit) - DAY)


def _counted_back(here: Almanac, day: Period, count: int, unit: str) -> Period:
    return here.span(Almanac(day.last + DAY, here.calendar).away(-count, unit), day.last)


def year_behind(periods: PeriodReader, i: int) -> Parse | None:
    """A year that is said behind a range: *weeks 31 to 33 of 2025*, *de 8 a 12 de dezembro deste ano*."""
    return next((one for one in periods.all_of(i) if one.unit == "year" and one.kind in (*YEARS, "year")), None)
