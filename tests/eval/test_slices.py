"""Which slices a row belongs to, and which are worth reporting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.eval.slices import SMALLEST, reported, slices_of

Make = Callable[..., Any]


def test_a_row_says_where_in_the_conversation_it_stands(row: Make) -> None:
    follow = row("And he?", is_follow_up=True, standalone_query="What did Rick Rubin say?")
    later = follow.model_copy(update={"labels": row("And he?").labels})
    assert "first turn" in slices_of(row())
    assert "follow-up" in slices_of(follow)
    assert "later turn, stands alone" in slices_of(later)


@pytest.mark.parametrize(
    ("query", "length"),
    [("why", "short"), ("one two three four five six", "medium"), (" ".join("abcdefghijklmno"), "long"), ("", "short")],
)
def test_length_is_counted_in_words(row: Make, query: str, length: str) -> None:
    assert length in slices_of(row(query))


def test_tags_languages_and_labels_are_slices_and_no_name_comes_twice(row: Make) -> None:
    tagged = row("Regnet es?", is_relevant=False).model_copy(
        update={"language": "de", "tags": ("close_negative", "injection", "close_negative")}
    )
    found = slices_of(tagged)
    assert {"close negative", "injection", "language de", "not English", "out of domain"} <= set(found)
    assert len(found) == len(set(found))
    assert "not English" not in slices_of(row())


def test_small_slices_the_whole_and_the_same_rows_again_are_not_reported() -> None:
    rows: list[tuple[str, ...]] = [("all", "half", "twin") if i < 20 else ("all", "rest") for i in range(35)]
    rows[0] = (*rows[0], "tiny")
    assert reported(rows) == ("half", "rest")


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=80))
def test_what_is_reported_is_large_enough_and_largest_first(rows: list[list[str]]) -> None:
    sizes = [sum(name in names for names in rows) for name in reported(rows)]
    assert sizes == sorted(sizes, reverse=True)
    assert all(SMALLEST <= size < len(rows) for size in sizes)
