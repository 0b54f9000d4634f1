"""What a proposal says of names: taken for another, left out, unknown; and a plan from the only names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from queryplan.program.graph.executor import execute_graph
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.planner import GraphPlanner
from queryplan.program.graph.question.view import Hypothesis
from queryplan.program.graph.reasons import names_unused, taken_for
from queryplan.program.graph.values import Values
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Ship"), NodeType(name="Captain", description="who commands a ship")),
    edges=(
        EdgeType(name="COMMANDED_BY", source="Ship", target="Captain", description="the captain commands the ship"),
    ),
)
COMMANDS = {"Ida Holm": ("Aurora", "Borealis"), "Per Lund": ("Aurora",), "Eva Dahl": ("Meridian",)}


@pytest.fixture(scope="module")
def graph() -> MemoryGraph:
    made = MemoryGraph(declared=SCHEMA)
    for captain, ships in COMMANDS.items():
        made.add_node(captain, captain, "Captain")
        for ship in ships:
            if ship not in made.nodes:
                made.add_node(ship, ship, "Ship")
            made.add_edge(ship, "COMMANDED_BY", captain)
    return made


@pytest.fixture(scope="module")
def planner(graph: MemoryGraph, taught: Any) -> GraphPlanner:
    values = Values(texts={("Captain", "rank"): ("commander",)})
    return GraphPlanner(SCHEMA, NameIndex(graph.names()), taught, values=values)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("captains of the Aurora", ("Ida Holm", "Per Lund")),
        ("captains of only the Aurora", ("Per Lund",)),
        ("captains only for the Aurora", ("Ida Holm", "Per Lund")),
        ("which captains command only the Aurora?", ("Per Lund",)),
        ("captains who command just the Aurora", ("Per Lund",)),
        ("captains who command the Aurora and nothing else", ("Per Lund",)),
        ("captains who command only the Aurora and the Borealis", ("Ida Holm",)),
        ("only the captains of the Aurora", ("Ida Holm", "Per Lund")),
    ],
)
def test_what_is_joined_to_other_names_as_well_is_taken_away(
    planner: GraphPlanner, graph: MemoryGraph, query: str, names: tuple[str, ...]
) -> None:
    plan = planner.plan(query).plan
    assert plan is not None
    assert execute_graph(plan, graph).names == names


def test_what_is_joined_to_any_node_of_a_denied_type_is_taken_away(graph: MemoryGraph, taught: Any) -> None:
    schema = SCHEMA.model_copy(
        update={
            "nodes": (*SCHEMA.nodes, NodeType(name="Medal")),
            "edges": (*SCHEMA.edges, EdgeType(name="WON", source="Captain", target="Medal")),
        }
    )
    made = MemoryGraph(declared=schema)
    for node in graph.nodes.values():
        made.add_node(node["id"], node["name"], node["type"])
    for captain, ships in COMMANDS.items():
        for ship in ships:
            made.add_edge(ship, "COMMANDED_BY", captain)
    made.add_node("Star", "Star", "Medal")
    made.add_edge("Ida Holm", "WON", "Star")
    own = GraphPlanner(schema, NameIndex(made.names()), taught)
    for query in ("captains of the Aurora without a medal", "captains of the Aurora who have no medals"):
        plan = own.plan(query).plan
        assert plan is not None
        assert execute_graph(plan, made).names == ("Per Lund",)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("who is the captain of the Aurorra?", ["'Aurorra' was taken for 'Aurora' (Ship), the name most like it"]),
        ("who is the captain of the aurora?", []),
    ],
)
def test_a_name_that_is_written_otherwise_is_said(planner: GraphPlanner, query: str, said: list[str]) -> None:
    assert [line for line in planner.plan(query).degraded if "was taken for" in line] == said


def test_a_name_of_the_graph_that_a_plan_leaves_out_is_said(planner: GraphPlanner) -> None:
    query = "captain of the Aurora and the Borealis"
    found = planner.answerer.best(query)[0]
    assert names_unused(query, found, planner.answerer) == ()
    first = found.hypothesis.mentions[0]
    less = replace(found, hypothesis=Hypothesis((first,), first.readings[:1]))
    assert names_unused(query, less, planner.answerer) == (
        "'Borealis' may mean Borealis (Ship), and the plan leaves it out",
    )
    assert taken_for(less) == ()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("which ships of Ida Holm did Zorbulon Prime paint?", ["Zorbulon Prime"]),
        ("captains of the Aurora. Zorbulon", []),
        ("captains of the Aurora in the USA", []),
        ("who is captain of Aurora?", []),
    ],
)
def test_an_unknown_name_with_capitals_is_said_wherever_it_stands(
    planner: GraphPlanner, query: str, names: list[str]
) -> None:
    said = [line for line in planner.plan(query).degraded if line.startswith("the graph has no name")]
    assert [line.split("'")[1] for line in said] == names


@pytest.mark.parametrize("query", ["what commands zorbulon", "what commands Zorbulon?"])
def test_an_unknown_name_behind_the_verb_that_a_question_begins_with_is_no_thing_asked_for(
    planner: GraphPlanner, query: str
) -> None:
    (entity,) = planner.plan(query).entities
    assert (entity.text.casefold(), entity.how) == ("zorbulon", "unknown")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("welche Kapitäne hatten die Aurora befehligt?", ["befehligt"]),
        ("which captains commanded the Aurora flabbergastingly?", []),
    ],
)
def test_words_of_another_language_that_a_schema_without_words_does_not_have_are_said(
    planner: GraphPlanner, query: str, words: list[str]
) -> None:
    said = [line for line in planner.plan(query).degraded if line.startswith("no word of the schema")]
    assert bool(said) is bool(words)
    assert all(repr(word) in said[0] for word in words)
