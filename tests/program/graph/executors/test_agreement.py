"""The executors against each other, over plans made at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from queryplan.eval.graph.agreement import agreement
from queryplan.eval.graph.plan_generator import PlanGenerator, generator_for
from queryplan.program.graph.check import check_graph_plan, step_types
from queryplan.program.graph.executor import execute_graph
from queryplan.program.graph.executors.glance import trail_of
from queryplan.program.graph.executors.ladybug import LadybugGraph
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.executors.rest import open_spoke
from queryplan.signatures.graph_steps import GraphPlan

Generator = Callable[[int], PlanGenerator]
PLANS = 250


def test_every_plan_that_is_made_is_well_typed(generator: Generator, awkward_memory: MemoryGraph) -> None:
    made = generator(1)
    for _ in range(PLANS):
        plan = made.plan()
        types = step_types(plan, awkward_memory.schema)
        assert types is not None, check_graph_plan(plan, awkward_memory.schema)
        assert types == made.types


def test_memory_and_database_answer_alike(
    generator: Generator, awkward_memory: MemoryGraph, awkward_database: LadybugGraph
) -> None:
    made = generator(2)
    found = agreement(awkward_memory, awkward_database, (made.plan() for _ in range(PLANS)))
    assert found.disagreements == ()
    assert (found.plans, found.ill_typed, found.gaps) == (PLANS, 0, 0)
    assert found.answered > PLANS / 4


def test_whether_a_plan_finds_anything_is_told_without_running_it(
    generator: Generator, awkward_memory: MemoryGraph, awkward_database: LadybugGraph
) -> None:
    made = generator(7)
    told = set()
    for _ in range(PLANS):
        plan = made.plan()
        finds = bool(awkward_memory.run(plan, cap=1).names)
        assert awkward_memory.finds(plan) == awkward_database.finds(plan) == finds
        told.add((finds, trail_of(plan) is not None))
    assert len(told) == 4


WRONG_IN_ONE_STATEMENT = (
    (
        "Gène",
        "LINE\u2028END\u2029S",
        [
            {"edge": "BINDS", "direction": "in"},
            {"edge": "CAUSES", "direction": "out", "where": [{"property": "note", "value": "Selten"}]},
            {"edge": "CAUSES", "direction": "in", "where": [{"property": "rate", "value": 0.5}]},
        ],
    ),
    (
        "Drug",
        "{r0.name} $ids $p0",
        [
            {"edge": "MAY CAUSE", "direction": "out"},
            {"edge": "CAUSES", "direction": "in", "or_edges": ["MAY CAUSE"], "exclude": ["r0"]},
            {"edge": "RESEMBLES", "direction": "any"},
        ],
    ),
    (
        "Drug",
        "50/50 mix?x=1&y=2#z",
        [
            {"edge": "MAY CAUSE", "direction": "out"},
            {
                "edge": "CAUSES",
                "direction": "in",
                "node_where": [{"property": "sold", "value": False}],
                "exclude": ["r0"],
            },
            {"edge": "RESEMBLES", "direction": "any", "node_where": [{"property": "form", "op": "ne", "value": "gel"}]},
        ],
    ),
)


@pytest.mark.parametrize(("kind", "name", "hops"), WRONG_IN_ONE_STATEMENT)
def test_what_the_database_gets_wrong_in_one_statement_is_not_asked_so(
    awkward_memory: MemoryGraph, awkward_database: LadybugGraph, kind: str, name: str, hops: list[Any]
) -> None:
    steps: list[Any] = [{"kind": "anchor", "store_as": "r0", "node": {"name": name, "type": kind}}]
    for number, hop in enumerate(hops, 1):
        steps.append({"kind": "expand", "store_as": f"r{number}", "start": f"r{number - 1}", **hop})
    plan = GraphPlan.model_validate({"steps": steps})
    whole = execute_graph(plan, awkward_memory)
    assert whole.names != ()
    assert execute_graph(plan, awkward_database).ids == whole.ids


def test_step_by_step_the_database_answers_as_it_does_in_one_statement(
    generator: Generator, awkward_database: LadybugGraph
) -> None:
    made = generator(3)
    for _ in range(PLANS // 4):
        plan = made.plan()
        whole, steps = execute_graph(plan, awkward_database), execute_graph(plan, awkward_database, paths=True)
        assert (whole.names, whole.ids) == (steps.names, steps.ids)


def test_paths_begin_at_an_anchor_and_end_at_the_answer(
    generator: Generator, awkward_memory: MemoryGraph, awkward_database: LadybugGraph
) -> None:
    made = generator(4)
    edges = {edge.name for edge in awkward_memory.schema.edges}
    for _ in range(PLANS // 4):
        plan = made.plan()
        for executor in (awkward_memory, awkward_database):
            answer = execute_graph(plan, executor, paths=True)
            for name, path in zip(answer.names if answer.ids else (), answer.paths, strict=True):
                assert path[-1] == name
                assert set(path[1::2]) <= edges


def test_a_server_answers_as_the_graph_it_serves(
    spoke_of: Any, generator: Generator, awkward_memory: MemoryGraph
) -> None:
    graph = open_spoke(
        spoke_of(awkward_memory).root, awkward_memory.schema.model_copy(update={"nodes": _with_keys(awkward_memory)})
    )
    made = generator(5)
    found = agreement(awkward_memory, graph, (made.plan(2) for _ in range(60)))
    graph.close()
    assert found.disagreements == ()
    assert found.gaps == 0


def _with_keys(graph: MemoryGraph) -> tuple[Any, ...]:
    return tuple(node.model_copy(update={"key": "identifier"}) for node in graph.schema.nodes)


def test_a_generator_draws_names_from_any_executor(awkward_database: LadybugGraph) -> None:
    made = generator_for(awkward_database, 1)
    assert all(check_graph_plan(made.plan(), awkward_database.schema) == [] for _ in range(20))


@pytest.mark.parametrize("graph", ["awkward_memory", "awkward_database"])
@pytest.mark.parametrize(
    ("test", "said"),
    [
        ({"node_where": [{"property": "weight", "value": "heavy"}]}, "weight of Side Effect is a number, not 'heavy'"),
        ({"where": [{"property": "note", "op": "gt", "value": 3}]}, "note of edge CAUSES is text, not 3"),
    ],
)
def test_a_value_of_another_kind_than_the_graph_has_is_refused_where_the_schema_says_nothing(
    request: pytest.FixtureRequest, graph: str, test: dict[str, Any], said: str
) -> None:
    anchor = {"kind": "anchor", "store_as": "a", "node": {"name": "..", "type": "Drug"}}
    step = {"kind": "expand", "store_as": "b", "start": "a", "edge": "CAUSES", "direction": "out", **test}
    plan = GraphPlan.model_validate({"steps": [anchor, step]})
    assert execute_graph(plan, request.getfixturevalue(graph)).gaps == (f"the plan was not run: {said}",)


def test_executors_agree_on_the_most_that_a_node_is_joined_to(
    awkward_memory: MemoryGraph, awkward_database: LadybugGraph
) -> None:
    for edge in awkward_memory.schema.edges:
        for kind in (edge.source, edge.target):
            most = awkward_memory.most_joined(kind, edge.name)
            assert awkward_database.most_joined(kind, edge.name) == most > 1
