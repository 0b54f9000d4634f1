"""Every field of a plan: who fills it, and when; rounds, waste, repair."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from queryplan.data.card import HistoryWindow
from queryplan.errors import ConfigError
from queryplan.program.plan import QueryPlan
from queryplan.program.settle import Combination

TURNS = [
    {"role": "user", "content": "What is sleep debt?"},
    {"role": "assistant", "content": "Lost sleep that adds up. Priya explained it, and Rosalind took it further."},
]
MODERATE = {"is_relevant": 0.9, "complexity": "moderate", "intent": "comparison", "needs_decomposition": 0.9}
FACT = {"is_relevant": 0.9, "complexity": "simple", "intent": "factual", "needs_decomposition": 0.1}
UNSPLIT = {"needs_decomposition": {"true": 0.01, "false": 0.99}}


def same(plan: QueryPlan) -> dict[str, Any]:
    """A plan without what a clock measures."""
    return plan.model_dump(exclude={"trace": {"milliseconds": True, "decisions": {"__all__": {"milliseconds"}}}})


def decided(plan: QueryPlan) -> dict[str, str]:
    return {d.stage: d.decided_by for d in plan.trace.decisions}


# --- rules


@pytest.mark.parametrize("text", ["hi", "Hello!", "  THANKS… ", "merci", "こんにちは。", "谢谢！"])
def test_exactly_a_greeting_is_decided_by_rule_without_a_request(bench: Any, text: str) -> None:
    lm = bench.lm()
    plan = bench.planner(lm).plan(text, TURNS)
    assert (plan.intent, plan.complexity, plan.is_follow_up, plan.is_relevant) == ("greeting", "simple", False, True)
    assert plan.retrieval_strategy.direct_answer
    assert set(decided(plan).values()) == {"rule"}
    assert lm.decider.requests == []
    assert lm.writer.prompts == []


def test_a_greeting_with_a_question_is_not_decided_by_rule(bench: Any) -> None:
    plan = bench.planner(bench.lm(FACT)).plan("hi, who is Nell?")
    assert plan.intent == "factual"


@pytest.mark.parametrize("text", ["", "   ", "\x00\x01", "\ud800", "?!…", "\u2028\n"])
def test_a_query_without_words_is_a_direct_answer_by_rule(bench: Any, text: str) -> None:
    lm = bench.lm(MODERATE)
    plan = bench.planner(lm).plan(text)
    assert plan.intent == "greeting"
    assert plan.retrieval_strategy.direct_answer
    assert lm.decider.requests == []


def test_a_query_that_cannot_be_read_says_so(bench: Any) -> None:
    plan = bench.planner().plan("\x07")
    assert plan.degraded[0].what == "query"
    assert "no readable text" in plan.degraded[0].why


def test_without_history_follow_up_is_not_asked(bench: Any) -> None:
    lm = bench.lm(FACT)
    plan = bench.planner(lm).plan("and what about him?")
    assert not plan.is_follow_up
    assert decided(plan)["follow_up"] == "rule"
    assert "is_follow_up" not in lm.decider.asked()
    assert plan.trace.rounds == 1


# --- fields


def test_a_follow_up_is_rewritten_and_its_labels_are_of_the_standalone_form(bench: Any) -> None:
    lm = bench.lm({**FACT, "is_follow_up": 0.9})
    plan = bench.planner(lm).plan("what did she say about that?", TURNS)
    assert plan.query == "what did she say about that?"
    assert plan.is_follow_up
    assert plan.standalone_query == "What did Rosalind say about sleep debt?"
    assert plan.referenced_entities == ("Rosalind",)
    assert plan.entities == ("Rosalind", "sleep debt")
    assert {state["inputs"]["query"] for state, _ in lm.decider.requests[1:]} == {plan.standalone_query}
    assert decided(plan) == {"follow_up": "lm", "rewrite": "lm", "relevance": "lm", "complexity": "lm"}
    assert plan.degraded == ()


def test_a_reference_that_no_turn_names_is_left_out(bench: Any) -> None:
    made = {"referenced_entities": ["Rosalind", "Gandhi", "Rosalind"], "standalone_query": "Why Rosalind?"}
    plan = bench.planner(bench.lm({**FACT, "is_follow_up": 0.9}, {"standalone_query": made})).plan("why?", TURNS)
    assert plan.referenced_entities == ("Rosalind",)


def test_what_the_model_writes_is_cleaned(bench: Any) -> None:
    made = {"referenced_entities": [], "standalone_query": "Why\ud800\n did\x00 Rosalind?"}
    plan = bench.planner(bench.lm({**FACT, "is_follow_up": 0.9}, {"standalone_query": made})).plan("why?", TURNS)
    assert plan.standalone_query == "Why did Rosalind?"
    plan.model_dump_json()


def test_a_query_that_stands_alone_is_its_own_standalone_form(bench: Any) -> None:
    plan = bench.planner(bench.lm({**FACT, "is_follow_up": 0.1})).plan("Who is Nell?", TURNS)
    assert plan.standalone_query == plan.query == "Who is Nell?"
    assert plan.referenced_entities == ()


def test_the_linker_finds_entities_where_nothing_is_decomposed(bench: Any) -> None:
    plan = bench.planner(bench.lm(FACT)).plan("Did nell read Cone Ten?")
    assert plan.entities == ("nell", "Cone Ten")


def test_decomposition_fills_sub_queries_entities_and_relations(bench: Any) -> None:
    plan = bench.planner(bench.lm(MODERATE)).plan("What is flow, and who distrusts it?")
    assert [(s.id, s.text, s.depends_on) for s in plan.sub_queries] == [
        (1, "What is flow?", ()),
        (2, "Who distrusts {1}?", (1,)),
    ]
    assert plan.entities == ("flow",)
    assert plan.relationships_needed == ("distrusts",)
    assert plan.needs_decomposition
    assert decided(plan)["decompose"] == "lm"


def test_entities_that_the_query_does_not_contain_are_left_out(bench: Any) -> None:
    script = {"sub_queries": {"sub_queries": [{"text": "a?"}, {"text": "b?"}], "entities": ["FLOW", "Gandhi", ""],
                              "relationships_needed": ["x", "x", " "]}}  # fmt: skip
    plan = bench.planner(bench.lm(MODERATE, script)).plan("what is flow and b?")
    assert plan.entities == ("FLOW",)
    assert plan.relationships_needed == ("x",)


def test_a_simple_plan_has_no_sub_queries_and_the_foreseen_request_counts_as_wasted(bench: Any) -> None:
    plan = bench.planner(bench.lm(FACT)).plan("Who is Nell?")
    assert plan.sub_queries == ()
    assert not plan.needs_decomposition
    assert plan.trace.wasted_requests == 1


def test_out_of_domain_names_its_topic_and_the_cards_words(bench: Any) -> None:
    lm = bench.lm({**MODERATE, "is_relevant": 0.1, "rejection_kind": "weather"})
    plan = bench.planner(lm).plan("Will it rain on Rosalind?")
    assert (plan.is_relevant, plan.rejection_kind) == (False, "weather")
    assert plan.rejection_reason == "I have no weather reports; I can only help with the podcast."
    assert (plan.complexity, plan.intent) == ("simple", "out_of_scope")
    assert (plan.entities, plan.sub_queries, plan.relationships_needed) == ((), (), ())
    assert not any((plan.retrieval_strategy.use_rag, plan.retrieval_strategy.use_kg))
    assert plan.trace.wasted_requests == 4, "three labels and the decomposition were not needed"


def test_a_greeting_by_label_is_simple_whatever_the_other_labels_say(bench: Any) -> None:
    plan = bench.planner(bench.lm({**MODERATE, "complexity": "complex", "intent": "greeting"})).plan("hiya!!! you all")
    assert (plan.complexity, plan.needs_decomposition, plan.sub_queries) == ("simple", False, ())
    assert plan.retrieval_strategy.direct_answer


def test_the_intent_is_never_follow_up(bench: Any) -> None:
    asked = bench.planner(lm := bench.lm({**FACT, "is_follow_up": 0.9})).plan("why?", TURNS)
    assert asked.intent == "factual"
    offered = [set(questions["intent"]["criteria"]) for _, questions in lm.decider.requests if "intent" in questions]
    assert offered
    assert not any({"follow_up", "out_of_scope"} & labels for labels in offered)


def test_context_has_at_most_forty_words_and_topics_come_latest_first(bench: Any) -> None:
    turns = [
        {"role": "user", "content": "flow " * 30},
        {"role": "assistant", "content": "Nell and flow " + "word " * 60},
    ]
    plan = bench.planner().plan("and?", turns)
    assert len(plan.conversation_context.split()) == 40
    assert plan.previous_topics == ("Nell Arkwright-Osei", "flow")


def test_without_history_there_is_no_context(bench: Any) -> None:
    plan = bench.planner().plan("Who is Nell?")
    assert (plan.conversation_context, plan.previous_topics) == ("", ())


def test_the_window_is_three_messages_of_two_hundred_characters(bench: Any) -> None:
    turns = [{"role": "user", "content": f"{n}" * 300} for n in range(5)]
    lm = bench.lm({**FACT, "is_follow_up": 0.1})
    bench.planner(lm).plan("and?", turns)
    assert lm.decider.requests[0][0]["inputs"]["history"] == "\n".join(f"User: {str(n) * 200}" for n in (2, 3, 4))


def test_the_window_is_set_on_the_card(bench: Any) -> None:
    card = bench.card.model_copy(update={"history": HistoryWindow(messages=1, characters=20)})
    lm = bench.lm({**FACT, "is_follow_up": 0.1})
    bench.planner(lm, card=card).plan("and?", [{"role": "user", "content": "x" * 50}] * 3)
    assert lm.decider.requests[0][0]["inputs"]["history"] == f"User: {'x' * 20}"


def test_the_active_entity_is_offered_to_the_rewrite_alone(bench: Any) -> None:
    lm = bench.lm({**FACT, "is_follow_up": 0.9})
    bench.planner(lm).plan("why?", TURNS, session={"active_entity": "Kwabena"})
    assert "Kwabena" in lm.writer.prompts[0]
    assert not any("Kwabena" in str(state["inputs"]) for state, _ in lm.decider.requests)


def test_the_active_entity_is_the_referent_of_a_follow_up_that_nobody_could_rewrite(bench: Any) -> None:
    heads = {"is_follow_up": {"true": 0.9, "false": 0.1}}
    plan = bench.planner(heads=heads).plan("why?", TURNS, session={"active_entity": "Kwabena"})
    assert plan.referenced_entities == ("Kwabena",)
    assert plan.standalone_query == "why?"
    assert [d.what for d in plan.degraded if d.what == "rewrite"]


def test_without_an_active_entity_the_names_of_the_last_turn_are_candidates(bench: Any) -> None:
    plan = bench.planner(heads={"is_follow_up": {"true": 0.9, "false": 0.1}}).plan("why?", TURNS)
    assert plan.referenced_entities == ("Priya", "Rosalind")


def test_the_active_entity_says_nothing_of_a_query_that_stands_alone(bench: Any) -> None:
    heads = {"is_follow_up": {"true": 0.1, "false": 0.9}}
    with_it = bench.planner(heads=heads).plan("Who is Nell?", TURNS, session={"active_entity": "Kwabena"})
    assert "Kwabena" not in with_it.model_dump_json()


def test_graph_steps_are_written_when_they_are_wanted_and_a_name_is_known(bench: Any) -> None:
    planner = bench.planner(bench.lm(FACT), UNSPLIT, plan_graph=True)
    plan = planner.plan("What did Yusuf write?")
    assert plan.graph_plan is not None
    assert [step.kind for step in plan.graph_plan.steps] == ["anchor", "expand"]
    assert decided(plan)["graph"] == "lm"
    assert planner.plan("what is boredom?").graph_plan is None


def test_graph_steps_of_a_query_that_is_not_ours_are_wasted(bench: Any) -> None:
    plan = bench.planner(bench.lm({**FACT, "is_relevant": 0.1}), UNSPLIT, plan_graph=True).plan("What did Yusuf eat?")
    assert plan.graph_plan is None
    assert plan.trace.wasted_requests == 4


WRONG = {
    "steps": [
        {"do": "find", "name": "Yusuf", "type": "Book"},
        {"do": "follow", "start": 1, "edge": "WROTE", "direction": "out", "without": []},
    ]
}
RIGHT = {"steps": [{**WRONG["steps"][0], "type": "Guest"}, WRONG["steps"][1]]}


def test_graph_steps_that_do_not_fit_the_schema_are_left_out_with_the_reason(bench: Any) -> None:
    plan = bench.planner(bench.lm(FACT, {"steps": WRONG}), UNSPLIT, plan_graph=True).plan("What did Yusuf write?")
    assert plan.graph_plan is None
    assert "WROTE joins Guest to Book" in next(d.why for d in plan.degraded if d.what == "graph")


def test_graph_steps_are_repaired_once_with_the_checkers_words(bench: Any) -> None:
    lm = bench.lm(FACT, {"steps": [WRONG, RIGHT]})
    plan = bench.planner(lm, UNSPLIT, plan_graph=True).plan("What did Yusuf write?")
    assert plan.graph_plan is not None
    assert decided(plan)["graph"] == "lm"
    assert "WROTE joins Guest to Book" in lm.writer.prompts[-1]


def test_graph_steps_are_ranked_without_a_model(bench: Any) -> None:
    planner = bench.planner(None, UNSPLIT, plan_graph=True).with_graph(knowing())
    plan = planner.plan("Which books did Yusuf write?")
    assert plan.graph_plan is not None
    assert decided(plan)["graph"] == "head"
    assert not [d for d in plan.degraded if d.what == "graph"]


def test_graph_steps_of_a_ranking_that_is_sure_ask_no_model(bench: Any) -> None:
    lm = bench.lm(FACT)
    plan = bench.planner(lm, UNSPLIT, plan_graph=True).with_graph(knowing(0.0)).plan("Which books did Yusuf write?")
    assert decided(plan)["graph"] == "head"
    assert not any("follow" in prompt for prompt in lm.writer.prompts)


def choosing(bench: Any, place: int, steps: Any = None) -> tuple[Any, Any, list[Any]]:
    """A planner whose ranking is not sure enough, a model that chooses a plan by its place, and the plans."""
    from queryplan.program.graph.asking_choice import shown_order
    from queryplan.signatures.choose_graph_plan import LETTERS

    query = "Which books did Yusuf write?"
    graphs = bench.planner(None, UNSPLIT, plan_graph=True).with_graph(knowing())._graphs()
    plans = [one.plan for one in graphs.offered(graphs.ranked(query))]
    order = [*shown_order(query, len(plans) - 1), len(plans) - 1]
    letter = LETTERS[order.index(place)]
    lm = bench.lm({**FACT, "chosen": {n: float(n == letter) for n in LETTERS}}, {"steps": steps or RIGHT})
    return bench.planner(lm, UNSPLIT, plan_graph=True).with_graph(knowing(2.0)).plan(query), lm, plans


def test_a_graph_plan_is_chosen_by_model_and_ranking_where_that_is_not_sure(bench: Any) -> None:
    plan, lm, plans = choosing(bench, 1)
    assert len(plans) > 2
    assert plan.graph_plan == plans[1]
    assert decided(plan)["graph"] == "lm"
    assert "chosen" in lm.decider.asked()
    assert not any("follow" in prompt for prompt in lm.writer.prompts)


def test_graph_steps_are_written_where_none_is_chosen_and_taken_where_they_are_likelier(bench: Any) -> None:
    plan, lm, plans = choosing(bench, 5)
    assert len(plans) == 6
    assert any("Names of the graph in it: " in prompt for prompt in lm.writer.prompts)
    assert plan.graph_plan is None
    assert "graph" not in decided(plan)


def test_graph_steps_a_model_cannot_write_where_none_is_chosen_are_left_out_and_it_is_said(bench: Any) -> None:
    plan, _, _ = choosing(bench, 5, WRONG)
    assert plan.graph_plan is None
    assert [d.instead for d in plan.degraded if d.what == "graph"] == ["the text is searched without the graph"]


def test_a_graph_plan_that_a_model_fails_to_choose_is_the_rankings_and_it_is_said(bench: Any) -> None:
    lm = bench.lm({**FACT, "chosen": {}})
    plan = bench.planner(lm, UNSPLIT, plan_graph=True).with_graph(knowing(2.0)).plan("Which books did Yusuf write?")
    assert plan.graph_plan is not None
    assert decided(plan)["graph"] == "head"
    assert [d.instead for d in plan.degraded if d.what == "graph"] == ["the learned ranking's steps were taken"]


def knowing(answers_from: float | None = None) -> Any:
    """A ranking that nothing was taught and that is sure of itself."""
    from queryplan.program.graph.choosing import only_chance
    from queryplan.program.graph.endings import DENSE as ENDINGS
    from queryplan.program.graph.endings import EndingWeights
    from queryplan.program.graph.fit_endings import STARTING
    from queryplan.program.graph.fit_ranking import starting_weights
    from queryplan.program.graph.store import SURE, Learned

    # That the schema cannot say what is asked is believed least of all.
    ends = EndingWeights(np.array([{**STARTING, "unsayable": -9.0}.get(name, -3.0) for name in ENDINGS]))
    sure = np.array([5.0 if name == "bias" else 0.0 for name in SURE])
    return Learned(starting_weights({"which": 0.2, "did": 0.2}), ends, only_chance(), sure, answers_from)


def test_a_domain_without_sources_has_ways_of_asking_and_no_source_plans(bench: Any) -> None:
    plan = bench.planner().plan("Who is Nell?")
    assert plan.candidates[0].query == plan.standalone_query
    assert (plan.source_intents, plan.source_plans, plan.source_queries) == ((), (), ())
    assert plan.retrieval_strategy.retrieval_method == "semantic"


def test_the_plan_names_its_program_and_carries_the_notes(bench: Any) -> None:
    plan = bench.planner(notes=("not compiled",)).plan("Who is Nell?")
    assert plan.program_version.startswith("uncompiled-")
    assert plan.trace.notes == ("not compiled",)
    assert plan.schema_version == 1


def test_the_version_changes_with_what_heads_learned(bench: Any, trained: Any) -> None:
    from dataclasses import replace

    from queryplan.program.heads import Heads

    learned = {n: replace(h, dual=h.dual * 2) for n, h in trained.heads.items()}
    one = bench.planner(heads=trained).program_version
    assert one == bench.planner(heads=trained).program_version
    assert one != bench.planner(heads=Heads(learned, trained.features)).program_version
    assert one != bench.planner(heads=None).program_version


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
    assert next(d for d in plan.degraded if d.what == "decompose").instead == "the query is searched whole"


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


# --- models that fail


@pytest.fixture
def both() -> Callable[..., QueryPlan]:
    """Plan with ``plan`` and ``aplan``; they must agree."""

    def run(make: Callable[[], Any], *args: Any, **kwargs: Any) -> QueryPlan:
        direct = make().plan(*args, **kwargs)
        awaited = asyncio.run(make().aplan(*args, **kwargs))
        assert same(direct) == same(awaited)
        return direct

    return run


def test_sync_and_async_give_the_same_plan(bench: Any, both: Callable[..., QueryPlan]) -> None:
    answers = {**MODERATE, "is_follow_up": 0.9}
    plan = both(lambda: bench.planner(bench.lm(answers)), "why, and who?", TURNS, {"active_entity": "Priya"})
    assert len(plan.sub_queries) == 2


def test_forward_returns_the_plan_as_a_prediction(bench: Any) -> None:
    planner = bench.planner(bench.lm(FACT))
    assert planner(query="Who is Nell?").plan.intent == "factual"
    assert asyncio.run(planner.acall(query="Who is Nell?")).plan.intent == "factual"


@pytest.mark.parametrize("where", ["sync", "async"])
def test_a_deadline_is_honoured_with_a_degraded_plan(bench: Any, where: str) -> None:
    lm = bench.lm({**MODERATE, "is_follow_up": 0.9}, delay=5.0)
    planner = bench.planner(lm)
    if where == "sync":
        plan = planner.plan("why, and who?", TURNS, deadline_s=0.2)
    else:
        plan = asyncio.run(planner.aplan("why, and who?", TURNS, deadline_s=0.2))
    assert 200 <= plan.trace.milliseconds < 1000
    assert {d.what: d.why for d in plan.degraded} == dict.fromkeys(
        ("follow_up", "relevance", "complexity"), "the deadline passed"
    )
    assert plan.retrieval_strategy.use_rag


def test_what_came_before_the_deadline_is_used(bench: Any) -> None:
    lm = bench.lm({**FACT, "is_relevant": 0.1, "rejection_kind": "news"})
    lm.writer.delay = 5.0
    plan = bench.planner(lm).plan("What happened today?", deadline_s=0.3)
    assert plan.rejection_kind == "news"
    assert plan.trace.milliseconds < 1000


def test_a_deadline_that_passed_before_it_began_asks_nothing(bench: Any) -> None:
    lm = bench.lm(FACT)
    plan = bench.planner(lm).plan("Who is Nell?", deadline_s=0)
    assert lm.decider.requests == []
    assert plan.trace.rounds == 0
    assert [d.why for d in plan.degraded] == ["the deadline passed"] * 2


def test_a_caller_who_stops_waiting_leaves_no_request_behind(bench: Any) -> None:
    lm = bench.lm(FACT, delay=5.0)
    planner = bench.planner(lm)

    async def impatient() -> int:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(planner.aplan("Who is Nell?"), 0.1)
        await asyncio.sleep(0.01)
        return len(asyncio.all_tasks())

    assert asyncio.run(impatient()) == 1
    assert lm.decider.cancelled == 2


def test_a_dead_model_is_named_and_heads_take_over(bench: Any, both: Callable[..., QueryPlan]) -> None:
    from queryplan.errors import LMError

    def make() -> Any:
        lm = bench.lm(error=LMError("the server at 127.0.0.1 does not answer; start it"))
        return bench.planner(lm, {"is_relevant": {"true": 0.9, "false": 0.1}})

    plan = both(make, "Who is Nell?", TURNS)
    assert {d.what: d.why for d in plan.degraded} == dict.fromkeys(
        ("follow_up", "relevance", "complexity"), "the server at 127.0.0.1 does not answer; start it"
    )
    assert next(d for d in plan.degraded if d.what == "relevance").instead == "a learned head decided"
    assert decided(plan)["relevance"] == "head"


def test_a_foreign_error_does_not_show_its_message(bench: Any) -> None:
    plan = bench.planner(bench.lm(error=RuntimeError("key sk-secret refused"))).plan("Who is Nell?")
    assert plan.degraded
    assert "sk-secret" not in plan.model_dump_json()
    assert "RuntimeError" in plan.degraded[0].why


def test_a_model_that_writes_rubbish_leaves_a_plan(bench: Any, both: Callable[..., QueryPlan]) -> None:
    def make() -> Any:
        return bench.planner(bench.lm({**MODERATE, "is_follow_up": 0.9}, {}))

    plan = both(make, "why, and who?", TURNS)
    assert {d.what for d in plan.degraded} == {"rewrite", "decompose"}
    assert plan.standalone_query == "why, and who?"
    assert plan.sub_queries == ()


def test_a_decider_that_answers_rubbish_leaves_a_plan(bench: Any, both: Callable[..., QueryPlan]) -> None:
    def make() -> Any:
        lm = bench.lm()
        lm.decider._answer = lambda name, question: {"nonsense": float("nan")}
        return bench.planner(lm)

    plan = both(make, "Who is Nell?")
    assert [d.what for d in plan.degraded] == ["relevance", "complexity"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConfigError("OPENAI_API_KEY is missing; set it"), "OPENAI_API_KEY is missing; set it"),
        (OSError("secret path"), "the language model could not be opened (OSError)"),
    ],
)
def test_a_model_that_cannot_be_opened_is_named_and_not_tried_again(bench: Any, error: Exception, said: str) -> None:
    tried: list[int] = []

    def opener() -> None:
        tried.append(1)
        raise error

    planner = bench.planner(opener, {"is_relevant": {"true": 0.9, "false": 0.1}})
    for _ in range(2):
        plan = planner.plan("Who is Nell?")
        assert {d.what: d.why for d in plan.degraded} == dict.fromkeys(("relevance", "complexity"), said)
    assert tried == [1]


def test_warming_a_model_that_cannot_be_opened_raises(bench: Any) -> None:
    def opener() -> None:
        raise ConfigError("no such model")

    with pytest.raises(ConfigError):
        bench.planner(opener).warm()


def test_threads_that_plan_first_open_one_model(bench: Any) -> None:
    opened: list[int] = []
    lm = bench.lm(FACT)

    def opener() -> Any:
        opened.append(1)
        threading.Event().wait(0.05)
        return lm

    planner = bench.planner(opener)
    plans: list[QueryPlan] = []
    threads = [threading.Thread(target=lambda: plans.append(planner.plan("Who is Nell?"))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == [1]
    assert len({p.model_dump_json(exclude={"trace"}) for p in plans}) == 1
    assert all(p.trace.requests == 6 for p in plans), "each plan counts its own requests"


def test_another_model_can_be_given(bench: Any) -> None:
    planner = bench.planner(bench.lm({**FACT, "is_relevant": 0.0}))
    assert not planner.plan("Who is Nell?").is_relevant
    assert planner.with_lm(bench.lm(FACT)).plan("Who is Nell?").is_relevant
    assert planner.with_lm(None).plan("Who is Nell?").degraded[0].why == "no language model was given"
