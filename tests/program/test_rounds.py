"""Rounds of requests: what is foreseen, what is wasted, who decides, and what is repaired."""

from __future__ import annotations

from typing import Any

import pytest
from queryplan.program.settle import Combination

from .planning import FACT, MODERATE, TURNS, UNSPLIT, decided

# --- rounds


def test_a_likely_follow_up_is_two_rounds_with_the_rewrite_in_the_first(bench: Any) -> None:
    lm = bench.lm({**MODERATE, "is_follow_up": 0.9})
    plan = bench.planner(lm, {"is_follow_up": {"true": 0.5, "false": 0.5}}).plan("why?", TURNS)
    assert plan.trace.rounds == 2
    assert plan.trace.requests == 1 + 1 + 2 + 3 + 1
    assert plan.trace.wasted_requests == 0
    assert plan.trace.tokens == 11 * plan.trace.requests


def test_an_unlikely_follow_up_asks_for_no_rewrite(bench: Any) -> None:
    lm = bench.lm({**FACT, "is_follow_up": 0.1})
    plan = bench.planner(lm, {"is_follow_up": {"true": 0.05, "false": 0.95}, **UNSPLIT}).plan("Who is Nell?", TURNS)
    assert lm.writer.prompts == []
    assert (plan.trace.rounds, plan.trace.wasted_requests) == (2, 0)


def test_a_rewrite_that_was_not_foreseen_takes_the_one_further_round(bench: Any) -> None:
    lm = bench.lm({**FACT, "is_follow_up": 0.9})
    plan = bench.planner(lm, {"is_follow_up": {"true": 0.05, "false": 0.95}, **UNSPLIT}).plan("why?", TURNS)
    assert plan.trace.rounds == 3
    assert plan.standalone_query == "What did Rosalind say about sleep debt?"


def test_a_foreseen_rewrite_that_is_not_needed_is_wasted(bench: Any) -> None:
    lm = bench.lm({**FACT, "is_follow_up": 0.1})
    plan = bench.planner(lm, {"is_follow_up": {"true": 0.5, "false": 0.5}, **UNSPLIT}).plan("Who is Nell?", TURNS)
    assert plan.trace.wasted_requests == 1
    assert plan.standalone_query == "Who is Nell?"


def test_a_decomposition_that_was_not_foreseen_takes_the_one_further_round(bench: Any) -> None:
    plan = bench.planner(bench.lm(MODERATE), UNSPLIT).plan("What is flow, and who distrusts it?")
    assert plan.trace.rounds == 2
    assert len(plan.sub_queries) == 2


def test_a_decomposition_is_not_foreseen_for_what_is_hardly_ours(bench: Any) -> None:
    lm = bench.lm({"is_relevant": 0.1})
    heads = {"needs_decomposition": {"true": 0.9, "false": 0.1}, "is_relevant": {"true": 0.1, "false": 0.9}}
    bench.planner(lm, heads).plan("Will it rain?")
    assert lm.writer.prompts == []


def test_no_more_than_one_round_follows_the_two(bench: Any) -> None:
    lm = bench.lm({**MODERATE, "is_follow_up": 0.9})
    heads = {"is_follow_up": {"true": 0.05, "false": 0.95}, **UNSPLIT}
    plan = bench.planner(lm, heads).plan("why, and who?", TURNS)
    assert plan.trace.rounds == 3
    assert plan.needs_decomposition
    assert plan.sub_queries == (), "the further round was spent on the rewrite"
    lost = next(d for d in plan.degraded if d.what == "decompose")
    assert lost.instead == "the query is searched whole"
    assert lost.why == "the one further round of requests was taken by something else"


def test_with_the_further_round_spent_a_decomposition_is_foreseen_sooner(bench: Any) -> None:
    lm = bench.lm({**MODERATE, "is_follow_up": 0.9})
    heads = {"is_follow_up": {"true": 0.05, "false": 0.95}, "needs_decomposition": {"true": 0.2, "false": 0.8}}
    plan = bench.planner(lm, heads).plan("why, and who?", TURNS)
    assert plan.trace.rounds == 3
    assert len(plan.sub_queries) == 2


def test_where_only_heads_weigh_the_model_is_not_asked(bench: Any) -> None:
    alone = Combination(lm_weight=0.0, head_weight=1.0, bias={"true": 0.0, "false": 0.0})
    heads = {"is_relevant": {"true": 0.9, "false": 0.1}, "is_follow_up": {"true": 0.1, "false": 0.9}, **UNSPLIT}
    lm = bench.lm({**FACT, "is_relevant": 0.0})
    plan = bench.planner(lm, heads, weigh={"is_relevant": alone, "is_follow_up": alone}).plan("Who is Nell?", TURNS)
    assert {"is_relevant", "is_follow_up"}.isdisjoint(lm.decider.asked())
    assert plan.is_relevant
    assert decided(plan)["relevance"] == decided(plan)["follow_up"] == "head"
    assert plan.degraded == ()


def test_the_confidence_of_a_stage_is_that_of_its_least_sure_output(bench: Any) -> None:
    plan = bench.planner(bench.lm({**FACT, "needs_decomposition": 0.45})).plan("Who is Nell?")
    found = plan.trace.decision("complexity")
    assert found is not None
    assert found.confidence == pytest.approx(0.55)
    assert found.value == {"complexity": "simple", "intent": "factual", "needs_decomposition": False}
    assert found.lm_calls == 3


def test_thresholds_of_a_compiled_predictor_apply(bench: Any) -> None:
    planner = bench.planner(bench.lm({**FACT, "is_relevant": 0.6}))
    assert planner.plan("Who is Nell?").is_relevant
    planner.stage_predictors["relevance"].fields = {"is_relevant": {"threshold": 0.8}}
    assert not planner.plan("Who is Nell?").is_relevant


def test_heads_alone_decide_without_a_model_and_it_is_said_once_what_was_not_done(bench: Any) -> None:
    heads = {
        "is_relevant": {"true": 0.8, "false": 0.2},
        "complexity": {"simple": 0.1, "complex": 0.9},
        "intent": {"multi_part": 0.9, "factual": 0.1},
        "needs_decomposition": {"true": 0.8, "false": 0.2},
    }
    plan = bench.planner(heads=heads).plan("What is flow and who distrusts it?")
    assert (plan.complexity, plan.intent, plan.needs_decomposition) == ("complex", "multi_part", True)
    assert decided(plan) == {"follow_up": "rule", "relevance": "head", "complexity": "head"}
    assert [(d.what, d.why) for d in plan.degraded] == [("decompose", "no language model was given")]
    assert plan.trace.rounds == plan.trace.requests == 0


def test_with_neither_model_nor_heads_the_safe_plan_searches_the_query_as_it_is(bench: Any) -> None:
    plan = bench.planner().plan("Who is Nell?", TURNS)
    assert (plan.is_relevant, plan.complexity, plan.intent) == (True, "simple", "factual")
    assert plan.retrieval_strategy.use_rag
    assert set(decided(plan).values()) == {"fallback"}
    assert [d.what for d in plan.degraded] == ["follow_up", "relevance", "complexity"]


# --- repair


def test_a_decomposition_that_repeats_the_query_is_repaired_in_the_checkers_words(bench: Any) -> None:
    bad = {**SPLIT_, "sub_queries": [{"text": "WHAT IS FLOW, AND WHO?"}, {"text": "b?"}]}
    lm = bench.lm(MODERATE, {"sub_queries": [bad, SPLIT_]})
    plan = bench.planner(lm).plan("What is flow, and who?")
    assert len(lm.writer.prompts) == 2
    assert "a sub-query repeats the whole question" in lm.writer.prompts[1]
    assert "repeats the whole question" not in lm.writer.prompts[0]
    assert [s.text for s in plan.sub_queries] == ["What is flow?", "Who distrusts {1}?"]
    assert plan.trace.rounds == 2
    assert plan.degraded == ()


def test_a_decomposition_that_stays_wrong_is_replaced_by_the_safe_plan(bench: Any) -> None:
    bad = {**SPLIT_, "sub_queries": [{"text": "what is flow, and who?"}, {"text": "b?"}]}
    lm = bench.lm(MODERATE, {"sub_queries": bad})
    plan = bench.planner(lm).plan("What is flow, and who?")
    assert len(lm.writer.prompts) == 2, "one repair, no more"
    assert plan.sub_queries == ()
    gap = next(d for d in plan.degraded if d.what == "decompose")
    assert gap.instead == "the query is searched whole"
    assert "repeats the whole question" in gap.why
    assert plan.retrieval_strategy.use_rag


def test_a_rewrite_that_grew_too_long_is_repaired(bench: Any) -> None:
    long = {"referenced_entities": [], "standalone_query": "x " * 400}
    good = {"referenced_entities": ["Priya"], "standalone_query": "Why did Priya say so?"}
    lm = bench.lm({**FACT, "is_follow_up": 0.9}, {"standalone_query": [long, good]})
    plan = bench.planner(lm, UNSPLIT).plan("why?", TURNS)
    assert "much longer than the query" in lm.writer.prompts[1]
    assert plan.standalone_query == "Why did Priya say so?"


SPLIT_ = {
    "sub_queries": [{"text": "What is flow?", "depends_on": []}, {"text": "Who distrusts {1}?", "depends_on": []}],
    "entities": ["flow"],
    "relationships_needed": [],
}
