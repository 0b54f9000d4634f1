"""Signature: which steps through a knowledge graph give the answer?

The output types are built from the graph's schema, so that an edge or node type that does not exist cannot be written
where decoding is constrained. Steps are numbered from 1 in the order they are written and refer to earlier ones by
number, which small models get right more often than names of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import dspy
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from .graph_steps import (
    AnchorStep,
    Comparison,
    Condition,
    CountStep,
    ExpandStep,
    FilterStep,
    GraphPlan,
    GraphSchema,
    GraphStep,
    NodeRef,
    OrderStep,
)
from .problems import problems_of

MAX_STEPS = 8
"""The longest labelled plan of the shipped domains has seven steps with names, and one to spare."""


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WrittenFind(_Written):
    """Start at what the question names."""

    do: Literal["find"]
    name: str = Field(min_length=1, description="a name in the question")
    type: str


class WrittenFollow(_Written):
    """Follow one edge type."""

    do: Literal["follow"]
    start: int = Field(ge=1, description="number of an earlier step")
    edge: str
    direction: Literal["out", "in", "any"] = Field(description="out: from source to target; in: back; any: both ways")
    without: list[int] = Field(default=[], description="numbers of steps whose nodes are left out")


class WrittenCombine(_Written):
    """What is in any (union), in all (intersect), or in the first alone (difference)."""

    do: Literal["union", "intersect", "difference"]
    inputs: list[int] = Field(min_length=2, description="numbers of earlier steps")


class WrittenFilter(_Written):
    """Keep what passes a test of a property."""

    do: Literal["filter"]
    start: int = Field(ge=1)
    property: str
    op: Literal["eq", "ne", "lt", "le", "gt", "ge", "contains"]
    value: str | float


class WrittenCount(_Written):
    """How many there are; only as the last step."""

    do: Literal["count"]
    start: int = Field(ge=1)


class WrittenOrder(_Written):
    """The first few by a property, or by the number of edges of a type."""

    do: Literal["order"]
    start: int = Field(ge=1)
    by: str = Field(description="a property, or an edge type to count edges of")
    descending: bool
    limit: int = Field(ge=1)


def to_plan(steps: Sequence[Any], schema: GraphSchema) -> GraphPlan:
    """The typed plan of written steps, models or plain mappings.

    Raises:
        ValueError: a step cannot be read; one sentence for the writer.
    """
    if not 1 <= len(steps) <= MAX_STEPS:
        raise ValueError(f"write 1 to {MAX_STEPS} steps, not {len(steps)}")
    made = [_typed(number, _plain(step), schema) for number, step in enumerate(steps, 1)]
    return GraphPlan(steps=tuple(made))


def _plain(step: Any) -> dict[str, Any]:
    return step.model_dump() if isinstance(step, BaseModel) else dict(step)


def _typed(number: int, step: dict[str, Any], schema: GraphSchema) -> GraphStep:
    write = _TYPED.get(step.get("do", ""))
    if write is None:
        raise ValueError(f"step {number} does {step.get('do')!r}; it must do one of {', '.join(_TYPED)}")
    try:
        return write(number, step, schema)
    except (KeyError, ValidationError, TypeError) as error:
        said = problems_of(error, 1) if isinstance(error, ValidationError) else f"{error} is missing or wrong"
        raise ValueError(f"step {number} ({step['do']}): {said}") from error


def _ref(number: Any) -> str:
    return f"s{number}"


def _find(number: int, step: dict[str, Any], schema: GraphSchema) -> GraphStep:
    return AnchorStep(store_as=_ref(number), node=NodeRef(name=step["name"], type=step["type"]))


def _follow(number: int, step: dict[str, Any], schema: GraphSchema) -> GraphStep:
    exclude = tuple(_ref(n) for n in step.get("without") or ())
    given = {"start": _ref(step["start"]), "edge": step["edge"], "direction": step["direction"]}
    return ExpandStep(store_as=_ref(number), exclude=exclude, **given)


def _combine(number: int, step: dict[str, Any], schema: GraphSchema) -> GraphStep:
    given = {"kind": step["do"], "store_as": _ref(number), "inputs": tuple(_ref(n) for n in step["inputs"])}
    return GraphPlan.model_validate({"steps": [given]}).steps[0]


def _filter(number: int, step: dict[str, Any], schema: GraphSchema) -> GraphStep:
    op: Comparison = step["op"]
    condition = Condition(property=step["property"], op=op, value=step["value"])
    return FilterStep(store_as=_ref(number), start=_ref(step["start"]), conditions=(condition,))


def _count(number: int, step: dict[str, Any], schema: GraphSchema) -> GraphStep:
    return CountStep(store_as=_ref(number), start=_ref(step["start"]))


def _order(number: int, step: dict[str, Any], schema: GraphSchema) -> GraphStep:
    key = {"degree_of" if schema.edge(step["by"]) is not None else "property": step["by"]}
    limited = {"descending": step["descending"], "limit": step["limit"]}
    return OrderStep(store_as=_ref(number), start=_ref(step["start"]), **key, **limited)


_TYPED: dict[str, Callable[[int, dict[str, Any], GraphSchema], GraphStep]] = {
    "find": _find,
    "follow": _follow,
    "union": _combine,
    "intersect": _combine,
    "difference": _combine,
    "filter": _filter,
    "count": _count,
    "order": _order,
}


def written(plan: GraphPlan) -> list[dict[str, Any]] | None:
    """A plan as a model would write it, for a demonstration; None if it says what these steps cannot."""
    places = {step.store_as: number for number, step in enumerate(plan.steps, 1)}
    steps = [_as_written(step, places) for step in plan.steps]
    return None if any(s is None for s in steps) or len(steps) > MAX_STEPS else [s for s in steps if s is not None]


def _as_written(step: GraphStep, places: dict[str, int]) -> dict[str, Any] | None:
    start = places.get(getattr(step, "start", ""), 0)
    if isinstance(step, AnchorStep):
        return {"do": "find", "name": step.node.name, "type": step.node.type} if step.node.field == "name" else None
    if isinstance(step, ExpandStep):
        without = [places[name] for name in step.exclude]
        said = {"do": "follow", "start": start, "edge": step.edge, "direction": step.direction, "without": without}
        return None if step.where or step.node_where or step.or_edges else said
    if isinstance(step, FilterStep):
        return _filter_as_written(step, start)
    if isinstance(step, CountStep):
        return {"do": "count", "start": start}
    if isinstance(step, OrderStep):
        by = step.property or step.degree_of
        return {"do": "order", "start": start, "by": by, "descending": step.descending, "limit": step.limit}
    return {"do": step.kind, "inputs": [places[name] for name in step.inputs]}


def _filter_as_written(step: FilterStep, start: int) -> dict[str, Any] | None:
    first = step.conditions[0]
    if len(step.conditions) > 1 or isinstance(first.value, tuple | bool):
        return None
    return {"do": "filter", "start": start, "property": first.property, "op": first.op, "value": first.value}


def plan_graph_steps(schema: GraphSchema) -> Any:
    """The signature ``PlanGraphSteps`` for one graph; types, edges and properties are literals from its schema."""
    fields = {
        "query": (str, dspy.InputField(desc="the question, complete in itself")),
        "steps": (list[_step_type(schema)], dspy.OutputField(desc=_forms(schema))),
    }
    instructions = (
        "Write the steps through the knowledge graph that answer the question: find each name, follow edges, "
        "and combine, filter, count or order what is reached.\n" + describe(schema)
    )
    signature: Any = dspy.Signature
    return signature(fields, instructions, signature_name="PlanGraphSteps")


def _step_type(schema: GraphSchema) -> Any:
    """The union of the kinds of steps that the schema allows."""
    made: Any = create_model
    properties = sorted({p for kind in (*schema.nodes, *schema.edges) for p in kind.properties})
    kinds: list[Any] = [made("Find", __base__=WrittenFind, type=(_one_of([n.name for n in schema.nodes]), ...))]
    edges = [e.name for e in schema.edges]
    if edges:
        kinds += [made("Follow", __base__=WrittenFollow, edge=(_one_of(edges), ...)), WrittenCombine]
    # Every node has a name, whatever else.
    kinds.append(made("Filter", __base__=WrittenFilter, property=(_one_of([*properties, "name"]), ...)))
    if properties or edges:
        kinds.append(made("Order", __base__=WrittenOrder, by=(_one_of([*properties, *edges]), ...)))
    kinds.append(WrittenCount)
    union: Any = kinds[0]
    for kind in kinds[1:]:
        union = union | kind
    return union


_FORMS = (
    '{"do": "find", "name": NAME, "type": TYPE}',
    '{"do": "follow", "start": NUMBER, "edge": EDGE, "direction": "out" or "in" or "any", "without": [NUMBERS]}',
    '{"do": "union" or "intersect" or "difference", "inputs": [NUMBERS]}',
    '{"do": "filter", "start": NUMBER, "property": PROPERTY, "op": OPERATOR, "value": VALUE}',
    '{"do": "order", "start": NUMBER, "by": PROPERTY or EDGE, "descending": true or false, "limit": HOW_MANY}',
    '{"do": "count", "start": NUMBER}',
)


def _forms(schema: GraphSchema) -> str:
    """The forms of steps in words, for endpoints whose prompt does not repeat the JSON schema."""
    kinds = str(_step_type(schema))
    offered = {"Follow": 1, "WrittenCombine": 2, "Filter": 3, "Order": 4}
    left_out = {place for name, place in offered.items() if name not in kinds}
    forms = [form for place, form in enumerate(_FORMS) if place not in left_out]
    return f"1 to {MAX_STEPS} steps, numbered from 1; the last one answers. A step is one of\n" + "\n".join(forms)


def _one_of(names: Sequence[str]) -> Any:
    return Literal[tuple(dict.fromkeys(names))]  # type: ignore[valid-type]


def describe(schema: GraphSchema) -> str:
    """The schema as one line an edge, and one a node type with properties, for a prompt."""
    edges = [f"{e.source} -{e.name}-> {e.target}{_says(e.description)}{_has(e.properties)}" for e in schema.edges]
    nodes = [f"{n.name}{_has(n.properties)}" for n in schema.nodes if n.properties]
    return "\n".join([*edges, *nodes])


def _says(description: str) -> str:
    return f": {description}" if description else ""


def _has(properties: Sequence[str]) -> str:
    return f" (properties: {', '.join(properties)})" if properties else ""
