"""Checking a graph plan against a schema, before anything is run.

The check is static and total: a plan that passes can be run by any executor, and the type of its answer
is known. Each problem is a sentence that says what would be right, for a person or a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

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
    OrderStep,
    UnionStep,
)

NUMBER = "number"
"""The type of what ``count`` stores; no node type may be called so in a plan."""

ALWAYS = ("id", "name")


@dataclass
class Checker:
    """One pass over a plan: the type of each stored result, which were used, and what is wrong."""

    schema: GraphSchema
    types: dict[str, str | None] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    def step(self, step: GraphStep) -> None:
        """Check one step and remember what it stores; None stands for a type that cannot be known."""
        if step.store_as in self.types:
            self.problems.append(f"{step.store_as!r} is stored twice; give each step a name of its own")
        self.types[step.store_as] = _RULES[type(step)](self, step)

    def read(self, step: GraphStep, name: str) -> str | None:
        """The type of an earlier result."""
        self.used.add(name)
        if name not in self.types:
            known = ", ".join(self.types) or "none yet"
            self.problems.append(f"step {step.store_as!r} uses {name!r}, which no earlier step stores ({known})")
            return None
        if self.types[name] == NUMBER:
            self.problems.append(f"step {step.store_as!r} uses {name!r}, which is a number and not a set of nodes")
            return None
        return self.types[name]

    def node_type(self, name: str) -> str | None:
        """The type if the schema has it."""
        if self.schema.node(name) is None:
            self.problems.append(f"there is no node type {name!r}; use one of {_names(self.schema.nodes)}")
            return None
        return name

    def property(self, what: str, name: str, known: Sequence[str]) -> None:
        """A property must be declared."""
        if name not in known:
            self.problems.append(f"{what} has no property {name!r}; it has {', '.join(known) or 'none'}")


def check_graph_plan(plan: GraphPlan, schema: GraphSchema, answer_type: str | None = None) -> list[str]:
    """What is wrong with a plan; empty if nothing.

    Args:
        answer_type: the node type that is asked for, or ``number``; any if not given.
    """
    checker = Checker(schema)
    for step in plan.steps:
        checker.step(step)
    last = plan.steps[-1].store_as
    unused = [name for name in checker.types if name not in checker.used and name != last]
    checker.problems += [f"the result of {name!r} is never used" for name in unused]
    found = checker.types[last]
    if answer_type is not None and found is not None and found != answer_type:
        checker.problems.append(f"the plan answers with {found}, and {answer_type} is asked for")
    return checker.problems


def answer_type(plan: GraphPlan, schema: GraphSchema) -> str | None:
    """The node type that a plan answers with, ``number``, or None if it is ill-typed."""
    checker = Checker(schema)
    for step in plan.steps:
        checker.step(step)
    return None if checker.problems else checker.types[plan.steps[-1].store_as]


def _anchor(checker: Checker, step: AnchorStep) -> str | None:
    kind = checker.node_type(step.node.type)
    if kind is not None:
        checker.property(kind, step.node.field, _properties(checker.schema, kind))
    return kind


def _expand(checker: Checker, step: ExpandStep) -> str | None:
    start = checker.read(step, step.start)
    edge = _edge(checker, step.edge)
    if edge is None:
        return None
    for condition in step.where:
        checker.property(f"edge {edge.name}", condition.property, edge.properties)
    source, target = (edge.target, edge.source) if step.direction == "in" else (edge.source, edge.target)
    if step.direction == "any" and edge.source != edge.target:
        checker.problems.append(f"edge {edge.name} joins {edge.source} to {edge.target}; say out or in, not any")
    elif start is not None and start != source:
        checker.problems.append(
            f"edge {edge.name} joins {edge.source} to {edge.target}; "
            f"going {step.direction} it starts at {source}, not {start}"
        )
    for name in step.exclude:
        excluded = checker.read(step, name)
        if excluded is not None and excluded != target:
            checker.problems.append(f"step {step.store_as!r} gives {target} and excludes {name!r}, which is {excluded}")
    return target


def _combine(checker: Checker, step: UnionStep | IntersectStep | DifferenceStep) -> str | None:
    found = [checker.read(step, name) for name in step.inputs]
    if len(set(step.inputs)) != len(step.inputs):
        checker.problems.append(f"step {step.store_as!r} has the same input twice")
    types = {kind for kind in found if kind is not None}
    if len(types) > 1:
        checker.problems.append(
            f"step {step.store_as!r} mixes {', '.join(sorted(types))}; all inputs must be of one type"
        )
    return found[0] if len(types) == 1 else None


def _filter(checker: Checker, step: FilterStep) -> str | None:
    kind = checker.read(step, step.start)
    _conditions(checker, kind, step.conditions)
    return kind


def _conditions(checker: Checker, kind: str | None, conditions: Sequence[Condition]) -> None:
    if kind is not None:
        for condition in conditions:
            checker.property(kind, condition.property, _properties(checker.schema, kind))


def _count(checker: Checker, step: CountStep) -> str | None:
    checker.read(step, step.start)
    return NUMBER


def _order(checker: Checker, step: OrderStep) -> str | None:
    kind = checker.read(step, step.start)
    if kind is not None and step.property is not None:
        checker.property(kind, step.property, _properties(checker.schema, kind))
    edge = _edge(checker, step.degree_of) if step.degree_of is not None else None
    if edge is not None and kind is not None and kind not in (edge.source, edge.target):
        checker.problems.append(f"edge {edge.name} joins {edge.source} to {edge.target} and no {kind}")
    return kind


def _edge(checker: Checker, name: str) -> EdgeType | None:
    edge = checker.schema.edge(name)
    if edge is None:
        checker.problems.append(f"there is no edge {name!r}; use one of {_names(checker.schema.edges)}")
    return edge


def _properties(schema: GraphSchema, kind: str) -> tuple[str, ...]:
    node = schema.node(kind)
    return (*ALWAYS, *(node.properties if node else ()))


def _names(things: Sequence[object]) -> str:
    return ", ".join(_iterate(things))


def _iterate(things: Sequence[object]) -> Iterator[str]:
    for thing in things:
        yield str(getattr(thing, "name", thing))


_RULES: dict[type, Callable[..., str | None]] = {
    AnchorStep: _anchor,
    ExpandStep: _expand,
    UnionStep: _combine,
    IntersectStep: _combine,
    DifferenceStep: _combine,
    FilterStep: _filter,
    CountStep: _count,
    OrderStep: _order,
}
