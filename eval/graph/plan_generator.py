"""Generates random well-typed graph plans over any schema, to test executors with."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...program.graph.executor import GraphExecutor
from ...signatures.graph_steps import (
    AnchorStep,
    Condition,
    CountStep,
    DifferenceStep,
    EdgeType,
    ExpandStep,
    FilterStep,
    GraphPlan,
    GraphSchema,
    GraphStep,
    IntersectStep,
    NodeRef,
    NodeType,
    OrderStep,
    UnionStep,
)

_COMBINE = (UnionStep, IntersectStep, DifferenceStep)
_ORDERED = ("eq", "ne", "lt", "le", "gt", "ge")
_SAMPLED = 200
"""The most names kept of each node type."""


@dataclass
class PlanGenerator:
    """Makes plans over a schema.

    Attributes:
        names: some names of each node type; a plan cannot start at a type without any.
        values: some values of properties, by (type or edge type, property); without any there are no conditions.
    """

    schema: GraphSchema
    names: Mapping[str, Sequence[str]]
    values: Mapping[tuple[str, str], Sequence[Any]]
    random: random.Random
    steps: list[GraphStep] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)

    def plan(self, depth: int = 3) -> GraphPlan:
        """A plan whose longest way from an anchor to the answer has about ``depth`` steps."""
        self.steps, self.types = [], {}
        name = self._any(depth)
        if self.random.random() < 0.15:
            self._add(CountStep(store_as=self._fresh(), start=name), "number")
        return GraphPlan(steps=tuple(self.steps))

    def _any(self, depth: int) -> str:
        kinds = [kind for kind, names in self.names.items() if names]
        if depth == 0:
            return self._anchor(self.random.choice(kinds))
        make = self.random.choices(
            (self._expanded, self._combined, self._filtered, self._ordered), weights=(6, 2, 1, 1)
        )[0]
        return make(depth)

    def _of(self, kind: str, depth: int) -> str:
        """The name of a result of this node type: an earlier one, a new expansion that leads there, or an anchor."""
        there = [name for name, of in self.types.items() if of == kind]
        if there and self.random.random() < 0.2:
            return self.random.choice(there)
        leading = [(e, d) for e in self.schema.edges for d in _ways(e) if e.ends(d)[1] == kind]
        if leading and (depth > 0 or not self.names.get(kind)):
            edge, direction = self.random.choice(leading)
            start = edge.ends(direction)[0]
            if self.names.get(start):
                return self._expand(self._anchor(start), edge, direction)
        return self._anchor(kind)

    def _anchor(self, kind: str) -> str:
        names = self.names.get(kind)
        name = self.random.choice(names) if names and self.random.random() < 0.95 else "no such name"
        return self._add(AnchorStep(store_as=self._fresh(), node=NodeRef(name=name, type=kind)), kind)

    def _expanded(self, depth: int) -> str:
        start = self._any(depth - 1)
        kind = self.types[start]
        going = [(e, d) for e in self.schema.edges for d in _ways(e) if e.ends(d)[0] == kind]
        return self._expand(start, *self.random.choice(going)) if going else start

    def _expand(self, start: str, edge: EdgeType, direction: Any) -> str:
        ends = edge.ends(direction)
        alike = [e.name for e in self.schema.edges if e.ends(direction) == ends and e != edge]
        more = tuple(alike[:1]) if self.random.random() < 0.2 else ()
        same = [name for name, kind in self.types.items() if kind == ends[1]]
        target = self.schema.node(ends[1])
        assert target is not None
        step = ExpandStep(
            store_as=self._fresh(),
            start=start,
            edge=edge.name,
            or_edges=more,
            direction=direction,
            where=self._conditions(edge) if not more and self.random.random() < 0.4 else (),
            node_where=self._conditions(target) if self.random.random() < 0.15 else (),
            exclude=(self.random.choice(same),) if same and self.random.random() < 0.3 else (),
        )
        return self._add(step, ends[1])

    def _combined(self, depth: int) -> str:
        first = self._any(depth - 1)
        others = [self._of(self.types[first], depth - 1) for _ in range(self.random.choice((1, 1, 2)))]
        inputs = tuple(dict.fromkeys((first, *others)))
        if len(inputs) < 2:
            return first
        made = self.random.choice(_COMBINE)(store_as=self._fresh(), inputs=inputs)
        return self._add(made, self.types[first])

    def _filtered(self, depth: int) -> str:
        start = self._any(depth - 1)
        node = self.schema.node(self.types[start])
        conditions = self._conditions(node) if node else ()
        if not conditions:
            return start
        return self._add(FilterStep(store_as=self._fresh(), start=start, conditions=conditions), self.types[start])

    def _ordered(self, depth: int) -> str:
        start = self._any(depth - 1)
        kind = self.types[start]
        node = self.schema.node(kind)
        joined = [e.name for e in self.schema.edges if kind in (e.source, e.target)]
        keys = [("property", name) for name in ("name", *(node.properties if node else ()))]
        keys += [("degree_of", name) for name in joined]
        key, value = self.random.choice(keys)
        told: dict[str, Any] = {key: value, "limit": self.random.randint(1, 5)}
        step = OrderStep(store_as=self._fresh(), start=start, descending=self.random.random() < 0.5, **told)
        return self._add(step, kind)

    def _conditions(self, kind: NodeType | EdgeType) -> tuple[Condition, ...]:
        known = [name for name in kind.properties if self.values.get((kind.name, name))]
        if isinstance(kind, NodeType) and self.names.get(kind.name):
            known.append("name")
        return (self._condition(kind, self.random.choice(known)),) if known else ()

    def _condition(self, kind: NodeType | EdgeType, name: str) -> Condition:
        values = self.names[kind.name] if name == "name" else self.values[kind.name, name]
        value, told = self.random.choice(values), kind.property_type(name)
        plain = told is not None and told.kind in ("enum", "boolean")
        ops: list[Any] = ["eq", "ne"] if plain or isinstance(value, bool) else list(_ORDERED)
        if isinstance(value, str):
            ops.append("contains")
        op: Any = self.random.choice([*ops, "in"])
        if op == "in":
            return Condition(property=name, op=op, value=tuple(dict.fromkeys((value, self.random.choice(values)))))
        return Condition(property=name, op=op, value=value[:3] if op == "contains" else value)

    def _fresh(self) -> str:
        return f"r{len(self.steps)}"

    def _add(self, step: GraphStep, kind: str) -> str:
        self.steps.append(step)
        self.types[step.store_as] = kind
        return step.store_as


def _ways(edge: EdgeType) -> tuple[str, ...]:
    return ("out", "in", "any") if edge.source == edge.target else ("out", "in")


def generator_for(
    executor: GraphExecutor, seed: int, values: Mapping[tuple[str, str], Sequence[Any]] | None = None
) -> PlanGenerator:
    """A generator with names drawn from a graph."""
    drawn = random.Random(seed)
    names: dict[str, list[str]] = {node.name: [] for node in executor.schema.nodes}
    for _, name, kind in executor.names():
        names[kind].append(name)
    some = {kind: sorted(drawn.sample(found, min(_SAMPLED, len(found)))) for kind, found in names.items()}
    return PlanGenerator(executor.schema, some, values or {}, drawn)
