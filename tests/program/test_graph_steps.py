"""The graph steps of a plan: ranked, ranked by other words or written, checked, and left out with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np

from .planning import FACT, UNSPLIT, decided


def test_graph_steps_are_written_when_they_are_wanted_and_a_name_is_known(bench: Any) -> None:
    planner = bench.planner(bench.lm(FACT), UNSPLIT, plan_graph=True)
    plan = planner.plan("What did Yusuf write?")
    assert plan.graph_plan is not None
    assert [step.kind for step in plan.graph_plan.steps] == ["anchor", "expand"]
    assert decided(plan)["graph"] == "lm"
    assert planner.plan("what is boredom?").graph_plan is None


def test_graph_steps_that_nothing_foresaw_are_written_in_a_further_round(bench: Any) -> None:
    lm = bench.lm(FACT)
    plan = bench.planner(lm, None, plan_graph=True).plan("What did Yusuf write?")
    assert plan.graph_plan is not None
    assert decided(plan)["graph"] == "lm"
    assert plan.trace.rounds == 2
    assert bench.planner(lm, None, plan_graph=True).plan("what is boredom?").trace.rounds == 1


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


def test_a_ranking_in_ordinary_words_that_is_not_sure_asks_no_model_and_is_taken_where_it_is_likely(bench: Any) -> None:
    lm = bench.lm(FACT)
    planner = bench.planner(lm, UNSPLIT, plan_graph=True)
    plan = planner.with_graph(knowing(2.0)).plan("Which books did Yusuf write?")
    assert decided(plan)["graph"] == "head"
    doubtful = planner.with_graph(knowing(2.0, sure=-5.0)).plan("Which books did Yusuf write?")
    assert doubtful.graph_plan is None
    assert not any("follow" in prompt for prompt in lm.writer.prompts)


def test_graph_steps_are_written_where_the_ranking_has_no_plan(bench: Any) -> None:
    plan = without_plans(bench.planner(bench.lm(FACT), UNSPLIT, plan_graph=True)).plan(ENGLISH)
    assert plan.graph_plan is not None
    assert [step.kind for step in plan.graph_plan.steps] == ["anchor", "expand"]
    assert decided(plan)["graph"] == "lm"


def test_graph_steps_a_model_cannot_write_where_the_ranking_has_none_are_left_out_and_it_is_said(bench: Any) -> None:
    lm = bench.lm(FACT, {"steps": WRONG})
    plan = without_plans(bench.planner(lm, UNSPLIT, plan_graph=True)).plan(ENGLISH)
    assert plan.graph_plan is None
    assert [d.instead for d in plan.degraded if d.what == "graph"] == ["the text is searched without the graph"]


def without_plans(planner: Any) -> Any:
    """The planner with a ranking that never has a plan."""
    from queryplan.program.graph.proposal import GraphProposal

    graphs = planner.with_graph(knowing(2.0))._graphs()
    graphs.ranked = lambda query: GraphProposal(None, decided_by="fallback")
    return planner


def knowing(answers_from: float | None = None, sure: float = 5.0) -> Any:
    """A ranking that nothing was taught and that is sure of itself."""
    from queryplan.program.graph.learning.fit_endings import STARTING
    from queryplan.program.graph.learning.fit_ranking import starting_weights
    from queryplan.program.graph.learning.store import SURE, Learned
    from queryplan.program.graph.ranking.choosing import only_chance
    from queryplan.program.graph.ranking.endings import DENSE as ENDINGS
    from queryplan.program.graph.ranking.endings import EndingWeights

    # That the schema cannot say what is asked is believed least of all.
    ends = EndingWeights(np.array([{**STARTING, "unsayable": -9.0}.get(name, -3.0) for name in ENDINGS]))
    bias = np.array([sure if name == "bias" else 0.0 for name in SURE])
    common: dict[str, float] = dict.fromkeys(["which", "what", "did", "the"], 0.2)
    return Learned(starting_weights(common), ends, only_chance(), bias, answers_from)


GERMAN, ENGLISH = "Welche Werke verfasste Yusuf?", "Which books did Yusuf write?"


def said_again(bench: Any, enough: float, answers: Any = None, said: Any = None, **trouble: Any) -> tuple[Any, Any]:
    """A plan of a query in words that the ranking never met, by a ranking that is sure of nothing, and the model."""
    script = {GERMAN: {"restated": ENGLISH} if said is None else said}
    lm = bench.lm({**FACT, **(answers or {})}, script, **trouble)
    planner = bench.planner(lm, UNSPLIT, plan_graph=True).with_graph(knowing(enough, sure=-5.0))
    return planner.plan(GERMAN), lm


def test_a_query_in_words_that_the_ranking_seldom_met_is_ranked_by_both_wordings(bench: Any) -> None:
    plan, lm = said_again(bench, 0.01)
    assert "Names: Yusuf = Yusuf Demirkale (Guest)" in next(p for p in lm.writer.prompts if GERMAN in p)
    assert plan.graph_plan is not None
    decision = next(d for d in plan.trace.decisions if d.stage == "graph")
    assert (decision.decided_by, decision.lm_calls) == ("lm", 1)
    assert "said it again" in decision.reason


def test_where_the_other_words_lead_nowhere_the_rankings_plan_is_taken_if_it_is_likely(bench: Any) -> None:
    lm = bench.lm(FACT, {GERMAN: {"restated": "I cannot say."}})
    planner = bench.planner(lm, UNSPLIT, plan_graph=True)
    assert decided(planner.with_graph(knowing(2.0)).plan(GERMAN))["graph"] == "head"
    assert planner.with_graph(knowing(2.0, sure=-5.0)).plan(GERMAN).graph_plan is None


def test_where_no_wording_has_a_plan_steps_are_written_in_a_further_round(bench: Any) -> None:
    lm = bench.lm(FACT, {GERMAN: [{"restated": "I cannot say."}, RIGHT]})
    plan = without_plans(bench.planner(lm, UNSPLIT, plan_graph=True)).plan(GERMAN)
    assert plan.graph_plan is not None
    assert decided(plan)["graph"] == "lm"


def test_where_both_wordings_leave_doubt_the_text_is_searched_alone(bench: Any) -> None:
    plan, _ = said_again(bench, 2.0)
    assert plan.graph_plan is None
    assert plan.trace.wasted_requests > 0


def test_a_query_that_a_model_does_not_say_again_is_searched_without_the_graph_and_it_is_said(bench: Any) -> None:
    plan, _ = said_again(bench, 0.05, said={"restated": ""})
    assert plan.graph_plan is None
    assert [d.instead for d in plan.degraded if d.what == "graph"] == ["the text is searched without the graph"]


def test_a_query_that_names_nothing_but_a_value_of_a_property_is_asked_about(bench: Any) -> None:
    query = "welche Werke verfassten astronomers?"
    assert asked_about(bench, with_callings(bench.card), query)
    assert not asked_about(bench, bench.card, query)


def test_a_query_with_what_is_only_like_a_name_is_not_asked_about(bench: Any) -> None:
    assert not asked_about(bench, with_callings(bench.card), "welche Werke verfassten gastronomers?")


def with_callings(card: Any) -> Any:
    """The card with a property of guests, by whose values they can be found."""
    from queryplan.signatures.graph_steps import PropertyType

    graph = card.graph
    calling = PropertyType(name="calling", kind="enum", values=("astronomers", "beekeepers"))
    nodes = [
        node.model_copy(update={"properties": ("calling",), "details": (calling,)}) if node.name == "Guest" else node
        for node in graph.nodes
    ]
    return card.model_copy(update={"graph": graph.model_copy(update={"nodes": tuple(nodes)})})


def asked_about(bench: Any, card: Any, query: str) -> bool:
    """Whether a model was asked to say the query again, in words that the ranking seldom met."""
    from queryplan.signatures.restate_question import INSTRUCTIONS

    lm = bench.lm(FACT)
    planner = bench.planner(lm, UNSPLIT, card=card, plan_graph=True).with_graph(knowing(2.0))
    assert not planner._linker.links(query)
    planner.plan(query)
    return any(INSTRUCTIONS in prompt for prompt in lm.writer.prompts)


def test_where_nobody_can_write_steps_it_is_said(bench: Any) -> None:
    plan = bench.planner(None, UNSPLIT, plan_graph=True).plan("What did Yusuf write?")
    (said,) = [gap for gap in plan.degraded if gap.what == "graph"]
    assert said.why == "this program has not learned to write graph steps, and no language model was given"
    assert "`queryplan graph run` asks it" in said.instead
    assert not any(gap.what == "graph" for gap in bench.planner(None, UNSPLIT).plan("What did Yusuf write?").degraded)
