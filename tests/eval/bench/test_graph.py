"""Benchmarks of graphs, and plans made at random, on the shipped graph."""

from __future__ import annotations

import random
from typing import Any

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.eval.bench.graph import bench_graph, draw_plans
from queryplan.eval.graph.agreement import agreement
from queryplan.eval.graph.plan_generator import PlanGenerator, generator_for
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.executor import execute_graph
from queryplan.program.graph.executors.memory import MemoryGraph, load_graph
from queryplan.program.graph.planner import GraphPlanner
from queryplan.signatures.graph_steps import ExpandStep, FilterStep, GraphPlan


@pytest.fixture(scope="module")
def graph() -> MemoryGraph:
    """The shipped biomedical graph."""
    folder = domain_folder("biomedical")
    return load_graph(folder, load_card(folder).graph)


class Planner:
    """Takes no time; learning what plans are ranked by takes minutes and is measured elsewhere."""

    def plan(self, query: str) -> None:
        assert query


def test_without_public_data_the_shipped_graph_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(GraphPlanner, "for_executor", lambda graph, **given: asked.append(given) or Planner())
    monkeypatch.delenv("QUERYPLAN_BENCHMARKS", raising=False)
    said: list[str] = []
    found = bench_graph(plans=4, progress=said.append)
    assert (found.graph, found.nodes > 300, found.edges > 500) == ("biomedical", True, True)
    assert [timing.hops for timing in found.hops] == [1, 2, 3]
    for timing in (*found.hops, *found.memory_hops):
        assert timing.plans == 4
        assert timing.gaps == 0
        assert 0 < timing.p50 <= timing.p99
    assert found.import_s > 0
    assert [timing.graph for timing in found.planning] == ["biomedical in LadybugDB", "biomedical in memory"]
    for timing in found.planning:
        assert timing.questions > 30
        assert timing.first_ms > 0
        assert 0 < timing.p50 <= timing.p90 <= timing.p99
    assert asked == [{"domain": "biomedical"}] * 2
    assert "importing" in said
    assert "planning questions" in said


def test_plans_that_are_timed_have_answers_and_are_the_same_each_time(graph: MemoryGraph) -> None:
    one, same = (list(draw_plans(graph, graph.schema, 2, 5, seed=3)) for _ in range(2))
    assert one == same
    assert all(execute_graph(plan, graph).names for plan in one)
    assert all(sum(isinstance(step, ExpandStep) for step in plan.steps) == 2 for plan in one)


def test_a_generator_makes_well_typed_plans_of_every_kind(graph: MemoryGraph) -> None:
    made = generator_for(graph, 5, {("Compound", "approved_year"): [1990, 2001]})
    plans = [made.plan() for _ in range(200)]
    assert all(check_graph_plan(plan, graph.schema) == [] for plan in plans)
    kinds = {step.kind for plan in plans for step in plan.steps}
    assert kinds == {"anchor", "expand", "union", "intersect", "difference", "filter", "order", "count"}


def test_the_same_seed_makes_the_same_plans(graph: MemoryGraph) -> None:
    one, same = (generator_for(graph, 5) for _ in range(2))
    assert [one.plan() for _ in range(20)] == [same.plan() for _ in range(20)]


def test_without_values_there_are_conditions_on_names_alone(graph: MemoryGraph) -> None:
    made = generator_for(graph, 6)
    tests = [c for _ in range(100) for s in made.plan().steps if isinstance(s, FilterStep) for c in s.conditions]
    assert {c.property for c in tests} == {"name"}


def test_two_graphs_that_differ_are_found_out(graph: MemoryGraph) -> None:
    folder = domain_folder("biomedical")
    other = load_graph(folder, graph.schema)
    other.add_edge("Compound::aspirin", "TREATS_CtD", "Disease::asthma")
    plan = GraphPlan.model_validate(
        {
            "steps": [
                {"kind": "anchor", "store_as": "a", "node": {"name": "asthma", "type": "Disease"}},
                {"kind": "expand", "store_as": "b", "start": "a", "edge": "TREATS_CtD", "direction": "in"},
            ]
        }
    )
    wrong = plan.model_copy(update={"steps": plan.steps[1:]})
    found = agreement(graph, other, [plan, wrong])
    assert (found.plans, found.ill_typed, found.differing) == (1, 1, 1)
    assert "aspirin" in set(found.disagreements[0].second) - set(found.disagreements[0].first)


def test_a_generator_without_names_of_a_type_reaches_it_by_edges(graph: MemoryGraph) -> None:
    made = PlanGenerator(graph.schema, {"Disease": ["asthma"]}, {}, random.Random(1))
    for _ in range(50):
        assert check_graph_plan(made.plan(), graph.schema) == []
