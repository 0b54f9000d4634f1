"""A plan in one sentence, as a language model is shown it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from queryplan.data.graph_lessons import load_lessons, read_plan
from queryplan.eval.plan_generator import PlanGenerator
from queryplan.program.graph.memory import MemoryGraph
from queryplan.program.graph.saying import plan_sentence, relation_words
from queryplan.signatures.graph_steps import AnchorStep, EdgeType, GraphPlan, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(
        NodeType(name="Ship", properties=("tons",)),
        NodeType(name="Captain"),
        NodeType(name="Port", properties=("depth",)),
    ),
    edges=(
        EdgeType(name="COMMANDED_BY", source="Ship", target="Captain"),
        EdgeType(name="CALLS_SpP", source="Ship", target="Port", description="the ship calls at the port; say when"),
        EdgeType(name="teacherOf", source="Captain", target="Captain", description="the first taught the second"),
        EdgeType(name="MARRIED", source="Captain", target="Captain", description="the two are married (at any time)"),
    ),
)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("Ship:Aurora >COMMANDED_BY", "Captain (Ship commanded by Captain) of Aurora"),
        ("Port:Ostia <CALLS_SpP", "Ship (the ship calls at the port) of Ostia"),
        ("Captain:Ida >teacherOf", "Captain (the first taught the second, second of first) of Ida"),
        ("Captain:Ida <teacherOf", "Captain (the first taught the second, first of second) of Ida"),
        ("Captain:Ida ~MARRIED", "Captain (the two are married) of Ida"),
        (
            "Port:Ostia <CALLS_SpP >COMMANDED_BY",
            "Captain (Ship commanded by Captain) of Ship (the ship calls at the port) of Ostia",
        ),
        ("count; Port:Ostia <CALLS_SpP", "how many: Ship (the ship calls at the port) of Ostia"),
        (
            "max tons 2; Port:Ostia <CALLS_SpP",
            "the 2 with the largest tons among: Ship (the ship calls at the port) of Ostia",
        ),
        (
            "fewest CALLS_SpP 1; Captain:Ida <COMMANDED_BY",
            "the one with the smallest number of calls edges among: Ship (Ship commanded by Captain) of Ida",
        ),
        (
            "if tons gt 900; Captain:Ida <COMMANDED_BY",
            "those whose tons is above 900, among: Ship (Ship commanded by Captain) of Ida",
        ),
        (
            "Port:Ostia <CALLS_SpP & Captain:Ida <COMMANDED_BY",
            "in all of: [Ship (the ship calls at the port) of Ostia]; [Ship (Ship commanded by Captain) of Ida]",
        ),
        (
            "Port:Ostia <CALLS_SpP \\ Ship:Aurora",
            "[Ship (the ship calls at the port) of Ostia] but not [Aurora]",
        ),
        (
            "Port:Ostia <CALLS_SpP | Captain:Ida <COMMANDED_BY",
            "in any of: [Ship (the ship calls at the port) of Ostia]; [Ship (Ship commanded by Captain) of Ida]",
        ),
        ("(Ship:Aurora | Ship:Argo) >CALLS_SpP", "Port (the ship calls at the port) of Aurora or Argo"),
        (
            "Ship:Aurora >COMMANDED_BY <COMMANDED_BY!",
            "Ship (Ship commanded by Captain) of Captain (Ship commanded by Captain) of Aurora, other than Aurora",
        ),
    ],
)
def test_a_plan_is_said_from_right_to_left_in_the_schemas_words(plan: str, said: str) -> None:
    assert plan_sentence(read_plan(plan), SCHEMA) == said


def test_conditions_and_further_edges_of_a_step_are_said() -> None:
    step = {"kind": "expand", "store_as": "p", "start": "a", "edge": "teacherOf", "or_edges": ["MARRIED"]}
    tests = {"where": [{"property": "year", "op": "ge", "value": 1900}], "direction": "any"}
    anchor = {"kind": "anchor", "store_as": "a", "node": {"name": "Ida", "type": "Captain"}}
    reached = {"node_where": [{"property": "rank", "op": "eq", "value": "first"}]}
    plan = GraphPlan.model_validate({"steps": [anchor, {**step, **tests, **reached}]})
    assert plan_sentence(plan, SCHEMA) == (
        "Captain (the first taught the second or the two are married, where year is at least 1900) "
        "whose rank is 'first' of Ida"
    )


def test_an_edge_is_said_by_its_description_without_asides_or_by_its_name() -> None:
    told = {"Lies in it, or did.": "Lies in it", "": "Ship lies in Port", "(unsure)": "Ship lies in Port"}
    for description, words in told.items():
        edge = EdgeType(name="LIES_IN", source="Ship", target="Port", description=description)
        assert relation_words(edge) == words


def test_different_plans_of_a_lesson_are_said_differently() -> None:
    for lesson in load_lessons():
        plans = {q.plan.model_dump_json(): q.plan for q in lesson.questions if q.plan is not None}
        said = [plan_sentence(plan, lesson.schema) for plan in plans.values()]
        assert len(set(said)) >= 0.97 * len(said), lesson.name


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_every_well_typed_plan_can_be_said(
    generator: Callable[[int], PlanGenerator], awkward_memory: MemoryGraph, seed: int
) -> None:
    plan = generator(seed).plan()
    said = plan_sentence(plan, awkward_memory.schema)
    assert all(step.node.name in said for step in plan.steps if isinstance(step, AnchorStep))
