"""Databases: opened to read, names as data, foreign databases, locks, deadlines."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from queryplan.errors import DataError
from queryplan.program.graph.executor import execute_graph, open_graph
from queryplan.program.graph.executors.cypher import Chain, Hop, literal, quoted
from queryplan.program.graph.executors.ladybug import LadybugGraph, Statement, open_ladybug
from queryplan.program.graph.executors.ladybug_run import MOST_HOPS
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.executors.stepping import Gap
from queryplan.signatures.graph_steps import ExpandStep, GraphPlan, GraphSchema, NodeRef


def hop(name: str, kind: str = "Drug", **more: Any) -> GraphPlan:
    told = {"kind": "expand", "store_as": "b", "start": "a", "edge": "CAUSES", "direction": "out", **more}
    anchor = {"kind": "anchor", "store_as": "a", "node": {"name": name, "type": kind}}
    return GraphPlan.model_validate({"steps": [anchor, told]})


def test_names_that_are_code_are_data(awkward_memory: MemoryGraph, awkward_database: LadybugGraph) -> None:
    before = dict(awkward_database.sizes)
    for told in list(awkward_memory.nodes.values()):
        if told["type"] == "Drug":
            plan = hop(told["name"])
            answer = execute_graph(plan, awkward_database)
            assert answer.names == execute_graph(plan, awkward_memory).names != ()
    again = {
        n: awkward_database.rows(Statement(f"MATCH (n:`{n}`) RETURN count(*)", {}))[0][0] for n in ("Drug", "Gène")
    }
    assert again == {name: before[name] for name in again}


def test_a_name_is_found_by_any_field_without_regard_to_case(awkward_database: LadybugGraph) -> None:
    find = awkward_database.find
    assert find(NodeRef(name="strasse", type="Drug")) == find(NodeRef(name="Straße", type="Drug")) != []
    assert find(NodeRef(name="D1", type="Drug", field="id")) == ["d1"]
    assert find(NodeRef(name="1953", type="Drug", field="year")) == find(
        NodeRef(name="1953.0", type="Drug", field="year")
    )
    assert find(NodeRef(name="true", type="Drug", field="sold")) != []
    assert find(NodeRef(name="nobody", type="Drug")) == []


def test_a_chain_is_one_statement_whose_values_are_parameters(awkward_database: LadybugGraph) -> None:
    step = ExpandStep.model_validate(
        {"store_as": "b", "start": "a", "edge": "CAUSES", "or_edges": ["MAY CAUSE"], "direction": "out",
         "node_where": [{"property": "name", "op": "in", "value": ["x' OR 1=1", "y"]}]}
    )  # fmt: skip
    schema = awkward_database.schema
    start = schema.node("Drug")
    assert start is not None
    chain = Chain(start, ("d1",), awkward_database.node_kinds).then(Hop.of(step, schema, ("s1",)))
    text, parameters = chain.statement("DISTINCT {end}.id")
    assert text == (
        "MATCH (n0:`Drug`)-[e1:`CAUSES`|:`MAY CAUSE`]->(n1:`Side Effect`)\n"
        "WHERE n0.`id` = $ids AND n1.`name` IN $p1 AND NOT n1.`id` IN $p2\n"
        "RETURN DISTINCT n1.id"
    )
    assert parameters == {"ids": "d1", "p1": ["x' OR 1=1", "y"], "p2": ["s1"]}


@pytest.mark.parametrize("name", ["a`b", "a\nb", "", "a\x00"])
def test_a_name_that_cannot_be_quoted_is_refused(name: str) -> None:
    with pytest.raises(DataError, match="take back quotes"):
        quoted(name)


def test_a_text_literal_cannot_be_ended() -> None:
    assert literal("it's \\ one") == "'it\\'s \\\\ one'"


def test_an_ill_typed_plan_does_not_reach_the_database(awkward_database: LadybugGraph, monkeypatch: Any) -> None:
    monkeypatch.setattr(LadybugGraph, "rows", lambda *a: pytest.fail("a statement was run"))
    wrong = hop("x", edge="EATS`]->() DETACH DELETE a //")
    for answer in (awkward_database.run(wrong), execute_graph(wrong, awkward_database)):
        assert answer.gaps[0].startswith("the plan was not run: there is no edge")


def test_a_database_is_opened_to_read_alone(awkward_database: LadybugGraph) -> None:
    with pytest.raises(Gap, match="read-only"):
        awkward_database.rows(Statement("CREATE (n:`Drug` {id: 'new', name: 'new'})", {}))


def test_several_readers_and_threads_at_once(awkward_file: Path, awkward_memory: MemoryGraph) -> None:
    first, second = open_ladybug(awkward_file), open_ladybug(awkward_file)
    plan, found = hop("漢字"), []

    def ask(graph: LadybugGraph) -> None:
        found.extend(graph.run(plan).names for _ in range(20))

    threads = [threading.Thread(target=ask, args=(graph,)) for graph in (first, second, first)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first.close()
    second.close()
    assert set(found) == {awkward_memory.run(plan).names}


WRITER = """
import ladybug, sys
database = ladybug.Database(sys.argv[1])
connection = ladybug.Connection(database)
connection.execute("MATCH (n) RETURN count(*)")
print("open", flush=True)
sys.stdin.read()
"""


def test_a_writer_in_another_process_does_not_disturb_a_reader(
    awkward_file: Path, tmp_path: Path, awkward_memory: MemoryGraph
) -> None:
    copy = tmp_path / "copy.lbug"
    copy.write_bytes(awkward_file.read_bytes())
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(copy)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdin is not None
        assert writer.stdout.readline() == "open\n"
        graph = open_ladybug(copy)
        assert graph.run(hop("漢字")).names == awkward_memory.run(hop("漢字")).names
        graph.close()
        writer.stdin.close()
        writer.wait(20)


def test_a_lock_is_said_with_what_to_do(awkward_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*args: Any, **more: Any) -> None:
        raise RuntimeError("IO exception: Could not set lock on file : g (Lock is held by PID 7)\nSee the docs")

    monkeypatch.setattr("ladybug.Database", locked)
    with pytest.raises(DataError, match=r"is open for writing in another process; wait .*held by PID 7"):
        open_ladybug(awkward_file)


def test_what_is_no_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "junk.lbug").write_bytes(b"junk" * 200)
    (tmp_path / "empty.lbug").write_bytes(b"")
    with pytest.raises(DataError, match="is no LadybugDB database"):
        open_graph(tmp_path / "junk.lbug")
    with pytest.raises(DataError, match=r"empty\.lbug"):
        open_graph(tmp_path / "empty.lbug")
    with pytest.raises(DataError, match=r"there is no graph database .*none\.lbug"):
        open_graph(tmp_path / "none.lbug")


def test_a_deadline_that_has_passed_is_a_gap(awkward_database: LadybugGraph) -> None:
    answer = execute_graph(hop("漢字"), awkward_database, 0.0)
    assert answer.names == ()
    assert "the deadline of 0 s has passed" in answer.gaps[0]


def test_a_statement_that_takes_too_long_is_stopped(awkward_database: LadybugGraph) -> None:
    slow = Statement("UNWIND range(1, 100000) AS i UNWIND range(1, 100000) AS j RETURN count(i + j)", {})
    with pytest.raises(Gap, match="within the deadline"):
        awkward_database.rows(slow, 0.05)


def test_a_cap_says_what_it_cut(awkward_database: LadybugGraph, awkward_memory: MemoryGraph) -> None:
    plan = hop("no", "Drug")
    plan = GraphPlan(steps=(plan.steps[0].model_copy(update={"node": NodeRef(name="..", type="Drug")}), plan.steps[1]))
    whole = execute_graph(plan, awkward_memory)
    for graph in (awkward_database, awkward_memory):
        answer = execute_graph(plan, graph, cap=1)
        assert answer.names == whole.names[:1]
        assert answer.cut == (f"{len(whole.names)} answers were found and the first 1 are given",)


# --- databases that something else wrote


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with numbers for keys, other names, and a relation that joins two pairs of types."""
    import ladybug

    path = tmp_path_factory.mktemp("foreign") / "f.lbug"
    database = ladybug.Database(str(path))
    connection = ladybug.Connection(database)
    for text in (
        "CREATE NODE TABLE Person(pid INT64 PRIMARY KEY, title STRING, age INT64, born DATE)",
        "CREATE NODE TABLE `It's a City`(code STRING PRIMARY KEY, mayors STRING[])",
        "CREATE REL TABLE KNOWS(FROM Person TO Person, FROM Person TO `It's a City`, since INT64)",
        "COMMENT ON TABLE Person IS 'somebody'",
        "CREATE (:Person {pid: 1, title: 'Ann', age: 40, born: date('1980-01-01')})",
        "CREATE (:Person {pid: 2, title: 'Bob'}), (:`It's a City` {code: 'Rome', mayors: ['x']})",
        "MATCH (a:Person {pid: 1}), (b:Person {pid: 2}) CREATE (a)-[:KNOWS {since: 2000}]->(b)",
        "MATCH (a:Person {pid: 1}), (c:`It's a City`) CREATE (a)-[:KNOWS {since: 1990}]->(c)",
    ):
        connection.execute(text)
    connection.close()
    database.close()
    return path


def test_a_foreign_database_tells_its_schema(foreign: Path) -> None:
    graph = open_ladybug(foreign)
    person, city = graph.schema.node("Person"), graph.schema.node("It's a City")
    assert person is not None
    assert city is not None
    assert (person.key, person.shown, person.description, person.properties) == ("pid", "title", "somebody", ("age",))
    assert (city.key, city.shown, city.properties) == ("code", "code", ())
    assert [(e.name, e.label) for e in graph.schema.edges] == [
        ("KNOWS Person Person", "KNOWS"), ("KNOWS Person It's a City", "KNOWS")
    ]  # fmt: skip
    assert len(graph.fingerprint) == 16
    graph.close()


def test_a_foreign_database_answers(foreign: Path, make_plan: Any) -> None:
    graph = open_ladybug(foreign)
    assert sorted(graph.names()) == [("1", "Ann", "Person"), ("2", "Bob", "Person"), ("Rome", "Rome", "It's a City")]
    assert graph.find(NodeRef(name="40", type="Person", field="age")) == ["1"]
    for edge, since, answer in (("Person Person", 1999, ("Bob",)), ("Person It's a City", 1999, ())):
        plan = make_plan(
            {"kind": "anchor", "store_as": "a", "node": {"name": "ann", "type": "Person"}},
            {"kind": "expand", "store_as": "b", "start": "a", "edge": f"KNOWS {edge}", "direction": "out",
             "where": [{"property": "since", "op": "gt", "value": since}]},
        )  # fmt: skip
        found = execute_graph(plan, graph)
        assert (found.names, found.gaps) == (answer, ())
    graph.close()


def test_a_given_schema_limits_what_is_used(foreign: Path) -> None:
    only = GraphSchema.model_validate({"nodes": [{"name": "Person", "key": "pid", "shown": "title"}]})
    graph = open_ladybug(foreign, only)
    assert sorted(graph.names()) == [("1", "Ann", "Person"), ("2", "Bob", "Person")]
    graph.close()


def test_a_database_without_nodes_is_no_graph(tmp_path: Path) -> None:
    import ladybug

    database = ladybug.Database(str(tmp_path / "e.lbug"))
    ladybug.Connection(database).close()
    database.close()
    with pytest.raises(DataError, match="has no node table"):
        open_ladybug(tmp_path / "e.lbug")


def chain_of(hops: int) -> GraphPlan:
    resembles = {"kind": "expand", "edge": "RESEMBLES", "direction": "any"}
    steps = [{**resembles, "store_as": f"s{n + 1}", "start": f"s{n}"} for n in range(hops)]
    anchor = {"kind": "anchor", "store_as": "s0", "node": {"name": "漢字", "type": "Drug"}}
    return GraphPlan.model_validate({"steps": [anchor, *steps]})


def test_a_long_chain_is_several_statements_that_each_look_at_the_deadline(
    awkward_database: LadybugGraph, awkward_memory: MemoryGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, statements = LadybugGraph.rows, list[str]()

    def rows(self: LadybugGraph, statement: Statement, timeout_s: float | None = None) -> list[list[Any]]:
        statements.append(statement.text)
        return run(self, statement, timeout_s)

    monkeypatch.setattr(LadybugGraph, "rows", rows)
    assert awkward_database.run(chain_of(40)).names == awkward_memory.run(chain_of(40)).names != ()
    assert max(text.count("RESEMBLES") for text in statements) == MOST_HOPS
    late = execute_graph(chain_of(2_000), awkward_database, 0.2)
    assert (late.names, late.milliseconds < 2_000) == ((), True)
    assert "deadline" in late.gaps[0]


def test_threads_that_come_and_go_leave_no_connection_behind(awkward_file: Path) -> None:
    graph = open_ladybug(awkward_file)
    for _ in range(5):
        thread = threading.Thread(target=graph.run, args=(hop("漢字"),))
        thread.start()
        thread.join()
    assert len(graph._open) == 1
    graph.close()
