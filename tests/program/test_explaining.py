"""The route of one query."""

from __future__ import annotations

from typing import Any

from queryplan.program.bound import Bound, needed_alone
from queryplan.program.explaining import explain, nearest
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.heads import Heads

TURNS = [{"role": "user", "content": "What is sleep debt?"}, {"role": "assistant", "content": "Lost sleep, said Nell."}]


def bound(certainty: float | None) -> Bound:
    reason = "" if certainty else "too few"
    return Bound(error=0.05, confidence=0.9, certainty=certainty, conversations=100, supports=0.02, reason=reason)


def test_each_stage_says_who_decided_how_surely_and_against_what(bench: Any, trained: Heads, rows: Any) -> None:
    planner = bench.planner(None, trained, mode="bounded", bound=bound(0.9))
    found = explain(planner, "Who is Nell?", TURNS, rows=rows("train"))
    assert [route.stage for route in found.routes] == ["follow_up", "relevance", "complexity"]
    for route in found.routes:
        decision = found.plan.trace.decision(route.stage)
        assert decision is not None
        assert (route.decided_by, route.reason) == ("head", decision.reason)
        assert route.certainty is not None
        assert route.needed is not None
        assert route.needed in ((0.9, needed_alone(0.9)) if route.stage == "relevance" else (0.9,))
        unread = found.plan.is_follow_up and route.stage != "follow_up"
        assert ("within the bound" in route.reason) == (route.certainty >= route.needed and not unread)
        assert ("a rewrite of the follow-up" in route.change) == (route.certainty >= route.needed and unread)
        assert ("the head would answer" in route.change) == (route.certainty < route.needed)
        assert "closest to another label" in route.change
        assert len(route.nearest) == 3
    assert set(found.routes[2].heads) == {"complexity", "intent", "needs_decomposition"}
    assert found.mode == "bounded"
    assert "heads answer from certainty 0.900" in found.bound


def test_a_rule_says_that_only_another_form_would_change_it(bench: Any, trained: Heads) -> None:
    found = explain(bench.planner(None, trained), "Who is Nell?")
    assert found.routes[0].decided_by == "rule"
    assert "another form" in found.routes[0].change
    assert found.routes[0].nearest == ()
    assert found.bound == "no bound was fitted"


def test_the_nearest_other_label_is_not_the_one_that_was_decided(bench: Any) -> None:
    said = {"is_relevant": {"true": 0.9, "false": 0.1}, "complexity": {"simple": 0.8, "moderate": 0.2}}
    said |= {"intent": {"greeting": 0.39, "definition": 0.35, "factual": 0.26}}
    said |= {"needs_decomposition": {"false": 0.9, "true": 0.1}}
    route = explain(bench.planner(None, said), "who is on").routes[-1]
    assert route.value["intent"] == "definition"
    assert "intent, where greeting is 0.040 ahead by itself, and something else decided" in route.change


def test_without_heads_it_says_what_would_be_needed(bench: Any, rows: Any) -> None:
    found = explain(bench.planner(None), "Who is Nell?", TURNS, rows=rows("train"))
    assert {route.decided_by for route in found.routes} == {"fallback"}
    assert all("more labelled rows" in route.change for route in found.routes)


def test_the_nearest_rows_are_those_that_the_head_of_the_stage_learned_from(rows: Any) -> None:
    train = rows("train")
    one = next(row for row in train if row.labels.is_relevant and row.labels.needs_decomposition)
    found = nearest("complexity", one.labels.standalone_query, train, default_encoder())
    assert found[0].row == one.id
    assert found[0].similarity > 0.99
    assert found[0].label.endswith("in parts")
    by_id = {row.id: row for row in train}
    assert all(by_id[near.row].history for near in nearest("follow_up", "and why?", train, default_encoder()))


def test_a_text_without_a_vector_and_no_rows_have_no_neighbours(rows: Any) -> None:
    assert nearest("relevance", "", rows("train"), default_encoder()) == ()
    assert nearest("relevance", "who?", (), default_encoder()) == ()
