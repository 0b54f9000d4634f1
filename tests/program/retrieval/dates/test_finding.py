"""Dates of a text, found as typed and resolved from one day: Thursday 13 November 2025, in sprint 43."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.sources import Calendar
from queryplan.program.retrieval.dates.finding import find_dates, resolve_dates

TODAY = date(2025, 11, 13)
SPRINTS = Calendar(first_sprint=30, first_day=date(2025, 5, 12), sprint_days=14)


def resolved(phrase: str, today: date = TODAY) -> str:
    """The days of a phrase, or why there are none."""
    found = resolve_dates([phrase], today, SPRINTS)[0]
    return found.period.text() if found.period else found.why


@pytest.mark.parametrize(
    ("phrase", "days"),
    [
        ("today", "2025-11-13/2025-11-13"),
        ("yesterday", "2025-11-12/2025-11-12"),
        ("the day before yesterday", "2025-11-11/2025-11-11"),
        ("two days ago", "2025-11-11/2025-11-11"),
        ("Monday", "2025-11-10/2025-11-10"),
        ("Thursday", "2025-11-06/2025-11-06"),
        ("last Friday", "2025-11-07/2025-11-07"),
        ("next Friday", "2025-11-21/2025-11-21"),
        ("this week", "2025-11-10/2025-11-13"),
        ("last week", "2025-11-03/2025-11-09"),
        ("past week", "2025-11-06/2025-11-13"),
        ("last two weeks", "2025-10-30/2025-11-13"),
        ("week before last", "2025-10-27/2025-11-02"),
        ("week 45", "2025-11-03/2025-11-09"),
        ("FY24 Q3", "2024-07-01/2024-09-30"),
        ("Q1 FY2025", "2025-01-01/2025-03-31"),
        ("H1 of FY 24", "2024-01-01/2024-06-30"),
        ("week of 10 November", "2025-11-10/2025-11-13"),
        ("last weekend", "2025-11-08/2025-11-09"),
        ("3 weeks ago", "2025-10-20/2025-10-26"),
        ("this month", "2025-11-01/2025-11-13"),
        ("last month", "2025-10-01/2025-10-31"),
        ("last 3 months", "2025-08-13/2025-11-13"),
        ("October", "2025-10-01/2025-10-31"),
        ("November", "2025-11-01/2025-11-13"),
        ("december", "2024-12-01/2024-12-31"),
        ("last November", "2024-11-01/2024-11-30"),
        ("last October", "2025-10-01/2025-10-31"),
        ("October 2024", "2024-10-01/2024-10-31"),
        ("2025-10", "2025-10-01/2025-10-31"),
        ("2025-10-03", "2025-10-03/2025-10-03"),
        ("3.10.2025", "2025-10-03/2025-10-03"),
        ("13/2/2025", "2025-02-13/2025-02-13"),
        ("14 October", "2025-10-14/2025-10-14"),
        ("Oct 14th, 2025", "2025-10-14/2025-10-14"),
        ("Monday, November 3", "2025-11-03/2025-11-03"),
        ("20 November", "2024-11-20/2024-11-20"),
        ("29 February", "2024-02-29/2024-02-29"),
        ("the 10th", "2025-11-10/2025-11-10"),
        ("the 14th", "2025-10-14/2025-10-14"),
        ("Q3", "2025-07-01/2025-09-30"),
        ("Q4", "2025-10-01/2025-11-13"),
        ("Q1 2026", "2026-01-01/2026-03-31"),
        ("third quarter of 2024", "2024-07-01/2024-09-30"),
        ("last quarter", "2025-07-01/2025-09-30"),
        ("H1", "2025-01-01/2025-06-30"),
        ("this year", "2025-01-01/2025-11-13"),
        ("last year", "2024-01-01/2024-12-31"),
        ("year to date", "2025-01-01/2025-11-13"),
        ("sprint 42", "2025-10-27/2025-11-09"),
        ("current sprint", "2025-11-10/2025-11-13"),
        ("last sprint", "2025-10-27/2025-11-09"),
        ("sprint before last", "2025-10-13/2025-10-26"),
        ("last three sprints", "2025-09-29/2025-11-09"),
        ("next sprint", "2025-11-24/2025-12-07"),
        ("sprints 41 and 42", "2025-10-13/2025-11-09"),
        ("sprint 41 to 43", "2025-10-13/2025-11-13"),
        ("since Monday", "2025-11-10/2025-11-13"),
        ("since August", "2025-08-01/2025-11-13"),
        ("since last November", "2024-11-01/2025-11-13"),
        ("before 1 October", "../2025-09-30"),
        ("until Friday", "../2025-11-07"),
        ("after sprint 41", "2025-10-27/2025-11-13"),
        ("older than two weeks", "../2025-10-29"),
        ("newer than 2 weeks", "2025-10-30/2025-11-13"),
        ("between 1 September and 15 September", "2025-09-01/2025-09-15"),
        ("between 1 and 10 October", "2025-10-01/2025-10-10"),
        ("from Monday to Wednesday", "2025-11-10/2025-11-12"),
        ("between 1 November and 20 November", "2025-11-01/2025-11-20"),
        ("from 36 till now", "2025-08-04/2025-11-13"),
        ("last 24 hours", "2025-11-12/2025-11-13"),
        ("the final quarter of 2024", "2024-10-01/2024-12-31"),
        ("last week of 2024", "2024-12-25/2024-12-31"),
        ("the final month of 2024", "2024-12-01/2024-12-31"),
        ("the last half of 2024", "2024-07-01/2024-12-31"),
    ],
)
def test_english_phrases(phrase: str, days: str) -> None:
    assert resolved(phrase) == days


@pytest.mark.parametrize(
    ("phrases", "days"),
    [
        ("letzte Woche|la semaine dernière|semana pasada|settimana scorsa|vorige week|förra veckan|w zeszłym tygodniu"
         "|semana passada|上周|先週", "2025-11-03/2025-11-09"),
        ("gestern|hier|ayer|ontem|ieri|gisteren|i går|wczoraj|昨天|昨日", "2025-11-12/2025-11-12"),
        ("seit Montag|depuis lundi|desde el lunes|dal lunedì|sinds maandag|sedan måndag|od poniedziałku|周一以来"
         "|月曜日から", "2025-11-10/2025-11-13"),
        ("letzten zwei Wochen|les deux dernières semaines|últimas dos semanas|senaste två veckorna|最近两周",
         "2025-10-30/2025-11-13"),
        ("14. Oktober|14 octobre|14 de octubre|14 ottobre|14 oktober|14 października|10月14日",
         "2025-10-14/2025-10-14"),
        ("vor drei Tagen|il y a trois jours|hace tres días|tre giorni fa|drie dagen geleden", "2025-11-10/2025-11-10"),
        ("entre el 1 y el 10 de octubre|zwischen dem 1. und dem 10. Oktober|entre le 1 et le 10 octobre",
         "2025-10-01/2025-10-10"),
        ("第三季度|第3四半期|troisième trimestre|drittes Quartal|tercer trimestre", "2025-07-01/2025-09-30"),
        ("letzter Sprint|dernier sprint|último sprint|förra sprinten|上个冲刺", "2025-10-27/2025-11-09"),
    ],
)  # fmt: skip
def test_the_same_in_other_languages(phrases: str, days: str) -> None:
    assert {phrase: resolved(phrase) for phrase in phrases.split("|")} == dict.fromkeys(phrases.split("|"), days)


@pytest.mark.parametrize(
    ("phrase", "why"),
    [
        ("31 September", "no day 31"),
        ("30 February 2025", "no day 2025-02-30"),
        ("Q5", "no quarter 5"),
        ("week 60", "no week 60"),
        ("sprint 3", "the first is 30"),
        ("2025-13", "no month 13"),
        ("2025-02-30", "no day"),
        ("between 20 October and 10 October", "before it begins"),
        ("since tomorrow", "before it begins"),
        ("1/2/2025", "cannot be told apart"),
        ("a fine day", "cannot be read"),
        ("", "cannot be read"),
        ("the one before", "no period was named"),
        ("last 999 years", "beyond the calendar|there is no"),
    ],
)
def test_dates_that_do_not_exist_say_why(phrase: str, why: str) -> None:
    found = resolve_dates([phrase], date(900, 1, 1) if "999" in phrase else TODAY, SPRINTS)[0]
    assert found.period is None
    assert any(part in found.why for part in why.split("|")), found.why


@pytest.mark.parametrize(
    ("phrase", "days"),
    [
        ("this week", "9999-12-27/9999-12-31"),
        ("this month", "9999-12-01/9999-12-31"),
        ("december", "9999-12-01/9999-12-31"),
        ("this quarter", "9999-10-01/9999-12-31"),
        ("this year", "9999-01-01/9999-12-31"),
        ("next week", None),
        ("next month", None),
    ],
)
def test_the_calendar_ends_with_its_last_day(phrase: str, days: str | None) -> None:
    found = resolve_dates([phrase], date(9999, 12, 31), SPRINTS)[0]
    assert (found.period.text() if found.period else None) == days
    assert found.why == ("" if days else "it is beyond the calendar")


def test_without_a_calendar_there_are_no_sprints() -> None:
    assert "no calendar of sprints" in resolve_dates(["last sprint"], TODAY)[0].why


@pytest.mark.parametrize(
    ("first", "days"),
    [
        ("last sprint", "2025-10-13/2025-10-26"),
        ("last week", "2025-10-27/2025-11-02"),
        ("October", "2025-09-01/2025-09-30"),
        ("Q3", "2025-04-01/2025-06-30"),
        ("Monday", "2025-11-03/2025-11-03"),
        ("between 1 and 10 October", "2025-09-21/2025-09-30"),
    ],
)
def test_the_one_before_is_the_period_before_the_last_one_named(first: str, days: str) -> None:
    period = resolve_dates([first, "the one before"], TODAY, SPRINTS)[1].period
    assert period is not None
    assert period.text() == days


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("failed pipelines, last two weeks", ["last two weeks"]),
        ("how is it since 1 October?", ["since 1 October"]),
        ("compare last sprint with the one before on bugs", ["last sprint", "the one before"]),
        ("Of the sprints this quarter, which was worst", ["this quarter"]),
        ("merge requests between 1 and 15 September only", ["between 1 and 15 September"]),
        ("in der letzten Woche am 14. Oktober", ["letzten Woche", "14. Oktober"]),
        ("today's failures and yesterday’s", ["today's", "yesterday’s"]),
        ("what was in 2024", ["2024"]),
        ("is Q5 planned, or 31 September", ["Q5", "31 September"]),
        ("Bump May 2025", ["May 2025"]),
        ("对比一下第三季度的数量，还有昨天", ["第三季度", "昨天"]),
    ],
)
def test_phrases_are_found_as_typed(text: str, found: list[str]) -> None:
    assert list(find_dates(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "may I see it",
        "what is it now, at the moment, right now",
        "who has DOV-412 or !95 or #5170",
        "release 3.0 and 12.1.4",
        "how is the sprint going",
        "is it on track for the end of the sprint",
        "up to today how often",
        "the black friday forecast",
        "Mei's commits and Mei-Ling's",
        "port 8080, 2024 items",
        "sooner or later, in a second",
        "march of the penguins",
        "",
    ],
)
def test_what_is_no_date_is_not_found(text: str) -> None:
    assert find_dates(text) == ()


@settings(deadline=None)
@given(st.text(max_size=80), st.dates(date(1, 1, 2), date(9999, 12, 30)))
def test_any_text_is_resolved_or_explained(text: str, today: date) -> None:
    found = resolve_dates([text, "the one before"], today, SPRINTS)
    assert all((r.period is None) == bool(r.why) for r in found)


PIECES = st.lists(
    st.sampled_from(
        "last next this two 3 31 days weeks month sprint 43 Monday October 2024 since before between and to from the "
        "Q3 Q5 ago week until 99 999 2025-02-30 1/2/2025 14. older than 周 上 10月 letzte Woche".split()
    ),
    max_size=8,
)


@settings(max_examples=300, deadline=None)
@given(PIECES, st.dates(date(1, 1, 2), date(9999, 12, 30)))
def test_any_phrase_of_date_words_gives_days_in_order_or_a_reason(words: list[str], today: date) -> None:
    text = " ".join(words)
    for phrase in (text, *find_dates(text)):
        found = resolve_dates([phrase], today, SPRINTS)[0]
        assert (found.period is None) == bool(found.why)
        if found.period is not None and found.period.first is not None:
            assert found.period.first <= found.period.last


@settings(max_examples=200, deadline=None)
@given(PIECES)
def test_what_is_found_stands_in_the_text(words: list[str]) -> None:
    text = " ".join(words)
    assert all(phrase in text for phrase in find_dates(text))


@pytest.mark.parametrize(
    ("phrase", "days"),
    [
        ("Monday to Wednesday", "2025-11-10/2025-11-12"),
        ("Wednesday to Friday", "2025-11-12/2025-11-14"),
        ("the 10th through the 14th", "2025-11-10/2025-11-14"),
        ("the 28th to the 3rd", "2025-10-28/2025-11-03"),
        ("October to December", "2025-10-01/2025-12-31"),
        ("1.-15.10.", "2025-10-01/2025-10-15"),
        ("10.-14. November", "2025-11-10/2025-11-14"),
        ("from this week to last week", "it would end on 2025-11-09, before it begins on 2025-11-10"),
    ],
)
def test_an_end_that_comes_back_is_first_looked_for_behind_the_beginning(phrase: str, days: str) -> None:
    assert resolved(phrase) == days


@pytest.mark.parametrize(
    ("phrases", "days"),
    [
        (["sprint 41", "the one after"], "2025-10-27/2025-11-09"),
        (["October", "the week after"], "2025-11-01/2025-11-07"),
        (["October", "the month after that"], "2025-11-01/2025-11-13"),
        (["last week", "that week"], "2025-11-03/2025-11-09"),
        (["Friday", "the following one"], "2025-11-14/2025-11-14"),
        (["sprint 40", "der danach"], "2025-10-13/2025-10-26"),
    ],
)
def test_words_for_what_follows_refer_to_the_period_before_them(phrases: list[str], days: str) -> None:
    period = resolve_dates(phrases, TODAY, SPRINTS)[-1].period
    assert period is not None
    assert period.text() == days


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what was done in sprint 41, and in the one after?", ("sprint 41", "the one after")),
        ("October releases and bugs the week after the release", ("October",)),
        ("what was merged until yesterday", ("until yesterday",)),
        ("everything until today", ()),
        ("what has she been up to this week", ("this week",)),
        ("up to last week", ("up to last week",)),
        ("may I merge at this hour", ()),
        ("is every Monday that bad", ()),
        ("Guten Morgen, was kam gestern", ("gestern",)),
        ("compared to last month", ("last month",)),
        ("que s'est-il passé vendredi", ("vendredi",)),
        ("what did Ravi do last week", ("last week",)),
        ("what did the team do the week before last", ("the week before last",)),
        ("what do we have to do yesterday", ("yesterday",)),
        ("so last week", ("last week",)),
        ("commits of sam last week", ("last week",)),
        ("tickets do vorige week", ("do vorige week",)),
        ("Termine Do letzte Woche", ("Do letzte Woche",)),
        ("od poniedziałku do piątku", ("od poniedziałku do piątku",)),
        ("MR 90 last week", ("last week",)),
        ("top 10 last month", ("last month",)),
        ("error 500 last week of October", ("last week of October",)),
        ("commits des 5 derniers jours", ("5 derniers jours",)),
        ("3 last weeks", ("3 last weeks",)),
    ],
)
def test_words_that_only_look_like_dates_are_left(text: str, found: tuple[str, ...]) -> None:
    assert find_dates(text) == found


@pytest.mark.parametrize(
    ("phrase", "days"),
    [
        ("月曜以降", "2025-11-10/2025-11-13"),
        ("上个迭代", "2025-10-27/2025-11-09"),
        ("due settimane fa", "2025-10-27/2025-11-02"),
        ("de afgelopen twee weken", "2025-10-30/2025-11-13"),
        ("för två veckor sedan", "2025-10-27/2025-11-02"),
        ("mi-octobre", "2025-10-11/2025-10-20"),
        ("two weekends ago", "2025-11-01/2025-11-02"),
        ("last full week", "2025-11-03/2025-11-09"),
        ("rolling 30 days", "2025-10-14/2025-11-13"),
        ("the last half of October", "2025-10-16/2025-10-31"),
    ],
)
def test_more_ways_of_saying_periods(phrase: str, days: str) -> None:
    assert resolved(phrase) == days


@pytest.mark.parametrize(
    "text",
    ["in year 10 at school", "Stoffe greifen an einem Gen an", "in the year of the fire", "yr 7 pupils"],
)
def test_a_number_of_a_year_that_is_no_year_is_no_date(text: str) -> None:
    assert find_dates(text) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("why, if I may ask, did she leave", ()),
        ("the bench on which I sat all day", ()),
        ("I march with them", ()),
        ("two women in sun hats", ()),
        ("what broke in may", ("may",)),
        ("vad hände i mars", ("mars",)),
        ("what happened since mon", ("since mon",)),
    ],
)
def test_a_word_that_may_be_another_is_a_date_behind_what_stands_before_dates(
    text: str, found: tuple[str, ...]
) -> None:
    assert find_dates(text) == found
