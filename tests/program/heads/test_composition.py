"""How a query is composed, as numbers."""

from __future__ import annotations

from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.heads.composition import NUMBERS, composition

COMMON = frozenset(crc32(word.encode()) for word in "say about wrote it objects in of".split())
(
    ASKS, JOINS, AUXILIARIES, ASKED_BEHIND, AFTER_COMMA, JOINED_NAMES, RELATIVE, TYPES, MOST, NEXT_MOST,
    POINTS_BEHIND_NAME, LAST_ASKED, BEGINS_ASKING, BEGINS_AUXILIARY, BEGINS_REQUEST, OPENS, RARE, ENDS_ASKING,
    MARKS, WHY,
) = range(NUMBERS)  # fmt: skip


def of(masked: str) -> list[float]:
    return composition(masked.split(), COMMON)


def test_two_questions_are_told_from_one_about_two_names() -> None:
    twice, once = of("who wrote it , and who objects ?"), of("who is _guest_ and _guest_ ?")
    assert (twice[ASKS], once[ASKS]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (twice[ASKED_BEHIND], once[ASKED_BEHIND]) == (0.5, 0.0)
    assert (twice[JOINED_NAMES], once[JOINED_NAMES]) == (0.0, 0.5)
    assert twice[ENDS_ASKING] == once[ENDS_ASKING] == once[BEGINS_ASKING] == 1.0


@pytest.mark.parametrize(
    ("masked", "place", "value"),
    [
        ("compare _guest_ and _guest_ on _concept_", BEGINS_REQUEST, 1.0),
        ("compare _guest_ and _guest_ on _concept_", TYPES, 2 / 3),
        ("compare _guest_ and _guest_ on _concept_", MOST, 0.5),
        ("compare _guest_ and _guest_ on _concept_", NEXT_MOST, 1 / 3),
        ("is _guest_ right", BEGINS_AUXILIARY, 1.0),
        ("and _guest_", OPENS, 1.0),
        ("what did _guest_ say about it", POINTS_BEHIND_NAME, 1.0),
        ("did it help _guest_", POINTS_BEHIND_NAME, 0.0),
        ("what is it , why , how", AFTER_COMMA, 1.0),
        ("the potter who wrote it", RELATIVE, 0.5),
        ("pots , kilns and why", RARE, 0.2),
        ("pots , kilns and why", WHY, 1.0),
        ("pots , kilns and why", MARKS, 0.25),
        ("pots , kilns and why", LAST_ASKED, 1.0),
    ],
)
def test_each_number_says_what_it_is_named_for(masked: str, place: int, value: float) -> None:
    assert of(masked)[place] == pytest.approx(value)


@given(st.lists(st.sampled_from(["who", "and", "_guest_", "_", ",", "?", "she", "why", "is", "x", "compare", "？"])))
def test_any_words_have_twenty_numbers_from_nought_to_one(words: list[str]) -> None:
    numbers = composition(words, COMMON)
    assert len(numbers) == NUMBERS
    assert all(0.0 <= number <= 1.0 for number in numbers)
