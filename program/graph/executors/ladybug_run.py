"""One run of a plan on LadybugDB: as many steps as fit in one statement, and the others one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ....signatures.graph_steps import ExpandStep, FilterStep, GraphStep, NodeRef, NodeType
from ..wording import used_by
from .conditions import Properties, passes, reference_keys
from .cypher import LOOKUP, Chain, Hop, Statement, can_compile, quoted, relation, stored
from .stepping import Gap, RunClock, StepRun

if TYPE_CHECKING:
    from .ladybug import LadybugGraph

MANY_PATHS = 50_000
"""The number of paths, estimated from the edges' mean fan-out, from which only distinct nodes are carried on."""

MOST_HOPS = 4
"""The most hops in one statement. The database takes 40 ms to prepare four, a second for eight and eight seconds for
twenty, and does not look at the deadline meanwhile."""

FEW = 4
"""The number of neighbours read of each node where only the question is whether a plan finds anything.

Each statement follows one step from one node. There are only two such statements for each edge type, and from the
second time on one takes 0.1 ms.
"""

MANY_EXCLUDED = 200
"""More excluded nodes than this are taken out after the statement instead of in it."""


@dataclass(frozen=True)
class LadybugView:
    """A database as one run sees it: with its deadline."""

    graph: LadybugGraph
    clock: RunClock

    def rows(self, statement: Statement) -> list[list[Any]]:
        """What a statement returns before the deadline."""
        self.clock.check("a statement")
        return self.graph.rows(statement, self.clock.left())

    def find(self, ref: NodeRef) -> list[str]:
        """Ids of the nodes that a reference means."""
        node = self.node(ref.type)
        keys = reference_keys(ref.name)
        if self.graph.has_lookup:
            given = {"keys": [lookup_id(ref.type, ref.field, key) for key in keys]}
            text = f"UNWIND $keys AS k MATCH (n:{quoted(LOOKUP)} {{id: k}}) RETURN n.ids"
            return sorted({str(i) for (ids,) in self.rows(Statement(text, given)) for i in ids})
        column = f"n.{quoted(stored(node, ref.field))}"
        # A database that we did not write has no look-up table: every node of the type is read.
        text = (
            f"MATCH (n:{quoted(node.name)}) WHERE lower(CAST({column} AS STRING)) IN $words RETURN n.{quoted(node.key)}"
        )
        words = sorted({ref.name.lower(), *(key[2:] for key in keys), *_as_doubles(keys)})
        return sorted({str(row[0]) for row in self.rows(Statement(text, {"words": words}))})

    def reach(self, ids: Sequence[str], kind: str, step: ExpandStep) -> dict[str, tuple[str, str]]:
        """What a step reaches from some nodes, each with one (node, edge type) that it was reached from."""
        if not ids:
            return {}
        hop = Hop.of(step.model_copy(update={"node_where": ()}), self.graph.schema)
        told = "".join(f", e1.{quoted(c.property)}" for c in step.where)
        returning = f"n0.{quoted(self.node(kind).key)}, label(e1), {{end}}.{quoted(hop.target.key)}{told}"
        labels = {relation(edge): edge.name for edge in hop.edges}
        reached: dict[str, tuple[str, str]] = {}
        for start, label, end, *values in self.rows(self.chain(kind, ids).then(hop).statement(returning)):
            if all(passes({c.property: value}, [c]) for c, value in zip(step.where, values, strict=True)):
                reached.setdefault(str(end), (str(start), labels.get(label, str(label))))
        if step.node_where:
            told_of = self.look_up(list(reached), hop.target.name)
            reached = {node: origin for node, origin in reached.items() if passes(told_of[node], step.node_where)}
        return reached

    def look_up(self, ids: Sequence[str], kind: str) -> Mapping[str, Properties]:
        """The properties of nodes, ``id`` and ``name`` among them."""
        if not ids:
            return {}
        node = self.node(kind)
        columns = [node.key, node.shown, *node.properties]
        returning = ", ".join(f"{{end}}.{quoted(column)}" for column in columns)
        found: dict[str, Properties] = {}
        for key, name, *values in self.rows(self.chain(kind, ids).statement(returning)):
            told = dict(zip(node.properties, values, strict=True))
            found[str(key)] = {**told, "id": str(key), "name": shown(key, name)}
        return found

    def degrees(self, ids: Sequence[str], kind: str, edge: str) -> dict[str, int]:
        """How many nodes each node is joined to by edges of a type, either way."""
        hop = self._either_way(kind, edge)
        returning = f"n0.{quoted(self.node(kind).key)}, count(DISTINCT {{end}}.{quoted(hop.target.key)})"
        counted = dict.fromkeys(ids, 0)
        rows = self.rows(self.chain(kind, ids).then(hop).statement(returning)) if ids else []
        return {**counted, **{str(node): int(count) for node, count in rows}}

    def most_joined(self, kind: str, edge: str) -> int:
        """The most nodes that a node of a type is joined to by edges of a type, either way."""
        hop = self._either_way(kind, edge)
        pattern = f"(n0:{quoted(kind)}){hop.arrow('e1')}(n1:{quoted(hop.target.name)})"
        counted = f"n0.{quoted(self.node(kind).key)}, count(DISTINCT n1.{quoted(hop.target.key)}) AS c"
        rows = self.rows(Statement(f"MATCH {pattern} RETURN {counted} ORDER BY c DESC LIMIT 1", {}))
        return int(rows[0][1]) if rows else 0

    def _either_way(self, kind: str, edge: str) -> Hop:
        """The hop over an edge type from nodes of a type, in both directions where it may be followed in both."""
        declared = self.graph.schema.edge(edge)
        assert declared is not None
        both = declared.source == declared.target
        direction: Any = "any" if both else "out" if declared.source == kind else "in"
        step = ExpandStep(store_as="d", start="s", edge=edge, direction=direction)
        return Hop.of(step, self.graph.schema)

    def node(self, kind: str) -> NodeType:
        """A node type of the schema."""
        found = self.graph.schema.node(kind)
        if found is None:
            raise Gap(f"{self.graph.path.name} has no node type {kind!r}")
        return found

    def keys(self, kind: str, ids: Collection[str]) -> tuple[Any, ...]:
        """Ids as the database has them."""
        node = self.node(kind)
        number = self.graph.node_kinds[kind].get(node.key) == "number"
        return tuple(int(i) if number else i for i in ids)

    def chain(self, kind: str, ids: Collection[str]) -> Chain:
        """A chain that starts at some nodes."""
        return Chain(self.node(kind), self.keys(kind, ids), self.graph.node_kinds)


@dataclass
class Few:
    """A few of the nodes that steps lead to; ``cut`` if there may be others.

    Attributes:
        kinds: the node type of each step's result.
    """

    view: LadybugView
    kinds: Mapping[str, str]
    cut: bool = False

    def near(self, node: str, step: ExpandStep) -> list[str]:
        """Nodes at the other end of a step from one node."""
        hop = Hop.of(step, self.view.graph.schema)
        whole = self.view.chain(self.kinds[step.start], [node]).then(hop)
        asked = whole.statement(f"{{end}}.{quoted(hop.target.key)} LIMIT {FEW}")
        rows = self.view.rows(asked)
        self.cut |= len(rows) == FEW
        return [str(key) for (key,) in rows]


@dataclass
class CompiledRun(StepRun):
    """A run that puts as many steps as it can into one statement.

    A step that can be compiled is kept as a chain until someone needs its nodes; if the next step is the only
    one to use it, the chain grows instead.
    """

    chains: dict[str, Chain] = field(default_factory=dict)
    likely: dict[str, float] = field(default_factory=dict)

    @property
    def view(self) -> LadybugView:
        """The graph."""
        assert isinstance(self.store, LadybugView)
        return self.store

    @cached_property
    def uses(self) -> Counter[str]:
        """How often each step's result is used."""
        return Counter(name for step in self.plan.steps for name in used_by(step))

    def step(self, step: GraphStep) -> None:
        """Compile a step, or run it."""
        if isinstance(step, ExpandStep) and not step.where and can_compile(step.node_where):
            self._grow(step)
        elif isinstance(step, FilterStep) and step.start in self.chains and can_compile(step.conditions):
            self._keep(step.store_as, self.chains[step.start].filtered(step.conditions), self.likely[step.start])
        else:
            super().step(step)

    def _grow(self, step: ExpandStep) -> None:
        excluded = {node for name in step.exclude for node in self.ids(name)}
        if len(excluded) > MANY_EXCLUDED:
            super().step(step)
            return
        chain, paths = self._base(step.start)
        if not chain.ids:
            self.found[step.store_as] = []
            return
        without = self.view.keys(self.kind(step.store_as), sorted(excluded))
        many = paths > MANY_PATHS
        paths = min(paths, self.view.graph.sizes[chain.end.name]) if many else paths
        hop = Hop.of(step, self.view.graph.schema, without, distinct=many and bool(chain.hops))
        self._keep(step.store_as, chain.then(hop), paths * self.view.graph.fan_out(step))

    def _base(self, name: str) -> tuple[Chain, float]:
        """The chain that a step goes on from, and how many paths it is likely to have."""
        chain = self.chains.get(name)
        if chain is not None and self.uses[name] == 1 and not chain.tested and len(chain.hops) < MOST_HOPS:
            return chain, self.likely[name]
        ids = self.ids(name)
        return self.view.chain(self.kind(name), ids), len(ids)

    def _keep(self, name: str, chain: Chain, paths: float) -> None:
        self.chains[name], self.likely[name] = chain, paths

    def ids(self, name: str) -> list[str]:
        """What a step found; a chain is run now."""
        if name not in self.found:
            self.named(name)
        return self.found[name]

    def size(self, name: str) -> int:
        """How many nodes a step found; of a chain they are only counted."""
        if name in self.found:
            return len(self.found[name])
        chain = self.chains[name]
        return int(self.view.rows(chain.statement(f"count(DISTINCT {{end}}.{quoted(chain.end.key)})"))[0][0])

    def named(self, name: str) -> list[tuple[str, str]]:
        """(name, id) of what a step found."""
        if name in self.found:
            return super().named(name)
        chain = self.chains[name]
        returning = f"DISTINCT {{end}}.{quoted(chain.end.key)}, {{end}}.{quoted(chain.end.shown)}"
        rows = self.view.rows(chain.statement(returning))
        found = sorted((shown(key, given), str(key)) for key, given in rows)
        self.found[name] = [node for _, node in found]
        return found


def lookup_id(kind: str, name: str, key: str) -> str:
    """The key of the look-up table for a value of a property."""
    return "\x1f".join((kind, name, key))


def _as_doubles(keys: Sequence[str]) -> list[str]:
    """How the database writes the numbers among some keys."""
    return [f"{float(key[2:]):.6f}" for key in keys if key.startswith("n:")]


def shown(key: object, name: object) -> str:
    """The name of a node, or its key where it has none."""
    return str(key if name is None else name)
