"""The graph steps of a plan: ranked, chosen or written, checked, and left out with the reason."""

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
