"""A collection as Markdown: newest first, cut where words end, safe inside a table."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.retrieval.collection.markdown import ELLIPSIS, MAX_CHARACTERS, format_items, preview

ITEMS = [
    {"date": "2025-01-04", "text": "New year, new notebook."},
    {"created_at": "2025-02-11T10:30:00Z", "content": "汤圆把新买的盆栽推下了窗台。"},
    {"final_content": "no date"},
]


def test_the_whole_form() -> None:
    assert format_items(ITEMS, "What\n  about the cat?") == "\n".join(
        [
            "## User Composition History",
            "",
            "**Posts Retrieved**: 3 | **Method**: Direct (complete history)",
            "**Gap Question**: What about the cat?",
            "",
            "### Recent Posts",
            "",
            "| # | Date | Content Preview |",
            "|---|------|-----------------|",
            "| 1 | 2025-02-11 | 汤圆把新买的盆栽推下了窗台。 |",
            "| 2 | 2025-01-04 | New year, new notebook. |",
            "| 3 | unknown | no date |",
            "",
            "### Context Notes",
            "- These are all posts of the user",
            "- What is not in them the user has not written; say so instead of guessing",
        ]
    )


def test_at_most_fifteen_items_and_it_says_so() -> None:
    many = [{"date": f"2025-01-{n:02}", "text": str(n)} for n in range(1, 19)]
    text = format_items(many, "q", total=40)
    assert "**Posts Retrieved**: 15 | **Method**: Direct (newest 15 of 40)" in text
    assert "| 1 | 2025-01-18 | 18 |" in text
    assert "| 15 | 2025-01-04 | 4 |" in text
    assert "\n| 16 |" not in text
    assert "the newest posts, not all," in text


def test_pipes_and_breaks_cannot_leave_their_cell() -> None:
    line = format_items([{"date": "2025-01-02", "text": "a | b\r\n| c \\| d"}], "q").splitlines()[9]
    assert line == "| 1 | 2025-01-02 | a \\| b \\| c \\\\\\| d |"


def test_an_empty_collection_has_an_empty_table() -> None:
    text = format_items([], "q")
    assert "**Posts Retrieved**: 0" in text
    assert "| 1 |" not in text


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("short", "short"),
        ("a" * 150, "a" * 150),
        ("word " * 40, "word " * 29 + "word…"),
        ("a" * 151, "a" * 149 + "…"),
        ("猫" * 200, "猫" * 149 + "…"),
        ("猫" * 140 + " longword at the end of it", "猫" * 140 + " longword…"),
        ("x" * 100 + "猫" + "y" * 100, "x" * 100 + "猫…"),
        ("x" * 149 + " y", "x" * 149 + "…"),
    ],
)
def test_previews_are_cut_at_a_word_or_a_character(text: str, cut: str) -> None:
    assert preview(text) == cut


@given(st.text(max_size=400))
def test_any_preview_is_one_short_line_that_begins_the_text(text: str) -> None:
    cut = preview(text)
    assert len(cut) <= MAX_CHARACTERS
    assert len(cut.splitlines()) <= 1
    assert " ".join(text.split()).startswith(cut.removesuffix(ELLIPSIS))


ANY = st.dictionaries(
    st.sampled_from(["text", "content", "date", "created_at", "id"]),
    st.one_of(st.none(), st.text(max_size=30), st.integers()),
)


@given(st.lists(ANY, max_size=20), st.text(max_size=60))
def test_any_items_give_a_table_of_equal_columns(items: list[dict[str, Any]], question: str) -> None:
    lines = format_items(items, question).split("\n")
    rows = lines[7 : lines.index("### Context Notes") - 1]
    assert len(rows) == 2 + min(len(items), 15)
    assert all(row.replace("\\\\", "").replace("\\|", "").count("|") == 4 for row in rows)


def test_items_of_a_day_are_newest_first() -> None:
    hours = ("T08:00:00", " 20:30:00+01:00", "T12:00:00Z", "")
    lines = format_items([{"created_at": f"2025-11-02{hour}", "text": hour or "a day"} for hour in hours], "q")
    assert [line.split(" | ")[2].strip(" |") for line in lines.splitlines()[9:13]] == [
        "20:30:00+01:00",
        "T12:00:00Z",
        "T08:00:00",
        "a day",
    ]


@pytest.mark.parametrize("odd", ["05/11/2025", "2025-13-45", "yesterday", "2025|01", 3])
def test_what_is_no_iso_date_is_unknown_and_last(odd: object) -> None:
    lines = format_items([{"date": odd, "text": "odd"}, {"date": "20250105", "text": "early"}], "q").splitlines()
    assert lines[9:11] == ["| 1 | 2025-01-05 | early |", "| 2 | unknown | odd |"]
