"""Heads asked through DSPy's decision seam."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import dspy
import pytest
from queryplan.errors import LMError
from queryplan.program.context import history_text
from queryplan.program.heads.client import HeadClient, turns_of
from queryplan.program.heads.heads import Heads
from queryplan.program.stages import examples, stage_specs
from queryplan.signatures.types import Turn

TURNS = (Turn(role="user", content="What is sleep debt?"), Turn(role="assistant", content="Lost sleep:\nit adds up."))


@pytest.fixture
def client(trained: Heads) -> HeadClient:
    return HeadClient(trained)


def predict(card: Any, stage: str) -> dspy.Predict:
    return dspy.Predict(stage_specs(card)[stage].signature)


def test_any_predictor_gets_the_heads_probabilities(card: Any, client: HeadClient, trained: Heads) -> None:
    query = "How does flow differ from focus?"
    said, heads = predict(card, "complexity")(lm=client, query=query), trained.of_query(query)
    assert str(said.intent.value) == heads["intent"].label
    assert said.intent.probabilities == pytest.approx(dict(heads["intent"].probabilities), abs=1e-6)
    assert said.needs_decomposition.probability == pytest.approx(heads["needs_decomposition"].probabilities["true"])


def test_a_follow_up_is_asked_with_its_history_as_text(card: Any, client: HeadClient, trained: Heads) -> None:
    said = predict(card, "follow_up")(lm=client, query="and why?", history=history_text(TURNS))
    wanted = trained.of_turn("and why?", turns_of(history_text(TURNS)))
    assert wanted is not None
    assert said.is_follow_up.probability == pytest.approx(wanted.probabilities["true"])


def test_a_history_of_dspys_is_read_as_the_turns_that_it_holds(card: Any, client: HeadClient, trained: Heads) -> None:
    said = {"query": TURNS[0].content, "answer": TURNS[1].content}
    unread = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": None}]
    for messages in ([said], [*unread, *(turn.model_dump() for turn in TURNS)]):
        history = dspy.History(messages=messages)
        assert turns_of(history) == TURNS
        answer = predict(card, "follow_up")(lm=client, query="and why?", history=history)
        wanted = trained.of_turn("and why?", TURNS)
        assert wanted is not None
        assert answer.is_follow_up.probability == pytest.approx(wanted.probabilities["true"])


def test_asyncio_and_copies_answer_alike(card: Any, client: HeadClient) -> None:
    predictor = predict(card, "relevance")
    now = predictor(lm=client, query="Will it rain?").is_relevant.probability
    later = asyncio.run(predictor.acall(lm=client.copy(temperature=1.0), query="Will it rain?"))
    assert later.is_relevant.probability == now
    assert copy.deepcopy(client) is client


def test_reanchor_fits_thresholds_on_heads(card: Any, client: HeadClient, rows: Any) -> None:
    from dspy.experimental import ReAnchor

    spec = stage_specs(card)["follow_up"]
    made = examples(spec, rows("dev"), card)
    predictor = dspy.Predict(spec.signature)
    with dspy.context(lm=client):
        compiled = ReAnchor(metric=lambda e, p, *_: e.is_follow_up == p.is_follow_up.value).compile(
            predictor, trainset=made
        )
        assert compiled(**made[0].inputs()).is_follow_up is not None


def test_a_question_without_a_head_says_which_there_are(client: HeadClient) -> None:
    question = {"type": "noul", "instructions": "", "criteria": None}
    with pytest.raises(LMError, match=r"no head answers 'is_nice': there are heads for is_follow_up"):
        client({"inputs": {"query": "x"}}, {"is_nice": question})


def test_history_is_read_back_as_it_was_written() -> None:
    assert turns_of(history_text(TURNS)) == TURNS
    assert turns_of([t.model_dump() for t in TURNS]) == TURNS
    assert turns_of(dspy.History(messages=[t.model_dump() for t in TURNS])) == TURNS
    assert turns_of({"messages": [t.model_dump() for t in TURNS]}) == TURNS
    assert turns_of("no speaker at all") == (Turn(role="user", content="no speaker at all"),)
    assert turns_of(None) == turns_of(" ") == ()
