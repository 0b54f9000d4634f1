"""A sketch: the shape of a graph plan that can be ranked, and its translation into steps and back into one form.

A plan is a tree of sets. Two plans that differ only in names, in the order of inputs, or in whether a union
comes before or after following an edge give the same answers on every graph; ``canonical`` gives
them the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...signatures.graph_steps import (
    AnchorStep,
    Condition,
    CountStep,
    DifferenceStep,
    Direction,
    ExpandStep,
    FilterStep,
    GraphPlan,
    GraphStep,
    IntersectStep,
    NodeRef,
    OrderStep,
    UnionStep,
)

Combine = Literal["alone", "union", "intersect", "difference", "symmetric"]


@dataclass(frozen=True)
class Hop:
    """One edge to follow. ``back`` takes the nodes that a branch started from out of the result."""

    edge: str
    direction: Direction
    back: bool = False
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Branch:
    """Named nodes, all of one type, and the edges followed from them; without hops, the nodes themselves.

    What is reached from several nodes is united, or intersected where it must hold for ``every`` one.
    """

    anchors: tuple[NodeRef, ...]
    hops: tuple[Hop, ...] = ()
    every: bool = False


@dataclass(frozen=True)
class Final:
    """What is done with the set at the end.

    Attributes:
        kind: ``set`` leaves it as it is.
        filters: conditions that come before.
    """

    kind: Literal["set", "count", "order", "degree"] = "set"
    key: str = ""
    descending: bool = True
    limit: int = 1
    filters: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Sketch:
    """Branches that meet in one type, how they are combined, what is followed from there, and the end."""

    branches: tuple[Branch, ...]
    combine: Combine = "alone"
    tail: tuple[Hop, ...] = ()
    final: Final = Final()

    def to_plan(self) -> GraphPlan:
        """The typed plan."""
        return GraphPlan(steps=tuple(_Writer().write(self)))


class _Writer:
    """Writes steps one after another and names what they store."""

    def __init__(self) -> None:
        self.steps: list[GraphStep] = []

    def write(self, sketch: Sketch) -> list[GraphStep]:
        ends = [self._branch(branch) for branch in sketch.branches]
        now = self._combine(sketch.combine, ends)
        for hop in sketch.tail:
            now = self._hop(hop, now, ())
        self._final(sketch.final, now)
        return self.steps

    def _add(self, make: Callable[[str], GraphStep]) -> str:
        name = f"s{len(self.steps) + 1}"
        self.steps.append(make(name))
        return name

    def _branch(self, branch: Branch) -> str:
        anchors = [self._add(lambda name, node=node: AnchorStep(store_as=name, node=node)) for node in branch.anchors]
        if branch.every:
            return self._join(IntersectStep, [self._follow(branch.hops, anchor) for anchor in anchors])
        return self._follow(branch.hops, self._join(UnionStep, anchors))

    def _follow(self, hops: Sequence[Hop], start: str) -> str:
        now = start
        for hop in hops:
            now = self._hop(hop, now, (start,) if hop.back else ())
        return now

    def _hop(self, hop: Hop, start: str, exclude: tuple[str, ...]) -> str:
        given: dict[str, Any] = {"start": start, "edge": hop.edge, "direction": hop.direction}
        return self._add(lambda name: ExpandStep(store_as=name, where=hop.where, exclude=exclude, **given))

    def _join(self, kind: Any, names: Sequence[str]) -> str:
        if len(names) == 1:
            return names[0]
        return self._add(lambda name: kind(store_as=name, inputs=tuple(names)))

    def _combine(self, combine: Combine, ends: Sequence[str]) -> str:
        if combine == "symmetric":
            only = [self._join(DifferenceStep, (end, *(other for other in ends if other != end))) for end in ends]
            return self._join(UnionStep, only)
        kinds = {"union": UnionStep, "intersect": IntersectStep, "difference": DifferenceStep, "alone": UnionStep}
        return self._join(kinds[combine], ends)

    def _final(self, final: Final, now: str) -> None:
        if final.filters:
            start = now
            now = self._add(lambda name: FilterStep(store_as=name, start=start, conditions=final.filters))
        if final.kind == "count":
            self._add(lambda name: CountStep(store_as=name, start=now))
        elif final.kind != "set":
            key: dict[str, Any] = {"property" if final.kind == "order" else "degree_of": final.key}
            given = {"start": now, "descending": final.descending, "limit": final.limit, **key}
            self._add(lambda name: OrderStep(store_as=name, **given))


def canonical(plan: GraphPlan) -> str:
    """One text for all plans that are the same but for names, order of inputs and place of unions."""
    found: dict[str, str] = {}
    for step in plan.steps:
        found[step.store_as] = _CANON[type(step)](step, found)
    return found[plan.steps[-1].store_as]


def _node(node: NodeRef) -> str:
    return f"<{node.type}|{node.field}|{node.name.casefold()}>"


def _terms(text: str) -> list[str]:
    """The inputs of a union, or the one thing it is."""
    return text[2:-2].split(" ∪ ") if text.startswith("⟦ ") and _is_flat(text) else [text]


def _is_flat(text: str) -> bool:
    return text.endswith(" ⟧") and text.count("⟦") == 1


def _union(terms: Sequence[str]) -> str:
    distinct = sorted({term for text in terms for term in _terms(text)})
    return distinct[0] if len(distinct) == 1 else f"⟦ {' ∪ '.join(distinct)} ⟧"


def _expand(step: ExpandStep, found: dict[str, str]) -> str:
    edges = "+".join(sorted(step.edges))
    where = "".join(sorted(_condition(c) for c in step.where))
    reached = _union([f"({start} {edges}:{step.direction}{where})" for start in _terms(found[step.start])])
    if step.node_where:
        reached = f"filter({reached} {''.join(sorted(map(_condition, step.node_where)))})"
    return _minus(reached, [found[name] for name in step.exclude])


def _minus(text: str, others: Sequence[str]) -> str:
    taken = sorted({term for other in others for term in _terms(other)})
    return f"({text} − {' − '.join(taken)})" if taken else text


def _condition(condition: Condition) -> str:
    return f"[{condition.property} {condition.op} {str(condition.value).casefold()}]"


def _intersect(step: IntersectStep, found: dict[str, str]) -> str:
    return f"({' ∩ '.join(sorted({found[name] for name in step.inputs}))})"


def _order(step: OrderStep, found: dict[str, str]) -> str:
    key = step.property or f"degree {step.degree_of}"
    return f"order({found[step.start]} by {key} {step.descending} {step.limit})"


_CANON: dict[type, Callable[..., str]] = {
    AnchorStep: lambda step, found: _node(step.node),
    ExpandStep: _expand,
    UnionStep: lambda step, found: _union([found[name] for name in step.inputs]),
    IntersectStep: _intersect,
    DifferenceStep: lambda step, found: _minus(found[step.inputs[0]], [found[n] for n in step.inputs[1:]]),
    FilterStep: lambda s, found: f"filter({found[s.start]} {''.join(sorted(map(_condition, s.conditions)))})",
    CountStep: lambda step, found: f"count({found[step.start]})",
    OrderStep: _order,
}
