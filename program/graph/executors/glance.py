"""Tests whether a chain of steps leads anywhere, by following nodes one at a time until one path reaches the end.

Running the plan finds everything, which on a large graph takes a thousand times as long: in Hetionet two hops from a
gene may lead to ten thousand others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import takewhile

from ....signatures.graph_steps import AnchorStep, ExpandStep, GraphPlan, NodeRef, UnionStep

Near = Callable[[str, ExpandStep], Iterable[str]]
"""The nodes that a step leads to from one node; it may be asked for a few of them only."""


@dataclass(frozen=True)
class Trail:
    """A chain of steps without conditions.

    Attributes:
        anchors: nodes of one type, from all of which the chain starts.
        hops: the steps followed from them; only the anchors may be excluded.
    """

    anchors: tuple[NodeRef, ...]
    hops: tuple[ExpandStep, ...]


def trail_of(plan: GraphPlan) -> Trail | None:
    """The chain that a plan is; None if it is anything else."""
    anchors = list(takewhile(lambda step: isinstance(step, AnchorStep), plan.steps))
    rest = list(plan.steps[len(anchors) :])
    begun = anchors if len(anchors) == 1 else rest[:1]
    if len(anchors) != 1:
        union = rest.pop(0) if rest else None
        if not isinstance(union, UnionStep) or set(union.inputs) != {step.store_as for step in anchors}:
            return None
    start = begun[0].store_as
    hops = [step for step in rest if isinstance(step, ExpandStep) and _plain(step, start)]
    starts = [start, *(hop.store_as for hop in hops)]
    chained = len(hops) == len(rest) and all(hop.start == before for hop, before in zip(hops, starts, strict=False))
    return Trail(tuple(step.node for step in anchors if isinstance(step, AnchorStep)), tuple(hops)) if chained else None


def _plain(step: ExpandStep, start: str) -> bool:
    return not step.where and not step.node_where and set(step.exclude) <= {start}


def leads_somewhere(ids: Iterable[str], hops: tuple[ExpandStep, ...], near: Near) -> bool:
    """Whether some path leads from one of the nodes over every hop; a node that led nowhere is not tried again."""
    starts = sorted(ids)
    excluded = frozenset(starts)
    tried: set[tuple[int, str]] = set()

    def goes_on(place: int, node: str) -> bool:
        if place == len(hops):
            return True
        if (place, node) in tried:
            return False
        tried.add((place, node))
        without = excluded if hops[place].exclude else frozenset()
        return any(other not in without and goes_on(place + 1, other) for other in near(node, hops[place]))

    return any(goes_on(0, node) for node in starts)
