"""Numbers written as words."""

from __future__ import annotations

import pytest
from queryplan.program.graph.question.said_numbers import said_numbers
from queryplan.program.retrieval.dates.words import date_words
from queryplan.program.text.number_words import SPELLED, number_of


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("the three oldest drugs", [3]),
        ("Die zwei neuesten Mittel", [2]),
        ("top 2 of the five", [2, 5]),
        ("两种最新的药", [2]),
        ("가장 새로운 둘 중에서", [2]),
        ("score of 0.5 or more", [0.5]),
        ("once it is due on Monday", []),
        ("which one is it", []),
        ("a bon chin sau", []),
        ("chín thuốc", [9]),
    ],
)
def test_numbers_are_read_in_figures_and_in_words(question: str, numbers: list[float]) -> None:
    assert list(said_numbers(question, []).numbers) == numbers


def test_numbers_in_names_are_not_read() -> None:
    question = "the two faces of january"
    assert said_numbers(question, [(4, 13)]).numbers == ()


@pytest.mark.parametrize("word", ["sex", "sei", "fem", "one", "ein", ""])
def test_words_that_are_mostly_something_else_are_no_numbers(word: str) -> None:
    assert number_of(word) is None


def test_dates_know_every_number_that_is_spelled_alike() -> None:
    words = date_words()
    for number, line in SPELLED.items():
        for surface in line.split("|"):
            assert str(number) in {str(word.value) for word in words[surface] if word.kind == "number"}
