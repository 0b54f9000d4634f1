"""Periods seen from a day: whole, in order, and never beyond what a calendar has."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.sources import Calendar
from queryplan.program.retrieval.dates.periods import Almanac, NoSuchDateError, Period

DAYS = st.dates(date(1990, 1, 1), date(2090, 1, 1))
SPRINTS = Calendar(first_sprint=1, first_day=date(1980, 1, 7), sprint_days=10)


@given(DAYS, st.sampled_from(["day", "week", "month", "quarter", "half", "year", "sprint", "weekend"]))
@settings(deadline=None)
def test_units_follow_each_other_without_a_gap(today: date, unit: str) -> None:
    here = Almanac(today, SPRINTS)
    last, this, following = (here.shifted(by, unit) for by in (-1, 0, 1))
    assert last.first is not None
    assert this.first is not None
    assert following.first is not None
    assert last.first <= last.last < this.first <= this.last < following.first
    if unit != "weekend":
        assert last.last + timedelta(days=1) == this.first
        assert this.first <= today
        assert this.last <= today or unit == "weekend"


@given(DAYS, st.integers(1, 12), st.integers(1, 31))
@settings(deadline=None)
def test_a_day_without_a_year_is_the_latest(today: date, month: int, day: int) -> None:
    try:
        found = Almanac(today).on(None, month, day)
    except NoSuchDateError:
        assert (month, day) in {(2, 30), (2, 31), (4, 31), (6, 31), (9, 31), (11, 31)}
        return
    assert found.first == found.last <= today
    assert (today - found.last).days < 366 * 8 + 3


@given(DAYS, st.integers(0, 6))
@settings(deadline=None)
def test_a_weekday_is_the_latest_before_today(today: date, weekday: int) -> None:
    found = Almanac(today).weekday(weekday).last
    assert found.weekday() == weekday
    assert 1 <= (today - found).days <= 7


@given(DAYS, st.integers(1, 40), st.sampled_from(["day", "week", "month", "year"]))
@settings(deadline=None)
def test_the_last_so_many_end_today(today: date, count: int, unit: str) -> None:
    found = Almanac(today).lasting("last", count, unit)
    assert found.first is not None
    assert found.first < found.last == today


@given(DAYS, st.sampled_from(["week", "month", "quarter", "sprint"]))
@settings(deadline=None)
def test_the_one_before_is_the_last_one(today: date, unit: str) -> None:
    here = Almanac(today, SPRINTS)
    assert here.before(here.shifted(-1, unit)) == here.shifted(-2, unit)


def test_a_month_later_is_never_beyond_its_end() -> None:
    assert Almanac(date(2025, 3, 31)).away(-1, "month") == date(2025, 2, 28)
    assert Almanac(date(2024, 2, 29)).away(-1, "year") == date(2023, 2, 28)


def test_text_of_a_period() -> None:
    assert Period(date(2025, 1, 1), date(2025, 1, 31)).text() == "2025-01-01/2025-01-31"
    assert Period(None, date(2025, 1, 31)).text() == "../2025-01-31"


def test_what_cannot_be_says_why() -> None:
    here = Almanac(date(2025, 1, 1))
    with pytest.raises(NoSuchDateError, match="before it begins"):
        here.span(date(2025, 2, 1), date(2025, 1, 1))
    with pytest.raises(NoSuchDateError, match="without a beginning"):
        here.before(here.until(here.day(0)))
    with pytest.raises(NoSuchDateError, match="beyond the calendar"):
        here.away(-9999, "year")
