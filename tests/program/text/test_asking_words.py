"""Words that ask become one word each, whatever their language; nothing else is changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.text.asking_words import SIGN, with_asking_words


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("why", ["@why"]),
        ("warum", ["@why"]),
        ("por qué", ["@why"]),
        ("how come", ["@why"]),
        ("how", ["@how"]),
        ("how many", ["@how_many"]),
        ("wie lange", ["@how_long"]),
        ("combien de temps", ["@how_long"]),
        ("od jak dawna", ["@since_when"]),
        ("who is on it", ["@who", "@is", "on", "it"]),
        ("noch offen", ["@still", "offen"]),
    ],
)
def test_each_is_one_word_of_the_list(typed: str, asked: list[str]) -> None:
    assert with_asking_words(typed.split()) == asked


def test_the_longest_phrase_wins_and_the_rest_goes_on() -> None:
    assert with_asking_words(["how", "did", "it", "come", "to"]) == ["@why", "to"]
    assert with_asking_words(["how", "did", "it", "go"]) == ["@how", "@did", "it", "go"]


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("昨天为什么失败了", ["昨天", "@why", "失败了"]),
        ("怎么样", ["@how"]),
        ("なぜ閉じられた", ["@why", "閉じられた"]),
        ("누가", ["@who"]),
    ],
)
def test_they_are_cut_out_of_scripts_without_spaces(typed: str, asked: list[str]) -> None:
    assert with_asking_words([typed]) == asked


def test_a_phrase_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    assert with_asking_words(["combien", "de"]) == ["@how_many", "de"]
    assert with_asking_words(["number"]) == ["number"]


@given(st.lists(st.text(min_size=1, max_size=6)))
def test_no_piece_is_empty_and_what_asks_is_never_asked_again(pieces: list[str]) -> None:
    once = with_asking_words(pieces)
    assert all(once)
    assert [word for word in with_asking_words(once) if word.startswith(SIGN)] == [
        word for word in once if word.startswith(SIGN)
    ]
