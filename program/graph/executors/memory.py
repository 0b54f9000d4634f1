"""A graph held in memory, and reading a domain's graph into it."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....data.graph_names import graph_files
from ....data.lines import numbered_lines
from ....errors import DataError
from ....signatures.graph_steps import EdgeType, ExpandStep, GraphPlan, GraphSchema, NodeRef, NodeType
from ..check import Kinds, step_types
from ..exchange.graph_files import EdgeLines, NodeLines, head_problem
from ..executor import GraphAnswer
from .conditions import Properties, column, kind_of, lookup_key, passes, reference_keys
from .glance import leads_somewhere, trail_of
from .stepping import RunClock, StepRun

__all__ = ["COLUMNS", "GraphAnswer", "MemoryGraph", "Properties", "load_graph", "passes"]

COLUMNS = ("source", "edge", "target")
Joined = dict[str, tuple[Properties, ...]]


@dataclass
class MemoryGraph:
    """A graph held in memory: nodes with their properties, edges by type and direction.

    ``declared`` is its schema; without one, ``schema`` is derived from the content. ``left_out`` has the types, and
    their numbers of nodes, that were read but are not in the schema.
    """

    nodes: dict[str, Properties] = field(default_factory=dict)
    declared: GraphSchema | None = None
    left_out: tuple[str, ...] = ()
    _by_value: dict[tuple[str, str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    _edges: dict[tuple[str, str, str], Joined] = field(default_factory=lambda: defaultdict(dict))
    _ends: dict[str, tuple[str, str]] = field(default_factory=dict)
    _edge_properties: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    _kinds: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    @property
    def kinds(self) -> Kinds:
        """The kind of each property's values, if all are of one kind; by type (or edge) and property."""
        single = ((key, next(iter(found))) for key, found in self._kinds.items() if len(found) == 1)
        return {key: kind for key, kind in single if kind != "other"}  # type: ignore[misc]

    @property
    def schema(self) -> GraphSchema:
        """The declared schema, or else the types and properties that occur."""
        return self.declared or _seen_schema(self)

    @property
    def fingerprint(self) -> str:
        """Content hash of nodes and edges, 16 hex digits."""
        digest = hashlib.sha256()
        for line in sorted(_facts(self)):
            digest.update(line.encode() + b"\n")
        return digest.hexdigest()[:16]

    def add_node(self, node_id: str, name: str, node_type: str, /, **properties: Any) -> None:
        """Add a node; names are matched without regard to case.

        Raises:
            DataError: the id exists already.
        """
        if node_id in self.nodes:
            raise DataError(f"two nodes have the id {node_id!r}")
        self.nodes[node_id] = {"id": node_id, "name": name, "type": node_type, **properties}
        for key, value in self.nodes[node_id].items():
            if value is not None:
                self._by_value[(node_type, key, lookup_key(value))].add(node_id)
                self._kinds[node_type, key].add(kind_of(value))

    def add_edge(self, source: str, edge: str, target: str, /, **properties: Any) -> None:
        """Add an edge between existing nodes; two nodes may be joined by several edges of a type.

        Raises:
            DataError: a node does not exist.
        """
        for node in (source, target):
            if node not in self.nodes:
                raise DataError(f"edge {edge} joins the unknown node {node!r}")
        for key, other in (((edge, "out", source), target), ((edge, "in", target), source)):
            joined = self._edges[key]
            joined[other] = (*joined.get(other, ()), properties)
        self._ends.setdefault(edge, (self.nodes[source]["type"], self.nodes[target]["type"]))
        self._edge_properties[edge].update(dict.fromkeys(properties))
        for key, value in properties.items():
            self._kinds[edge, key].add(kind_of(value))

    def run(
        self, plan: GraphPlan, *, cap: int | None = None, deadline_s: float | None = None, paths: bool = False
    ) -> GraphAnswer:
        """Run a plan that has passed the check."""
        kinds = step_types(plan, self.declared) if self.declared else None
        return StepRun(self, plan, kinds or {}, RunClock(deadline_s), cap, paths).answer()

    def finds(self, plan: GraphPlan) -> bool:
        """Whether a plan that has passed the check finds anything."""
        trail = trail_of(plan)
        if trail is None:
            return bool(self.run(plan, cap=1).names)
        ids = {node for ref in trail.anchors for node in self.find(ref)}
        return leads_somewhere(ids, trail.hops, self._near)

    def _near(self, node: str, step: ExpandStep) -> Iterator[str]:
        return (other for edge in step.edges for other in self.joined(node, edge, step.direction))

    def close(self) -> None:
        """Do nothing, as there is nothing to release."""

    def edge_properties(self) -> Iterator[tuple[str, Properties]]:
        """(type, properties) of every edge that has any."""
        for (edge, direction, _), joined in self._edges.items():
            if direction == "out":
                yield from ((edge, given) for several in joined.values() for given in several if given)

    def names(self, kind: str | None = None) -> Iterator[tuple[str, str, str]]:
        """(id, name, type) of every node, or of those of one type."""
        for node, told in self.nodes.items():
            if kind is None or told["type"] == kind:
                yield node, str(told["name"]), str(told["type"])

    def find(self, ref: NodeRef) -> set[str]:
        """Ids of the nodes that a reference means."""
        return {node for key in reference_keys(ref.name) for node in self._by_value.get((ref.type, ref.field, key), ())}

    def neighbours(self, node: str, edge: str, direction: str) -> Mapping[str, Properties]:
        """Ids at the other end of a node's edges of a type, each with the properties of one such edge."""
        return {other: edges[0] for other, edges in self.joined(node, edge, direction).items()}

    def joined(self, node: str, edge: str, direction: str) -> Mapping[str, Sequence[Properties]]:
        """Ids at the other end of a node's edges of a type, with the properties of every such edge."""
        if direction != "any":
            return self._edges.get((edge, direction, node), {})
        both = dict(self._edges.get((edge, "in", node), {}))
        for other, edges in self._edges.get((edge, "out", node), {}).items():
            both[other] = (*both.get(other, ()), *edges)
        return both

    def reach(self, ids: Sequence[str], kind: str, step: ExpandStep) -> dict[str, tuple[str, str]]:
        """The nodes that a step reaches from some nodes, each with one (node, edge type) by which it was reached."""
        reached: dict[str, tuple[str, str]] = {}
        for node in ids:
            for edge in step.edges:
                for other, edges in self.joined(node, edge, step.direction).items():
                    if other not in reached and self._let_through(other, edges, step):
                        reached[other] = (node, edge)
        return reached

    def _let_through(self, node: str, edges: Sequence[Properties], step: ExpandStep) -> bool:
        if step.where and not any(passes(properties, step.where) for properties in edges):
            return False
        return not step.node_where or passes(self.nodes[node], step.node_where)

    def look_up(self, ids: Sequence[str], kind: str) -> Mapping[str, Properties]:
        """The properties of every node."""
        return self.nodes

    def most_joined(self, kind: str, edge: str) -> int:
        """The most nodes that any node of a type is joined to by edges of a type, in either direction."""
        here = (node for node, told in self.nodes.items() if told["type"] == kind)
        return max((len(self.joined(node, edge, "any")) for node in here), default=0)

    def degrees(self, ids: Sequence[str], kind: str, edge: str) -> dict[str, int]:
        """The number of nodes that each node is joined to by edges of a type, in either direction."""
        return {node: len(self.joined(node, edge, "any")) for node in ids}


def _facts(graph: MemoryGraph) -> Iterator[str]:
    for told in graph.nodes.values():
        yield json.dumps(told, sort_keys=True, default=str)
    for (edge, direction, node), joined in graph._edges.items():
        if direction == "out":
            for other, edges in joined.items():
                yield json.dumps([node, edge, other, edges], sort_keys=True, default=str)


def _seen_schema(graph: MemoryGraph) -> GraphSchema:
    seen: dict[str, dict[str, None]] = {}
    for told in graph.nodes.values():
        extra = dict.fromkeys(key for key in told if key not in ("id", "name", "type"))
        seen.setdefault(str(told["type"]), {}).update(extra)
    nodes = tuple(NodeType(name=kind, properties=tuple(properties)) for kind, properties in seen.items())
    if not nodes:
        raise DataError("this graph is empty: add nodes, or declare a schema")
    edges = (
        EdgeType(name=edge, source=source, target=target, properties=tuple(graph._edge_properties[edge]))
        for edge, (source, target) in graph._ends.items()
    )
    return GraphSchema(nodes=nodes, edges=tuple(edges))


def load_graph(folder: Path, schema: GraphSchema | None = None) -> MemoryGraph:
    """Load the graph of a domain: ``graph/nodes.jsonl`` (id, name, type, properties) and ``graph/edges.tsv``.

    Further columns of ``edges.tsv`` are properties of edges: numbers if all of an edge type's values are.

    Args:
        schema: every line must fit it, as in an import; without a schema, everything in the files is loaded.

    Raises:
        DataError: a file is missing or a line is wrong; file and line are named.
    """
    graph = MemoryGraph(declared=schema)
    nodes, edges = graph_files(folder)
    if schema is not None:
        _read_checked(graph, NodeLines(nodes, schema), edges)
        return graph
    try:
        _read_nodes(graph, nodes.name, _lines(nodes))
        _read_edges(graph, edges.name, _lines(edges))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the graph of {folder.name} cannot be read: {error}") from error
    return graph


def _read_checked(graph: MemoryGraph, nodes: NodeLines, edges: Path) -> None:
    """Read the lines that a schema lists, once all have been found right."""
    joins = EdgeLines(edges, nodes.schema, nodes)
    for read in (nodes, joins):
        deque(read.check(), maxlen=0)
        read.refuse_problems()
    graph.left_out = nodes.strangers()
    for node in nodes.lines():
        graph.add_node(node.id, node.name, node.kind, **node.properties)
    for edge in joins.lines():
        graph.add_edge(edge.source, edge.edge, edge.target, **edge.properties)


def _lines(path: Path) -> list[tuple[int, str]]:
    return list(numbered_lines(path.read_text(encoding="utf-8-sig")))


def _read_nodes(graph: MemoryGraph, file: str, lines: Iterable[tuple[int, str]]) -> None:
    for number, line in lines:
        try:
            node = json.loads(line)
            graph.add_node(node.pop("id"), node.pop("name"), node.pop("type"), **node)
        except OverflowError as error:
            raise DataError(f"{file}:{number}: it has a number that 64 bits cannot hold; write it as text") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{file}:{number}: expected an object with id, name and type") from error
        except DataError as error:
            raise DataError(f"{file}:{number}: {error}") from error


def _read_edges(graph: MemoryGraph, file: str, lines: Sequence[tuple[int, str]]) -> None:
    head = lines[0][1].split("\t") if lines else []
    if tuple(head[:3]) != COLUMNS:
        raise DataError(f"{file}:1: {head_problem(head[0] if head else '')}")
    rows = [(number, line.split("\t")) for number, line in lines[1:]]
    if wrong := next((number for number, cells in rows if len(cells) != len(head)), None):
        raise DataError(f"{file}:{wrong}: expected {', '.join(head)}")
    values = _properties_of_rows(head, [cells for _, cells in rows])
    for (number, cells), given in zip(rows, values, strict=True):
        try:
            graph.add_edge(cells[0], cells[1], cells[2], **given)
        except DataError as error:
            raise DataError(f"{file}:{number}: {error}") from error


def _properties_of_rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """The further columns of each row; empty cells are left out."""
    by_edge: dict[str, list[int]] = defaultdict(list)
    for index, cells in enumerate(rows):
        by_edge[cells[1]].append(index)
    given: list[dict[str, Any]] = [{} for _ in rows]
    for number, name in enumerate(head[3:], 3):
        for indices in by_edge.values():
            for index, value in zip(indices, column(rows[i][number] for i in indices), strict=True):
                if value is not None:
                    given[index][name] = value
    return given
