"""Dates with a slip, without accents, in traditional characters, and with a slash: from Thursday 13 November 2025."""

from __future__ import annotations

from datetime import date

import pytest
from queryplan.data.sources import Calendar
from queryplan.program.retrieval.dates.finding import find_dates, resolve_dates
from queryplan.program.retrieval.dates.spellings import mistyped, written_otherwise
from queryplan.program.retrieval.dates.words import Word, date_words

TODAY = date(2025, 11, 13)
SPRINTS = Calendar(first_sprint=30, first_day=date(2025, 5, 12), sprint_days=14)


def resolved(phrase: str) -> str:
    found = resolve_dates([phrase], TODAY, SPRINTS)[0]
    return found.period.text() if found.period else found.why


@pytest.mark.parametrize(
    ("phrase", "meant"),
    [
        ("wendesday", "wednesday"),
        ("last quater", "last quarter"),
        ("Septmber", "september"),
        ("last weeek", "last week"),
        ("semaine derniere", "semaine dernière"),
        ("ultimos 10 dias", "últimos 10 días"),
        ("od poniedzialku", "od poniedziałku"),
        ("上個月", "上个月"),
        ("thersday", "thursday"),
        ("since yesturday", "since yesterday"),
        ("tommorow", "tomorrow"),
        ("wensday", "wednesday"),
        ("5 Novenber", "5 November"),
        ("janurary", "january"),
        ("lst wek", "last week"),
        ("nxt qtr", "next quarter"),
        ("2 yrs ago", "2 years ago"),
        ("letzten Dinnerstag", "letzten Donnerstag"),
        ("el juebes", "el jueves"),
        ("vendridi", "vendredi"),
    ],
)
def test_what_is_written_otherwise_means_the_same(phrase: str, meant: str) -> None:
    assert resolved(phrase) == resolved(meant)
    assert "/" in resolved(phrase)


@pytest.mark.parametrize(
    "text",
    [
        "which domain has the score",
        "print the sprits",
        "what is open 24/7",
        "is 3/4 of it done",
        "moths in spring",
        "the needle points to Marte",
        "Frida and Sontag on the sondage",
        "où est la salida",
        "a sturdy nombre of them",
    ],
)
def test_other_words_are_no_slips(text: str) -> None:
    assert find_dates(text) == ()


def test_no_slip_is_a_word_of_dates_and_each_means_one_thing() -> None:
    known = date_words()
    slips = mistyped(known)
    assert not slips.keys() & known.keys()
    assert all(surface in known and slip[0] == surface[0] for slip, surface in slips.items())
    alike = {"abcdeg": frozenset({Word("month", 1)}), "abcdfg": frozenset({Word("month", 2)})}
    assert "abcdg" in mistyped({"abcdeg": alike["abcdeg"]})
    assert "abcdg" not in mistyped(alike)


@pytest.mark.parametrize("meant", ["november", "mercredi", "donnerstag", "yesterday", "settembre"])
def test_a_vowel_or_a_key_beside_is_a_slip_of_a_long_name_alone(meant: str) -> None:
    slips = mistyped(date_words())
    wrong = [meant[:3] + letter + meant[4:] for letter in "aeiou" if letter != meant[3]]
    assert any(slips.get(word) == meant for word in wrong) == (meant[3] in "aeiouy")
    assert "spront" not in slips
    assert "mardo" not in slips


def test_short_words_keep_their_accents() -> None:
    other = written_otherwise(date_words())
    assert "derniere" in other
    assert "meta" not in other


@pytest.mark.parametrize(
    ("phrase", "days"),
    [
        ("14/10", "2025-10-14/2025-10-14"),
        ("10/14", "2025-10-14/2025-10-14"),
        ("since 20/10", "2025-10-20/2025-11-13"),
        ("from 10/3 to 10/14", "2025-10-03/2025-10-14"),
        ("3/10 - 14/10", "2025-10-03/2025-10-14"),
        ("10/3以降", "2025-10-03/2025-11-13"),
        ("13-10-2025", "2025-10-13/2025-10-13"),
        ("2025-10-06/2025-10-10", "2025-10-06/2025-10-10"),
    ],
)
def test_days_and_months_in_figures(phrase: str, days: str) -> None:
    assert resolved(phrase) == days


def test_a_day_that_could_be_a_month_is_not_guessed() -> None:
    assert "cannot be told apart" in resolved("3/10")
    assert "cannot be told apart" in resolved("from 3/10 to 5/10")
    assert find_dates("what was 3/10 about") == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("who touched it since sprint 42 began", "since sprint 42"),
        ("which were open before sprint 42 ended", "before sprint 42 ended"),
        ("more releases than in november so far", "november"),
    ],
)
def test_words_that_say_no_more_are_no_part_of_the_phrase(text: str, found: str) -> None:
    assert find_dates(text) == (found,)
