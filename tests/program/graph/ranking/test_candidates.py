"""Names that are said twice are one name; two where two different ways from it meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.names.linking import Mention, Reading
from queryplan.program.graph.question.view import Hypothesis
from queryplan.program.graph.ranking.candidates import candidate_pools
from queryplan.program.graph.ranking.paths import PathTable
from queryplan.program.graph.ranking.pool import Pool
from queryplan.program.graph.sketch import Sketch
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Drug"), NodeType(name="Illness"), NodeType(name="Gene")),
    edges=(
        EdgeType(name="TREATS", source="Drug", target="Illness"),
        EdgeType(name="HAS", source="Illness", target="Gene"),
        EdgeType(name="BINDS", source="Drug", target="Gene"),
    ),
)
TABLE = PathTable(SCHEMA)


def named(*names: tuple[str, str]) -> Hypothesis:
    """A hypothesis of these names and types, one word each."""
    readings = tuple(Reading(name, kind, "exact") for name, kind in names)
    mentions = tuple(
        Mention(text=one.name, start=2 * i, end=2 * i + 1, first=i, last=i + 1, readings=(one,))
        for i, one in enumerate(readings)
    )
    return Hypothesis(mentions, readings)


def sketches(hypothesis: Hypothesis) -> list[tuple[Pool, Sketch]]:
    """Every candidate."""
    pools = candidate_pools(hypothesis, TABLE, lambda pool: np.zeros(len(pool)))
    return [(pool, pool.sketch(i, TABLE)) for pool in pools for i in range(len(pool))]


def anchors(sketch: Sketch) -> Sequence[str]:
    return [node.name for branch in sketch.branches for node in branch.anchors]


def test_a_name_that_is_said_twice_starts_a_plan_once() -> None:
    twice, once = sketches(named(("asthma", "Illness"), ("asthma", "Illness"))), sketches(named(("asthma", "Illness")))
    alone = [sketch.canonical() for _, sketch in twice if len(anchors(sketch)) == 1]
    assert sorted(alone) == sorted(sketch.canonical() for _, sketch in once)
    assert {pool.groups[0].places for pool, sketch in twice if len(anchors(sketch)) == 1} == {(0, 1)}


def test_two_ways_from_a_name_that_is_said_twice_may_meet() -> None:
    met = [
        sketch
        for _, sketch in sketches(named(("asthma", "Illness"), ("asthma", "Illness")))
        if len(anchors(sketch)) > 1
    ]
    assert met
    for sketch in met:
        assert anchors(sketch) == ["asthma", "asthma"]
        assert sketch.branches[0].hops != sketch.branches[1].hops
        assert check_graph_plan(sketch.to_plan(), SCHEMA) == []
    chains = {tuple(tuple(hop.edge for hop in branch.hops) for branch in sketch.branches) for sketch in met}
    assert (("HAS",), ("TREATS", "BINDS")) in chains


def test_of_three_names_one_said_twice_counts_as_two() -> None:
    names = (("asthma", "Illness"), ("zinc", "Drug"), ("asthma", "Illness"))
    three = {sketch.canonical() for _, sketch in sketches(named(*names))}
    two = {sketch.canonical() for _, sketch in sketches(named(*names[:2]))}
    assert three == two
    kept = {group.places for pool, _ in sketches(named(*names)) for group in pool.groups}
    assert kept == {(0, 2), (1,)}


def test_nodes_of_one_name_and_two_types_are_two() -> None:
    found = sketches(named(("cough", "Illness"), ("cough", "Drug")))
    assert all(len(anchors(sketch)) == 2 for _, sketch in found)
