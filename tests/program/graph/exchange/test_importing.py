"""Importing files into a database: what is written, what is refused, and what a failure leaves behind."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import domain_folder
from queryplan.errors import DataError
from queryplan.program.graph.exchange.importing import import_graph
from queryplan.program.graph.executor import execute_graph, open_graph
from queryplan.program.graph.executors.ladybug import open_ladybug
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.schema import read_schema
from queryplan.signatures.graph_steps import GraphSchema, NodeRef

SCHEMA = GraphSchema.model_validate(
    {
        "nodes": [
            {
                "name": "Drug",
                "properties": ["year", "sold", "phase"],
                "details": [
                    {"name": "sold", "kind": "boolean"},
                    {"name": "phase", "kind": "number", "minimum": 0, "maximum": 4},
                ],
            },
            {"name": "SideEffect", "aliases": ["Unwanted Effect"]},
        ],
        "edges": [
            {
                "name": "CAUSES",
                "source": "Drug",
                "target": "SideEffect",
                "properties": ["rate", "grade"],
                "details": [
                    {"name": "grade", "kind": "enum", "values": ["rare", "common"]},
                    {"name": "rate", "kind": "number", "maximum": 1},
                ],
                "aliases": ["CcSE"],
            }
        ],
    }
)
NODES = (
    '{"id": "d", "name": "aspirin", "type": "Drug", "year": 1899, "colour": "white"}\n'
    '{"id": "s", "name": "rash", "kind": "Side Effect"}\n'
)
EDGES = "source\tedge\ttarget\trate\tgrade\nd\tCcSE\ts\t0.5\trare\n"


def files(folder: Path, nodes: str = NODES, edges: str = EDGES) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nodes.jsonl").write_bytes(nodes.encode("utf-8", "surrogatepass"))
    (folder / "edges.tsv").write_bytes(edges.encode("utf-8", "surrogatepass"))
    return folder / "nodes.jsonl", folder / "edges.tsv"


def test_nodes_edges_and_their_properties_are_there(tmp_path: Path, make_plan: Any) -> None:
    report = import_graph(*files(tmp_path), SCHEMA, tmp_path / "new" / "g.lbug")
    assert (dict(report.nodes), dict(report.edges)) == ({"Drug": 1, "SideEffect": 1}, {"CAUSES": 1})
    assert report.left_out == ("colour of Drug: not in the schema, 1 time",)
    graph = open_ladybug(report.database)
    assert graph.schema == SCHEMA
    assert graph.fingerprint == report.fingerprint
    assert sorted(graph.names()) == [("d", "aspirin", "Drug"), ("s", "rash", "SideEffect")]
    assert graph.find(NodeRef(name="1899", type="Drug", field="year")) == ["d"]
    plan = make_plan(
        {"kind": "anchor", "store_as": "a", "node": {"name": "ASPIRIN", "type": "Drug"}},
        {
            "kind": "expand", "store_as": "b", "start": "a", "edge": "CAUSES", "direction": "out",
            "where": [{"property": "rate", "op": "lt", "value": 0.6}, {"property": "grade", "value": "rare"}],
        },
    )  # fmt: skip
    assert execute_graph(plan, graph).names == ("rash",)
    graph.close()


def test_compressed_files_are_read(tmp_path: Path) -> None:
    packed = []
    for path in files(tmp_path):
        packed.append(path.with_name(path.name + ".gz"))
        packed[-1].write_bytes(gzip.compress(path.read_bytes()))
    report = import_graph(packed[0], packed[1], SCHEMA, tmp_path / "g.lbug")
    assert sum(report.edges.values()) == 1


def test_the_same_files_have_the_same_fingerprint_and_others_another(tmp_path: Path) -> None:
    one = import_graph(*files(tmp_path / "a"), SCHEMA, tmp_path / "1.lbug").fingerprint
    same = import_graph(*files(tmp_path / "b"), SCHEMA, tmp_path / "2.lbug").fingerprint
    other = import_graph(*files(tmp_path / "c", edges=EDGES + "d\tCAUSES\ts\t1\t\n"), SCHEMA, tmp_path / "3.lbug")
    assert one == same != other.fingerprint


def test_a_line_that_is_not_utf_8_is_said_to_be_none(tmp_path: Path) -> None:
    nodes, edges = files(tmp_path)
    nodes.write_bytes(nodes.read_bytes().replace(b"aspirin", "Äspirin".encode("latin-1")))
    with pytest.raises(DataError, match=r"nodes\.jsonl:1: the line is not UTF-8"):
        import_graph(nodes, edges, SCHEMA, tmp_path / "g.lbug")


def test_progress_counts_each_line_twice(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    import_graph(*files(tmp_path), SCHEMA, tmp_path / "g.lbug", lambda done, total: seen.append((done, total)))
    assert seen[-1] == (8, 8)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


BAD = [
    ("nonsense\n", EDGES, "nodes.jsonl:1: expected a JSON object with id, name and type"),
    ("[" * 100_000 + "\n", EDGES, "nodes.jsonl:1: expected a JSON object"),
    (NODES + NODES[: NODES.index("\n") + 1], EDGES, "nodes.jsonl:3: two nodes have the id 'd'"),
    ('{"id": 1, "name": "a", "type": "Drug"}\n', EDGES, "nodes.jsonl:1: id and name must be text"),
    ('{"id": "", "name": "a", "type": "Drug"}\n', EDGES, "nodes.jsonl:1: id and name must be text"),
    ('{"id": "a", "name": "\\u0000", "type": "Drug"}\n', EDGES, "nodes.jsonl:1: id and name must be text"),
    ('{"id": "a", "name": "\\ud800", "type": "Drug"}\n', EDGES, "nodes.jsonl:1: id and name must be text"),
    ('{"id": "a", "name": "a", "type": "Drug", "sold": "yes"}\n', EDGES, "sold of Drug is a boolean, not 'yes'"),
    ('{"id": "a", "name": "a", "type": "Drug", "year": [1]}\n', EDGES, "year of Drug must be text, a finite number"),
    ('{"id": "a", "name": "a", "type": "Drug", "year": NaN}\n', EDGES, "a finite number"),
    ('{"id": "a", "name": "a", "type": "Drug", "year": 1' + "0" * 400 + "}\n", EDGES, "a finite number"),
    ('{"id": "a", "name": "a", "type": "Drug", "year": 9007199254740993}\n', EDGES, "that 64 bits hold exactly"),
    (NODES + '{"id": "e", "name": "e", "type": "Drug", "year": "old"}\n', EDGES, "jsonl:3: year of Drug is a number"),
    (NODES, "d\tCAUSES\ts\n", "edges.tsv:1: the first line must name the columns"),
    (NODES, "", "edges.tsv:1: the first line must name the columns"),
    (NODES, EDGES.replace("\t", ","), "source, edge, target with tabs between them, not commas; separate every line"),
    (NODES, EDGES.replace("\t", ";"), "with tabs between them, not semicolons"),
    ('{"id": "a", "name": "a", "type": "Drug", "phase": 4.5}\n', EDGES, "jsonl:1: phase of Drug is at most 4, not 4.5"),
    ('{"id": "a", "name": "a", "type": "Drug", "phase": -1}\n', EDGES, "jsonl:1: phase of Drug is at least 0, not -1"),
    (NODES, EDGES.replace("0.5", "1.5"), "edges.tsv:2: rate of CAUSES is at most 1, not 1.5"),
    ("", EDGES.split("\n")[0] + "\n", "nodes.jsonl has no node of a type that the schema has (the file is empty)"),
    ('{"id": "a", "name": "a", "type": "Drugs"}\n', EDGES.split("\n")[0], "(nearest: Drug)), so there is no graph"),
    (NODES, EDGES + "d\tCAUSES\n", "edges.tsv:3: expected 5 columns: source, edge, target, rate, grade"),
    (NODES, EDGES + "d\tEATS\ts\t\t\n", "edges.tsv:3: the edge 'EATS' is none of CAUSES"),
    (NODES, EDGES + "s\tCAUSES\td\t\t\n", "edges.tsv:3: edge CAUSES joins Drug to SideEffect, and 's' is a SideEffect"),
    (NODES, EDGES + "x\tCAUSES\ts\t\t\n", "edges.tsv:3: edge CAUSES joins the unknown node 'x'"),
    (NODES, EDGES + "d\tCAUSES\ts\t\toften\n", "edges.tsv:3: grade of CAUSES is one of rare, common, not 'often'"),
    (NODES, EDGES + "\ud800\tCAUSES\ts\t\t\n", "edges.tsv:3: the line is not UTF-8"),
]


@pytest.mark.parametrize(("nodes", "edges", "said"), BAD, ids=[said[:40] for *_, said in BAD])
def test_a_bad_line_is_named_and_nothing_is_left(tmp_path: Path, nodes: str, edges: str, said: str) -> None:
    made = files(tmp_path / "in", nodes, edges)
    with pytest.raises(DataError) as error:
        import_graph(*made, SCHEMA, tmp_path / "g.lbug")
    assert said in str(error.value)
    assert os.listdir(tmp_path) == ["in"]


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    made = files(tmp_path, NODES, EDGES + "x\n" * 30)
    with pytest.raises(DataError, match=r"(?s)edges\.tsv:3.*edges\.tsv:22.*and 10 more lines"):
        import_graph(*made, SCHEMA, tmp_path / "g.lbug")


def test_a_missing_or_broken_file_is_said(tmp_path: Path) -> None:
    nodes, edges = files(tmp_path)
    with pytest.raises(DataError, match=r"none\.jsonl cannot be read"):
        import_graph(tmp_path / "none.jsonl", edges, SCHEMA, tmp_path / "g.lbug")
    broken = tmp_path / "n.jsonl.gz"
    broken.write_bytes(gzip.compress(nodes.read_bytes())[:-9])
    with pytest.raises(DataError, match="cannot be read"):
        import_graph(broken, edges, SCHEMA, tmp_path / "g.lbug")


def test_what_is_there_is_never_touched(tmp_path: Path) -> None:
    out = tmp_path / "g.lbug"
    out.write_text("mine")
    with pytest.raises(DataError, match="is there already"):
        import_graph(*files(tmp_path), SCHEMA, out)
    assert out.read_text() == "mine"


def test_a_failure_while_writing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("IO exception: no space left\nat somewhere")

    monkeypatch.setattr("queryplan.program.graph.exchange.importing._Writer._write_edges", fail)
    made = files(tmp_path / "in")
    with pytest.raises(DataError, match=r"g\.lbug could not be written: IO exception: no space left$"):
        import_graph(*made, SCHEMA, tmp_path / "g.lbug")
    assert os.listdir(tmp_path) == ["in"]


def test_an_edge_at_a_node_that_was_left_out_is_wrong(tmp_path: Path) -> None:
    made = files(tmp_path, NODES.replace("Side Effect", "Planet"))
    with pytest.raises(DataError, match="joins 's', a 'Planet', which the schema does not have"):
        import_graph(*made, SCHEMA, tmp_path / "g.lbug")


def test_a_schema_that_would_end_the_quotes_is_refused(tmp_path: Path) -> None:
    for name in ("A`) DETACH DELETE (n", "A\nB", " "):
        schema = GraphSchema.model_validate({"nodes": [{"name": name}]})
        with pytest.raises(DataError, match="take back quotes and control characters out of it"):
            import_graph(*files(tmp_path), schema, tmp_path / "g.lbug")


def test_the_biomedical_graph_answers_its_labelled_questions(tmp_path: Path, biomedical: MemoryGraph) -> None:
    folder = domain_folder("biomedical")
    schema = read_schema(folder / "domain.toml").schema
    import_graph(folder / "graph" / "nodes.jsonl", folder / "graph" / "edges.tsv", schema, tmp_path / "b.lbug")
    graph = open_graph(tmp_path / "b.lbug")
    checked = 0
    for line in (folder / "train.jsonl").read_text(encoding="utf-8").split("\n"):
        gold = json.loads(line).get("gold", {}) if line else {}
        if "graph_plan" in gold:
            from queryplan.signatures.graph_steps import GraphPlan

            plan = GraphPlan.model_validate(gold["graph_plan"])
            for executor in (graph, biomedical):
                assert sorted(execute_graph(plan, executor).names) == sorted(gold.get("answers", ()))
            checked += 1
    graph.close()
    assert checked > 50
