"""Checking graph plans against a schema, and running them over a small graph in memory.

So far anchor and expand. The checker is static and total: a plan it passes can be run, and the
answer's type is known.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DataError
from ..signatures.types import AnchorStep, ExpandStep, GraphPlan, GraphSchema, NodeRef


def check_graph_plan(plan: GraphPlan, schema: GraphSchema) -> list[str]:
    """What is wrong with a plan, each a sentence that says what would be right; empty if nothing."""
    problems: list[str] = []
    types: dict[str, str] = {}
    for step in plan.steps:
        if step.store_as in types:
            problems.append(f"{step.store_as!r} is stored twice")
        if isinstance(step, AnchorStep):
            problems += _check_anchor(step, schema)
            types[step.store_as] = step.node.type
        else:
            problems += _check_expand(step, schema, types)
            edge = schema.edge(step.edge)
            types[step.store_as] = (edge.target if step.direction == "out" else edge.source) if edge else ""
    used = {step.start for step in plan.steps if isinstance(step, ExpandStep)} | {plan.steps[-1].store_as}
    return problems + [f"the result of {name!r} is never used" for name in types if name not in used]


def _check_anchor(step: AnchorStep, schema: GraphSchema) -> list[str]:
    known = [node.name for node in schema.nodes]
    return (
        [] if step.node.type in known else [f"there is no node type {step.node.type!r}; use one of {', '.join(known)}"]
    )


def _check_expand(step: ExpandStep, schema: GraphSchema, types: dict[str, str]) -> list[str]:
    edge = schema.edge(step.edge)
    if edge is None:
        return [f"there is no edge {step.edge!r}; use one of {', '.join(e.name for e in schema.edges)}"]
    if step.start not in types:
        return [f"step {step.store_as!r} starts from {step.start!r}, which no earlier step stores"]
    wanted = edge.source if step.direction == "out" else edge.target
    if types[step.start] != wanted:
        return [
            f"edge {edge.name} joins {edge.source} to {edge.target}; "
            f"going {step.direction} it starts at {wanted}, not {types[step.start]}"
        ]
    return []


@dataclass(frozen=True)
class GraphAnswer:
    """What a plan found: names, sorted, and the names it could not find in the graph."""

    names: tuple[str, ...]
    unknown: tuple[NodeRef, ...] = ()


@dataclass
class MemoryGraph:
    """A graph small enough to hold: nodes by id, edges by (type, direction)."""

    names: dict[str, str] = field(default_factory=dict)
    _by_name: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    _neighbours: dict[tuple[str, str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def add_node(self, node_id: str, name: str, node_type: str) -> None:
        """Add a node; names are matched without regard to case."""
        self.names[node_id] = name
        self._by_name[(node_type, name.casefold())].add(node_id)

    def add_edge(self, source: str, edge: str, target: str) -> None:
        """Add an edge between nodes that are there."""
        for node in (source, target):
            if node not in self.names:
                raise DataError(f"edge {edge} joins the unknown node {node!r}")
        self._neighbours[(edge, "out", source)].add(target)
        self._neighbours[(edge, "in", target)].add(source)

    def run(self, plan: GraphPlan) -> GraphAnswer:
        """The names of the nodes that the last step stores."""
        found: dict[str, set[str]] = {}
        unknown: list[NodeRef] = []
        for step in plan.steps:
            if isinstance(step, AnchorStep):
                found[step.store_as] = self._by_name.get((step.node.type, step.node.name.casefold()), set())
                unknown += [] if found[step.store_as] else [step.node]
            else:
                start = found.get(step.start, set())
                found[step.store_as] = self._expand(start, step.edge, step.direction)
        return GraphAnswer(tuple(sorted(self.names[n] for n in found[plan.steps[-1].store_as])), tuple(unknown))

    def _expand(self, start: Iterable[str], edge: str, direction: str) -> set[str]:
        return {n for node in start for n in self._neighbours.get((edge, direction, node), ())}


def load_graph(folder: Path) -> MemoryGraph:
    """The graph of a domain: ``graph/nodes.jsonl`` (id, name, type) and ``graph/edges.tsv``.

    Raises:
        DataError: a file is missing or a line is wrong; file and line are named.
    """
    graph = MemoryGraph()
    nodes, edges = folder / "graph" / "nodes.jsonl", folder / "graph" / "edges.tsv"
    try:
        for number, line in enumerate(_lines(nodes), 1):
            try:
                node = json.loads(line)
                graph.add_node(node["id"], node["name"], node["type"])
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise DataError(f"{nodes.name}:{number}: expected id, name and type") from error
        for number, line in enumerate(_lines(edges)[1:], 2):
            cells = line.split("\t")
            if len(cells) != 3:
                raise DataError(f"{edges.name}:{number}: expected source, edge and target")
            try:
                graph.add_edge(*cells)
            except DataError as error:
                raise DataError(f"{edges.name}:{number}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the graph of {folder.name} cannot be read: {error}") from error
    return graph


def _lines(path: Path) -> list[str]:
    """Lines end with a line feed alone: a name may hold U+2028."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
