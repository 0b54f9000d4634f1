"""Decision requests as chat messages."""

from __future__ import annotations

from typing import Any

import pytest
from queryplan.program.lm.prompt import build, options_of

NOUL = {
    "instructions": "Is it about tea?",
    "type": "noul",
    "criteria": {"true": {"answer": "Yes", "when": "tea is named"}, "false": {"answer": "No", "when": "it is not"}},
}
CHOICE = {
    "instructions": "Which cup?",
    "type": "choice",
    "criteria": {"big": {"answer": "large", "when": "for many"}, "small": "for one", "none": None, "odd": ""},
}
FIELDS = "1. `history` (str): earlier\n2. `query` (str): now"


def state(inputs: dict[str, Any], demos: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"instructions": "Judge it.", "input_fields": FIELDS, "inputs": inputs, "demos": demos or []}


def test_the_system_message_has_instructions_question_and_every_word_with_its_definition() -> None:
    system = build(state({"query": "oolong"}), "tea", NOUL).system
    assert "Judge it." in system
    assert "Is it about tea?" in system
    assert "- Yes: tea is named\n- No: it is not" in system


def test_the_user_turn_is_the_field_label_and_the_value_alone() -> None:
    assert build(state({"query": "oolong"}), "tea", NOUL).user == "query: oolong"


def test_a_value_of_several_lines_begins_on_its_own_line() -> None:
    prompt = build(state({"history": "user: a\nassistant: b", "query": "c"}), "tea", NOUL)
    assert prompt.user == "history:\nuser: a\nassistant: b\nquery: c"


def test_the_order_of_keyword_arguments_does_not_change_the_prompt() -> None:
    one = build(state({"history": "h", "query": "q"}, [{"query": "a", "history": "b", "tea": True}]), "tea", NOUL)
    other = build(state({"query": "q", "history": "h"}, [{"history": "b", "query": "a", "tea": True}]), "tea", NOUL)
    assert one == other


def test_only_the_last_turn_differs_between_two_queries() -> None:
    demos = [{"query": "sencha", "tea": True}]
    first, second = (build(state({"query": q}, demos), "tea", NOUL) for q in ("a", "b"))
    assert first[:2] == second[:2]


@pytest.mark.parametrize(
    "value", [True, {"value": True, "probability": 0.8, "confidence": 0.6}, "true"], ids=["bool", "dumped", "text"]
)
def test_a_demonstrated_noul_becomes_its_answer_word(value: object) -> None:
    prompt = build(state({"query": "q"}, [{"query": "sencha", "tea": value}]), "tea", NOUL)
    assert prompt.examples == (("query: sencha", "Yes"),)


@pytest.mark.parametrize("value", ["big", {"value": "big", "probabilities": {"big": 1.0}, "confidence": 1.0}])
def test_a_demonstrated_choice_becomes_its_answer_word(value: object) -> None:
    prompt = build(state({"query": "q"}, [{"query": "for us all", "cup": value}]), "cup", CHOICE)
    assert prompt.examples == (("query: for us all", "large"),)


def test_demonstrations_without_this_output_are_skipped() -> None:
    demos = [{"query": "a"}, {"query": "b", "cup": "unheard of"}, {"query": "c", "cup": None}, {"cup": "big"}]
    assert build(state({"query": "q"}, demos), "cup", CHOICE).examples == ()


def test_descriptions_may_be_objects_text_or_nothing() -> None:
    assert [(o.label, o.word, o.when) for o in options_of(CHOICE)] == [
        ("big", "large", "for many"),
        ("small", "small", "for one"),
        ("none", "none", ""),
        ("odd", "odd", ""),
    ]


@pytest.mark.parametrize("criteria", [None, {}, {"true": "it is"}, {"true": "", "false": None}])
def test_a_noul_without_answer_words_is_asked_with_yes_and_no(criteria: object) -> None:
    options = options_of({"instructions": "?", "type": "noul", "criteria": criteria})
    assert [(o.label, o.word) for o in options] == [("true", "Yes"), ("false", "No")]


def test_a_score_is_asked_with_level_numbers() -> None:
    options = options_of({"instructions": "?", "type": "score", "criteria": ["poor", {"answer": "fine", "when": "ok"}]})
    assert [(o.label, o.word, o.when) for o in options] == [("0", "0", "poor"), ("1", "fine", "ok")]


def test_instructions_may_be_data() -> None:
    question = {**NOUL, "instructions": {"ask": "é?"}}
    assert '{"ask": "é?"}' in build(state({"query": "q"}), "tea", question).system
