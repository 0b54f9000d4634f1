"""Which messages list questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.text.listed import listed_questions


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("1. who sells wool?\n2. where is salt", ("who sells wool", "where is salt")),
        ("1) who sells wool 2) where is salt 3) why", ()),
        ("(a) who sells wool, (b) ok, where is salt", ("who sells wool", "ok, where is salt")),
        ("- who sells wool\n\n- where is salt", ("who sells wool", "where is salt")),
        ("* wo ist Salz?\n* wer verkauft Wolle?", ("wo ist Salz", "wer verkauft Wolle")),
        (
            "About Ada:\n1. what does she say\n2. who knew her",
            ("About Ada: what does she say", "About Ada: who knew her"),
        ),
    ],
)
def test_questions_behind_marks_are_a_list(text: str, questions: tuple[str, ...]) -> None:
    assert listed_questions(text) == questions


@pytest.mark.parametrize(
    "text",
    [
        "",
        "who sells wool? where is salt?",
        "1. who sells wool",
        "who sells wool in episode 1. and in episode 2.",
        "which of these is open?\n- BOR-212\n- BOR-220",
        "1. wool 2. salt",
        "- who sells wool\nwhere is salt\n- and why is it white",
        "I wonder. 1. who sells wool 2. where is salt",
        "2. who sells wool 3. where is salt",
    ],
)
def test_other_messages_list_none(text: str) -> None:
    assert listed_questions(text) == ()


@given(st.lists(st.sampled_from(["1.", "2.", "a)", "b)", "- ", "\n", "who sells wool", "?", ":", ""])).map(" ".join))
def test_no_question_is_empty_or_has_a_line_break(text: str) -> None:
    assert all(one and "\n" not in one for one in listed_questions(text))
