"""Sketches as plans, and plans in one form."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.graph_lessons import read_plan
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.sketch import Branch, Final, Hop, Sketch, canonical
from queryplan.signatures.graph_steps import Condition, EdgeType, GraphPlan, GraphSchema, NodeRef, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="D", properties=("year",)), NodeType(name="G"), NodeType(name="C")),
    edges=(
        EdgeType(name="TREATS", source="C", target="D", properties=("score",)),
        EdgeType(name="HAS", source="D", target="G"),
        EdgeType(name="LIKE", source="D", target="D"),
    ),
)
A, B = NodeRef(name="a", type="D"), NodeRef(name="b", type="D")
HAS = Hop("HAS", "out")
SKETCHES = (
    Sketch((Branch((A,), (HAS,)),)),
    Sketch((Branch((A, B), (HAS,)),)),
    Sketch((Branch((A, B), (HAS,), every=True),)),
    Sketch((Branch((A,), (HAS,)), Branch((B,), (HAS,))), "symmetric"),
    Sketch((Branch((A,), (HAS,)), Branch((B,), (HAS,))), "difference", (Hop("HAS", "in"),)),
    Sketch((Branch((A,), (Hop("LIKE", "any"),)), Branch((B,))), "difference", (), Final("count")),
    Sketch((Branch((A,), (HAS, Hop("HAS", "in", back=True))),), final=Final("order", "year", False, 3)),
    Sketch((Branch((A,), (Hop("TREATS", "in", where=(Condition(property="score", op="ge", value=1),)),)),)),
    Sketch((Branch((A,), (HAS,), alone=1),)),
    Sketch((Branch((A, B), (HAS, Hop("HAS", "in")), alone=2),)),
    Sketch((Branch((A, B), (HAS, Hop("HAS", "in")), every=True, alone=1), Branch((A,)))),
    Sketch(
        (Branch((A,)),), final=Final(lacks=(Hop("TREATS", "in"), HAS), filters=(Condition(property="year", value=1),))
    ),
    Sketch((Branch((A, B)),), final=Final("order", "year", False, after=1)),
    Sketch((Branch((A, B)),), final=Final("degree", "HAS", limit=2, after=3)),
    Sketch((Branch((A, B)),), final=Final("degree", "HAS", filters=(Condition(property="year", value=1),))),
)


@pytest.mark.parametrize("sketch", SKETCHES, ids=range(len(SKETCHES)))
def test_every_sketch_is_a_well_typed_plan(sketch: Sketch) -> None:
    assert check_graph_plan(sketch.to_plan(), SCHEMA) == []


@pytest.mark.parametrize("sketch", SKETCHES, ids=range(len(SKETCHES)))
def test_a_sketch_has_the_form_of_its_plan(sketch: Sketch) -> None:
    assert sketch.canonical() == canonical(sketch.to_plan())


HOPS = st.lists(
    st.builds(
        Hop,
        st.sampled_from(("HAS", "LIKE", "TREATS")),
        st.sampled_from(("out", "in", "any")),
        st.booleans(),
        st.sampled_from(((), (Condition(property="score", op="ge", value=1), Condition(property="score", value=2)))),
    ),
    max_size=3,
).map(tuple)
NODES = st.lists(st.sampled_from((A, B, NodeRef(name="A", type="D"))), min_size=1, max_size=3).map(tuple)
FILTERS = st.sampled_from(((), (Condition(property="year", value=1),)))
FINALS = st.one_of(
    st.builds(Final, st.sampled_from(("set", "count")), filters=FILTERS),
    st.builds(
        Final,
        st.sampled_from(("order", "degree")),
        st.just("year"),
        st.booleans(),
        st.integers(1, 5),
        filters=FILTERS,
        lacks=st.sampled_from(((), (HAS,))),
        after=st.integers(0, 2),
    ),
)
DRAWN = st.builds(
    Sketch,
    st.lists(st.builds(Branch, NODES, HOPS, st.booleans(), st.integers(0, 2)), min_size=1, max_size=3).map(tuple),
    st.sampled_from(("alone", "union", "intersect", "difference", "symmetric")),
    HOPS,
    FINALS,
)


@given(DRAWN)
@settings(deadline=None)
def test_whatever_is_drawn_has_the_form_of_its_plan(sketch: Sketch) -> None:
    assert sketch.canonical() == canonical(sketch.to_plan())


def test_different_sketches_have_different_forms() -> None:
    assert len({canonical(s.to_plan()) for s in SKETCHES}) == len(SKETCHES)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(D:a | D:b) >HAS", "D:b >HAS | D:a >HAS"),
        ("D:a >HAS & D:b >HAS", "D:b >HAS & D:a >HAS"),
        ("(D:a | D:b) >HAS <HAS", "D:a >HAS <HAS | D:b >HAS <HAS"),
        ("D:A >HAS", "D:a >HAS"),
        ("D:a ~LIKE!", "D:a ~LIKE \\ D:a"),
        ("(D:a | D:b) | D:c", "D:a | D:b | D:c"),
        ("(D:a >HAS & D:b >HAS) & D:c >HAS", "D:a >HAS & D:b >HAS & D:c >HAS"),
        ("D:a >HAS & (D:c >HAS & D:b >HAS)", "D:a >HAS & D:b >HAS & D:c >HAS"),
        ("if year ge 1990; if form eq pill; D:a >HAS", "if form eq pill; if year ge 1990; D:a >HAS"),
        ("count; if a eq 1; if b eq 2; if c eq 3; D:a", "count; if c eq 3; if a eq 1; if b eq 2; D:a"),
    ],
)
def test_plans_that_must_give_the_same_answers_have_one_form(one: str, other: str) -> None:
    assert canonical(read_plan(one)) == canonical(read_plan(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("D:a \\ D:b", "D:b \\ D:a"),
        ("D:a >HAS & D:b >HAS", "D:a >HAS | D:b >HAS"),
        ("(D:a & D:b) >HAS", "D:a >HAS & D:b >HAS"),
        ("(D:a >HAS & D:b >HAS) \\ D:c >HAS", "D:a >HAS & (D:b >HAS \\ D:c >HAS)"),
        ("D:a >HAS <HAS", "D:a >HAS <HAS!"),
        ("count; D:a >HAS", "D:a >HAS"),
        ("if year ge 1990; if form eq pill; D:a >HAS", "if year ge 1990; D:a >HAS"),
        ("if year ge 1990; max year 1; D:a >HAS", "max year 1; if year ge 1990; D:a >HAS"),
        ("max year 1; D:a ~LIKE", "min year 1; D:a ~LIKE"),
    ],
)
def test_plans_that_may_differ_have_different_forms(one: str, other: str) -> None:
    assert canonical(read_plan(one)) != canonical(read_plan(other))


def test_two_edges_in_one_step_are_a_union_of_steps() -> None:
    steps = [
        {"kind": "anchor", "store_as": "a", "node": {"name": "a", "type": "D"}},
        {"kind": "expand", "store_as": "b", "start": "a", "edge": "HAS", "or_edges": ["HOLDS"], "direction": "out"},
    ]
    either = GraphPlan.model_validate({"steps": steps})
    assert canonical(either) == canonical(read_plan("D:a >HOLDS | D:a >HAS"))
    assert canonical(either) != canonical(read_plan("D:a >HOLDS & D:a >HAS"))


def test_one_filter_after_another_is_one_with_all_conditions() -> None:
    apart = read_plan("if year le 2000; if year ge 1990; D:a >HAS")
    together = GraphPlan.model_validate(
        {
            "steps": [
                *(step.model_dump() for step in apart.steps[:2]),
                {
                    "kind": "filter",
                    "store_as": "c",
                    "start": apart.steps[1].store_as,
                    "conditions": [c.model_dump() for s in apart.steps[2:] for c in s.conditions],  # type: ignore[union-attr]
                },
            ]
        }
    )
    assert canonical(apart) == canonical(together)


def test_answers_of_one_form_are_equal_on_a_graph() -> None:
    from queryplan.program.graph.executors.memory import MemoryGraph

    graph = MemoryGraph()
    for name in "abcd":
        graph.add_node(f"D{name}", name, "D")
    for name in "xyz":
        graph.add_node(f"G{name}", name, "G")
    for disease, gene in ("ax", "ay", "by", "bz", "cz", "dx"):
        graph.add_edge(f"D{disease}", "HAS", f"G{gene}")
    for one, other in (
        ("(D:a | D:b) >HAS <HAS", "D:a >HAS <HAS | D:b >HAS <HAS"),
        ("D:a >HAS <HAS!", "D:a >HAS <HAS \\ D:a"),
    ):
        assert set(graph.run(read_plan(one)).names) == set(graph.run(read_plan(other)).names)


@pytest.mark.parametrize("name", ["alpha (beta)", "a ∩ b", "x) ∩ (y", "one] ⟧"])
def test_brackets_in_a_name_are_no_brackets(name: str) -> None:
    named = Branch((NodeRef(name=name, type="D"),), (Hop("HAS", "out"),))
    other = Branch((NodeRef(name="b", type="D"), NodeRef(name="c", type="D")), (Hop("HAS", "out"),), every=True)
    apart = [Branch((node,), other.hops) for node in other.anchors]
    nested = Sketch((named, other), "intersect")
    assert nested.canonical() == Sketch((named, *apart), "intersect").canonical()
    assert nested.canonical().count("HAS") == 3
