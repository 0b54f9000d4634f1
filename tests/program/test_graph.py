"""Graph plans: what the checker refuses, and what the shipped graph answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import domain_folder, load_card
from queryplan.errors import DataError
from queryplan.program.graph import MemoryGraph, check_graph_plan, load_graph
from queryplan.signatures.types import AnchorStep, ExpandStep, GraphPlan, NodeRef

PODCAST = domain_folder("podcast")


def anchor(name: str, kind: str, store: str = "a") -> AnchorStep:
    return AnchorStep(store_as=store, node=NodeRef(name=name, type=kind))


def expand(edge: str, direction: Any, start: str = "a", store: str = "b") -> ExpandStep:
    return ExpandStep(store_as=store, start=start, edge=edge, direction=direction)


def plan(*steps: Any) -> GraphPlan:
    return GraphPlan(steps=steps)


@pytest.fixture(scope="module")
def graph() -> MemoryGraph:
    return load_graph(PODCAST)


YUSUF = anchor("Yusuf Demirkale", "Guest")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (plan(anchor("x", "Robot")), "there is no node type 'Robot'; use one of Guest, Host"),
        (plan(YUSUF, expand("EATS", "out")), "there is no edge 'EATS'; use one of APPEARS_IN"),
        (plan(YUSUF, expand("WROTE", "out", start="z")), "starts from 'z', which no earlier step stores"),
        (plan(expand("WROTE", "out", start="b")), "starts from 'b', which no earlier step stores"),
        (plan(YUSUF, expand("WROTE", "in")), "WROTE joins Guest to Book; going in it starts at Book, not Guest"),
        (plan(YUSUF, expand("MENTIONS", "out")), "MENTIONS joins Episode to Book; going out it starts at Episode"),
        (plan(YUSUF, anchor("Nell", "Host", "a")), "'a' is stored twice"),
        (plan(YUSUF, anchor("Nell", "Host", "n"), expand("WROTE", "out")), "the result of 'n' is never used"),
    ],
)
def test_each_kind_of_mistake_is_a_sentence(card: Any, made: GraphPlan, said: str) -> None:
    assert said in "; ".join(check_graph_plan(made, card.graph))


def test_a_plan_of_two_hops_is_well_typed(card: Any) -> None:
    made = plan(YUSUF, expand("APPEARS_IN", "out"), expand("DISCUSSES", "out", "b", "c"))
    assert check_graph_plan(made, card.graph) == []


FACTS = {
    "who wrote The Import of Small Things": (
        ("The Import of Small Things", "Book", ("WROTE", "in")), ("Yusuf Demirkale",)),
    "what did Yusuf write": (("Yusuf Demirkale", "Guest", ("WROTE", "out")), ("The Import of Small Things",)),
    "episodes with Yusuf": (
        ("yusuf demirkale", "Guest", ("APPEARS_IN", "out")),
        ("Episode 15: The Import of Small Things", "Episode 30: Stock in the Back Room")),
    "who is in episode 22": (
        ("Episode 22: The Maths of Getting Stuck", "Episode", ("APPEARS_IN", "in")),
        ("Chiamaka Eberle", "Ilse Brandvold")),
    "who recommends The Price of Certainty": (
        ("The Price of Certainty", "Book", ("RECOMMENDS", "in")), ("Henrik Solvang-Dube", "Rosalind Achterberg")),
    "what episode 5 discusses": (
        ("Episode 5: The Night Desk Goes Dark", "Episode", ("DISCUSSES", "out")),
        ("deliberate boredom", "headline fast")),
    "who introduced sleep debt": (("sleep debt", "Concept", ("INTRODUCED", "in")), ("Priya Raghunandan-Moss",)),
    "who wrote Waiting for God": (("Waiting for God", "Book", ("AUTHORED", "in")), ("Simone Weil",)),
    "episodes about the headline fast": (
        ("headline fast", "Concept", ("DISCUSSES", "in")),
        ("Episode 12: Year-End Letters, 2022", "Episode 26: Today's News, Tomorrow's Mind",
         "Episode 5: The Night Desk Goes Dark")),
    "what Beatriz wrote": (("Beatriz Amaral-Quint", "Guest", ("WROTE", "out")), ()),
}  # fmt: skip


@pytest.mark.parametrize("fact", FACTS.values(), ids=FACTS.keys())
def test_the_shipped_graph_answers_as_the_show_bible_says(card: Any, graph: MemoryGraph, fact: tuple) -> None:
    (name, kind, hop), answer = fact
    made = plan(anchor(name, kind), expand(*hop))
    assert check_graph_plan(made, card.graph) == []
    found = graph.run(made)
    assert found.names == answer
    assert found.unknown == ()


def test_two_hops_follow_every_node_of_the_first(graph: MemoryGraph) -> None:
    made = plan(YUSUF, expand("APPEARS_IN", "out"), expand("MENTIONS", "out", "b", "c"))
    assert graph.run(made).names == ("The Import of Small Things",)


def test_a_name_that_is_not_in_the_graph_is_reported(graph: MemoryGraph) -> None:
    found = graph.run(plan(anchor("Nobody", "Guest"), expand("WROTE", "out")))
    assert found.names == ()
    assert [n.name for n in found.unknown] == ["Nobody"]


def test_every_edge_of_the_shipped_graph_joins_the_types_its_schema_says() -> None:
    schema = load_card(PODCAST).graph
    assert schema is not None
    for line in (PODCAST / "graph" / "edges.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        source, name, target = line.split("\t")
        edge = schema.edge(name)
        assert edge is not None, line
        assert (source.split("::")[0], target.split("::")[0]) == (edge.source, edge.target), line


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(["WROTE", "APPEARS_IN", "COVERS"]), st.booleans()), max_size=4
    )
)
def test_a_plan_that_the_checker_passes_can_be_run(hops: list[tuple[str, str, bool]]) -> None:
    schema = load_card(PODCAST).graph
    assert schema is not None
    steps = [
        expand(edge, "out" if out else "in", "a" if n == 0 else f"s{n - 1}", f"s{n}")
        for n, (_, edge, out) in enumerate(hops)
    ]
    made = plan(YUSUF, *steps)
    if not check_graph_plan(made, schema):
        assert load_graph_once().run(made).unknown == ()


_kept: list[MemoryGraph] = []


def load_graph_once() -> MemoryGraph:
    if not _kept:
        _kept.append(load_graph(PODCAST))
    return _kept[0]


# --- files


def write(folder: Path, nodes: bytes, edges: bytes = b"source\tedge\ttarget\n") -> Path:
    (folder / "graph").mkdir()
    (folder / "graph" / "nodes.jsonl").write_bytes(nodes)
    (folder / "graph" / "edges.tsv").write_bytes(edges)
    return folder


GOOD = b'{"id": "1", "name": "a", "type": "T"}\n'


@pytest.mark.parametrize(
    ("nodes", "edges", "said"),
    [
        (GOOD + b"nonsense\n", b"", "nodes.jsonl:2: expected id, name and type"),
        (GOOD + b"[1]\n", b"", "nodes.jsonl:2"),
        (b'{"id": "1", "name": 3, "type": "T"}\n', b"", "nodes.jsonl:1"),
        (b'{"id": "1"}\n', b"", "nodes.jsonl:1"),
        (GOOD, b"head\n1\tE\n", "edges.tsv:2: expected source, edge and target"),
        (GOOD, b"head\n1\tE\t1\n1\tE\t2\n", "edges.tsv:3: edge E joins the unknown node '2'"),
        (b"\xff\n", b"", "cannot be read"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, nodes: bytes, edges: bytes, said: str) -> None:
    with pytest.raises(DataError, match="(?s)" + said.replace("(", r"\(")):
        load_graph(write(tmp_path, nodes, edges))


def test_a_missing_graph_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"the graph of {tmp_path.name} cannot be read"):
        load_graph(tmp_path)


def test_a_name_may_hold_what_some_readers_take_for_a_line_end(tmp_path: Path) -> None:
    node = '{"id": "1", "name": "a\u2028b", "type": "T"}\n'.encode()
    assert load_graph(write(tmp_path, node)).run(plan(anchor("a\u2028b", "T"))).names == ("a\u2028b",)
