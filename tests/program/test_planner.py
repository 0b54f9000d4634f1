"""Every field of a plan: who fills it, and when."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from queryplan.data.card import HistoryWindow
from queryplan.program.plan_cache import PlanCache
from queryplan.program.settle import head_alone

from .planning import FACT, MODERATE, TURNS, decided

# --- rules


@pytest.mark.parametrize(
    "text",
    ["hi", "Hello!", "  THANKS… ", "merci", "こんにちは。", "谢谢！", "¿Hola?", "hi :-)", "thanks, bye!", "merci 🙂"],
)
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


def test_a_greeting_that_is_a_guess_is_searched_for(bench: Any) -> None:
    guess = {"is_relevant": {"true": 0.9, "false": 0.1}, "complexity": {"simple": 0.9, "complex": 0.1}}
    guess |= {"intent": {"greeting": 0.38, "definition": 0.36, "factual": 0.26}, "needs_decomposition": {"false": 1.0}}
    plan = bench.planner(None, guess).plan("who is on?")
    assert plan.intent == "definition"
    assert plan.retrieval_strategy.use_rag
    guess["intent"] = {"greeting": 0.48, "definition": 0.26, "factual": 0.26}
    assert bench.planner(None, guess).plan("who is on?").intent == "greeting"
    assert bench.planner(None, guess).plan("silence").intent == "definition", "one word says less"
    assert bench.planner(None, guess).plan("谢谢你的帮助").intent == "greeting", "several words without spaces"
    guess["intent"] = {"greeting": 0.7, "definition": 0.2, "factual": 0.1}
    assert bench.planner(None, guess).plan("Dankeschön").intent == "greeting"


def test_what_greets_follows_nothing_up(bench: Any) -> None:
    lm = bench.lm({**FACT, "is_follow_up": 0.9, "intent": "greeting"})
    plan = bench.planner(lm).plan("much obliged", TURNS)
    assert (plan.intent, plan.is_follow_up, plan.standalone_query) == ("greeting", False, "much obliged")
    assert plan.referenced_entities == ()
    decision = plan.trace.decision("follow_up")
    assert decision is not None
    assert decision.value is False
    assert "follows nothing up" in decision.reason
    assert plan.trace.decision("rewrite") is None


def test_a_query_that_its_history_ends_with_does_not_follow_itself(bench: Any) -> None:
    plan = bench.planner(bench.lm(FACT)).plan("Who is Nell?", [{"role": "user", "content": " Who  is Nell?"}])
    assert not plan.is_follow_up
    assert decided(plan)["follow_up"] == "rule"
    assert plan.degraded[0].why == "its last message is the query"


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
    assert lm.decider.requests[0][0]["inputs"]["history"] == "\n".join(
        f"User: {str(n) * 99} … {str(n) * 98}" for n in (2, 3, 4)
    )


def test_the_window_is_set_on_the_card(bench: Any) -> None:
    card = bench.card.model_copy(update={"history": HistoryWindow(messages=1, characters=20)})
    lm = bench.lm({**FACT, "is_follow_up": 0.1})
    bench.planner(lm, card=card).plan("and?", [{"role": "user", "content": "x" * 50}] * 3)
    assert lm.decider.requests[0][0]["inputs"]["history"] == f"User: {'x' * 9} … {'x' * 8}"


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


def test_other_words_in_a_predictor_are_asked_and_are_another_version(bench: Any) -> None:
    lm = bench.lm(FACT)
    planner = bench.planner(lm, cache=PlanCache())
    before = planner.plan("Who is Nell?").program_version
    signature = planner.stage_predictors["relevance"].signature
    planner.stage_predictors["relevance"].signature = signature.with_instructions("ZEBRA")
    changed = planner.plan("Who is Nell?")
    assert "ZEBRA" in str(lm.decider.requests[-2:])
    assert changed.program_version not in ("", before)
    planner.stage_predictors["relevance"].signature = signature
    assert planner.program_version == before


def test_dspy_finds_each_predictor_once_also_after_a_plan(bench: Any) -> None:
    planner = bench.planner(bench.lm(FACT), weigh={"intent": head_alone(("factual",))})
    state, names = planner.dump_state(), [name for name, _ in planner.named_predictors()]
    version = planner.plan("Who is Nell?").program_version
    assert [name for name, _ in planner.deepcopy().named_predictors()] == names
    planner.load_state(state)
    planner.load_state(planner.dump_state())
    assert planner.program_version == version


def test_a_copy_asks_by_its_own_predictors(bench: Any) -> None:
    lm = bench.lm(FACT)
    planner = bench.planner(lm)
    planner.plan("Who is Nell?")
    copy = planner.deepcopy().with_lm(lm)
    signature = copy.stage_predictors["relevance"].signature
    copy.stage_predictors["relevance"].signature = signature.with_instructions("ZEBRA")
    copy.plan("Who is Nell?")
    assert "ZEBRA" in str(lm.decider.requests[-2:])
    planner.plan("Who is Nell?")
    assert "ZEBRA" not in str(lm.decider.requests[-2:])


def test_a_copy_is_made_in_silence_and_outlives_its_original(bench: Any, trained: Any, caplog: Any) -> None:
    planner = bench.planner(bench.lm(FACT), heads=trained)
    copies = [planner.deepcopy(), deepcopy(planner)]
    assert not caplog.records
    planner.combinations["intent"] = head_alone(("factual",))
    planner.close()
    for one in copies:
        assert one.heads is trained
        assert not one.combinations
        assert one.plan("Who is Nell?").trace.decision("relevance").decided_by == "lm"


def test_the_version_changes_with_what_heads_learned(bench: Any, trained: Any) -> None:
    from dataclasses import replace

    from queryplan.program.heads.heads import Heads

    learned = {n: replace(h, dual=h.dual * 2) for n, h in trained.heads.items()}
    one = bench.planner(heads=trained).program_version
    assert one == bench.planner(heads=trained).program_version
    assert one != bench.planner(heads=Heads(learned, trained.features)).program_version
    assert one != bench.planner(heads=None).program_version
