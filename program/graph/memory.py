"""Running graph plans over a graph held in memory, and reading a domain's graph."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

from ...errors import DataError
from ...signatures.graph_steps import (
    AnchorStep,
    Condition,
    CountStep,
    DifferenceStep,
    ExpandStep,
    FilterStep,
    GraphPlan,
    IntersectStep,
    NodeRef,
    OrderStep,
    UnionStep,
)

Properties = Mapping[str, Any]
COLUMNS = ("source", "edge", "target")


@dataclass(frozen=True)
class GraphAnswer:
    """What a plan found.

    ``names`` are sorted, or in order after ``order``; a count is its number as text. ``unknown`` are the
    anchors that the graph does not have.
    """

    names: tuple[str, ...]
    unknown: tuple[NodeRef, ...] = ()


@dataclass
class MemoryGraph:
    """A graph small enough to hold: nodes with their properties, edges by type and direction."""

    nodes: dict[str, Properties] = field(default_factory=dict)
    _by_value: dict[tuple[str, str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    _edges: dict[tuple[str, str, str], dict[str, Properties]] = field(default_factory=lambda: defaultdict(dict))

    def add_node(self, node_id: str, name: str, node_type: str, **properties: Any) -> None:
        """Add a node; names are matched without regard to case.

        Raises:
            DataError: the id is taken.
        """
        if node_id in self.nodes:
            raise DataError(f"two nodes have the id {node_id!r}")
        self.nodes[node_id] = {"id": node_id, "name": name, "type": node_type, **properties}
        for key, value in self.nodes[node_id].items():
            self._by_value[(node_type, key, str(value).casefold())].add(node_id)

    def add_edge(self, source: str, edge: str, target: str, **properties: Any) -> None:
        """Add an edge between nodes that are there.

        Raises:
            DataError: a node is not there.
        """
        for node in (source, target):
            if node not in self.nodes:
                raise DataError(f"edge {edge} joins the unknown node {node!r}")
        self._edges[(edge, "out", source)][target] = properties
        self._edges[(edge, "in", target)][source] = properties

    def run(self, plan: GraphPlan) -> GraphAnswer:
        """Run a plan that has passed the check."""
        return _Run(self).answer(plan)

    def find(self, ref: NodeRef) -> set[str]:
        """Ids of the nodes that a reference means."""
        return set(self._by_value.get((ref.type, ref.field, ref.name.casefold()), ()))

    def neighbours(self, node: str, edge: str, direction: str) -> Mapping[str, Properties]:
        """Ids at the other end of a node's edges of a type, with the edges' properties."""
        if direction != "any":
            return self._edges.get((edge, direction, node), {})
        return {**self._edges.get((edge, "in", node), {}), **self._edges.get((edge, "out", node), {})}


@dataclass
class _Run:
    graph: MemoryGraph
    found: dict[str, list[str]] = field(default_factory=dict)
    unknown: list[NodeRef] = field(default_factory=list)

    def answer(self, plan: GraphPlan) -> GraphAnswer:
        for step in plan.steps:
            if isinstance(step, CountStep):
                return GraphAnswer((str(len(self.found[step.start])),), tuple(self.unknown))
            self.found[step.store_as] = _STEPS[type(step)](self, step)
        last = plan.steps[-1]
        names = [str(self.graph.nodes[n]["name"]) for n in self.found[last.store_as]]
        return GraphAnswer(tuple(names if isinstance(last, OrderStep) else sorted(names)), tuple(self.unknown))

    def anchor(self, step: AnchorStep) -> list[str]:
        nodes = self.graph.find(step.node)
        self.unknown += [] if nodes else [step.node]
        return sorted(nodes)

    def expand(self, step: ExpandStep) -> list[str]:
        excluded = {n for name in step.exclude for n in self.found[name]}
        reached = {
            other
            for node in self.found[step.start]
            for other, properties in self.graph.neighbours(node, step.edge, step.direction).items()
            if passes(properties, step.where)
        }
        return sorted(reached - excluded)

    def union(self, step: UnionStep) -> list[str]:
        return sorted(set().union(*(self.found[name] for name in step.inputs)))

    def intersect(self, step: IntersectStep) -> list[str]:
        return sorted(reduce(set.intersection, (set(self.found[name]) for name in step.inputs)))

    def difference(self, step: DifferenceStep) -> list[str]:
        first, *others = (set(self.found[name]) for name in step.inputs)
        return sorted(first.difference(*others))

    def filter(self, step: FilterStep) -> list[str]:
        return [n for n in self.found[step.start] if passes(self.graph.nodes[n], step.conditions)]

    def order(self, step: OrderStep) -> list[str]:
        known = [n for n in self.found[step.start] if step.property is None or step.property in self.graph.nodes[n]]
        by_name = sorted(known, key=lambda n: str(self.graph.nodes[n]["name"]))
        return sorted(by_name, key=lambda n: self._rank(n, step), reverse=step.descending)[: step.limit]

    def _rank(self, node: str, step: OrderStep) -> Any:
        if step.degree_of is not None:
            return len(self.graph.neighbours(node, step.degree_of, "any"))
        value = self.graph.nodes[node][step.property or "name"]
        # Numbers before everything else: a property of two kinds must not stop a plan that is well-typed.
        return (0, value, "") if isinstance(value, int | float) else (1, 0, str(value))


_STEPS: dict[type, Callable[..., list[str]]] = {
    AnchorStep: _Run.anchor,
    ExpandStep: _Run.expand,
    UnionStep: _Run.union,
    IntersectStep: _Run.intersect,
    DifferenceStep: _Run.difference,
    FilterStep: _Run.filter,
    OrderStep: _Run.order,
}

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "contains": lambda a, b: str(b).casefold() in str(a).casefold(),
}


def passes(properties: Properties, conditions: Sequence[Condition]) -> bool:
    """Whether every condition holds; a missing property, or one of another kind, fails."""
    return all(_holds(properties.get(c.property), c) for c in conditions)


def _holds(value: Any, condition: Condition) -> bool:
    if value is None:
        return False
    numbers = isinstance(value, int | float) and isinstance(condition.value, int | float)
    if not numbers and condition.op != "contains" and type(value) is not type(condition.value):
        return False
    return _COMPARE[condition.op](value, condition.value)


def load_graph(folder: Path) -> MemoryGraph:
    """The graph of a domain: ``graph/nodes.jsonl`` (id, name, type, properties) and ``graph/edges.tsv``.

    Further columns of ``edges.tsv`` are properties of edges.

    Raises:
        DataError: a file is missing or a line is wrong; file and line are named.
    """
    graph = MemoryGraph()
    nodes, edges = folder / "graph" / "nodes.jsonl", folder / "graph" / "edges.tsv"
    try:
        _read_nodes(graph, nodes.name, _lines(nodes))
        _read_edges(graph, edges.name, _lines(edges))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the graph of {folder.name} cannot be read: {error}") from error
    return graph


def _lines(path: Path) -> list[str]:
    """Lines end with a line feed alone: a name may hold U+2028."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def _read_nodes(graph: MemoryGraph, file: str, lines: Iterable[str]) -> None:
    for number, line in enumerate(lines, 1):
        try:
            node = json.loads(line)
            graph.add_node(node.pop("id"), node.pop("name"), node.pop("type"), **node)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{file}:{number}: expected an object with id, name and type") from error
        except DataError as error:
            raise DataError(f"{file}:{number}: {error}") from error


def _read_edges(graph: MemoryGraph, file: str, lines: Sequence[str]) -> None:
    head = lines[0].split("\t") if lines else []
    if tuple(head[:3]) != COLUMNS:
        raise DataError(f"{file}:1: the first line must name the columns {', '.join(COLUMNS)}")
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(head):
            raise DataError(f"{file}:{number}: expected {', '.join(head)}")
        given = {key: _value(cell) for key, cell in zip(head[3:], cells[3:], strict=True) if cell}
        try:
            graph.add_edge(*cells[:3], **given)
        except DataError as error:
            raise DataError(f"{file}:{number}: {error}") from error


def _value(cell: str) -> str | float:
    try:
        return float(cell)
    except ValueError:
        return cell
