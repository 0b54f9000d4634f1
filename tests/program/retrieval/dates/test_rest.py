"""Phrases with more in them than a date: what says nothing is left out, what is told twice is the narrower of both."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.dates.finding import find_dates, resolve_dates
from queryplan.program.retrieval.dates.rest import with_less, without_today

TODAY = date(2025, 11, 13)  # a Thursday in sprint 43
CALENDAR = load_card(domain_folder("engineering")).calendar


def days(phrase: str) -> str | None:
    [found] = resolve_dates([phrase], TODAY, CALENDAR)
    return found.period.text() if found.period else None


@pytest.mark.parametrize(
    ("phrase", "plain"),
    [
        ("exactly 4 weeks ago", "4 weeks ago"),
        ("any time before 10/24", "before 10/24"),
        ("ISO week 43", "week 43"),
        ("past 10 days or so", "past 10 days"),
        ("by 10/24 at the latest", "by 24 October"),
        ("toda a semana passada", "semana passada"),
        ("ano passado inteiro", "ano passado"),
        ("hela förra månaden", "förra månaden"),
        ("bis 24.10.2025 einschließlich", "bis 24.10.2025"),
        ("最近3个月内", "最近3个月"),
    ],
)
def test_words_that_say_nothing_change_no_days(phrase: str, plain: str) -> None:
    assert days(phrase) == days(plain) is not None


@pytest.mark.parametrize(
    ("phrase", "meant"),
    [
        ("last Friday, the 7th", "2025-11-07/2025-11-07"),
        ("week 43, Monday to Friday", "2025-10-20/2025-10-24"),
        ("late October (21st to 31st)", "2025-10-21/2025-10-31"),
        ("current sprint i.e. sprint 43", "2025-11-10/2025-11-13"),
        ("sprint 42, the second week", "2025-11-03/2025-11-09"),
        ("last 7 days without today", "2025-11-06/2025-11-12"),
        ("die letzten 7 Tage ohne heute", "2025-11-06/2025-11-12"),
    ],
)
def test_a_period_that_is_told_twice_is_the_narrower(phrase: str, meant: str) -> None:
    assert days(phrase) == meant


@pytest.mark.parametrize(
    "phrase",
    ["Monday and last month", "Tuesday or week 40", "October, the 3rd sprint of 2019", "exactly", "only or so"],
)
def test_two_periods_that_are_not_one_are_no_phrase(phrase: str) -> None:
    assert days(phrase) is None


def test_a_day_without_itself_is_none_and_says_why() -> None:
    [found] = resolve_dates(["today without today"], TODAY, CALENDAR)
    assert found.period is None
    assert "before it begins" in found.why
    assert days("last week without today") == days("last week")


def test_only_so_many_words_are_left_out() -> None:
    assert len(list(with_less("only " * 400 + "x"))) < 10
    assert days("only " * 400 + "last week") is None


def test_a_text_with_two_dates_has_two() -> None:
    assert find_dates("what was merged last Friday, and on the 3rd?") == ("last Friday", "the 3rd")


@pytest.mark.parametrize(
    ("phrase", "meant"),
    [
        ("last 3 full months", "2025-08-01/2025-10-31"),
        ("last 2 complete weeks", "2025-10-27/2025-11-09"),
        ("from 2/9/2025 to 2/20/2025", "2025-02-09/2025-02-20"),
        ("29 Feb of this year", None),
        ("the sprint that began Oct 27", "2025-10-27/2025-11-09"),
        ("10 Sept through to 12 Oct", "2025-09-10/2025-10-12"),
        ("Q3 2025 and later", "2025-07-01/2025-11-13"),
        ("本月5号起", "2025-11-05/2025-11-13"),
        ("2025年上半年", "2025-01-01/2025-06-30"),
        ("先月前半", "2025-10-01/2025-10-15"),
        ("dopo il 1° ottobre", "2025-10-02/2025-11-13"),
        ("from Monday", "2025-11-10/2025-11-13"),
        ("vom 3. November", "2025-11-03/2025-11-03"),
        ("du 3 novembre", "2025-11-03/2025-11-03"),
        ("del 3 de noviembre", "2025-11-03/2025-11-03"),
        ("van maandag", "2025-11-10/2025-11-10"),
        ("da semana passada", None),
    ],
)
def test_further_ways_of_saying_days(phrase: str, meant: str | None) -> None:
    assert days(phrase) == meant


@given(st.text(max_size=60))
def test_any_text_is_a_phrase_without_days_or_with(text: str) -> None:
    assert all(len(less) < len(text) for less in with_less(text))
    assert (bare := without_today(text)) is None or len(bare) < len(text)
    days(text)


@pytest.mark.parametrize(
    "text",
    [
        "rotate the picture by 90°",
        "the AVR firmware",
        "Wann kommen sie.",
        "a cut on the lip.",
        "is the next gen. ready",
    ],
)
def test_words_like_short_months_and_figures_like_days_are_no_dates(text: str) -> None:
    assert find_dates(text) == ()
    assert find_dates("who read the post yesterday") == ("yesterday",)
