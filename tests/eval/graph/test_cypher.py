"""Cypher that a model wrote: run kindly, never allowed to change anything."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from queryplan.data.graph_lessons import load_lessons, read_plan
from queryplan.eval.graph.cypher import best_column, columns, plan_as_cypher, run_cypher
from queryplan.program.graph.exchange.importing import import_graph
from queryplan.program.graph.executor import execute_graph
from queryplan.program.graph.executors.ladybug import LadybugGraph, open_ladybug
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Ship", properties=("tons",)), NodeType(name="Sea Captain"), NodeType(name="Harbour")),
    edges=(
        EdgeType(name="COMMANDED_BY", source="Ship", target="Sea Captain", properties=("since",)),
        EdgeType(name="MOORED_AT", source="Ship", target="Harbour"),
    ),
)
NODES = (
    {"id": "s1", "name": "Aurora", "type": "Ship", "tons": 90},
    {"id": "s2", "name": 'O\'Hara "the" second', "type": "Ship", "tons": 40},
    {"id": "c1", "name": "Ida", "type": "Sea Captain"},
    {"id": "h1", "name": "Rostock", "type": "Harbour"},
)
EDGES = "source\tedge\ttarget\tsince\ns1\tCOMMANDED_BY\tc1\t1990\ns2\tCOMMANDED_BY\tc1\t2001\ns1\tMOORED_AT\th1\t\n"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LadybugGraph]:
    folder = tmp_path_factory.mktemp("ships")
    (folder / "nodes.jsonl").write_text("".join(json.dumps(n) + "\n" for n in NODES), encoding="utf-8")
    (folder / "edges.tsv").write_text(EDGES, encoding="utf-8")
    import_graph(folder / "nodes.jsonl", folder / "edges.tsv", SCHEMA, folder / "ships.lbug")
    opened = open_ladybug(folder / "ships.lbug")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "said",
    [
        "Sea Captain:Ida <COMMANDED_BY",
        "Sea Captain:Ida <COMMANDED_BY >MOORED_AT",
        "count; Sea Captain:Ida <COMMANDED_BY",
        "max tons 1; Sea Captain:Ida <COMMANDED_BY",
        "if tons gt 50; Sea Captain:Ida <COMMANDED_BY",
        "Sea Captain:Ida <COMMANDED_BY & Harbour:Rostock <MOORED_AT",
        "Sea Captain:Ida <COMMANDED_BY \\ Harbour:Rostock <MOORED_AT",
    ],
)
def test_gold_plans_in_cypher_give_the_answers_of_the_plans(said: str, database: LadybugGraph) -> None:
    plan = read_plan(said.replace("Sea Captain", "Sea_Captain")).model_dump_json().replace("Sea_Captain", "Sea Captain")
    typed = type(read_plan("A:x"))(**json.loads(plan))
    text = plan_as_cypher(typed, SCHEMA)
    assert text is not None
    answer = run_cypher(text, database)
    assert answer.error == ""
    assert best_column(answer, frozenset()) == frozenset(execute_graph(typed, database).names)


def test_what_one_pattern_cannot_say_has_no_cypher() -> None:
    for said in ("A:x >E | B:y >E", "A:x >E <E!", "most E 1; A:x >E"):
        schema = GraphSchema(
            nodes=(NodeType(name="A"), NodeType(name="B")), edges=(EdgeType(name="E", source="A", target="B"),)
        )
        assert plan_as_cypher(read_plan(said), schema) is None


def test_most_lessons_can_be_shown_in_cypher() -> None:
    made = [
        plan_as_cypher(question.plan, lesson.schema)
        for lesson in load_lessons()
        for question in lesson.questions
        if question.plan is not None
    ]
    assert sum(text is not None for text in made) > 0.6 * len(made)
    assert not any(text and "\n" in text for text in made)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE (:Ship {id: 'x', name: 'y'})",
        "MATCH (n) DETACH DELETE n",
        "MATCH (n:Ship) SET n.name = 'z' RETURN n",
        "COPY (MATCH (n) RETURN n) TO 'out.csv'",
        "MATCH (n) RETURN n; MATCH (m) RETURN m",
        "CALL show_tables() RETURN *",
        "LOAD FROM 'names.csv' RETURN *",
        "",
    ],
)
def test_what_would_change_something_or_reach_a_file_is_refused(text: str, database: LadybugGraph) -> None:
    answer = run_cypher(text, database)
    assert "only reads" in answer.error
    assert not answer


def test_words_of_a_name_are_no_commands(database: LadybugGraph) -> None:
    answer = run_cypher("MATCH (n:Ship) WHERE n.name <> 'DELETE; SET' RETURN n.name", database)
    assert (answer.error, len(answer[0])) == ("", 2)


def test_a_query_that_does_not_run_says_so(database: LadybugGraph) -> None:
    for text in ("MATCH (n:Planet) RETURN n.name", "MATCH (n:Ship RETURN n", "MATCH (n:Ship) RETURN n.wings"):
        assert run_cypher(text, database).error


def test_nodes_are_read_by_their_names_and_any_column_may_be_the_answer(database: LadybugGraph) -> None:
    nodes = run_cypher("```cypher\nMATCH (n:`Sea Captain`) RETURN n;\n```", database)
    assert columns(nodes) == [frozenset({"Ida"})]
    both = run_cypher("MATCH (s:Ship)-[:MOORED_AT]->(h) RETURN s.name, h.name", database)
    assert best_column(both, frozenset({"Rostock"})) == {"Rostock"}
    assert best_column(both, frozenset({"Ida"})) == {"Aurora"}
    assert columns(run_cypher("MATCH (s:Ship) RETURN count(s) * 1.0", database)) == [frozenset({"2"})]
    assert (
        best_column(run_cypher("MATCH (s:Ship) WHERE s.tons > 900 RETURN s.name", database), frozenset()) == frozenset()
    )
