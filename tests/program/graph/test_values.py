"""Which values a question says: found by their first words, in either number, in other words and in figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.graph.question.alike import is_said
from queryplan.program.graph.question.words import fold
from queryplan.program.graph.values import Values, number_of

KEY, OTHER = ("Disease", "category"), ("Gene", "chromosome")
VALUES = Values(
    texts={KEY: ("cancer", "heart disease", "skin"), OTHER: ("7", "X", "17")},
    words={"skin": ("dermal", "Haut"), "cancer": ("癌",)},
)


def said(question: str, *numbers: float) -> set[str]:
    return set(VALUES.said(f" {fold(question)} ", numbers))


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("which cancers are there", {"cancer"}),
        ("Heart Diseases, please", {"heart disease"}),
        ("a disease of the heart", set()),
        ("dermal things", {"skin"}),
        ("the X chromosome", {"X"}),
        ("", set()),
    ],
)
def test_values_are_said_as_whole_words_in_either_number_and_in_other_words(question: str, found: set[str]) -> None:
    assert said(question) == found


def test_values_in_figures_are_said_by_their_number() -> None:
    assert said("on seventeen", 17.0) == {"17"}
    assert said("on 7", 7.0) == {"7"}
    assert number_of("17") == 17
    assert number_of("1.7") is None
    assert number_of(17) is None


def test_those_of_a_property_are_in_its_order() -> None:
    assert VALUES.among(KEY, ["skin", "X", "cancer"]) == ["cancer", "skin"]
    assert VALUES.among(("Disease", "none"), ["skin"]) == []


@given(st.text(max_size=40), st.lists(st.text(min_size=1, max_size=12), max_size=6, unique=True))
def test_it_finds_what_a_look_at_every_value_finds(question: str, texts: list[str]) -> None:
    values = Values(texts={KEY: tuple(texts)})
    folded = f" {fold(question)} "
    assert values.said(folded, ()) == {text for text in texts if is_said(text, folded)}
