"""Converts a labelled plan into the parts that are ranked: a path to a set of nodes, and an ending."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....signatures.graph_steps import (
    AnchorStep,
    Condition,
    CountStep,
    DifferenceStep,
    ExpandStep,
    FilterStep,
    GraphPlan,
    GraphStep,
    IntersectStep,
    NodeRef,
    OrderStep,
    UnionStep,
)
from ..question.view import Hypothesis
from ..sketch import Final, canonical


@dataclass(frozen=True)
class Gold:
    """A labelled plan in parts.

    Attributes:
        plan: the steps that reach the set, without conditions on edges.
        core: the canonical text of ``plan``.
        edges: the (edge, direction) pairs followed.
        anchors: the nodes that it starts from.
        where: the conditions on edges.
        final: what is done with the set.
    """

    plan: GraphPlan
    core: str
    edges: frozenset[tuple[str, str]]
    anchors: tuple[NodeRef, ...]
    where: tuple[Condition, ...]
    final: Final


def read_gold(plan: GraphPlan) -> Gold:
    """Take a labelled plan apart into the path and its ending."""
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


def parts_of(plan: GraphPlan) -> dict[tuple[str, str], str]:
    """The role of each named node in a plan, one of ``roles.ROLES``, by case-folded name and type."""
    steps = {step.store_as: step for step in plan.steps}
    found: dict[tuple[str, str], str] = {}
    for step in plan.steps:
        if isinstance(step, DifferenceStep):
            _mark(step.inputs[1:], steps, found, True)
            _mark(step.inputs[:1], steps, found, False)
        elif isinstance(step, ExpandStep):
            others = [name for name in step.exclude if name not in behind(step.start, steps)]
            _mark(others, steps, found, True)
        elif isinstance(step, IntersectStep | UnionStep):
            _mark(step.inputs, steps, found, False)
    for step in plan.steps:
        if isinstance(step, AnchorStep):
            found.setdefault((step.node.name.casefold(), step.node.type), "start")
    return found


def _mark(names: Sequence[str], steps: dict[str, GraphStep], found: dict[tuple[str, str], str], away: bool) -> None:
    for name in names:
        bare = not any(isinstance(steps[n], ExpandStep) for n in behind(name, steps))
        for one in behind(name, steps):
            step = steps[one]
            if isinstance(step, AnchorStep) and (away or bare):
                part = ("excluded" if bare else "taken") if away else "bare"
                found.setdefault((step.node.name.casefold(), step.node.type), part)


def behind(name: str, steps: dict[str, GraphStep]) -> set[str]:
    """The names of a result and of all results that it is made from."""
    step = steps[name]
    start = getattr(step, "start", None)
    inputs = getattr(step, "inputs", ()) or ((start,) if start is not None else ())
    return {name}.union(*(behind(n, steps) for n in inputs)) if inputs else {name}


def is_meant(hypothesis: Hypothesis, gold: Gold) -> bool:
    """Whether a hypothesis has exactly the names that the labelled plan starts from."""
    named = {(r.name.casefold(), r.type) for r in hypothesis.readings}
    return named == {(a.name.casefold(), a.type) for a in gold.anchors}


def means_the_same(plan: GraphPlan | None, labelled: GraphPlan | None) -> bool:
    """Whether a plan is the labelled one; where the schema cannot say what is asked, both are None."""
    if plan is None or labelled is None:
        return plan is None and labelled is None
    return canonical(plan) == canonical(labelled)
