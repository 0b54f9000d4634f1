"""Follow-ups that a head says anew: without a model, where a compile chose the head, and where a model fails."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from queryplan.program.explaining import explain
from queryplan.program.rewriting.rewriter import Rewritten
from queryplan.program.settle import head_alone

TURNS = [
    {"role": "user", "content": "What does Priya say about sleep debt?"},
    {"role": "assistant", "content": "That it is a loan. Rosalind disagrees."},
]
FOLLOWS = {"is_follow_up": {"true": 0.9, "false": 0.1}}
HEAD_REWRITES = {"standalone_query": head_alone(())}


def rewriter(text: str = "why does Priya say so?", move: str = "put", referent: str = "Priya") -> Any:
    return SimpleNamespace(rewrite=lambda *asked: Rewritten(text, move, referent, 0.4), tensors=dict)


@pytest.fixture
def planner(bench: Any) -> Any:
    def make(head: Any, **options: Any) -> Any:
        made = bench.planner(heads=FOLLOWS, **options)
        made.heads.rewriter = head
        return made

    return make


def rewriting(plan: Any) -> Any:
    return next(d for d in plan.trace.decisions if d.stage == "rewrite")


def test_without_a_model_a_head_rewrites_and_the_plan_says_so(planner: Any) -> None:
    plan = planner(rewriter()).plan("why does she say so?", TURNS)
    assert plan.standalone_query == "why does Priya say so?"
    assert plan.referenced_entities == ("Priya",)
    decision = rewriting(plan)
    assert (decision.decided_by, decision.confidence, decision.lm_calls) == ("head", 0.4, 0)
    assert "'Priya' for a word that points to it" in decision.reason
    note = next(d for d in plan.degraded if d.what == "rewrite")
    assert (note.why, note.instead) == (
        "no language model was given",
        "a learned head put what was said before into it",
    )


def test_where_a_compile_chose_the_head_no_model_is_asked_and_nothing_is_degraded(planner: Any, bench: Any) -> None:
    lm = bench.lm({"is_follow_up": 0.9})
    plan = planner(rewriter(), lm=lm, weigh=HEAD_REWRITES).plan("why does she say so?", TURNS)
    assert plan.standalone_query == "why does Priya say so?"
    assert "rewrite" not in [d.what for d in plan.degraded]
    assert not [call for call in lm.writer.history if "standalone_query" in str(call["messages"])]


def test_a_model_that_fails_is_replaced_by_the_head(planner: Any, bench: Any) -> None:
    plan = planner(rewriter(), lm=bench.lm(error=ConnectionError("gone"))).plan("why does she say so?", TURNS)
    assert plan.standalone_query == "why does Priya say so?"
    assert rewriting(plan).decided_by == "head"
    assert "rewrite" in [d.what for d in plan.degraded]


@pytest.mark.parametrize(
    "head",
    [
        rewriter("why?", "keep", ""),
        rewriter("x" * 900, "turn", "Priya"),
        rewriter("  ", "turn", "Priya"),
    ],
)
def test_what_a_head_leaves_or_spoils_stays_as_typed(head: Any, planner: Any) -> None:
    for options in ({}, {"weigh": HEAD_REWRITES}):
        plan = planner(head, **options).plan("why?", TURNS)
        assert plan.standalone_query == "why?"
        assert "rewrite" not in [d.stage for d in plan.trace.decisions]
        assert "left as typed" in next(d.instead for d in plan.degraded if d.what == "rewrite")


BROKE = {"role": "assistant", "content": "Error 502: something went wrong."}


def test_after_an_error_another_try_is_the_question_before(planner: Any, bench: Any) -> None:
    lm = bench.lm({"is_follow_up": 0.9})
    for options in ({}, {"lm": lm}):
        plan = planner(rewriter(), **options).plan("please try again", [TURNS[0], BROKE])
        assert plan.standalone_query == TURNS[0]["content"]
        assert plan.referenced_entities == ("Priya", "sleep debt")
        assert (rewriting(plan).decided_by, "rewrite" in [d.what for d in plan.degraded]) == ("rule", False)
    twice = [TURNS[0], {"role": "user", "content": "retry"}, BROKE]
    assert planner(rewriter()).plan("nochmal bitte", twice).standalone_query == TURNS[0]["content"]
    assert planner(rewriter()).plan("try again", TURNS).standalone_query == "why does Priya say so?"


def test_an_error_is_not_pointed_to(planner: Any) -> None:
    told = list[Any]()
    head = rewriter()
    head.rewrite = lambda query, turns, *rest: told.append(turns) or Rewritten("why so", "put", "so", 0.4)
    planner(head).plan("why does she say so?", [TURNS[0], BROKE])
    assert [[turn.role for turn in turns] for turns in told] == [["user"]]


def test_what_stands_alone_is_not_touched(bench: Any) -> None:
    made = bench.planner(heads={"is_follow_up": {"true": 0.1, "false": 0.9}})
    made.heads.rewriter = rewriter()
    assert made.plan("Who is Nell?", TURNS).standalone_query == "Who is Nell?"


def test_query_candidates_are_made_of_what_was_typed_and_not_of_a_guess(planner: Any) -> None:
    plan = planner(rewriter("why does Kwabena say so?", "put", "Kwabena")).plan("why does she say so?", TURNS)
    assert not any("Kwabena" in candidate.query for candidate in plan.candidates if candidate.stage == "rule_based")


def recording(text: str, referent: str, heading: str = "") -> tuple[Any, list[Any]]:
    asked: list[Any] = []

    def rewrite(*given: Any) -> Rewritten:
        asked.append(given)
        return Rewritten(text, "add", referent, 0.4, heading)

    return SimpleNamespace(rewrite=rewrite, tensors=dict), asked


def test_a_greeting_around_a_follow_up_is_no_part_of_its_standalone_form(planner: Any) -> None:
    head, asked = recording("why does Priya say so?", "Priya")
    planner(head).plan("Thanks! why does she say so?", TURNS)
    assert asked[0][0] == "why does she say so?"


def test_a_rejection_in_the_words_of_the_card_is_nothing_that_a_query_points_to(planner: Any) -> None:
    head, asked = recording("why?", "Priya")
    made = planner(head)
    refused = {"role": "assistant", "content": made.card.excluded[0].reason}
    made.plan("why?", [*TURNS, {"role": "user", "content": "What is 2+2?"}, refused])
    assert refused["content"] not in [turn.content for turn in asked[0][1]]
    assert "What is 2+2?" in [turn.content for turn in asked[0][1]]


def test_heads_read_the_words_of_a_heading_without_its_colon(planner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    head, _ = recording("sleep debt: why?", "sleep debt", "sleep debt")
    made, read = planner(head), list[str]()
    asked = made.heads.of_query
    monkeypatch.setattr(made.heads, "of_query", lambda query, *more: read.append(query) or asked(query, *more))
    assert made.plan("why?", TURNS).standalone_query == "sleep debt: why?"
    assert read == ["sleep debt why?"]
    explain(made, "why?", TURNS)
    assert read == ["sleep debt why?"] * 3


def test_a_number_with_its_mark_is_what_a_follow_up_refers_to(planner: Any) -> None:
    assert planner(rewriter("who saw !90?", "put", "!90")).plan("who saw it?", TURNS).referenced_entities == ("!90",)
