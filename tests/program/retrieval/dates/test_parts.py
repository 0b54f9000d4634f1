"""Parts of periods, their neighbours, and the many ways of writing one day: from Thursday 13 November 2025."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.sources import Calendar
from queryplan.program.retrieval.dates.finding import find_dates, resolve_dates
from queryplan.program.retrieval.dates.period_parts import Almanac
from queryplan.program.retrieval.dates.periods import NoSuchDateError, Period

TODAY = date(2025, 11, 13)
SPRINTS = Calendar(first_sprint=30, first_day=date(2025, 5, 12), sprint_days=14)
DAY = timedelta(days=1)


def resolved(phrase: str, today: date = TODAY) -> str:
    """The days of a phrase, or why there are none."""
    found = resolve_dates([phrase], today, SPRINTS)[0]
    return found.period.text() if found.period else found.why


PHRASES = {
    "the last day of November": "2025-11-30/2025-11-30",
    "first two weeks of October": "2025-10-01/2025-10-14",
    "last week of September": "2025-09-24/2025-09-30",
    "the second Tuesday in October": "2025-10-14/2025-10-14",
    "the last Friday of October": "2025-10-31/2025-10-31",
    "second half of last month": "2025-10-16/2025-10-31",
    "first half of 2025": "2025-01-01/2025-06-30",
    "the two weeks before last week": "2025-10-20/2025-11-02",
    "the day after 4 November": "2025-11-05/2025-11-05",
    "the sprint before sprint 42": "2025-10-13/2025-10-26",
    "the week of November 3": "2025-11-03/2025-11-09",
    "week of the 3rd": "2025-11-03/2025-11-09",
    "the week starting 3 November": "2025-11-03/2025-11-09",
    "the end of October": "2025-10-21/2025-10-31",
    "early November": "2025-11-01/2025-11-10",
    "mid-October": "2025-10-11/2025-10-20",
    "late last week": "2025-11-07/2025-11-09",
    "the end of Q3": "2025-09-01/2025-09-30",
    "earlier this month": "2025-11-01/2025-11-13",
    "since early September": "2025-09-01/2025-11-13",
    "since the start of the quarter": "2025-10-01/2025-11-13",
    "until the end of October": "../2025-10-31",
    "before the end of September": "../2025-09-30",
    "after 10 October and before 17 October": "2025-10-11/2025-10-16",
    "yesterday evening": "2025-11-12/2025-11-12",
    "Tuesday afternoon": "2025-11-11/2025-11-11",
    "Monday of last week": "2025-11-03/2025-11-03",
    "Friday last week": "2025-11-07/2025-11-07",
    "last week's Monday": "2025-11-03/2025-11-03",
    "Q3 of last year": "2024-07-01/2024-09-30",
    "October last year": "2024-10-01/2024-10-31",
    "last year's October": "2024-10-01/2024-10-31",
    "the 15th of last month": "2025-10-15/2025-10-15",
    "the third of November": "2025-11-03/2025-11-03",
    "last half year": "2025-01-01/2025-06-30",
    "half a year ago": "2025-01-01/2025-06-30",
    "past few weeks": "2025-10-23/2025-11-13",
    "last 30d": "2025-10-14/2025-11-13",
    "more than 30 days ago": "../2025-10-13",
    "less than two weeks ago": "2025-10-30/2025-11-13",
    "over a month old": "../2025-10-12",
    "from sprint 40 onwards": "2025-09-29/2025-11-13",
    "between sprint 40 and 41": "2025-09-29/2025-10-26",
    "sprints 40, 41 and 42": "2025-09-29/2025-11-09",
    "from early September to mid October": "2025-09-01/2025-10-20",
    "2025-10-01..2025-10-15": "2025-10-01/2025-10-15",
    "Mon-Wed": "2025-11-10/2025-11-12",
    "no later than Friday": "../2025-11-07",
    "YTD": "2025-01-01/2025-11-13",
    "since new year": "2025-01-01/2025-11-13",
    "the sprint before this one": "2025-10-27/2025-11-09",
    "second to last sprint": "2025-10-13/2025-10-26",
    "the Friday before last": "2025-10-31/2025-10-31",
    "the last sprint of October": "2025-10-27/2025-11-09",
    "between the 1st and 15th of last month": "2025-10-01/2025-10-15",
    "on or before 1 October": "../2025-10-01",
    "no older than two weeks": "2025-10-30/2025-11-13",
    "sprint #42": "2025-10-27/2025-11-09",
    "the weekend of 8 November": "2025-11-08/2025-11-09",
}


@pytest.mark.parametrize(("phrase", "days"), PHRASES.items())
def test_phrases_made_of_others(phrase: str, days: str) -> None:
    assert resolved(phrase) == days


@pytest.mark.parametrize("phrase", PHRASES)
def test_such_a_phrase_is_found_whole(phrase: str) -> None:
    assert find_dates(f"failed pipelines in atlas {phrase}, please") == (phrase,)


@pytest.mark.parametrize(
    ("phrases", "days"),
    [
        ("Anfang Oktober|début octobre|a principios de octubre|início de outubro|inizio ottobre|början av oktober"
         "|10月初", "2025-10-01/2025-10-10"),
        ("Ende Oktober|fin octobre|a finales de octubre|fim de outubro|fine ottobre|slutet av oktober|10月底",
         "2025-10-21/2025-10-31"),
        ("gestern Abend|hier soir|ayer por la tarde|ontem à noite|昨天晚上|昨日の夜", "2025-11-12/2025-11-12"),
        ("geçen hafta|minulý týden|на прошлой неделе|прошлой неделе|지난주|sidste uge|forrige uke",
         "2025-11-03/2025-11-09"),
        ("dün|včera|вчера|어제|i går", "2025-11-12/2025-11-12"),
        ("pazartesiden beri|с понедельника|월요일부터|siden mandag|od pondělí", "2025-11-10/2025-11-13"),
        ("14 Ekim|14. října|14 октября|10월 14일|14. oktober", "2025-10-14/2025-10-14"),
        ("3일 전|tre dage siden|üç gün önce|три дня назад", "2025-11-10/2025-11-10"),
        ("10月第一周|10月的第一周|la première semaine d'octobre|erste Woche im Oktober", "2025-10-01/2025-10-07"),
        ("先週の金曜日|上周五|Freitag letzter Woche|vendredi de la semaine dernière", "2025-11-07/2025-11-07"),
        ("ここ2週間|近两周|seit zwei Wochen|depuis deux semaines|au cours des deux dernières semaines",
         "2025-10-30/2025-11-13"),
        ("第42个冲刺|Sprint 42|スプリント42|sprintu 42", "2025-10-27/2025-11-09"),
    ],
)  # fmt: skip
def test_the_same_in_other_languages(phrases: str, days: str) -> None:
    assert {phrase: resolved(phrase) for phrase in phrases.split("|")} == dict.fromkeys(phrases.split("|"), days)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("velocity of sprint 43 and of the sprint before", ["sprint 43", "the sprint before"]),
        ("sprints before 41: which was worst", ["before 41"]),
        ("what came in over the weekend", ["the weekend"]),
        ("any tickets due next week", ["next week"]),
        ("what failed on the 14th", ["the 14th"]),
        ("combien d'échecs le mois dernier", ["le mois dernier"]),
        ("red ones in march", ["march"]),
        ("avg review time sept", ["sept"]),
        ("builds since Mon", ["since Mon"]),
    ],
)
def test_phrases_are_found_in_their_sentence(text: str, found: list[str]) -> None:
    assert [phrase.removeprefix("the ") for phrase in find_dates(text)] == [f.removeprefix("the ") for f in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what came in over the weekend", ("the weekend",)),
        ("tickets closed in the final quarter of 2025", ("the final quarter of 2025",)),
        ("was ging am Wochenende schief", ("Wochenende",)),
        ("releases of the last two sprints", ("last two sprints",)),
    ],
)
def test_an_article_belongs_to_some_phrases_and_not_to_others(text: str, found: tuple[str, ...]) -> None:
    assert find_dates(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "is it ready by the end of the sprint",
        "will the release be late this sprint? no",
        "it took more than two weeks",
        "happy new year to all",
        "the sun is out, the cat sat",
        "weekend deploys",
        "the first half of the work",
        "release 3.11.25 and !20251",
        "who fixed it first in foxglove",
    ],
)
def test_what_only_looks_like_one_is_not_found(text: str) -> None:
    assert [phrase for phrase in find_dates(text) if phrase != "this sprint"] == []


@settings(max_examples=40, deadline=None)
@given(st.dates(date(2001, 1, 1), date(2040, 12, 28)), st.dates(date(2041, 1, 1), date(2050, 1, 1)))
def test_one_day_however_it_is_written(day: date, today: date) -> None:
    month, n = day.strftime("%B"), day.day
    ways = [
        day.isoformat(),
        day.strftime("%Y/%m/%d"),
        day.strftime("%Y.%m.%d"),
        day.strftime("%Y%m%d"),
        f"{n} {month} {day.year}",
        f"{month} {n}, {day.year}",
        f"{month[:3]} {n} {day.year}",
        f"{n}-{month[:3]}-{day.year}",
        f"{n}.{day.month}.{day.year}",
        f"{day.strftime('%A')} {n} {month} {day.year}",
        f"{day.year}年{day.month}月{n}日",
        f"{day.year}년 {day.month}월 {n}일",
    ]
    assert {way: resolved(way, today) for way in ways} == dict.fromkeys(ways, f"{day}/{day}")


PERIODS = st.sampled_from(["last week", "last month", "October", "Q3", "sprint 41", "last quarter", "2024-02", "KW 40"])
TODAYS = st.dates(date(2025, 11, 1), date(2026, 12, 31))


@settings(max_examples=40, deadline=None)
@given(PERIODS, TODAYS, st.integers(1, 4), st.sampled_from(["day", "week", "month"]))
def test_neighbours_touch_the_period_and_do_not_overlap_it(period: str, today: date, count: int, unit: str) -> None:
    whole = resolve_dates([period], today, SPRINTS)[0].period
    before, after = resolve_dates([f"the {count} {unit}s {s} {period}" for s in ("before", "after")], today, SPRINTS)
    assert whole is not None
    assert before.period is not None
    assert before.period.last + DAY == whole.first
    if after.period is not None:
        assert after.period.first == whole.end + DAY


@settings(max_examples=40, deadline=None)
@given(
    PERIODS, TODAYS, st.sampled_from(["first", "last", "second"]), st.integers(1, 3), st.sampled_from(["day", "week"])
)
def test_a_part_lies_within_its_period(period: str, today: date, place: str, count: int, unit: str) -> None:
    whole = resolve_dates([period], today, SPRINTS)[0].period
    part = resolve_dates([f"the {place} {count} {unit}s of {period}"], today, SPRINTS)[0]
    assert whole is not None
    assert whole.first is not None
    if part.period is None:
        assert part.why
        return
    assert part.period.first is not None
    assert whole.first <= part.period.first <= part.period.last <= whole.end


@settings(max_examples=40, deadline=None)
@given(PERIODS, TODAYS)
def test_beginning_middle_and_end_make_up_the_period(period: str, today: date) -> None:
    whole, *parts = resolve_dates(
        [period, f"beginning of {period}", f"middle of {period}", f"end of {period}"], today, SPRINTS
    )
    assert whole.period is not None
    days = [part.period for part in parts]
    assert all(isinstance(part, Period) and part.first is not None for part in days)
    start, middle, end = (part for part in days if part is not None)
    assert (start.first, end.end) == (whole.period.first, whole.period.end)
    assert (start.end + DAY, middle.end + DAY) == (middle.first, end.first)


def test_parts_that_are_not_there_say_so() -> None:
    here = Almanac(TODAY, SPRINTS)
    for call in (
        lambda: here.nth(here.shifted(-1, "week"), 3, "week"),
        lambda: here.nth(here.shifted(-1, "week"), 1, "sprint"),
        lambda: here.nth_weekday(here.month(10), 6, 0),
        lambda: here.half_of(here.month(10), 3),
        lambda: here.edge(here.until(here.day(0)), "end"),
    ):
        with pytest.raises(NoSuchDateError):
            call()
