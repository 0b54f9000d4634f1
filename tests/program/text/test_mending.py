"""Slips of the fingers, and words that are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.text.mending import Mending, learned_words, mended

KNOWN = ("what", "does", "say", "about", "sleep", "meditation", "episode", "slept", "their", "there", "line", "three")


def meant(word: str, known: tuple[str, ...] = KNOWN) -> str:
    """What a word of a question is read as."""
    return Mending(known).slips(["what", "does", "say", "about", word]).get(word, word)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("slepe", "sleep"),
        ("slep", "sleep"),
        ("slpee", "slpee"),
        ("sleeep", "sleep"),
        ("slerp", "sleep"),
        ("meditaton", "meditation"),
        ("medatition", "medatition"),
        ("meditetion", "meditation"),
        ("eipsode", "episode"),
        ("episodde", "episode"),
        ("waht", "what"),
    ],
)
def test_one_slip_is_mended_and_no_two(typed: str, read: str) -> None:
    assert meant(typed) == read


@pytest.mark.parametrize("word", ["swept", "sleeps", "lines", "lane", "said", "then", "sleep2", "_guest_", "睡眠睡眠"])
def test_what_is_likely_another_word_is_none(word: str) -> None:
    assert meant(word) == word


def test_of_several_words_the_much_more_frequent_one_is_meant_or_none() -> None:
    rarer = tuple(f"word{letter}" for letter in "abcdefgh")
    assert meant("plaes", (*KNOWN, "planes", "plates")) == "plaes"
    assert meant("plaes", ("planes", *KNOWN, *rarer, "plates")) == "planes"


def test_a_word_of_the_encoder_is_no_slip() -> None:
    mending = Mending(KNOWN, is_word={"slepe"}.__contains__)
    assert mending.slips(["what", "about", "slepe"]) == {}


def test_texts_in_a_language_that_is_not_that_of_the_words_are_left_alone() -> None:
    assert Mending(KNOWN).slips(["apa", "yang", "linne", "dikatakan"]) == {}
    assert Mending(KNOWN).slips(["what", "about", "linne"]) == {"linne": "line"}


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=12))
def test_what_is_mended_is_known_and_stays(words: list[str]) -> None:
    mending = Mending(KNOWN)
    slips = mending.slips(words)
    assert set(slips) <= set(words) - set(KNOWN)
    assert mending.slips([slips.get(word, word) for word in words]).keys().isdisjoint(slips.values())


def test_words_of_two_texts_are_known_and_come_back_from_a_file() -> None:
    words = learned_words([["is", "sleep", "ok", "?"], ["no", "sleep", "is", "7"], ["is", "slept"]])
    assert words == ("is", "sleep")
    for known in (words, ()):
        again = Mending.unpacked(Mending(known).packed())
        older = Mending.unpacked(np.frombuffer("\n".join(known).encode(), dtype=np.uint8))
        assert older.words == again.words == Mending(known).words
        assert again.words == known


def test_a_slip_is_mended_wherever_it_is_a_whole_word() -> None:
    assert mended("slepe, the slepe; sleper", {"slepe": "sleep"}) == "sleep, the sleep; sleper"
