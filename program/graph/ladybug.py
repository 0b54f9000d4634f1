"""Graph plans on LadybugDB, a graph database in this process.

Databases are opened read-only: a handle that may write locks out every other that may. A chain of steps from an
anchor becomes one statement; what does not fit (set operations, ordering, ``contains``, results used twice) is
done step by step with statements in between. Values are parameters, names come from the schema.

LadybugDB 0.22 gives wrong rows where a pattern goes on after a filter. So conditions on edges are tested here and
not in a statement, and a statement ends at a hop whose nodes are tested. Without the first, 12 of 1,500 generated
plans were answered wrongly; without the second, 2 of 10,000.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...errors import DataError
from ...signatures.graph_steps import (
    ExpandStep,
    FilterStep,
    GraphPlan,
    GraphSchema,
    GraphStep,
    NodeRef,
    NodeType,
)
from .check import check_graph_plan, step_types
from .conditions import Properties, passes, reference_keys
from .cypher import (
    LOOKUP,
    META,
    Chain,
    Hop,
    Statement,
    can_compile,
    check_names,
    column_kind,
    literal,
    quoted,
    relation,
    stored,
)
from .executor import GraphAnswer, ill_typed
from .glance import leads_somewhere, trail_of
from .native import load_ladybug
from .stepping import Clock, Gap, StepRun
from .wording import used_by

MANY_PATHS = 50_000
"""From so many paths on, by the edges' mean fan-out, only distinct nodes are carried on to the next hop."""

FEW = 4
"""Nodes that a step is followed to from each when it is only asked whether it leads anywhere.

Such a statement takes 0.1 ms from the second time on that it is made, so it has one step from one node:
two for each edge type are all there are.
"""

MANY_EXCLUDED = 200
"""More excluded nodes than this are taken out after the statement instead of in it."""


class LadybugGraph:
    """A database file opened to read."""

    def __init__(self, path: Path, database: Any, schema: GraphSchema, stored_fingerprint: str | None) -> None:
        self.path = path
        self._schema = schema
        self._database = database
        self._fingerprint = stored_fingerprint
        self._local = threading.local()
        self._open: list[Any] = []

    @property
    def schema(self) -> GraphSchema:
        """What the database holds, or what of it is used."""
        return self._schema

    @property
    def fingerprint(self) -> str:
        """What the import wrote down, or else a hash of the schema and of how much there is of each type."""
        if self._fingerprint is None:
            told = f"{self.schema.model_dump_json(exclude_defaults=True)} {sorted(self.sizes.items())}"
            self._fingerprint = hashlib.sha256(told.encode()).hexdigest()[:16]
        return self._fingerprint

    def run(
        self, plan: GraphPlan, *, cap: int | None = None, deadline_s: float | None = None, paths: bool = False
    ) -> GraphAnswer:
        """Run a plan; one that does not fit the schema is not run, since labels come from the schema alone."""
        kinds = step_types(plan, self.schema)
        if kinds is None:
            return ill_typed(check_graph_plan(plan, self.schema))
        clock = Clock(deadline_s)
        view = _View(self, clock)
        made = StepRun if paths else CompiledRun
        return made(view, plan, kinds, clock, cap, paths).answer()

    def finds(self, plan: GraphPlan) -> bool:
        """Whether a plan finds anything: a chain is first followed to a few nodes, which nearly always settles it."""
        trail, kinds = trail_of(plan), step_types(plan, self.schema)
        if trail is None or kinds is None:
            return bool(self.run(plan, cap=1).names)
        few = _Few(_View(self, Clock()), kinds)
        try:
            found = leads_somewhere({node for ref in trail.anchors for node in self.find(ref)}, trail.hops, few.near)
        except Gap:
            return False
        return found or (few.cut and bool(self.run(plan, cap=1).names))

    def find(self, ref: NodeRef) -> list[str]:
        """Ids of the nodes that a reference means."""
        return _View(self, Clock()).find(ref)

    def names(self, kind: str | None = None) -> Iterator[tuple[str, str, str]]:
        """(id, name, type) of every node, or of those of one type."""
        for node in self.schema.nodes:
            if kind not in (None, node.name):
                continue
            text = f"MATCH (n:{quoted(node.name)}) RETURN n.{quoted(node.key)}, n.{quoted(node.shown)}"
            for key, name in self.rows(Statement(text, {})):
                yield str(key), _shown(key, name), node.name

    def close(self) -> None:
        """Close the database file."""
        for connection in self._open:
            connection.close()
        self._open.clear()
        self._database.close()

    def rows(self, statement: Statement, timeout_s: float | None = None) -> list[list[Any]]:
        """What a statement returns.

        Raises:
            Gap: it could not be run, or not in time.
        """
        connection = self._connection()
        # Zero means no limit, so less than a millisecond is rounded up.
        connection.set_query_timeout(0 if timeout_s is None else max(1, int(timeout_s * 1000)))
        try:
            with connection.execute(statement.text, statement.parameters) as result:
                return result.get_all()
        except RuntimeError as error:
            if "nterrupt" in str(error):
                raise Gap(f"{self.path.name} did not answer within the deadline; give it more time") from error
            raise Gap(f"{self.path.name} could not answer a step: {first_line(error)}") from error

    def _connection(self) -> Any:
        """One for each thread."""
        if not hasattr(self._local, "connection"):
            ladybug = load_ladybug()
            # One thread a statement: most take under a millisecond, and several run at once where a server plans.
            self._local.connection = ladybug.Connection(self._database, num_threads=1)
            self._open.append(self._local.connection)
        return self._local.connection

    @cached_property
    def node_kinds(self) -> dict[str, dict[str, str]]:
        """The kinds of columns by node type."""
        return {node.name: self._columns(node.name) for node in self.schema.nodes}

    def _columns(self, table: str) -> dict[str, str]:
        rows = self.rows(Statement(f"CALL table_info({literal(table)}) RETURN name, type", {}))
        return {name: column_kind(declared) for name, declared in rows}

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many nodes or edges there are of each type, by its name."""
        nodes = ((n.name, f"MATCH (n:{quoted(n.name)}) RETURN count(*)") for n in self.schema.nodes)
        edges = (
            (e.name, f"MATCH (:{quoted(e.source)})-[e:{quoted(relation(e))}]->(:{quoted(e.target)}) RETURN count(*)")
            for e in self.schema.edges
        )
        return {name: int(self.rows(Statement(text, {}))[0][0]) for name, text in (*nodes, *edges)}

    @cached_property
    def has_lookup(self) -> bool:
        """Whether the import wrote the table that finds nodes by their values."""
        return LOOKUP in table_names(self._connection())

    def fan_out(self, step: ExpandStep) -> float:
        """How many nodes a step reaches from one node, in the mean."""
        edges = [edge for edge in self.schema.edges if edge.name in step.edges]
        both = 2 if step.direction == "any" else 1
        return sum(both * self.sizes[e.name] / max(1, self.sizes[e.ends(step.direction)[0]]) for e in edges)


@dataclass(frozen=True)
class _View:
    """A graph as one run sees it: with its deadline."""

    graph: LadybugGraph
    clock: Clock

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
        returning = ", ".join(f"{{end}}.{quoted(name)}" for name in columns)
        found: dict[str, Properties] = {}
        for key, shown, *values in self.rows(self.chain(kind, ids).statement(returning)):
            told = dict(zip(node.properties, values, strict=True))
            found[str(key)] = {**told, "id": str(key), "name": _shown(key, shown)}
        return found

    def degrees(self, ids: Sequence[str], kind: str, edge: str) -> dict[str, int]:
        """How many nodes each node is joined to by edges of a type, either way."""
        declared = self.graph.schema.edge(edge)
        assert declared is not None
        both = declared.source == declared.target
        direction: Any = "any" if both else "out" if declared.source == kind else "in"
        step = ExpandStep(store_as="d", start="s", edge=edge, direction=direction)
        hop = Hop.of(step, self.graph.schema)
        returning = f"n0.{quoted(self.node(kind).key)}, count(DISTINCT {{end}}.{quoted(hop.target.key)})"
        counted = dict.fromkeys(ids, 0)
        rows = self.rows(self.chain(kind, ids).then(hop).statement(returning)) if ids else []
        return {**counted, **{str(node): int(count) for node, count in rows}}

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
class _Few:
    """A few of the nodes that steps lead to; ``cut`` if there may be others.

    Attributes:
        kinds: the node type of each step's result.
    """

    view: _View
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
    def view(self) -> _View:
        """The graph."""
        assert isinstance(self.store, _View)
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
        if name in self.chains and self.uses[name] == 1 and not self.chains[name].tested:
            return self.chains[name], self.likely[name]
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
        found = sorted((_shown(key, shown), str(key)) for key, shown in rows)
        self.found[name] = [node for _, node in found]
        return found


def lookup_id(kind: str, name: str, key: str) -> str:
    """The key of the look-up table for a value of a property."""
    return "\x1f".join((kind, name, key))


def _as_doubles(keys: Sequence[str]) -> list[str]:
    """How the database writes the numbers among some keys."""
    return [f"{float(key[2:]):.6f}" for key in keys if key.startswith("n:")]


def _shown(key: object, name: object) -> str:
    return str(key if name is None else name)


def first_line(error: Exception) -> str:
    """The first line of what a database said."""
    return (str(error).splitlines() or ["no reason given"])[0]


def table_names(connection: Any) -> set[str]:
    """All tables of a database."""
    return {row[0] for row in connection.execute("CALL show_tables() RETURN name").get_all()}


def open_ladybug(path: Path, schema: GraphSchema | None = None) -> LadybugGraph:
    """Open a database to read.

    Args:
        schema: what to use of the database, if less than all or more than it says itself.

    Raises:
        DataError: it is missing, no database, locked by a writer, or has names that cannot be used.
    """
    from .introspect import read_database_schema

    ladybug = load_ladybug()
    if not path.is_file():
        raise DataError(f"there is no graph database {path}; make one with `queryplan graph import`")
    try:
        database = ladybug.Database(str(path), read_only=True)
    except RuntimeError as error:
        raise DataError(_why_not_opened(path, error)) from error
    connection = ladybug.Connection(database)
    try:
        told, fingerprint = read_database_schema(connection, path.name)
        used = schema or told
        check_names(used)
    except (RuntimeError, ValueError, DataError) as error:
        connection.close()
        database.close()
        raise DataError(str(error) if isinstance(error, DataError) else f"{path.name}: {first_line(error)}") from error
    connection.close()
    return LadybugGraph(path, database, used, fingerprint)


def _why_not_opened(path: Path, error: Exception) -> str:
    said = first_line(error)
    if "lock" in said.lower():
        return f"{path.name} is open for writing in another process; wait until that is done ({said})"
    if "valid" in said and "database file" in said:
        return f"{path.name} is no LadybugDB database; make one with `queryplan graph import`"
    return f"{path.name} cannot be opened: {said}"


__all__ = ["META", "CompiledRun", "LadybugGraph", "open_ladybug"]
