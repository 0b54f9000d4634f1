"""Runs graph plans on a server that speaks SPOKE's protocol.

The only endpoint is ``/api/v1/neighborhood/{type}/{field}/{value}`` with ``edge_filters``, ``node_filters`` and
cutoffs. An anchor and the step from it are one call. Every further step is one call for each node, limited in number
both at once and in all. The answer says what was left out and what failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ....data.fingerprints import schema_fingerprint, text_fingerprint
from ....errors import DataError
from ....signatures.graph_steps import (
    AnchorStep,
    Condition,
    Cutoff,
    EdgeType,
    ExpandStep,
    GraphPlan,
    GraphSchema,
    NodeRef,
    NodeType,
)
from ..check import check_graph_plan, step_types
from ..executor import GraphAnswer, ill_typed
from ..schema import parse_schema
from .conditions import Properties, lookup_key, passes, reference_keys
from .cypher import stored
from .rest_client import Client, Limits, Parameters, Rows
from .stepping import Gap, RunClock, StepRun

__all__ = ["Limits", "SpokeGraph", "open_spoke"]


class SpokeGraph:
    """A graph behind a server."""

    at_hand = False
    """Plans cost calls over a network, so none is run to probe whether it finds anything."""

    def __init__(self, client: Client, schema: GraphSchema) -> None:
        self.client = client
        self._schema = schema

    @property
    def schema(self) -> GraphSchema:
        """The schema that the server gives, or the one that was passed."""
        return self._schema

    @property
    def fingerprint(self) -> str:
        """A hash of address and schema, since the server's content cannot be known."""
        return text_fingerprint(f"{self.client.root} {schema_fingerprint(self._schema)}")

    def run(
        self, plan: GraphPlan, *, cap: int | None = None, deadline_s: float | None = None, paths: bool = False
    ) -> GraphAnswer:
        """Run a plan; one that does not fit the schema is refused."""
        kinds = step_types(plan, self._schema)
        if kinds is None:
            return ill_typed(check_graph_plan(plan, self._schema))
        session = Session(self.client, self._schema, RunClock(deadline_s), first_steps(plan))
        run = StepRun(session, plan, kinds, session.clock, cap, paths)
        run.cut, run.gaps = session.cut, session.gaps
        return run.answer()

    def find(self, ref: NodeRef) -> list[str]:
        """Ids of the nodes that a reference means.

        Raises:
            DataError: the server does not answer.
        """
        try:
            return Session(self.client, self._schema, RunClock(), {}).find(ref)
        except Gap as gap:
            raise DataError(str(gap)) from gap

    def names(self, kind: str | None = None) -> Iterator[tuple[str, str, str]]:
        """Nothing: the protocol has no way to list nodes."""
        return iter(())

    def close(self) -> None:
        """Close all connections."""
        self.client.close()


def open_spoke(root: str, schema: GraphSchema | None = None, **options: Any) -> SpokeGraph:
    """Open a server by its address; without a schema it is asked for its types.

    Raises:
        DataError: it does not give its types, or an option is not one of :class:`Limits`.
    """
    unknown = sorted(options.keys() - vars(Limits()).keys())
    if unknown:
        raise DataError(f"a graph server has no option {', '.join(unknown)}; use {', '.join(vars(Limits()))}")
    client = Client(root, Limits(**options))
    try:
        return SpokeGraph(client, schema or parse_schema(client.types(), root).schema)
    except DataError:
        client.close()
        raise


def first_steps(plan: GraphPlan) -> dict[NodeRef, list[ExpandStep]]:
    """The steps that start at each anchor, so that one call answers both."""
    anchors = {step.store_as: step.node for step in plan.steps if isinstance(step, AnchorStep)}
    found: dict[NodeRef, list[ExpandStep]] = {node: [] for node in anchors.values()}
    for step in plan.steps:
        if isinstance(step, ExpandStep) and step.start in anchors:
            found[anchors[step.start]].append(step)
    return found


@dataclass
class Around:
    """A neighbourhood out of one answer: edges as (source, type, target, properties)."""

    edges: list[tuple[tuple[str, str], str, tuple[str, str], Properties]] = field(default_factory=list)
    nodes: dict[tuple[str, str], Properties] = field(default_factory=dict)
    asked: Parameters = ()


@dataclass
class Session:
    """The part of a server's graph that one run has seen."""

    client: Client
    schema: GraphSchema
    clock: RunClock
    first: Mapping[NodeRef, Sequence[ExpandStep]]
    nodes: dict[tuple[str, str], Properties] = field(default_factory=dict)
    around: dict[tuple[str, str], Around] = field(default_factory=dict)
    cut: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)

    def find(self, ref: NodeRef) -> list[str]:
        """Ids of the nodes that a reference means; what is around them is kept for the step from there."""
        node = self._node(ref.type)
        steps = self.first.get(ref, ())
        edges = tuple(dict.fromkeys(edge for step in steps for edge in step.edges)) or self._any_edge(node)
        parameters = self._filters(node.name, edges) + (self._cutoffs(steps[0]) if len(steps) == 1 else [])
        rows = self.client.neighbourhood(node.name, stored(node, ref.field), ref.name, parameters, self.clock)
        read = self._read(rows, f"the node {ref.name!r:.60}", parameters)
        keys = set(reference_keys(ref.name))
        found = [
            key
            for (kind, key), told in read.nodes.items()
            if kind == node.name and told.get(ref.field) is not None and lookup_key(told[ref.field]) in keys
        ]
        if len(steps) <= 1:
            self.around.update({(node.name, key): read for key in found})
        return found

    def reach(self, ids: Sequence[str], kind: str, step: ExpandStep) -> dict[str, tuple[str, str]]:
        """What a step reaches from some nodes, each with one (node, edge type) that it was reached from."""
        parameters = self._filters(kind, step.edges) + self._cutoffs(step)
        reached: dict[str, tuple[str, str]] = {}
        for start, read in self._each(ids, kind, parameters, f"step {step.store_as!r}"):
            for other, edge in self._joined((kind, start), read, step):
                reached.setdefault(other, (start, edge))
        return reached

    def look_up(self, ids: Sequence[str], kind: str) -> Mapping[str, Properties]:
        """The properties of nodes that answers have told."""
        return {key: self.nodes.get((kind, key), {"id": key, "name": key}) for key in ids}

    def degrees(self, ids: Sequence[str], kind: str, edge: str) -> dict[str, int]:
        """How many nodes each node is joined to by edges of a type, either way; one call a node."""
        counted = dict.fromkeys(ids, 0)
        for start, read in self._each(ids, kind, self._filters(kind, (edge,)), f"ordering by {edge}"):
            here = (kind, start)
            ends = {e[2] if e[0] == here else e[0] for e in read.edges if e[1] == edge and here in (e[0], e[2])}
            counted[start] = len(ends)
        return counted

    # --- calls

    def _each(self, ids: Sequence[str], kind: str, parameters: Parameters, where: str) -> list[tuple[str, Around]]:
        """What is around each node, as far as the limits go; failures of some are a gap, of all the end."""
        limit = self.client.limits.fan_out
        if len(ids) > limit:
            self.cut.append(f"{where}: {len(ids):,} nodes were to be asked about and the first {limit:,} were")
        asked = list(ids)[:limit]
        with ThreadPoolExecutor(self.client.limits.concurrency) as pool:
            answers = list(pool.map(lambda key: self._one(key, kind, parameters, where), asked))
        failed = [answer for answer in answers if isinstance(answer, Gap)]
        if failed and len(failed) == len(asked):
            raise Gap(f"{where}: {failed[0]}")
        if failed:
            self.gaps.append(f"{where}: {len(failed)} of {len(asked)} calls failed, the first: {failed[0]}")
        return [(key, a) for key, a in zip(asked, answers, strict=True) if not isinstance(a, Gap)]

    def _one(self, key: str, kind: str, parameters: Parameters, where: str) -> Around | Gap:
        known = self.around.get((kind, key))
        if known is not None and known.asked == parameters:
            return known
        try:
            self.clock.check(f"the call for {kind} {key!r:.60}")
            rows = self.client.neighbourhood(kind, self._node(kind).key, key, parameters, self.clock)
        except Gap as gap:
            return gap
        return self._read(rows, where, parameters)

    def _filters(self, kind: str, edges: Sequence[str]) -> list[tuple[str, str]]:
        """The filters of a call: edge types, and the node types that they join.

        The type that the call starts from is among these, since the server might leave its nodes out otherwise.
        """
        declared = [edge for edge in self.schema.edges if edge.name in edges]
        kinds = dict.fromkeys([kind, *(end for edge in declared for end in (edge.source, edge.target))])
        return [*(("edge_filters", e.name) for e in declared), *(("node_filters", name) for name in kinds)]

    def _cutoffs(self, step: ExpandStep) -> list[tuple[str, str]]:
        """The conditions that the server can test itself; all are tested here as well."""
        edges = [edge for edge in self.schema.edges if edge.name in step.edges]
        target = self._node(edges[0].ends(step.direction)[1])
        tests = [(edge, c) for edge in edges for c in step.where] + [(target, c) for c in step.node_where]
        return [parameter for kind, condition in tests for parameter in cutoff_parameters(kind, condition)]

    def _any_edge(self, node: NodeType) -> tuple[str, ...]:
        """One edge type of a node type, to look up a node: it cannot be asked for without some neighbours."""
        return tuple(e.name for e in self.schema.edges if node.name in (e.source, e.target))[:1]

    def _node(self, kind: str) -> NodeType:
        node = self.schema.node(kind)
        if node is None:
            raise Gap(f"the schema has no node type {kind!r}")
        return node

    # --- answers

    def _read(self, rows: Rows, where: str, parameters: Parameters) -> Around:
        """An answer's nodes and edges; what it tells of nodes is remembered."""
        if rows.cut and (said := f"{where}: {rows.cut}") not in self.cut:
            self.cut.append(said)
        read, inside = Around(asked=parameters), {}
        for data in rows.rows:
            if "source" not in data and (told := self._told(data)) is not None:
                if data.get("id") is not None:  # an edge without an end joins nothing
                    inside[data["id"]] = (told["type"], told["id"])
                read.nodes[told["type"], told["id"]] = told
        for data in rows.rows:
            ends = (inside.get(data.get("source")), inside.get(data.get("target")))
            if ends[0] is not None and ends[1] is not None:
                properties = data.get("properties")
                kept = properties if isinstance(properties, dict) else {}
                read.edges.append((ends[0], str(data.get("neo4j_type")), ends[1], kept))
        self.nodes.update(read.nodes)
        return read

    def _told(self, data: Mapping[str, Any]) -> dict[str, Any] | None:
        """A node's properties, with our words for its id and name; None for a type that the schema lacks."""
        node = self.schema.node(str(data.get("neo4j_type")))
        properties = data.get("properties")
        if node is None or not isinstance(properties, dict):
            return None
        key = properties.get(node.key, data.get("id"))
        name = properties.get(node.shown)
        return {**properties, "id": str(key), "name": str(key if name is None else name), "type": node.name}

    def _joined(self, here: tuple[str, str], read: Around, step: ExpandStep) -> Iterator[tuple[str, str]]:
        """(id, edge type) of what a step leads to in an answer."""
        for source, edge, target, properties in read.edges:
            if edge not in step.edges or not passes(properties, step.where):
                continue
            out, back = source == here and step.direction != "in", target == here and step.direction != "out"
            for other, leads in ((target, out), (source, back)):
                if leads and passes(read.nodes[other], step.node_where):
                    yield other[1], edge


def cutoff_parameters(kind: NodeType | EdgeType, condition: Condition) -> list[tuple[str, str]]:
    """The cutoff parameters for a condition; empty unless a cutoff lets all pass that the condition lets pass."""
    found = next((c for c in kind.cutoffs if c.property == condition.property and _same(c, condition)), None)
    return [(found.name, sent_text(value)) for value in condition.candidates()] if found else []


def _same(cutoff: Cutoff, condition: Condition) -> bool:
    lets_pass = {"ge": ("ge", "gt", "eq"), "le": ("le", "lt", "eq"), "in": ("in", "eq")}
    return condition.op in lets_pass[cutoff.op]


def sent_text(value: Any) -> str:
    """A value as text, a whole number without a fraction."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
