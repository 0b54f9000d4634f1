"""Choosing kinds of candidates: one at a time, by what they add to the recall of labelled evidence."""

from __future__ import annotations

import pytest
from queryplan.eval.retrieval.candidate_value import candidate_value, candidates_of, effect_of_dropping
from queryplan.eval.retrieval.recall import Question, evidence_questions
from queryplan.program.retrieval.candidates.candidates import kind_of
from queryplan.program.retrieval.stores import Stores, open_stores


@pytest.fixture(scope="module")
def stores() -> Stores:
    return open_stores("podcast")


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return evidence_questions("podcast", ("train",))[:12]


def test_every_kind_is_tried_whatever_the_card_keeps(stores: Stores, questions: list[Question]) -> None:
    kinds = {kind_of(c) for question in questions for c in candidates_of(question, stores)}
    assert {"standalone", "sub_query", "terms", "entity", "full_names"} <= kinds
    chosen = {kind_of(c) for question in questions for c in candidates_of(question, stores, "sceptic")}
    assert chosen - kinds == {"modifier", "operator"}


def test_what_is_kept_gains_and_each_step_says_how_much(stores: Stores, questions: list[Question]) -> None:
    value = candidate_value(questions, stores)
    kept = [step for step in value.steps if step.taken]
    assert tuple(sorted(step.kind for step in kept)) == value.kinds
    assert all(step.gain.difference.value >= 0.005 for step in kept)
    assert value.chosen.value >= value.plain.value
    assert value.chosen.value - value.plain.value == pytest.approx(sum(s.gain.difference.value for s in kept))
    assert len(value.lines()) == 2 + len(value.steps)
    assert all(step.searches >= 1 for step in value.steps)


def test_the_effect_of_dropping_is_kept_minus_every_kind(stores: Stores, questions: list[Question]) -> None:
    effect = effect_of_dropping(questions, stores)
    assert effect.difference.difference.value == pytest.approx(effect.kept.value - effect.every.value)
    assert 1 <= effect.searches_kept < effect.searches_every
    assert effect.kept.n == effect.every.n == 12
