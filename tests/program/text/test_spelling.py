"""Spellings that say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.text.spelling import bare, folded, plain, simple


@given(st.text())
def test_places_in_a_text_stay_where_they_were(text: str) -> None:
    assert len(plain(text)) == len(folded(text)) == len(text)
    assert folded(folded(text)) == folded(text)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Nell’s “flow”", 'Nell\'s "flow"'),
        ("Arkwright‑Osei", "Arkwright-Osei"),
        ("ＡＴＬ－１２", "ATL-12"),
        ("你好，谁？", "你好，谁？"),
    ],
)
def test_typographic_and_wide_signs_are_read_as_plain_ones(text: str, read: str) -> None:
    assert plain(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "who is on",
        "who is on?",
        "who is on ??!",
        '"Who is on?"',
        "“who is on”.",
        "who is on 🙂",
        "who is on ;-)",
        "who is on,",
    ],
)
def test_what_a_query_ends_with_is_not_read(text: str) -> None:
    assert folded(bare(text)) == "who is on"


@pytest.mark.parametrize("text", ["", "?", "🎵🎵", '""'])
def test_a_text_of_nothing_else_stays_as_it_is(text: str) -> None:
    assert bare(text) == text


@pytest.mark.parametrize("marker", ["1. ", "12) ", "(3) ", "- ", "* ", "• ", "> ", "## "])
def test_the_marker_of_a_list_is_not_read(marker: str) -> None:
    assert simple(f"{marker}Who is on?") == "Who is on"


@pytest.mark.parametrize(
    "text", ["3 guests who sleep badly", "-5 degrees", "1.5 hours of sleep", "2024: who was on", "- "]
)
def test_numbers_of_a_question_are_read(text: str) -> None:
    assert simple(text) == bare(text)


def test_signs_of_full_width_are_read_as_plain_ones_and_stay_in_the_text_as_written() -> None:
    assert simple("你好，谁来了？") == "你好, 谁来了"
    assert plain("你好，谁？") == "你好，谁？"


def test_a_pause_is_a_comma_however_it_is_typed() -> None:
    for text in ("who is on,and why", "who is on... and why", "who is on … and why", "who is on , and why"):
        assert simple(text) == "who is on, and why"
    assert simple("is 1,000 or 1..2") == "is 1,000 or 1..2"
