"""Sub-queries that a head cuts: without a model, where a compile chose the head, and where a model fails."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from queryplan.program.decomposing.decomposer import Decomposed
from queryplan.program.settle import Combination, head_alone
from queryplan.program.text.greetings import Greetings
from queryplan.signatures.types import SubQuery

NEEDS = {"needs_decomposition": {"true": 0.9, "false": 0.1}, "is_relevant": {"true": 0.95, "false": 0.05}}
KINDS = {"complexity": {"complex": 0.9, "simple": 0.1}, "intent": {"multi_part": 0.9, "factual": 0.1}}
SAYS = {"is_relevant": 0.9, "complexity": "complex", "intent": "multi_part", "needs_decomposition": 0.9}
HEAD_CUTS = {"sub_queries": head_alone(())}
QUERY = "What is flow, and who distrusts it?"
PARTS = (SubQuery(id=1, text="What is flow"), SubQuery(id=2, text="who distrusts {1}", depends_on=(1,)))


FOUND = Decomposed(PARTS, 0.4, "cut at 1 joint")


def cutting(found: Decomposed | None = FOUND) -> Any:
    return SimpleNamespace(decompose=lambda query, linker: found, tensors=dict)


@pytest.fixture
def planner(bench: Any) -> Any:
    def make(head: Any, needs: dict[str, Any] = NEEDS, **options: Any) -> Any:
        made = bench.planner(heads={**needs, **KINDS}, **options)
        made.heads.decomposer = head
        return made

    return make


def test_without_a_model_a_head_cuts_and_the_plan_says_so(planner: Any) -> None:
    plan = planner(cutting()).plan(QUERY)
    assert plan.sub_queries == PARTS
    decision = next(d for d in plan.trace.decisions if d.stage == "decompose")
    assert (decision.decided_by, decision.confidence, decision.lm_calls) == ("head", 0.4, 0)
    assert decision.reason == "learned: cut at 1 joint"
    note = next(d for d in plan.degraded if d.what == "decompose")
    assert (note.why, note.instead) == (
        "no language model was given",
        "a learned head took the query apart",
    )


def test_where_a_compile_chose_the_head_no_model_is_asked_and_nothing_is_degraded(planner: Any, bench: Any) -> None:
    lm = bench.lm(SAYS)
    plan = planner(cutting(), lm=lm, weigh=HEAD_CUTS).plan(QUERY)
    assert plan.sub_queries == PARTS
    assert "decompose" not in [d.what for d in plan.degraded]
    assert not [call for call in lm.writer.history if "sub_queries" in str(call["messages"])]


def test_a_model_that_fails_is_replaced_by_the_head(planner: Any, bench: Any) -> None:
    plan = planner(cutting(), lm=bench.lm(error=ConnectionError("gone"))).plan(QUERY)
    assert plan.sub_queries == PARTS
    assert "decompose" in [d.what for d in plan.degraded]


def test_where_nobody_compiled_a_model_that_is_there_writes(planner: Any, bench: Any) -> None:
    plan = planner(cutting(), lm=bench.lm(SAYS)).plan(QUERY)
    assert [one.text for one in plan.sub_queries] == ["What is flow?", "Who distrusts {1}?"]


@pytest.mark.parametrize(("surer", "by"), [(0.0, "head"), (0.3, "head"), (0.4, "head"), (0.5, "lm")])
def test_a_head_that_is_surer_than_the_model_was_right_writes(surer: float, by: str, planner: Any, bench: Any) -> None:
    lm = bench.lm(SAYS)
    weigh = {"sub_queries": Combination(lm_weight=1.0, head_weight=0.0, bias={}, surer=surer)}
    plan = planner(cutting(), lm=lm, weigh=weigh).plan(QUERY)
    assert next(d.decided_by for d in plan.trace.decisions if d.stage == "decompose") == by
    assert bool([call for call in lm.writer.history if "sub_queries" in str(call["messages"])]) == (by == "lm")
    assert plan.sub_queries == PARTS if by == "head" else plan.sub_queries
    assert "decompose" not in [d.what for d in plan.degraded]


def test_a_model_is_asked_where_a_head_that_may_be_surer_has_nothing(planner: Any, bench: Any) -> None:
    weigh = {"sub_queries": Combination(lm_weight=1.0, head_weight=0.0, bias={}, surer=0.1)}
    plan = planner(cutting(None), lm=bench.lm(SAYS), weigh=weigh).plan(QUERY)
    assert [one.text for one in plan.sub_queries] == ["What is flow?", "Who distrusts {1}?"]


def test_what_greets_and_thanks_is_in_no_part(planner: Any) -> None:
    asked: list[str] = []
    cuts = SimpleNamespace(decompose=lambda query, linker: asked.append(query) or FOUND, tensors=dict)
    made = planner(cuts)
    made.heads.greetings = Greetings(("hi", "thanks"))
    for query in (f"hi! {QUERY}", f"{QUERY} thanks", QUERY):
        made.plan(query)
    assert asked == [QUERY] * 3


@pytest.mark.parametrize("surer", [None, 0.3])
def test_what_heads_cannot_read_is_written_by_the_model(surer: float | None, planner: Any, bench: Any) -> None:
    lm = bench.lm({**SAYS, "is_follow_up": 0.9})
    alone = head_alone(())
    split = alone if surer is None else Combination(lm_weight=1.0, head_weight=0.0, bias={}, surer=surer)
    weigh = {**dict.fromkeys(NEEDS | KINDS, alone), "is_follow_up": alone, "sub_queries": split}
    made = planner(cutting(), lm=lm, weigh=weigh)
    made.heads.of_query, made.heads.of_turn = (lambda *_: {}), (lambda *_: None)
    made.heads.cannot_read = lambda _: True
    plan = made.plan("and she?", [{"role": "user", "content": "Who is Nell?"}])
    assert {"is_follow_up", "is_relevant", "complexity", "intent", "needs_decomposition"} <= {*lm.decider.asked()}
    assert plan.is_follow_up
    assert [one.text for one in plan.sub_queries] == ["What is flow?", "Who distrusts {1}?"]
    assert [note.what for note in plan.degraded] == ["heads"]


@pytest.mark.parametrize("options", [{}, {"weigh": HEAD_CUTS}])
def test_what_a_head_cannot_cut_is_searched_whole(options: dict[str, Any], planner: Any) -> None:
    plan = planner(cutting(None), **options).plan(QUERY)
    assert plan.sub_queries == ()
    assert next(d.instead for d in plan.degraded if d.what == "decompose") == "the query is searched whole"


def test_what_needs_one_search_is_not_cut(planner: Any) -> None:
    plan = planner(cutting(), needs={**NEEDS, "needs_decomposition": {"true": 0.1, "false": 0.9}}).plan(QUERY)
    assert plan.sub_queries == ()
    assert "decompose" not in [d.stage for d in plan.trace.decisions]


def test_the_heading_of_a_rewritten_follow_up_is_told_with_each_part_and_is_none(planner: Any) -> None:
    asked: list[str] = []
    head = cutting()
    head.decompose = lambda query, linker: asked.append(query) or FOUND
    heads = planner(head).heads
    found = heads.decomposed("sleep debt: what is it, and who distrusts it?", "sleep debt")
    assert asked == ["what is it, and who distrusts it?"]
    assert [one.text for one in found.sub_queries] == ["sleep debt: What is flow", "who distrusts {1}"]
    assert heads.decomposed("what is it?") == FOUND


NEEDS_NONE = {"needs_decomposition": {"true": 0.1, "false": 0.9}, "is_relevant": {"true": 0.95, "false": 0.05}}
TWO = "1. who is Nell?\n2. what is flow?"


def test_questions_that_a_query_lists_are_its_searches_where_it_needs_some(planner: Any) -> None:
    made = planner(None)
    plan = made.plan(TWO)
    assert [one.text for one in plan.sub_queries] == ["who is Nell", "what is flow"]
    assert plan.trace.decision("decompose").decided_by == "rule"
    assert "decompose" not in [note.what for note in plan.degraded]
    assert not made.plan("1. Nell\n2. flow").sub_queries


def test_more_questions_than_a_plan_may_have_searches_share_some_and_it_is_said(planner: Any) -> None:
    plan = planner(None).plan("\n".join(f"{n}. who is {name}?" for n, name in enumerate("abcdef", 1)))
    assert [one.text for one in plan.sub_queries] == [
        "who is a? who is b",
        "who is c? who is d",
        "who is e",
        "who is f",
    ]
    (gap,) = (note for note in plan.degraded if note.what == "decompose")
    assert gap.why.endswith("lists 6 questions")


def test_a_list_of_questions_decides_no_label(planner: Any) -> None:
    plan = planner(None, needs=NEEDS_NONE).plan(TWO)
    assert (plan.needs_decomposition, plan.sub_queries) == (False, ())
    assert plan.trace.decision("complexity").decided_by != "rule"
