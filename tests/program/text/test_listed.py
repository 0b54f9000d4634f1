"""Which messages list questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.text.listed import listed_questions, shared_out


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("1. who sells wool?\n2. where is salt", ("who sells wool", "where is salt")),
        ("1) who sells wool 2) where is salt 3) why", ()),
        ("(a) who sells wool, (b) ok, where is salt", ("who sells wool", "ok, where is salt")),
        ("- who sells wool\n\n- where is salt", ("who sells wool", "where is salt")),
        ("1)who sells wool 2)where is salt", ("who sells wool", "where is salt")),
        ("1 - who sells wool\n2 - where is salt", ("who sells wool", "where is salt")),
        ("i) who sells wool ii) where is salt", ("who sells wool", "where is salt")),
        ("Q1: who sells wool Q2: where is salt", ("who sells wool", "where is salt")),
        ("Frage 1: wer verkauft Wolle Frage 2: wo ist Salz", ("wer verkauft Wolle", "wo ist Salz")),
        ("1、谁卖羊毛？2、盐在哪里？", ("谁卖羊毛", "盐在哪里")),
        ("① 羊毛は誰が売りますか ② 塩はどこですか", ("羊毛は誰が売りますか", "塩はどこですか")),
        ("◦ who sells wool\n◦ where is salt", ("who sells wool", "where is salt")),
        ("- [ ] who sells wool\n- [x] where is salt", ("who sells wool", "where is salt")),
        ("First, who sells wool? Second, where is salt?", ("who sells wool", "where is salt")),
        (
            "firstly, who sells wool; secondly, where is salt; and finally, why is it white",
            ("who sells wool", "where is salt", "why is it white"),
        ),
        ("Erstens: wer verkauft Wolle, und zweitens: wo ist Salz?", ("wer verkauft Wolle", "wo ist Salz")),
        ("premièrement, qui vend du sel ? deuxièmement, où ?", ()),
        ("Primero, ¿quién vende lana? Segundo, ¿cómo es?", ("¿quién vende lana", "¿cómo es")),
        ("Po pierwsze, kto sprzedaje sól? Po drugie, gdzie jest?", ("kto sprzedaje sól", "gdzie jest")),
        ("第一，谁卖羊毛？第二，盐在哪里？", ("谁卖羊毛", "盐在哪里")),
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
        "who came first, Ada or Bo? second, who left",
        "first, wool; second, salt",
        "the first, who sold wool, and the second, who sold salt: compare",
        "1-2 who sells wool, 3-4 where is salt",
        "1、羊毛 2、盐",
    ],
)
def test_other_messages_list_none(text: str) -> None:
    assert listed_questions(text) == ()


@given(st.lists(st.sampled_from(["1.", "2.", "a)", "b)", "- ", "\n", "who sells wool", "?", ":", ""])).map(" ".join))
def test_no_question_is_empty_or_has_a_line_break(text: str) -> None:
    assert all(one and "\n" not in one for one in listed_questions(text))


@given(st.lists(st.text(st.sampled_from("abc"), min_size=1), max_size=20), st.integers(1, 6))
def test_questions_are_shared_out_in_order_and_none_is_lost(questions: list[str], most: int) -> None:
    shared = shared_out(questions, most)
    assert len(shared) == min(len(questions), most)
    assert "? ".join(shared) == "? ".join(questions)
    sizes = [one.count("? ") for one in shared]
    assert not sizes or (max(sizes) - min(sizes) <= 1 and sizes == sorted(sizes, reverse=True))
