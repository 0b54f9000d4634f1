"""Whether a chain of steps leads anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from queryplan.program.graph.exchange.importing import import_graph
from queryplan.program.graph.executors.glance import Trail, leads_somewhere, trail_of
from queryplan.program.graph.executors.ladybug import open_ladybug
from queryplan.program.graph.executors.ladybug_run import FEW
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.sketch import Branch, Final, Hop, Sketch
from queryplan.signatures.graph_steps import Condition, EdgeType, ExpandStep, GraphSchema, NodeRef, NodeType

A, B = NodeRef(name="a", type="Node"), NodeRef(name="b", type="Node")
TO = Hop("TO", "out")
BACK = Hop("TO", "in", back=True)
SCHEMA = GraphSchema(
    nodes=(NodeType(name="Node", properties=("year",)),), edges=(EdgeType(name="TO", source="Node", target="Node"),)
)


def trail(*hops: Hop, anchors: tuple[NodeRef, ...] = (A,)) -> Trail:
    found = trail_of(Sketch((Branch(anchors, hops),)).to_plan())
    assert found is not None
    return found


def asked_of(edges: dict[str, str], hops: tuple[ExpandStep, ...], *starts: str) -> tuple[bool, list[str]]:
    """Whether letters lead to letters, and which were asked for theirs."""
    asked: list[str] = []

    def near(node: str, step: ExpandStep) -> Iterator[str]:
        asked.append(node)
        backward = [one for one, others in edges.items() if node in others]
        yield from edges.get(node, "") if step.direction == "out" else backward

    return leads_somewhere(starts, hops, near), asked


def test_a_chain_is_read_from_its_plan() -> None:
    found = trail(TO, BACK, anchors=(A, B))
    assert found.anchors == (A, B)
    assert [(hop.edge, hop.direction, bool(hop.exclude)) for hop in found.hops] == [
        ("TO", "out", False),
        ("TO", "in", True),
    ]
    assert trail().hops == ()


@pytest.mark.parametrize(
    "sketch",
    [
        Sketch((Branch((A, B), (TO,), every=True),)),
        Sketch((Branch((A,), (TO,)), Branch((B,), (TO,))), "difference"),
        Sketch((Branch((A,), (TO,)), Branch((B,), (TO,))), "union"),
        Sketch((Branch((A,), (TO,)),), final=Final("count")),
        Sketch((Branch((A,), (TO,)),), final=Final("order", "year")),
        Sketch((Branch((A,), (Hop("TO", "out", where=(Condition(property="year", value=1),)),)),)),
    ],
    ids=["every", "difference", "union of chains", "count", "order", "condition"],
)
def test_what_is_no_chain_is_left_to_be_run(sketch: Sketch) -> None:
    assert trail_of(sketch.to_plan()) is None


def test_one_path_to_the_end_is_enough() -> None:
    assert asked_of({"a": "bcd", "b": "xyz"}, trail(TO, TO).hops, "a") == (True, ["a", "b"])


def test_what_led_nowhere_is_not_tried_again() -> None:
    found, asked = asked_of({"a": "cd", "b": "cd"}, trail(TO, TO).hops, "a", "b")
    assert (found, sorted(asked)) == (False, ["a", "b", "c", "d"])


def test_where_one_came_from_does_not_count() -> None:
    assert asked_of({"a": "c"}, trail(TO, BACK).hops, "a")[0] is False
    assert asked_of({"a": "c", "b": "c"}, trail(TO, BACK).hops, "a")[0] is True
    assert asked_of({"a": "c", "b": "c"}, trail(TO, BACK).hops, "a", "b")[0] is False


def test_nodes_without_a_hop_are_somewhere_if_there_are_any() -> None:
    assert asked_of({}, (), "a") == (True, [])
    assert asked_of({}, (), *()) == (False, [])


@pytest.fixture(scope="module")
def star(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A node with more neighbours than are asked for at a time; only the last of them leads on."""
    many = [f"n{i}" for i in range(3 * FEW)]
    names = ["a", "b", *many, "end"]
    pairs = [*(("a", name) for name in many), (many[-1], "end")]
    folder: Path = tmp_path_factory.mktemp("star")
    nodes, edges = folder / "nodes.jsonl", folder / "edges.tsv"
    nodes.write_text("".join(f'{{"id": "{n}", "name": "{n}", "type": "Node"}}\n' for n in names))
    edges.write_text("source\tedge\ttarget\n" + "".join(f"{one}\tTO\t{other}\n" for one, other in pairs))
    graph = open_ladybug(import_graph(nodes, edges, SCHEMA, folder / "star.lbug").database)
    yield graph
    graph.close()


@pytest.mark.parametrize(
    ("hops", "finds"), [((TO,), True), ((TO, TO), True), ((TO, TO, TO), False), ((Hop("TO", "in"),), False)]
)
def test_a_few_nodes_are_not_taken_for_all(star: Any, hops: tuple[Hop, ...], finds: bool) -> None:
    plan = Sketch((Branch((A,), hops),)).to_plan()
    assert star.finds(plan) is finds
    assert bool(star.run(plan, cap=1).names) is finds


def test_a_name_that_is_not_there_leads_nowhere(star: Any) -> None:
    plan = Sketch((Branch((NodeRef(name="nobody", type="Node"),), (TO,)),)).to_plan()
    assert not star.finds(plan)
    assert not MemoryGraph(declared=SCHEMA).finds(plan)
