"""Words a graph plan for a person: one sentence for each step, or one line for the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...signatures.graph_steps import (
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

_OPERATORS = {"eq": "is", "ne": "is not", "lt": "is below", "le": "is at most", "gt": "is above", "ge": "is at least",
              "contains": "contains", "in": "is one of"}  # fmt: skip


def plan_lines(plan: GraphPlan) -> list[str]:
    """One line for each step: what it stores and how."""
    width = max(len(step.store_as) for step in plan.steps)
    return [f"{step.store_as:<{width}}  {step_words(step)}" for step in plan.steps]


def step_words(step: GraphStep, anchors: Mapping[str, NodeRef] | None = None) -> str:
    """What a step does; results of ``anchors`` are called by the node's name."""
    names = {name: repr(ref.name) for name, ref in (anchors or {}).items()}
    return _WORDS[type(step)](step, names)


def used_by(step: GraphStep) -> tuple[str, ...]:
    """The earlier results that a step reads."""
    if isinstance(step, AnchorStep):
        return ()
    if isinstance(step, ExpandStep):
        return (step.start, *step.exclude)
    return getattr(step, "inputs", ()) or (step.start,)  # type: ignore[union-attr]


def condition_words(condition: Condition) -> str:
    """``score is at least 0.5``"""
    values = ", ".join(_value(value) for value in condition.candidates())
    return f"{condition.property} {_OPERATORS[condition.op]} {values}"


def _value(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _all(conditions: Sequence[Condition]) -> str:
    return " and ".join(map(condition_words, conditions))


def _listed(inputs: Sequence[str], names: Mapping[str, str]) -> str:
    return ", ".join(names.get(name, name) for name in inputs)


def _anchor(step: AnchorStep, names: Mapping[str, str]) -> str:
    return f"The {step.node.type} whose {step.node.field} is {step.node.name!r}"


def _expand(step: ExpandStep, names: Mapping[str, str]) -> str:
    way = {"out": "out along", "in": "back along", "any": "either way along"}[step.direction]
    said = f"From {names.get(step.start, step.start)} {way} {' or '.join(step.edges)}"
    said += f", edges whose {_all(step.where)}" if step.where else ""
    said += f", to nodes whose {_all(step.node_where)}" if step.node_where else ""
    return said + (f", without {_listed(step.exclude, names)}" if step.exclude else "")


def _order(step: OrderStep, names: Mapping[str, str]) -> str:
    key = step.property or f"number of {step.degree_of}"
    first = "first" if step.limit == 1 else f"first {step.limit}"
    way = "largest" if step.descending else "smallest"
    return f"The {first} of {names.get(step.start, step.start)} by {key}, {way} first"


_WORDS: dict[type, Callable[[Any, Mapping[str, str]], str]] = {
    AnchorStep: _anchor,
    ExpandStep: _expand,
    UnionStep: lambda step, names: f"All of {_listed(step.inputs, names)} together",
    IntersectStep: lambda step, names: f"What {_listed(step.inputs, names)} have in common",
    DifferenceStep: lambda step, names: (
        f"What is in {_listed(step.inputs[:1], names)} and not in {_listed(step.inputs[1:], names)}"
    ),
    FilterStep: lambda step, names: f"Of {names.get(step.start, step.start)} those whose {_all(step.conditions)}",
    CountStep: lambda step, names: f"How many {names.get(step.start, step.start)} there are",
    OrderStep: _order,
}
