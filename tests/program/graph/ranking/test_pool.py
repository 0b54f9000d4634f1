"""Candidates of several names: whatever meets in one type is a well-typed plan."""

from __future__ import annotations

import numpy as np
import pytest
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.ranking.paths import PathTable
from queryplan.program.graph.ranking.pool import Group, Pool, product_pool
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeRef, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Drug"), NodeType(name="Illness"), NodeType(name="Gene")),
    edges=(
        EdgeType(name="TREATS", source="Drug", target="Illness"),
        EdgeType(name="HAS", source="Illness", target="Gene"),
    ),
)
TABLE = PathTable(SCHEMA)


def pool_of(*kinds: str) -> Pool:
    """Two names or more, each of its type, whose paths meet."""
    groups = [Group((NodeRef(name=f"n{i}", type=kind),), TABLE.place[kind], (i,)) for i, kind in enumerate(kinds)]
    found = product_pool(groups, [TABLE.chains(group.kind) for group in groups], ("intersect", "difference"))
    assert found is not None
    return found


@pytest.mark.parametrize("kinds", [("Drug", "Gene"), ("Illness", "Drug"), ("Gene", "Gene")])
def test_wherever_the_paths_of_two_names_meet_the_plan_is_well_typed(kinds: tuple[str, ...]) -> None:
    pool = pool_of(*kinds)
    for place in range(len(pool)):
        assert check_graph_plan(pool.sketch(place, TABLE).to_plan(), SCHEMA) == []


def test_only_a_branch_that_returns_to_its_type_leaves_out_what_it_started_from() -> None:
    pool = pool_of("Drug", "Gene")
    mixed = 0
    for place in np.flatnonzero(pool.back).tolist():
        drugs, genes = (branch.hops for branch in pool.sketch(place, TABLE).branches)
        marks = [[hop.back for hop in hops] for hops in (drugs, genes)]
        assert any(any(mark) for mark in marks)
        assert all(i == 1 for mark in marks for i, back in enumerate(mark) if back)
        mixed += any(marks[0]) != any(marks[1])
    assert mixed, "some candidates go back in one branch alone"
