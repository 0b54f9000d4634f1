"""Every well-typed chain of a schema, once."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.ranking.paths import MAX_HOPS, NOTHING, PathTable
from queryplan.program.graph.sketch import Branch, Sketch
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeRef, NodeType


@st.composite
def schemas(draw: st.DrawFn) -> GraphSchema:
    types = [f"T{i}" for i in range(draw(st.integers(1, 3)))]
    ends = draw(st.lists(st.tuples(st.sampled_from(types), st.sampled_from(types)), max_size=3))
    edges = tuple(EdgeType(name=f"E{i}", source=s, target=t) for i, (s, t) in enumerate(ends))
    return GraphSchema(nodes=tuple(NodeType(name=t) for t in types), edges=edges)


def by_hand(schema: GraphSchema, start: str) -> set[tuple[tuple[str, str], ...]]:
    """Every well-typed chain of at most three hops, by trying all."""
    ways = [(e.name, d) for e in schema.edges for d in ("out", "in", "any")]
    found = set()
    for length in range(MAX_HOPS + 1):
        for chain in product(ways, repeat=length):
            now = start
            for name, way in chain:
                edge = schema.edge(name)
                assert edge is not None
                if way == "any" and edge.source != edge.target:
                    break
                begin, end = (edge.target, edge.source) if way == "in" else (edge.source, edge.target)
                if begin != now:
                    break
                now = end
            else:
                found.add(chain)
    return found


@settings(max_examples=40, deadline=None)
@given(schemas())
def test_chains_are_all_that_are_well_typed_and_none_else(schema: GraphSchema) -> None:
    table = PathTable(schema)
    chains = table.chains(0)
    made = [
        tuple((table.hops[h].edge.name, table.hops[h].direction) for h in row if h != NOTHING)
        for row, back in zip(chains.hops, chains.back, strict=True)
        if not back
    ]
    assert len(made) == len(set(made))
    assert set(made) == by_hand(schema, schema.nodes[0].name)


@settings(max_examples=25, deadline=None)
@given(schemas())
def test_every_chain_makes_a_plan_that_passes_the_check_and_ends_where_it_says(schema: GraphSchema) -> None:
    table = PathTable(schema)
    chains = table.chains(0)
    node = NodeRef(name="x", type=schema.nodes[0].name)
    for place in range(min(len(chains), 60)):
        row = [int(h) for h in chains.hops[place] if h != NOTHING]
        hops = tuple(table.hop(h, bool(chains.back[place]) and i == 1) for i, h in enumerate(row))
        plan = Sketch((Branch((node,), hops),)).to_plan()
        assert check_graph_plan(plan, schema, table.types[int(chains.end[place])]) == []


def test_a_chain_that_comes_back_is_there_with_and_without_its_start() -> None:
    schema = GraphSchema(
        nodes=(NodeType(name="A"), NodeType(name="B")), edges=(EdgeType(name="E", source="A", target="B"),)
    )
    chains = PathTable(schema).chains(0)
    assert sorted(zip(chains.length.tolist(), chains.back.tolist(), strict=True)) == [
        (0, False), (1, False), (2, False), (2, True), (3, False), (3, True)
    ]  # fmt: skip


def test_a_schema_without_edges_has_only_the_chain_of_no_hop() -> None:
    assert len(PathTable(GraphSchema(nodes=(NodeType(name="A"),))).chains(0)) == 1
