"""Words that only open what is said, told by form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.heads.features import Features
from queryplan.program.heads.heads import Heads
from queryplan.program.text.openers import without_openers


@pytest.mark.parametrize(
    "opened",
    [
        "ok who is on",
        "Okay... who is on",
        "hmmm, who is on",
        "hey so who is on",
        "Well, who is on",
        "so: ok - who is on",
    ],
)
def test_what_opens_a_question_is_not_read(opened: str) -> None:
    assert without_openers(opened) == "who is on"


@pytest.mark.parametrize(
    ("opened", "read"), [("嗯，谁来了", "谁来了"), ("Also, wer war da", "wer war da"), ("ну кто это", "кто это")]
)
def test_so_it_is_in_other_languages(opened: str, read: str) -> None:
    assert without_openers(opened) == read


@pytest.mark.parametrize(
    "text",
    [
        "well water",
        "so much sleep",
        "So far, who was on",
        "well-being, why",
        "right to repair",
        "um wie viel Uhr",
        "yo quiero",
        "no, who",
        "ok",
        "hmm?",
        "",
    ],
)
def test_the_same_words_say_something_where_no_sign_follows_or_nothing_does(text: str) -> None:
    assert without_openers(text) == text


@given(st.text())
def test_what_is_left_is_the_end_of_the_text_and_something(text: str) -> None:
    left = without_openers(text)
    assert text.endswith(left)
    assert bool(left) == bool(text)
    assert without_openers(left) == left


def test_heads_say_of_an_opened_question_what_they_say_of_it(trained: Heads) -> None:
    assert isinstance(trained.features, Features)
    for opened in ("Hmm, what does Ilse say about sleep?", "1. OK SO WHAT DOES ILSE SAY ABOUT SLEEP"):
        assert trained.of_query(opened) == trained.of_query("what does Ilse say about sleep")
