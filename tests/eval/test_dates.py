"""Dates in whatever form they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.eval.dates import dates


@pytest.mark.parametrize(
    "texts",
    [
        (
            "since 2024-03-05",
            "since 5.3.2024",
            "since 5 March 2024",
            "since March 5th, 2024",
            "since 5th of march 2024",
        ),
        ("in March 2024", "in Mar. 2024", "in 2024-03"),
        ("in Q3 2024", "q3 2024"),
        ("on May 5", "on 5 May", "on 5th of may"),
        ("in 1999?", "1999"),
        ("on Monday", "ON MONDAY!"),
        ("2024年3月5日", "2024-3-5"),
    ],
)
def test_the_same_date_is_the_same_in_every_form(texts: tuple[str, ...]) -> None:
    first, *others = (dates(text) for text in texts)
    assert first
    assert all(other == first for other in others)


@pytest.mark.parametrize(
    ("left", "right"), [("5 March", "6 March"), ("in 2023", "in 2024"), ("Monday", "Tuesday"), ("Q1", "Q2")]
)
def test_other_dates_are_other_dates(left: str, right: str) -> None:
    assert dates(left) != dates(right)


@pytest.mark.parametrize(
    "text", ["may I ask?", "episode 12", "3.14 is pi", "it costs 12,500", "version 1.2", "12500 people", ""]
)
def test_what_is_no_date_is_left_alone(text: str) -> None:
    assert not dates(text)


def test_a_date_that_comes_twice_counts_twice() -> None:
    assert dates("2024 or 2024").total() == 2
    assert dates("from 1 May 2020 to 3 June 2021").total() == 2


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    assert dates(text).total() <= len(text)
