"""Sketches: the shape of a graph plan that is ranked, its translation into steps, and its canonical form.

A plan is a tree of sets. Two plans that differ only in names, in the order of inputs, or in whether a union comes
before or after following an edge give the same answers on every graph; ``canonical`` gives them the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
_TURNED: dict[Direction, Direction] = {"out": "in", "in": "out", "any": "any"}


@dataclass(frozen=True)
class Hop:
    """One edge to follow. With ``back`` the nodes that the branch started from are taken out of the result."""

    edge: str
    direction: Direction
    back: bool = False
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Branch:
    """Named nodes, all of one type, and the edges followed from them; without hops, the nodes themselves.

    What is reached from several nodes is united, or intersected where it must hold for ``every`` one.

    Attributes:
        alone: after so many hops, only those are kept that the same edges join to none but these nodes; 0 keeps all.
    """

    anchors: tuple[NodeRef, ...]
    hops: tuple[Hop, ...] = ()
    every: bool = False
    alone: int = 0


@dataclass(frozen=True)
class Final:
    """What is done with the set at the end.

    Attributes:
        kind: what is done with the set of answers; ``set`` returns it unchanged.
        filters: conditions that come before.
        lacks: edges, before the conditions: what they join to any node is taken out.
        after: of an order, how many first nodes are left out: 1 for the second.
    """

    kind: Literal["set", "count", "order", "degree"] = "set"
    key: str = ""
    descending: bool = True
    limit: int = 1
    filters: tuple[Condition, ...] = ()
    lacks: tuple[Hop, ...] = ()
    after: int = 0


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

    def canonical(self) -> str:
        """The same text as ``canonical(self.to_plan())``, in a fifth of the time, since no steps are made."""
        return _Teller().told(self)


class _Writer:
    """Writes steps one after another and names what they store."""

    def __init__(self) -> None:
        self.steps: list[GraphStep] = []

    def write(self, sketch: Sketch) -> list[GraphStep]:
        _put_together(sketch, self)
        return self.steps

    def _add(self, make: Callable[[str], GraphStep]) -> str:
        name = f"s{len(self.steps) + 1}"
        self.steps.append(make(name))
        return name

    def anchor(self, node: NodeRef) -> str:
        return self._add(lambda name: AnchorStep(store_as=name, node=node))

    def follow(self, hop: Hop, start: str, exclude: tuple[str, ...]) -> str:
        given: dict[str, Any] = {"start": start, "edge": hop.edge, "direction": hop.direction}
        return self._add(lambda name: ExpandStep(store_as=name, where=hop.where, exclude=exclude, **given))

    def join(self, kind: Any, names: Sequence[str]) -> str:
        return self._add(lambda name: kind(store_as=name, inputs=tuple(names)))

    def end(self, final: Final, now: str) -> None:
        if final.filters:
            start = now
            now = self._add(lambda name: FilterStep(store_as=name, start=start, conditions=final.filters))
        if final.kind == "count":
            self._add(lambda name: CountStep(store_as=name, start=now))
        elif final.kind != "set":
            key: dict[str, Any] = {"property" if final.kind == "order" else "degree_of": final.key}
            given = {"start": now, "descending": final.descending, **key}
            limits = [final.limit + final.after, *([final.after] if final.after else [])]
            made = [self._add(lambda name, n=n: OrderStep(store_as=name, limit=n, **given)) for n in limits]
            _joined(DifferenceStep, made, self)


class _Teller:
    """Writes a sketch's canonical text (see ``canonical``): in place of a step that stores a set, the set's text."""

    text = ""

    def told(self, sketch: Sketch) -> str:
        _put_together(sketch, self)
        return self.text

    def anchor(self, node: NodeRef) -> str:
        return _node(node)

    def follow(self, hop: Hop, start: str, exclude: tuple[str, ...]) -> str:
        return _minus(_followed(start, hop.edge, hop.direction, hop.where), exclude)

    def join(self, kind: Any, names: Sequence[str]) -> str:
        return _JOINED[kind](names)

    def end(self, final: Final, now: str) -> None:
        if final.filters:
            now = _filtered(now, final.filters)
        if final.kind == "count":
            now = f"count({now})"
        elif final.kind != "set":
            key = final.key if final.kind == "order" else f"degree {final.key}"
            limits = [final.limit + final.after, *([final.after] if final.after else [])]
            made = [f"order({now} by {key} {final.descending} {limit})" for limit in limits]
            now = _joined(DifferenceStep, made, self)
        self.text = now


def _put_together(sketch: Sketch, by: _Writer | _Teller) -> None:
    ends = [_branch(branch, by) for branch in sketch.branches]
    now = _combined(sketch.combine, ends, by)
    for hop in sketch.tail:
        now = by.follow(hop, now, ())
    for hop in sketch.final.lacks:
        reached = by.follow(hop, now, ())
        now = by.join(DifferenceStep, (now, by.follow(replace(hop, direction=_TURNED[hop.direction]), reached, ())))
    by.end(sketch.final, now)


def _branch(branch: Branch, by: _Writer | _Teller) -> str:
    anchors = [by.anchor(node) for node in branch.anchors]
    if branch.alone:
        return _alone(branch, anchors, by)
    if branch.every:
        return _joined(IntersectStep, [_along(branch.hops, anchor, by) for anchor in anchors], by)
    return _along(branch.hops, _joined(UnionStep, anchors, by), by)


def _along(hops: Sequence[Hop], start: str, by: _Writer | _Teller) -> str:
    now = start
    for hop in hops:
        now = by.follow(hop, now, (start,) if hop.back else ())
    return now


def _alone(branch: Branch, anchors: Sequence[str], by: _Writer | _Teller) -> str:
    """What is reached, without what others than these nodes lead to in the same way."""
    hops = branch.hops[: branch.alone]
    named = _joined(UnionStep, anchors, by)
    starts = anchors if branch.every else [named]
    now = _joined(IntersectStep, [_along(hops, start, by) for start in starts], by)
    others = _along([replace(hop, direction=_TURNED[hop.direction], back=False) for hop in hops[::-1]], now, by)
    others = _along(hops, by.join(DifferenceStep, (others, named)), by)
    return _along(branch.hops[branch.alone :], by.join(DifferenceStep, (now, others)), by)


def _joined(kind: Any, names: Sequence[str], by: _Writer | _Teller) -> str:
    return names[0] if len(names) == 1 else by.join(kind, names)


def _combined(combine: Combine, ends: Sequence[str], by: _Writer | _Teller) -> str:
    if combine == "symmetric":
        only = [_joined(DifferenceStep, (end, *ends[:i], *ends[i + 1 :]), by) for i, end in enumerate(ends)]
        return _joined(UnionStep, only, by)
    kinds = {"union": UnionStep, "intersect": IntersectStep, "difference": DifferenceStep, "alone": UnionStep}
    return _joined(kinds[combine], ends, by)


def canonical(plan: GraphPlan) -> str:
    """A text that is equal for plans which differ only in names of results, order of inputs or place of unions."""
    found: dict[str, str] = {}
    filtered: dict[str, tuple[str, tuple[Condition, ...]]] = {}
    for step in plan.steps:
        if isinstance(step, FilterStep):  # one filter after another is one with the conditions of both
            start, before = filtered.get(step.start, (found[step.start], ()))
            filtered[step.store_as] = start, (*before, *step.conditions)
            found[step.store_as] = _filtered(*filtered[step.store_as])
        else:
            found[step.store_as] = _CANON[type(step)](step, found)
    return found[plan.steps[-1].store_as]


def _node(node: NodeRef) -> str:
    return f"<{node.type}|{node.field}|{node.name.casefold()}>"


def _terms(text: str) -> list[str]:
    """The inputs of a union's text; a list of the text itself if it is no union."""
    return text[2:-2].split(" ∪ ") if text.startswith("⟦ ") and _is_flat(text) else [text]


def _is_flat(text: str) -> bool:
    return text.endswith(" ⟧") and text.count("⟦") == 1


def _union(terms: Sequence[str]) -> str:
    distinct = sorted({term for text in terms for term in _terms(text)})
    return distinct[0] if len(distinct) == 1 else f"⟦ {' ∪ '.join(distinct)} ⟧"


def _expand(step: ExpandStep, found: dict[str, str]) -> str:
    reached = _union([_followed(found[step.start], edge, step.direction, step.where) for edge in step.edges])
    if step.node_where:
        reached = _filtered(reached, step.node_where)
    return _minus(reached, [found[name] for name in step.exclude])


def _followed(start: str, edge: str, direction: str, where: Sequence[Condition]) -> str:
    tests = "".join(sorted(map(_condition, where)))
    return _union([f"({term} {edge}:{direction}{tests})" for term in _terms(start)])


def _filtered(text: str, conditions: Sequence[Condition]) -> str:
    return f"filter({text} {''.join(sorted(map(_condition, conditions)))})"


def _minus(text: str, others: Sequence[str]) -> str:
    taken = sorted({term for other in others for term in _terms(other)})
    return f"({text} − {' − '.join(taken)})" if taken else text


def _condition(condition: Condition) -> str:
    return f"[{condition.property} {condition.op} {str(condition.value).casefold()}]"


def _intersection(texts: Sequence[str]) -> str:
    distinct = sorted({term for text in texts for term in _shared(text)})
    return f"({' ∩ '.join(distinct)})"


def _shared(text: str) -> list[str]:
    """The inputs of an intersection's text; a list of the text itself if it is no intersection."""
    if not text.startswith("(") or " ∩ " not in text:
        return [text]
    terms, begun, depth, place = [], 1, 0, 0
    while place < len(text):
        sign = text[place]
        if sign == "<":  # brackets inside a name do not count
            place = max(place, text.find(">", place))
        depth += (sign in "(⟦[") - (sign in ")⟧]")
        if depth == 1 and text.startswith(" ∩ ", place):
            terms.append(text[begun:place])
            begun = place + 3
        place += 1
    return [*terms, text[begun:-1]] if terms else [text]


def _order(step: OrderStep, found: dict[str, str]) -> str:
    key = step.property or f"degree {step.degree_of}"
    return f"order({found[step.start]} by {key} {step.descending} {step.limit})"


_JOINED: dict[Any, Callable[[Sequence[str]], str]] = {
    UnionStep: _union,
    IntersectStep: _intersection,
    DifferenceStep: lambda texts: _minus(texts[0], texts[1:]),
}
_CANON: dict[type, Callable[..., str]] = {
    AnchorStep: lambda step, found: _node(step.node),
    ExpandStep: _expand,
    **{kind: lambda s, found, join=join: join([found[name] for name in s.inputs]) for kind, join in _JOINED.items()},
    CountStep: lambda step, found: f"count({found[step.start]})",
    OrderStep: _order,
}
