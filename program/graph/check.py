"""Static check of a graph plan against a schema, before anything is run.

The check is total: a plan that passes can be run by any executor, and the type of its answer is known. Each problem
is a sentence that says what would be right, for a person or a language model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...signatures.graph_steps import (
    NUMBER,
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
    NodeType,
    OrderStep,
    PropertyKind,
    PropertyType,
    UnionStep,
)
from .executors.conditions import storable

__all__ = ["ALWAYS", "NUMBER", "Checker", "answer_type", "check_graph_plan", "step_types"]

ALWAYS = ("id", "name")
"""Properties that every node has."""

Kinds = Mapping[tuple[str, str], PropertyKind]
"""The kind of the values that a graph has, by (type or edge, property); only where all values are of one kind."""

_ORDERED = ("lt", "le", "gt", "ge")


@dataclass
class Checker:
    """One pass over a plan: the type of each stored result, which results were used, and the problems found."""

    schema: GraphSchema
    types: dict[str, str | None] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    later: set[str] = field(default_factory=set)
    kinds: Kinds = field(default_factory=dict)

    def plan(self, plan: GraphPlan) -> None:
        """Check every step in turn."""
        self.later = {step.store_as for step in plan.steps}
        for step in plan.steps:
            self.step(step)

    def step(self, step: GraphStep) -> None:
        """Check one step and record the type that it stores; None stands for an unknown type."""
        if step.store_as in self.types:
            self.problems.append(f"{step.store_as!r} is stored twice; give each step a name of its own")
        self.types[step.store_as] = _RULES[type(step)](self, step)

    def read(self, step: GraphStep, name: str) -> str | None:
        """The type of an earlier result, which counts as used."""
        self.used.add(name)
        if name not in self.types:
            known = ", ".join(self.types) or "none yet"
            circle = "; it is stored here or later, and steps cannot run in a circle" if name in self.later else ""
            self.problems.append(
                f"step {step.store_as!r} uses {name!r}, which no earlier step stores ({known}){circle}"
            )
            return None
        if self.types[name] == NUMBER:
            self.problems.append(f"step {step.store_as!r} uses {name!r}, which is a number and not a set of nodes")
            return None
        return self.types[name]

    def node_type(self, name: str) -> str | None:
        """The type, if the schema has it; otherwise a problem."""
        if self.schema.node(name) is None:
            self.problems.append(f"there is no node type {name!r}; use one of {_names(self.schema.nodes)}")
            return None
        return name

    def property(self, what: str, name: str, known: Sequence[str]) -> None:
        """Check that a property is declared."""
        if name not in known:
            self.problems.append(f"{what} has no property {name!r}; it has {', '.join(known) or 'none'}")


def check_graph_plan(
    plan: GraphPlan, schema: GraphSchema, answer_type: str | None = None, kinds: Kinds | None = None
) -> list[str]:
    """The problems of a plan, one sentence each; empty if it is well-typed.

    Args:
        answer_type: the node type that the plan must answer with, or ``number``; by default any.
        kinds: the kinds of values that a graph has, for properties whose kind the schema does not give.
    """
    checker = Checker(schema, kinds=kinds or {})
    checker.plan(plan)
    last = plan.steps[-1].store_as
    unused = [name for name in checker.types if name not in checker.used and name != last]
    checker.problems += [f"the result of {name!r} is never used" for name in unused]
    found = checker.types[last]
    if answer_type is not None and found is not None and found != answer_type:
        checker.problems.append(f"the plan answers with {found}, and {answer_type} is asked for")
    return checker.problems


def answer_type(plan: GraphPlan, schema: GraphSchema) -> str | None:
    """The node type that a plan answers with, ``number``, or None if it is ill-typed."""
    types = step_types(plan, schema)
    return None if types is None else types[plan.steps[-1].store_as]


def step_types(plan: GraphPlan, schema: GraphSchema) -> dict[str, str] | None:
    """The node type (or ``number``) of what each step stores; None if the plan is ill-typed."""
    checker = Checker(schema)
    checker.plan(plan)
    return None if checker.problems else {name: str(kind) for name, kind in checker.types.items()}


def _anchor(checker: Checker, step: AnchorStep) -> str | None:
    kind = checker.node_type(step.node.type)
    node = checker.schema.node(step.node.type)
    if node is not None and step.node.field not in node.anchors:
        known = ", ".join(node.anchors)
        if step.node.field in (*ALWAYS, *node.properties):
            checker.problems.append(f"{kind} cannot be found by {step.node.field!r}; use one of {known}")
        else:
            checker.problems.append(f"{kind} has no property {step.node.field!r}; it has {known}")
    return kind


def _expand(checker: Checker, step: ExpandStep) -> str | None:
    start = checker.read(step, step.start)
    if len(set(step.edges)) != len(step.edges):
        checker.problems.append(f"step {step.store_as!r} follows the same edge twice")
    edges = [edge for name in step.edges if (edge := _edge(checker, name)) is not None]
    for edge in edges:
        _direction(checker, step, edge, start)
        _conditions(checker, f"edge {edge.name}", step.where, edge.properties, edge)
    targets = {edge.ends(step.direction)[1] for edge in edges}
    if len(targets) > 1:
        found = ", ".join(sorted(targets))
        checker.problems.append(f"step {step.store_as!r} leads to {found}; edges of one step must lead to one type")
    target = targets.pop() if len(targets) == 1 and len(edges) == len(step.edges) else None
    _node_conditions(checker, target, step.node_where)
    _excluded(checker, step, target)
    return target


def _direction(checker: Checker, step: ExpandStep, edge: EdgeType, start: str | None) -> None:
    source = edge.ends(step.direction)[0]
    if step.direction == "any" and edge.source != edge.target:
        checker.problems.append(f"edge {edge.name} joins {edge.source} to {edge.target}; say out or in, not any")
    elif start is not None and start != source:
        checker.problems.append(
            f"edge {edge.name} joins {edge.source} to {edge.target}; "
            f"going {step.direction} it starts at {source}, not {start}"
        )


def _excluded(checker: Checker, step: ExpandStep, target: str | None) -> None:
    if len(set(step.exclude)) != len(step.exclude):
        checker.problems.append(f"step {step.store_as!r} excludes the same result twice")
    for name in step.exclude:
        excluded = checker.read(step, name)
        if excluded is not None and target is not None and excluded != target:
            checker.problems.append(f"step {step.store_as!r} gives {target} and excludes {name!r}, which is {excluded}")


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
    _node_conditions(checker, kind, step.conditions)
    return kind


def _node_conditions(checker: Checker, kind: str | None, conditions: Sequence[Condition]) -> None:
    node = checker.schema.node(kind) if kind is not None else None
    if node is not None:
        _conditions(checker, node.name, conditions, (*ALWAYS, *node.properties), node)


def _conditions(
    checker: Checker, what: str, conditions: Sequence[Condition], known: Sequence[str], kind: NodeType | EdgeType
) -> None:
    for condition in conditions:
        checker.property(what, condition.property, known)
        if not condition.candidates():
            checker.problems.append(f"{condition.property} of {what} is one of no values; give at least one")
            continue
        if not all(map(storable, condition.candidates())):
            checker.problems.append(
                f"{condition.property} of {what} is compared with what no graph can hold; "
                "give text without control characters, or a number that 64 bits hold exactly"
            )
            continue
        told = kind.property_type(condition.property)
        if told is None and condition.property in ALWAYS:
            told = PropertyType(name=condition.property)
        elif told is None and (found := checker.kinds.get((kind.name, condition.property))) is not None:
            told = PropertyType(name=condition.property, kind=found)
        for problem in _values(condition, told) if told is not None else ():
            checker.problems.append(f"{condition.property} of {what} {problem}")


def _values(condition: Condition, told: PropertyType) -> Iterator[str]:
    """The problems of comparing a property of known kind as the condition does, one sentence each."""
    if condition.op == "contains" and told.kind not in ("text", "enum"):
        yield f"is a {told.kind} and not text; contains cannot be used"
    if condition.op in _ORDERED and told.kind in ("enum", "boolean"):
        yield f"is a {told.kind} and has no order; use eq, ne or in"
    for value in condition.candidates():
        if problem := _value(condition, value, told):
            yield problem


def _value(condition: Condition, value: Any, told: PropertyType) -> str | None:
    if told.kind == "boolean":
        return None if isinstance(value, bool) else f"is true or false, not {value!r}"
    if told.kind == "number":
        return _number(value, told)
    if not isinstance(value, str):
        return f"is text, not {value!r}"
    if told.kind == "enum" and condition.op != "contains" and value not in told.values:
        return f"is one of {', '.join(told.values)}, not {value!r}"
    return None


def _number(value: Any, told: PropertyType) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"is a number, not {value!r}"
    low, high = told.minimum, told.maximum
    if (low is not None and value < low) or (high is not None and value > high) or value != value:
        return f"lies between {low} and {high}, so {value!r} is no sensible bound"
    return None


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
