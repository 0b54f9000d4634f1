"""Asking a model which of the ranking's plans is meant, and weighing its answer with the ranking."""

from __future__ import annotations

from typing import Any

import dspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.graph_lessons import read_plan
from queryplan.errors import DataError
from queryplan.program.asking import Reply
from queryplan.program.graph import asking_choice
from queryplan.program.graph.asking_choice import (
    SHOWN,
    ask_choice,
    demonstrations,
    new_choice_predictor,
    read_choice,
    shown_order,
    weighed,
)
from queryplan.program.graph.saying import plan_sentence
from queryplan.program.lm.decider import check_distinct
from queryplan.program.lm.prompt import build, options_of
from queryplan.signatures.choose_graph_plan import LETTERS, NONE, ChooseGraphPlan, options_text
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Ship"), NodeType(name="Captain")),
    edges=(EdgeType(name="COMMANDED_BY", source="Ship", target="Captain"),),
)
PLANS = [
    read_plan(text)
    for text in ("Ship:Aurora >COMMANDED_BY", "Captain:Ida <COMMANDED_BY", "count; Ship:Aurora >COMMANDED_BY")
]
QUERY = "who commands the Aurora?"
CHANCES = st.lists(st.floats(0.01, 1.0), min_size=2, max_size=SHOWN + 1)


def letter_of(place: int) -> str:
    """The letter under which a plan is shown."""
    order = shown_order(QUERY, len(PLANS))
    return LETTERS[order.index(place)] if place < len(PLANS) else LETTERS[len(PLANS)]


@pytest.fixture
def asked(bench: Any) -> Any:
    """Asks a scripted model; gives what came of it, and the model's decider."""

    def ask(chosen: Any, ranking: list[float], **trouble: Any) -> Any:
        lm = bench.lm({"chosen": chosen}, **trouble)
        return ask_choice(QUERY, SCHEMA, PLANS, ranking, lm), lm.decider

    return ask


@pytest.mark.parametrize("place", range(len(PLANS) + 1))
def test_the_letter_that_a_model_says_is_read_as_the_plan_it_stood_for(asked: Any, place: int) -> None:
    told, decider = asked(letter_of(place), [0.3, 0.25, 0.25, 0.2])
    assert int(np.argmax(told.chances)) == place
    assert sum(told.chances) == pytest.approx(1.0)
    state, _ = decider.requests[0]
    shown = dict(line.split(". ", 1) for line in state["inputs"]["options"].splitlines())
    words = plan_sentence(PLANS[place], SCHEMA) if place < len(PLANS) else NONE
    assert shown[letter_of(place)] == words
    assert state["inputs"]["query"] == QUERY


def test_a_ranking_that_is_certain_is_not_overruled_by_a_model_in_doubt(asked: Any) -> None:
    in_doubt = dict.fromkeys(LETTERS, 0.15) | {letter_of(1): 0.25}
    assert int(np.argmax(asked(in_doubt, [0.95, 0.02, 0.02, 0.01])[0].chances)) == 0
    assert int(np.argmax(asked(in_doubt, [0.4, 0.39, 0.2, 0.01])[0].chances)) == 1


def test_a_model_that_fails_is_a_problem_and_no_choice(asked: Any) -> None:
    told, _ = asked("A", [0.5, 0.3, 0.1, 0.1], error=RuntimeError("a secret address"))
    assert told.chances == ()
    assert "RuntimeError" in told.problem
    assert "secret" not in told.problem


def test_letters_that_were_not_shown_count_for_nothing() -> None:
    by_letter = dict.fromkeys(LETTERS, 0.01) | {"E": 0.95}
    prediction = dspy.Prediction(chosen=type("Said", (), {"probabilities": by_letter})())
    told = read_choice(QUERY, Reply(prediction, calls=1), [0.5, 0.3, 0.2])
    assert told.chances == pytest.approx(weighed([0.5, 0.3, 0.2], [0.01, 0.01, 0.01]).tolist())
    assert told.calls == 1


@given(CHANCES, st.data())
def test_both_count_and_what_both_prefer_is_chosen(ranking: list[float], data: st.DataObject) -> None:
    model = data.draw(st.lists(st.floats(0.01, 1.0), min_size=len(ranking), max_size=len(ranking)))
    both = weighed(ranking, model)
    assert both.sum() == pytest.approx(1.0)
    for i in range(len(ranking)):
        for j in range(len(ranking)):
            if ranking[i] >= ranking[j] and model[i] >= model[j]:
                assert both[i] >= both[j] - 1e-12


@given(st.text(), st.integers(0, SHOWN))
def test_plans_are_shown_in_an_order_that_is_the_questions_own(query: str, count: int) -> None:
    order = shown_order(query, count)
    assert sorted(order) == list(range(count))
    assert order == shown_order(query, count)


def test_the_likeliest_plan_is_not_always_shown_first() -> None:
    assert len({shown_order(f"question {i}", SHOWN)[0] for i in range(40)}) == SHOWN


def test_the_shipped_demonstrations_show_every_letter_of_a_line_and_end_in_none() -> None:
    for one in demonstrations():
        lines = one["options"].splitlines()
        assert [line[:3] for line in lines] == [f"{letter}. " for letter in LETTERS]
        assert lines[-1] == f"{LETTERS[-1]}. {NONE}"
        assert one["chosen"] in LETTERS
    letters = [one["chosen"] for one in demonstrations()]
    assert set(letters) == set(LETTERS)


def test_a_file_of_demonstrations_that_cannot_be_read_is_named(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tmp_path / "graph-options.toml"
    wrong.write_text("[[demonstration]]\nquery = 'x'\n", encoding="utf-8")
    monkeypatch.setattr(asking_choice, "DEMONSTRATIONS", wrong)
    demonstrations.cache_clear()
    try:
        with pytest.raises(DataError, match=r"graph-options\.toml"):
            demonstrations()
    finally:
        demonstrations.cache_clear()


def test_every_demonstration_becomes_a_turn_and_letters_are_the_legal_words(asked: Any) -> None:
    _, decider = asked("A", [0.5, 0.3, 0.1, 0.1])
    state, questions = decider.requests[0]
    prompt = build(state, "chosen", questions["chosen"])
    assert [word for _, word in prompt.examples] == [one["chosen"] for one in demonstrations()]
    assert prompt.user.startswith(f"query: {QUERY}\noptions:\nA. ")
    options = options_of(questions["chosen"])
    check_distinct(options)
    assert [option.word for option in options] == list(LETTERS)


def test_options_are_lines_with_letters() -> None:
    assert options_text(["x", "y"]) == f"A. x\nB. y\nC. {NONE}"
    assert new_choice_predictor().signature is ChooseGraphPlan
