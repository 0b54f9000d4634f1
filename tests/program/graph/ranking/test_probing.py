"""What a graph at hand says of plans before one is chosen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.learning.learning import probe_of
from queryplan.program.graph.ranking.probing import APART, DENIED, NO_ORDER, NOTHING_LEFT, NOWHERE, UNTOUCHED, Probing
from queryplan.program.graph.sketch import Branch, Combine, Final, Hop, Sketch, canonical
from queryplan.signatures.graph_steps import Condition, GraphPlan, NodeRef

HAS, LACKS = Hop("HAS", "out"), Hop("LACKS", "out")


@pytest.fixture
def graph() -> MemoryGraph:
    """Diseases with symptoms: ``a`` and ``b`` share one, ``c`` has another, ``d`` has none."""
    made = MemoryGraph()
    for name in "abcd":
        made.add_node(f"D{name}", name, "D")
    for place, name in enumerate("xyz"):
        made.add_node(f"S{name}", name, "S", grade=place)
    for disease, symptom in ("ax", "ay", "by", "cz"):
        made.add_edge(f"D{disease}", "HAS", f"S{symptom}")
    return made


def of(*names: str, hops: tuple[Hop, ...] = (HAS,), kind: str = "D", every: bool = False) -> Branch:
    return Branch(tuple(NodeRef(name=name, type=kind) for name in names), hops, every)


def itself(name: str) -> Branch:
    return of(name, hops=(), kind="S")


@pytest.mark.parametrize(
    ("combine", "branches", "counts"),
    [
        ("intersect", (of("a"), of("b")), 1.0),
        ("intersect", (of("a"), of("c")), APART),
        ("intersect", (of("a"), itself("x")), 1.0),
        ("intersect", (of("a"), itself("z")), DENIED),
        ("difference", (of("a"), of("b")), 1.0),
        ("difference", (of("a"), of("c")), UNTOUCHED),
        ("difference", (of("a"), itself("z")), UNTOUCHED),
        ("difference", (of("b"), of("a")), NOTHING_LEFT),
        ("union", (of("a"), of("c")), 1.0),
        ("alone", (of("a", "b", every=True),), 1.0),
        ("alone", (of("a", "c", every=True),), APART),
        ("alone", (of("a"),), 1.0),
    ],
)
def test_people_ask_for_what_there_is(
    graph: MemoryGraph, combine: Combine, branches: tuple[Branch, ...], counts: float
) -> None:
    assert Probing(graph.finds).together(Sketch(branches, combine)) == counts


def test_each_branch_that_leads_nowhere_counts(graph: MemoryGraph) -> None:
    probing = Probing(graph.finds)
    assert probing.by_branches(Sketch((of("a"), of("b")), "union")) == 1.0
    assert probing.by_branches(Sketch((of("a"), of("d")), "union")) == NOWHERE
    assert probing.by_branches(Sketch((of("d", hops=(HAS, Hop("HAS", "in"))), of("d")), "union")) == NOWHERE**2
    assert probing.by_branches(Sketch((itself("x"),))) == 1.0


def test_a_condition_that_nothing_passes_counts_and_one_that_something_passes_does_not(graph: MemoryGraph) -> None:
    def kept(least: int) -> float:
        tests = (Condition(property="grade", op="ge", value=least),)
        return Probing(graph.finds).together(Sketch((of("a"),), final=Final(filters=tests)))

    assert (kept(1), kept(2)) == (1.0, NOTHING_LEFT)


def test_what_follows_sets_must_lead_somewhere(graph: MemoryGraph) -> None:
    followed = Sketch((of("a"), of("b")), "intersect", (Hop("HAS", "in"),))
    assert Probing(graph.finds).together(followed) == 1.0
    assert Probing(graph.finds).together(Sketch(followed.branches, "intersect", (LACKS,))) == NOTHING_LEFT


@pytest.mark.parametrize("kind", ["count", "order", "degree"])
def test_how_many_or_which_first_does_not_matter(graph: MemoryGraph, kind: str) -> None:
    final = Final(kind, "grade" if kind == "order" else "HAS" if kind == "degree" else "")  # type: ignore[arg-type]
    assert Probing(graph.finds).together(Sketch((of("a"), of("c")), "intersect", final=final)) == APART


@pytest.mark.parametrize(("edge", "counts"), [("HAS", 1.0), ("LED_BY", NO_ORDER)])
def test_an_order_by_edges_of_which_no_node_has_two_is_not_what_is_asked(
    graph: MemoryGraph, edge: str, counts: float
) -> None:
    for disease in "ab":
        graph.add_node(f"L{disease}", f"leader of {disease}", "L")
        graph.add_edge(f"D{disease}", "LED_BY", f"L{disease}")
    probe = probe_of(graph)
    assert probe is not None
    most = Sketch((of("a", hops=()),), final=Final("degree", edge))
    assert Probing(probe).together(most) == counts


def counted(graph: MemoryGraph) -> tuple[Callable[[GraphPlan], bool], list[str]]:
    """A probe, and the forms of the plans that it was asked for."""
    asked: list[str] = []

    def probe(plan: GraphPlan) -> bool:
        asked.append(canonical(plan))
        return graph.finds(plan)

    return probe, asked


names = st.lists(st.sampled_from("abcd"), min_size=1, max_size=2, unique=True)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(names, st.booleans()), min_size=1, max_size=3), st.sampled_from(["union", "intersect"]))
def test_no_plan_is_tried_twice_and_none_gets_likelier(given_: list[tuple[list[str], bool]], combine: Combine) -> None:
    made = MemoryGraph()
    for name in "abcd":
        made.add_node(f"D{name}", name, "D")
    made.add_node("Sx", "x", "S")
    made.add_edge("Da", "HAS", "Sx")
    probe, asked = counted(made)
    probing, sketch = Probing(probe), Sketch(tuple(of(*some, every=every) for some, every in given_), combine)
    for _ in range(2):
        assert 0 < probing.by_branches(sketch) <= 1
        assert 0 < probing.together(sketch) <= 1
    assert len(asked) == len(set(asked))
