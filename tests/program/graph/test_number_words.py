"""Numbers written as words."""

from __future__ import annotations

import pytest
from queryplan.program.graph.endings import numbers_in
from queryplan.program.graph.number_words import AMBIGUOUS, NUMBER_WORDS


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("the three oldest drugs", [3]),
        ("Die zwei neuesten Mittel", [2]),
        ("top 2 of the five", [2, 5]),
        ("两种最新的药", [2]),
        ("score of 0.5 or more", [0.5]),
        ("once it is due on Monday", []),
        ("which one is it", []),
    ],
)
def test_numbers_are_read_in_figures_and_in_words(question: str, numbers: list[float]) -> None:
    assert numbers_in(question, []) == numbers


def test_numbers_in_names_are_not_read() -> None:
    question = "the two faces of january"
    assert numbers_in(question, [(4, 13)]) == []


def test_no_word_has_two_numbers_and_none_is_an_ordinary_one() -> None:
    assert set(NUMBER_WORDS.values()) == set(range(2, 13))
    assert not AMBIGUOUS & set(NUMBER_WORDS)
