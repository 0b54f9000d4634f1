"""Reading a labelled plan the way plans are ranked: its set of nodes, and what is done with that at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...signatures.graph_steps import (
    AnchorStep,
    Condition,
    CountStep,
    ExpandStep,
    FilterStep,
    GraphPlan,
    GraphStep,
    NodeRef,
    OrderStep,
)
from .sketch import Final, canonical


@dataclass(frozen=True)
class Gold:
    """A labelled plan in parts.

    Attributes:
        plan: the steps of the set, without conditions on edges.
        core: its canonical text.
        edges: the edges followed, with their directions.
        where: conditions on edges.
        final: what is done with the set.
    """

    plan: GraphPlan
    core: str
    edges: frozenset[tuple[str, str]]
    anchors: tuple[NodeRef, ...]
    where: tuple[Condition, ...]
    final: Final


def read_gold(plan: GraphPlan) -> Gold:
    """Take a plan apart."""
    steps = list(plan.steps)
    final = Final()
    while len(steps) > 1 and isinstance(steps[-1], CountStep | OrderStep | FilterStep):
        final = _add(final, steps[-1])
        steps.pop()
    bare, where = _without_where(steps)
    edges = frozenset((edge, s.direction) for s in bare if isinstance(s, ExpandStep) for edge in s.edges)
    anchors = tuple(s.node for s in bare if isinstance(s, AnchorStep))
    core = GraphPlan(steps=tuple(bare))
    return Gold(core, canonical(core), edges, anchors, where, final)


def _add(final: Final, step: GraphStep) -> Final:
    if isinstance(step, CountStep):
        return Final("count", filters=final.filters)
    if isinstance(step, OrderStep):
        kind, key = ("order", step.property) if step.property is not None else ("degree", step.degree_of)
        return Final(kind, key or "", step.descending, step.limit, final.filters)  # type: ignore[arg-type]
    conditions = step.conditions if isinstance(step, FilterStep) else ()
    return Final(final.kind, final.key, final.descending, final.limit, (*conditions, *final.filters))


def _without_where(steps: Sequence[GraphStep]) -> tuple[list[GraphStep], tuple[Condition, ...]]:
    where = tuple(c for s in steps if isinstance(s, ExpandStep) for c in s.where)
    return [s.model_copy(update={"where": ()}) if isinstance(s, ExpandStep) else s for s in steps], where
