"""Converts graph plans to the JSON shape of SPOKE planning, and back.

``{"query_type", "thought", "entities": [{"name_in_query", "normalized_type", "id_placeholder"}], "plan": [{"step",
"description", "api_call", "logic", "inputs", "store_as"}]}``. An ``api_call`` is always of ``/api/v1/neighborhood``.
An anchor and the expansion from it are one call; an expansion from a result has the templates ``{var.type}`` and
``{var.name}``. ``logic`` is UNION or INTERSECTION of two inputs; the last ``store_as`` is ``final_result``.

What that shape cannot express (difference, filter, count, order, exclusion, the direction between nodes of one type,
conditions without a cutoff) is written in ``logic`` or in one further key, ``arguments``, which is there only then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from pydantic import TypeAdapter, ValidationError

from ....errors import DataError
from ....signatures.graph_steps import (
    AnchorStep,
    Condition,
    Cutoff,
    EdgeType,
    ExpandStep,
    GraphPlan,
    GraphSchema,
    GraphStep,
    IntersectStep,
    NodeRef,
    NodeType,
    Scalar,
    UnionStep,
)
from ....signatures.problems import problems_of
from ..executors.conditions import as_number, kind_of
from ..executors.cypher import stored
from ..executors.rest import cutoff_parameters, sent_text
from ..executors.rest_client import path_part
from ..wording import step_words

FINAL = "final_result"
ENDPOINT = "/api/v1/neighborhood"
_LOGIC = {"union": "UNION", "intersect": "INTERSECTION"}
_CALL = re.compile(r"^/api/v1/neighborhood/(?P<kind>[^/?]+)/(?P<field>[^/?]+)/(?P<value>[^/?]+)(\?(?P<filters>.*))?$")
_TEMPLATE = re.compile(r"^\{(?P<name>\w+)\.(type|name|id)\}$")
_STEP: TypeAdapter[GraphStep] = TypeAdapter(GraphStep)


def to_spoke(plan: GraphPlan, schema: GraphSchema, thought: str | None = None) -> dict[str, Any]:
    """A plan that has passed the check in SPOKE planning's shape.

    Args:
        thought: why the plan is as it is; by default the steps in words.
    """
    renamed = _renamed(plan)
    taken = {step.store_as for step in renamed.steps}
    steps = [part for step in renamed.steps for part in _in_pairs(step, taken)]
    writer = _Writer(schema, steps)
    written = [made for step in steps if (made := writer.step(step)) is not None]
    words = " ".join(f"{n}. {made['description']}." for n, made in enumerate(written, 1))
    return {
        "query_type": query_type(plan),
        "thought": thought if thought is not None else f"Plan: {words}",
        "entities": [_entity(step) for step in steps if isinstance(step, AnchorStep)],
        "plan": [{"step": number, **made} for number, made in enumerate(written, 1)],
    }


def query_type(plan: GraphPlan) -> str:
    """``one-hop``, ``two-hop``, ``multi-hop``, or ``complex`` where results are combined."""
    if any(not isinstance(step, AnchorStep | ExpandStep) for step in plan.steps):
        return "complex"
    hops = sum(isinstance(step, ExpandStep) for step in plan.steps)
    return {0: "one-hop", 1: "one-hop", 2: "two-hop"}.get(hops, "multi-hop")


def _entity(step: AnchorStep) -> dict[str, str]:
    return {"name_in_query": step.node.name, "normalized_type": step.node.type, "id_placeholder": step.store_as}


def _renamed(plan: GraphPlan) -> GraphPlan:
    """The plan with ``final_result`` as the name of the last step's result, and of no other."""
    last = plan.steps[-1].store_as
    taken = {step.store_as for step in plan.steps}
    names = {FINAL: _fresh(FINAL, taken), last: FINAL}
    return GraphPlan.model_validate({"steps": [_with_names(step, names) for step in plan.steps]})


def _with_names(step: GraphStep, names: Mapping[str, str]) -> dict[str, Any]:
    told = step.model_dump()
    for key in ("store_as", "start"):
        if key in told:
            told[key] = names.get(told[key], told[key])
    for key in ("inputs", "exclude"):
        if key in told:
            told[key] = [names.get(name, name) for name in told[key]]
    return told


def _in_pairs(step: GraphStep, taken: set[str]) -> Iterator[GraphStep]:
    """A union or intersection of many inputs as several of two; the names in between are added to ``taken``."""
    if not isinstance(step, UnionStep | IntersectStep) or len(step.inputs) == 2:
        yield step
        return
    first, *others = step.inputs
    for number, other in enumerate(others, 1):
        name = step.store_as if number == len(others) else _fresh(step.store_as, taken)
        yield step.model_copy(update={"store_as": name, "inputs": (first, other)})
        first = name


def _fresh(name: str, taken: set[str]) -> str:
    """A name that no step has."""
    found = next(made for n in range(1, len(taken) + 2) if (made := f"{name}_{n}") not in taken)
    taken.add(found)
    return found


class _Writer:
    """Steps as SPOKE planning writes them."""

    def __init__(self, schema: GraphSchema, steps: Sequence[GraphStep]) -> None:
        self.schema = schema
        self.anchors = {step.store_as: step.node for step in steps if isinstance(step, AnchorStep)}
        self.alone = self._needed_alone(steps)

    def _needed_alone(self, steps: Sequence[GraphStep]) -> set[str]:
        """The anchors that need a step of their own, since something else than an expansion or exclusion uses them."""
        used = {getattr(s, "start", "") for s in steps if not isinstance(s, ExpandStep)}
        used |= {name for step in steps for name in getattr(step, "inputs", ())}
        # An excluded anchor is written as an entity, which can only hold a name: one by another field needs a step.
        excluded = {name for step in steps for name in getattr(step, "exclude", ())}
        used |= {name for name in excluded & self.anchors.keys() if self.anchors[name].field != "name"}
        return (used | {steps[-1].store_as}) & self.anchors.keys()

    def step(self, step: GraphStep) -> dict[str, Any] | None:
        """One entry of the plan; None for an anchor that is part of the calls from it."""
        if isinstance(step, AnchorStep):
            return self._anchor(step) if step.store_as in self.alone else None
        if isinstance(step, ExpandStep):
            return self._expand(step)
        inputs: list[str] = list(getattr(step, "inputs", ())) or [getattr(step, "start", "")]
        logic = _LOGIC.get(step.kind, step.kind.upper())
        told = step.model_dump(mode="json", exclude_defaults=True, exclude={"store_as", "start", "inputs", "kind"})
        return self._made(step, None, logic, inputs, {k: v for k, v in told.items() if k != "kind"})

    def _anchor(self, step: AnchorStep) -> dict[str, Any]:
        return self._made(step, self._call(step.node), None, None, {"keep": "self"})

    def _expand(self, step: ExpandStep) -> dict[str, Any]:
        ref = self.anchors.get(step.start)
        declared = [edge for name in step.edges if (edge := self.schema.edge(name)) is not None]
        target = self.schema.node(declared[0].ends(step.direction)[1])
        assert target is not None
        filters = [*(("edge_filters", edge.name) for edge in declared), ("node_filters", target.name)]
        sent = [*_sent(declared, step.where), *_sent([target], step.node_where)]
        filters += [parameter for parameters in sent for parameter in parameters]
        call = self._call(ref, filters) if ref else self._template(step.start, filters)
        return self._made(step, call, None, None if ref else [step.start], self._rest(step, declared, target, ref))

    def _rest(
        self, step: ExpandStep, kinds: Sequence[EdgeType], target: NodeType, ref: NodeRef | None
    ) -> dict[str, Any]:
        """The parts of an expansion that an ``api_call`` cannot express, as ``arguments``."""
        told: dict[str, Any] = {"exclude": list(step.exclude)} if step.exclude else {}
        if kinds[0].source == kinds[0].target and step.direction != "any":
            told["direction"] = step.direction
        tests = (("where", kinds, step.where), ("node_where", [target], step.node_where))
        for key, types, conditions in tests:
            if not all(_told_exactly(kind, conditions) for kind in types):
                told[key] = [condition.model_dump(mode="json") for condition in conditions]
        return {"anchor": step.start, **told} if told and ref else told

    def _call(self, ref: NodeRef, filters: Sequence[tuple[str, str]] = ()) -> str:
        node = self.schema.node(ref.type)
        path = (ref.type, stored(node, ref.field) if node else ref.field, ref.name)
        return "/".join((ENDPOINT, *map(path_part, path))) + _query(filters)

    def _template(self, name: str, filters: Sequence[tuple[str, str]]) -> str:
        return f"{ENDPOINT}/{{{name}.type}}/name/{{{name}.name}}" + _query(filters)

    def _made(
        self, step: GraphStep, call: str | None, logic: str | None, inputs: list[str] | None, told: dict[str, Any]
    ) -> dict[str, Any]:
        made = {
            "description": step_words(step, self.anchors),
            "api_call": call,
            "logic": logic,
            "inputs": inputs,
            "store_as": step.store_as,
        }
        return {**made, "arguments": told} if told else made


def _told_exactly(kind: NodeType | EdgeType, conditions: Sequence[Condition]) -> bool:
    """Whether a type's cutoffs express these conditions exactly, one each, so that reading them back gives the same."""
    cutoffs = [next((c for c in kind.cutoffs if _exact(c, condition)), None) for condition in conditions]
    return None not in cutoffs and len(set(cutoffs)) == len(conditions)


def _exact(cutoff: Cutoff, condition: Condition) -> bool:
    """Whether a cutoff expresses a condition exactly, and its values can be read back from a URL with their kind."""
    if (cutoff.property, cutoff.op) != (condition.property, condition.op):
        return False
    return all(_same(cutoff_value(sent_text(value), cutoff), value) for value in condition.candidates())


def _same(read: Scalar, value: Scalar) -> bool:
    return kind_of(read) == kind_of(value) and read == value


def cutoff_value(text: str, cutoff: Cutoff) -> Scalar:
    """What a cutoff's value in an address means: a number where one is compared, text otherwise."""
    number = None if cutoff.op == "in" else as_number(text)
    if number is None:
        return text
    return int(number) if number.is_integer() else number


def _sent(kinds: Sequence[NodeType | EdgeType], conditions: Sequence[Condition]) -> Iterator[list[tuple[str, str]]]:
    return (cutoff_parameters(kind, condition) for kind in kinds for condition in conditions)


def _query(filters: Sequence[tuple[str, str]]) -> str:
    return f"?{urlencode(filters, quote_via=quote)}" if filters else ""


def from_spoke(document: Any, schema: GraphSchema) -> GraphPlan:
    """A plan from SPOKE planning's shape, also as a model wrote it.

    A cutoff becomes a condition, and a direction that is not said follows from the schema.

    Raises:
        DataError: the document is not of that shape, or a call cannot be read; the step is named.
    """
    if isinstance(document, Mapping) and "error" in document:
        raise DataError(f"this is no plan but an error: {document['error']!r:.200}")
    if not isinstance(document, Mapping) or not isinstance(document.get("plan"), list) or not document["plan"]:
        raise DataError("this is no plan: it must be an object with a list of steps under plan")
    reader = _Reader(schema, document)
    for number, told in enumerate(document["plan"], 1):
        try:
            reader.step(told)
        except (ValidationError, ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
            said = problems_of(error, 1) if isinstance(error, ValidationError) else error
            raise DataError(f"step {number} of the plan cannot be read: {said}") from error
    return GraphPlan(steps=tuple(reader.steps))


def _means(entity: Mapping[str, Any], ref: NodeRef) -> bool:
    return entity.get("name_in_query") == ref.name and entity.get("normalized_type") == ref.type


class _Reader:
    """Steps of ours from those of SPOKE planning."""

    def __init__(self, schema: GraphSchema, document: Mapping[str, Any]) -> None:
        self.schema = schema
        self.steps: list[GraphStep] = []
        self.types: dict[str, str] = {}
        self.taken = {str(s.get("store_as")) for s in document["plan"] if isinstance(s, Mapping)}
        entities = document.get("entities")
        self.entities = [e for e in entities if isinstance(e, Mapping)] if isinstance(entities, list) else []

    def step(self, told: Mapping[str, Any]) -> None:
        """Read one entry."""
        if not isinstance(told, Mapping):
            raise TypeError("it is no object with store_as and an api_call or a logic")
        store, logic = str(told["store_as"]), told.get("logic")
        arguments = told.get("arguments") or {}
        if told.get("api_call"):
            self._call(str(told["api_call"]), store, arguments)
        elif logic:
            self._logic(str(logic).upper(), store, list(told.get("inputs") or ()), arguments)
        else:
            raise ValueError("it has neither an api_call nor a logic")

    def _logic(self, logic: str, store: str, inputs: list[str], arguments: Mapping[str, Any]) -> None:
        kind = next((k for k, word in _LOGIC.items() if word == logic), logic.lower())
        many = kind in ("union", "intersect", "difference")
        given = {"inputs": inputs} if many else {"start": inputs[0] if inputs else ""}
        step = _STEP.validate_python({"kind": kind, "store_as": store, **given, **arguments})
        self._add(step, self.types.get(inputs[0], "") if inputs else "")

    def _call(self, call: str, store: str, arguments: Mapping[str, Any]) -> None:
        found = _CALL.match(call)
        if found is None:
            raise ValueError(f"{call!r:.200} is no call of {ENDPOINT}/TYPE/FIELD/VALUE")
        filters = parse_qsl(found["filters"] or "", keep_blank_values=True)
        template = _TEMPLATE.match(found["value"])
        if template is not None:
            self._expand(store, template["name"], filters, arguments)
            return
        ref = self._reference(unquote(found["kind"]), unquote(found["field"]), unquote(found["value"]))
        if arguments.get("keep") == "self" or not any(name == "edge_filters" for name, _ in filters):
            self._add(AnchorStep(store_as=store, node=ref), ref.type)
            return
        start = self._anchor(ref, arguments.get("anchor"))
        self._expand(store, start, filters, {k: v for k, v in arguments.items() if k != "anchor"})

    def _reference(self, kind: str, name: str, value: str) -> NodeRef:
        node = self.schema.node(kind)
        ours = {node.key: "id", node.shown: "name"}.get(name, name) if node else name
        return NodeRef(name=value, type=kind, field=ours)

    def _anchor(self, ref: NodeRef, wanted: Any) -> str:
        """The name of an anchor step for a node: one that exists already, or a new one."""
        for step in self.steps:
            if isinstance(step, AnchorStep) and step.node == ref and wanted in (None, step.store_as):
                return step.store_as
        said = [wanted, *(e.get("id_placeholder") for e in self.entities if _means(e, ref))]
        names = (str(n) for n in said if isinstance(n, str) and re.fullmatch(r"[A-Za-z_]\w*", n, re.ASCII))
        name = next((n for n in names if n not in self.taken), None) or _fresh("anchor", self.taken)
        self._add(AnchorStep(store_as=name, node=ref), ref.type)
        return name

    def _excluded(self, name: str) -> None:
        """Add an anchor for an excluded result that no step stores: it is then an entity's node."""
        if name not in self.types and name not in self.taken:
            entity = next(e for e in self.entities if e.get("id_placeholder") == name)
            ref = NodeRef(name=entity["name_in_query"], type=entity["normalized_type"])
            self._add(AnchorStep(store_as=name, node=ref), ref.type)

    def _expand(self, store: str, start: str, filters: Sequence[tuple[str, str]], told: Mapping[str, Any]) -> None:
        edges = [name for key, value in filters if key == "edge_filters" for name in value.split(",")]
        if not edges:
            raise ValueError("its api_call has no edge_filters")
        wanted = [name for key, value in filters if key == "node_filters" for name in value.split(",")]
        declared = [edge for name in edges if (edge := self.schema.edge(name)) is not None]
        direction = told.get("direction") or self._direction(declared, self.types.get(start, ""), wanted)
        target = declared[0].ends(direction)[1] if declared else ""
        cut = {"where": self._cut(declared, filters), "node_where": self._cut(self._nodes(target), filters)}
        read = {key: told.get(key) or conditions for key, conditions in cut.items()}
        for name in told.get("exclude", ()):
            self._excluded(name)
        step = ExpandStep.model_validate(
            {"store_as": store, "start": start, "edge": edges[0], "or_edges": edges[1:], "direction": direction}
            | {"exclude": told.get("exclude", ())}
            | read
        )
        self._add(step, target)

    def _nodes(self, name: str) -> list[NodeType]:
        found = self.schema.node(name)
        return [found] if found is not None else []

    def _direction(self, edges: Sequence[EdgeType], start: str, wanted: Sequence[str]) -> str:
        for edge in edges[:1]:
            if edge.source == edge.target:
                return "any"
            if edge.target == start or edge.source in wanted:
                return "in"
        return "out"

    def _cut(self, kinds: Sequence[NodeType | EdgeType], filters: Sequence[tuple[str, str]]) -> list[Condition]:
        """The conditions that an address's cutoff parameters express."""
        found = []
        for cutoff in dict.fromkeys(cutoff for kind in kinds for cutoff in kind.cutoffs):
            values = [value for name, value in filters if name == cutoff.name]
            if values:
                read = tuple(cutoff_value(value, cutoff) for value in values)
                value = read if cutoff.op == "in" else read[0]
                found.append(Condition(property=cutoff.property, op=cutoff.op, value=value))
        return found

    def _add(self, step: GraphStep, kind: str) -> None:
        self.steps.append(step)
        self.types[step.store_as] = kind
        self.taken.add(step.store_as)
