"""Every date of an enumeration is read, also those that are said by their figure alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.retrieval.dates.finding import find_dates
from queryplan.program.retrieval.dates.lists import enumerated


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("sprint 42 vs 43", ("sprint 42", "sprint 43")),
        ("sprint 41 compared to 42 in cinder", ("sprint 41", "sprint 42")),
        ("sprint 42, 43: bugs", ("sprint 42", "sprint 43")),
        ("sprint 41/42 bugs", ("sprint 41", "sprint 42")),
        ("kw 45 oder 46", ("kw 45", "kw 46")),
        ("weeks 45, 46", ("weeks 45", "weeks 46")),
        ("nov 3 or 4", ("nov 3", "nov 4")),
        ("3 or 4 nov", ("3 nov", "4 nov")),
        ("3, 5 and 7 november", ("3 november", "5 november", "7 november")),
        ("the 3rd or 4th", ("the 3rd", "4th")),
        ("sprint 42 and 43", ("sprint 42 and 43",)),
        ("Q2 vs Q3", ("Q2", "Q3")),
    ],
)
def test_all_dates_of_an_enumeration_are_read(text: str, dates: tuple[str, ...]) -> None:
    assert enumerated(text, find_dates(text)) == dates


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("sprint 42, 3 tickets", ("sprint 42",)),
        ("since sprint 42, 5 bugs", ("since sprint 42",)),
        ("ATL-219, 4 nov", ("4 nov",)),
        ("atlas 4.3, 5 november", ("5 november",)),
        ("#3, 4 nov", ("4 nov",)),
        ("last 3 days or 4", ("last 3 days",)),
    ],
)
def test_a_figure_that_counts_something_else_is_no_date(text: str, dates: tuple[str, ...]) -> None:
    assert enumerated(text, find_dates(text)) == dates


@given(st.lists(st.sampled_from("sprint week nov 3 42 43 4th or vs , / and tickets".split()), max_size=12))
def test_what_was_found_stays_in_any_text(words: list[str]) -> None:
    text = " ".join(words)
    found = find_dates(text)
    assert set(found) <= set(enumerated(text, found))
