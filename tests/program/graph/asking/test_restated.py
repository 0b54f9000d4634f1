"""Asking a model to say a question again, and ranking by both wordings."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import dspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.graph_lessons import read_plan
from queryplan.errors import DataError
from queryplan.program.asking import Reply
from queryplan.program.graph.asking import restated as asking_restated
from queryplan.program.graph.asking.restated import (
    AGAIN,
    OWN,
    SLIGHT,
    Restating,
    ask_restated,
    demonstrations,
    new_restate_predictor,
    pooled,
    rarity,
    read_restated,
    with_spellings,
)
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.planner import RESTATED, GraphPlanner
from queryplan.program.graph.ranking.answering import Found
from queryplan.program.graph.ranking.choosing import CHOICE
from queryplan.program.graph.reasons import UNSAYABLE
from queryplan.program.graph.sketch import canonical
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType
from queryplan.signatures.restate_question import MOST_LINES, in_words, restate_question

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Ship", properties=("tons",)), NodeType(name="Captain"), NodeType(name="Port")),
    edges=(
        EdgeType(name="COMMANDED_BY", source="Ship", target="Captain", description="the captain commands the ship"),
        EdgeType(name="BUILT_IN", source="Ship", target="Port", properties=("year",)),
    ),
)
GERMAN, ENGLISH = "Wer befehligte die Aurora?", "Which captain commands Aurora?"
CAPTAIN = canonical(read_plan("Ship:Aurora >COMMANDED_BY"))


@pytest.fixture(scope="module")
def planner(taught: Any) -> GraphPlanner:
    graph = MemoryGraph(declared=SCHEMA)
    for node, name, kind in (("s1", "Aurora", "Ship"), ("c1", "Ida Holm", "Captain"), ("p1", "Ostia", "Port")):
        graph.add_node(node, name, kind)
    graph.add_edge("s1", "COMMANDED_BY", "c1")
    graph.add_edge("s1", "BUILT_IN", "p1")
    choice = taught.choice.copy()
    choice[CHOICE.index("is none")] -= 3.0  # who was taught by one lesson finds hardly anything sayable
    return GraphPlanner(SCHEMA, NameIndex(graph.names()), replace(taught, choice=choice, answers_from=1.1))


@pytest.fixture
def found(planner: GraphPlanner) -> list[Found]:
    """Different plans from one question."""
    best = planner.answerer.best("captain or port of the Aurora", count=20)
    assert len(best) > 3
    return best


def chance_of(found: list[Found], chances: list[float]) -> list[Found]:
    return [replace(one, chance=chance) for one, chance in zip(found, chances, strict=False)]


# --- what is asked


def test_the_schema_is_told_in_plain_words_with_its_properties() -> None:
    assert in_words(SCHEMA).splitlines() == [
        "Ship to Captain: the captain commands the ship",
        "Ship to Port: BUILT_IN (year)",
        "Ship has tons",
    ]
    assert in_words(SCHEMA) in restate_question(SCHEMA).instructions


def test_a_large_schema_is_told_up_to_a_limit() -> None:
    edges = tuple(EdgeType(name=f"E{i}", source="Ship", target="Port") for i in range(3 * MOST_LINES))
    assert len(in_words(SCHEMA.model_copy(update={"edges": edges})).splitlines()) == MOST_LINES


def test_a_question_is_shown_with_the_names_its_likeliest_plans_start_from(found: list[Found]) -> None:
    assert with_spellings(GERMAN, found) == f"{GERMAN}\nNames: Aurora = Aurora (Ship)"
    assert with_spellings(GERMAN, []) == GERMAN


def test_a_name_that_few_of_the_likely_plans_start_from_is_not_shown(planner: GraphPlanner, found: list[Found]) -> None:
    other = planner.answerer.best("ships built in Ostia", count=1)
    assert "Ostia" not in with_spellings("x", [*chance_of(found[:1], [0.9]), *chance_of(other, [0.1])])
    assert "Ostia" in with_spellings("x", [*chance_of(found[:1], [0.5]), *chance_of(other, [0.5])])


def test_the_demonstrations_are_whole_and_keep_every_name_as_the_graph_spells_it() -> None:
    assert len(demonstrations()) >= 6
    for one in demonstrations():
        assert one["restated"].strip()
        _, _, names = one["query"].partition("\nNames: ")
        for said in names.split("; "):
            assert said.split(" = ")[1].rpartition(" (")[0] in one["restated"]


def test_a_file_of_demonstrations_that_cannot_be_read_is_named(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking_restated, "DEMONSTRATIONS", tmp_path / "graph-restated.toml")
    demonstrations.cache_clear()
    try:
        with pytest.raises(DataError, match=r"graph-restated\.toml"):
            new_restate_predictor(SCHEMA)
    finally:
        demonstrations.cache_clear()


# --- what comes back


def test_what_a_model_says_is_one_line_or_a_problem(bench: Any, found: list[Found]) -> None:
    lm = bench.lm(script={GERMAN: {"restated": f" {ENGLISH}\n"}})
    assert ask_restated(GERMAN, SCHEMA, found, lm) == Restating(ENGLISH, "", 1)
    assert "Names: Aurora = Aurora (Ship)" in lm.writer.prompts[-1]
    assert read_restated(Reply(dspy.Prediction(restated="  "))).problem == "it said nothing"
    failed = ask_restated(GERMAN, SCHEMA, found, bench.lm(error=RuntimeError("a secret address")))
    assert failed.text == ""
    assert "could not be used" in failed.problem
    assert "secret" not in failed.problem


def test_rarity_is_of_the_words_that_name_nothing(found: list[Found]) -> None:
    common = {"which": 0.2, "captain": 0.4}
    assert rarity("which captain befehligte", (), common) == pytest.approx((0.2 + 0.4 + 1.0) / 3)
    place = found[0].hypothesis.mentions[0].first
    words = ["which"] * place + ["Aurora"]
    assert rarity(" ".join(words), found[:1], common) == pytest.approx(0.2)
    assert rarity("Aurora", (), {}) == 1.0
    assert rarity("?!", (), {}) == 0.0


# --- both wordings together


CHANCES = st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4)


@given(CHANCES, CHANCES)
def test_what_both_wordings_prefer_comes_first_and_the_chances_are_of_all(
    planner: GraphPlanner, own: list[float], again: list[float]
) -> None:
    plans = planner.answerer.best("captain or port of the Aurora", count=4)
    both = pooled(chance_of(plans, own), chance_of(plans, again))
    assert sum(one.chance for one in both) == pytest.approx(1.0)
    assert [one.sure for one in both] == [one.chance for one in both]
    said = {one.plan: (first, second) for one, first, second in zip(plans, own, again, strict=True)}
    for before, after in pairwise(both):
        assert before.chance >= after.chance
        a, b = said[before.plan], said[after.plan]
        assert not (b[0] > max(a[0], SLIGHT) and b[1] > max(a[1], SLIGHT))


def test_a_plan_that_one_wording_alone_leads_to_is_kept(found: list[Found]) -> None:
    first, second = chance_of(found[:1], [1.0]), chance_of(found[1:2], [1.0])
    both = pooled(first, second)
    assert [one.plan for one in both] == [first[0].plan, second[0].plan]
    odds = np.log(both[0].chance / both[1].chance)
    assert odds == pytest.approx((OWN - AGAIN) * -np.log(SLIGHT))
    assert pooled([], second)[0].plan == second[0].plan
    assert pooled([], []) == []


def test_other_words_that_are_plain_overrule_own_words_in_doubt(found: list[Found]) -> None:
    own = chance_of(found[:2], [0.5, 0.4])
    assert pooled(own, chance_of(found[1:2], [0.95]))[0].plan == own[1].plan
    certain = chance_of(found[:2], [0.99, 0.005])
    assert pooled(certain, chance_of(found[1:2], [0.95]))[0].plan == certain[0].plan


def test_that_the_schema_cannot_say_it_is_one_plan_whatever_comes_nearest(found: list[Found]) -> None:
    none = [replace(one, none=True) for one in chance_of(found[:2], [0.4, 0.4])]
    assert len(pooled(none[:1], none[1:])) == 1


# --- in the planner


def with_model(planner: GraphPlanner, lm: Any) -> GraphPlanner:
    return GraphPlanner(SCHEMA, planner.answerer.index, planner.learned, lm=lm)


def test_a_question_in_words_seldom_met_is_ranked_by_what_the_model_makes_of_it_too(
    planner: GraphPlanner, bench: Any
) -> None:
    lm = bench.lm(script={GERMAN: {"restated": ENGLISH}})
    proposal = with_model(planner, lm).plan(GERMAN)
    assert canonical(proposal.plan) == CAPTAIN  # type: ignore[arg-type]
    assert (proposal.decided_by, proposal.answer_type) == ("lm", "Captain")
    assert proposal.reason == RESTATED
    assert lm.decider.requests == []


def test_a_question_in_common_words_is_not_said_again(planner: GraphPlanner) -> None:
    common = dict.fromkeys(("who", "is", "the", "captain", "of"), 0.3)
    plain = replace(planner.learned, paths=replace(planner.learned.paths, common=common))
    known = GraphPlanner(SCHEMA, planner.answerer.index, plain)
    query = "who is the captain of the Aurora"
    assert not known.wants_restating(query, known.ranked(query))
    assert known.wants_restating(GERMAN, known.ranked(GERMAN))
    assert not known.wants_restating("", known.ranked(""))


def test_a_model_that_cannot_say_it_again_leaves_the_rankings_plan_and_is_not_asked_on(
    planner: GraphPlanner, bench: Any
) -> None:
    lm = bench.lm(error=RuntimeError("down"))
    proposal = with_model(planner, lm).plan(GERMAN)
    ranked = planner.ranked(GERMAN)
    assert (proposal.plan, proposal.decided_by) == (ranked.plan, "head")
    assert any("did not say the question again" in line for line in proposal.degraded)
    assert lm.decider.requests == []


def test_where_the_other_words_lead_to_no_plan_the_rankings_is_taken(planner: GraphPlanner, bench: Any) -> None:
    ranked = planner.ranked(GERMAN)
    assert planner.ranked_again(GERMAN, ranked, Restating("Who commanded it?")) is ranked
    lm = bench.lm(script={GERMAN: {"restated": "Who commanded it?"}})
    assert (with_model(planner, lm).plan(GERMAN).plan, lm.decider.requests) == (ranked.plan, [])


def test_a_name_that_only_the_other_words_have_leads_to_a_plan(planner: GraphPlanner) -> None:
    query = "qui commandait l'Aurore boréale"
    again = planner.ranked_again(query, planner.ranked(query), Restating(ENGLISH))
    assert again.plan is not None
    assert [one.name for one in again.entities] == ["Aurora"]


def test_that_the_schema_cannot_say_it_may_come_first_by_both_wordings(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = planner.answerer.best(ENGLISH, count=3)
    unsayable = [replace(best[0], none=True, chance=0.9), *chance_of(best[1:], [0.1])]
    ranked = planner.ranked(GERMAN)
    monkeypatch.setattr(planner.answerer, "best", lambda *args, **given: unsayable)
    again = planner.ranked_again(GERMAN, ranked, Restating(ENGLISH))
    assert (again.plan, again.decided_by) == (None, "lm")
    assert again.reason == UNSAYABLE
