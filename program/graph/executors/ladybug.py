"""Runs graph plans on LadybugDB, a graph database in this process.

Databases are opened read-only, because a handle that may write locks out every other that may. A chain of steps from
an anchor becomes one statement; what does not fit into one (set operations, ordering, ``contains``, results used
twice) is done step by step with statements in between. Values are parameters; names come from the schema.

LadybugDB 0.22 gives wrong rows where a pattern goes on after a filter. So conditions on edges are tested here and not
in a statement, and a statement ends at a hop whose nodes are tested. Without the first, 12 of 1,500 generated plans
were answered wrongly; without the second, 2 of 10,000.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from ....data.fingerprints import text_fingerprint
from ....errors import DataError
from ....signatures.graph_steps import (
    ExpandStep,
    GraphPlan,
    GraphSchema,
    NodeRef,
)
from ..check import Kinds, check_graph_plan, step_types
from ..executor import GraphAnswer, ill_typed
from .cypher import (
    LOOKUP,
    Statement,
    check_names,
    column_kind,
    literal,
    quoted,
    relation,
)
from .glance import leads_somewhere, trail_of
from .ladybug_run import CompiledRun, Few, LadybugView, shown
from .native import load_ladybug
from .stepping import Gap, RunClock, StepRun


class LadybugGraph:
    """A LadybugDB database file, opened read-only."""

    def __init__(self, path: Path, database: Any, schema: GraphSchema, stored_fingerprint: str | None) -> None:
        self.path = path
        self._schema = schema
        self._database = database
        self._fingerprint = stored_fingerprint
        self._open: list[Any] = []
        self._idle: deque[Any] = deque()

    @property
    def schema(self) -> GraphSchema:
        """The schema of the database, or of the part that is used."""
        return self._schema

    @property
    def fingerprint(self) -> str:
        """The fingerprint that the import recorded, or else a hash of the schema and the counts of each type."""
        if self._fingerprint is None:
            schema = self.schema.model_dump_json(exclude_defaults=True)
            self._fingerprint = text_fingerprint(f"{schema} {sorted(self.sizes.items())}")
        return self._fingerprint

    def run(
        self, plan: GraphPlan, *, cap: int | None = None, deadline_s: float | None = None, paths: bool = False
    ) -> GraphAnswer:
        """Run a plan; one that does not fit the schema is refused, since labels come from the schema alone."""
        kinds = step_types(plan, self.schema)
        if kinds is None:
            return ill_typed(check_graph_plan(plan, self.schema))
        clock = RunClock(deadline_s)
        view = LadybugView(self, clock)
        made = StepRun if paths else CompiledRun
        return made(view, plan, kinds, clock, cap, paths).answer()

    def finds(self, plan: GraphPlan) -> bool:
        """Whether a plan finds anything; first following a chain to a few nodes nearly always settles it."""
        trail, kinds = trail_of(plan), step_types(plan, self.schema)
        if trail is None or kinds is None:
            return bool(self.run(plan, cap=1).names)
        few = Few(LadybugView(self, RunClock()), kinds)
        try:
            found = leads_somewhere({node for ref in trail.anchors for node in self.find(ref)}, trail.hops, few.near)
        except Gap:
            return False
        return found or (few.cut and bool(self.run(plan, cap=1).names))

    def most_joined(self, kind: str, edge: str) -> int:
        """The most nodes that a node of a type is joined to by edges of a type, either way."""
        return LadybugView(self, RunClock()).most_joined(kind, edge)

    def find(self, ref: NodeRef) -> list[str]:
        """Ids of the nodes that a reference means."""
        return LadybugView(self, RunClock()).find(ref)

    def names(self, kind: str | None = None) -> Iterator[tuple[str, str, str]]:
        """(id, name, type) of every node, or of those of one type."""
        for node in self.schema.nodes:
            if kind not in (None, node.name):
                continue
            text = f"MATCH (n:{quoted(node.name)}) RETURN n.{quoted(node.key)}, n.{quoted(node.shown)}"
            for key, name in self.rows(Statement(text, {})):
                yield str(key), shown(key, name), node.name

    def close(self) -> None:
        """Close the database file."""
        for connection in self._open:
            connection.close()
        self._open.clear()
        self._idle.clear()
        self._database.close()

    def rows(self, statement: Statement, timeout_s: float | None = None) -> list[list[Any]]:
        """The rows that a statement returns.

        Raises:
            Gap: it could not be run, or not in time.
        """
        try:
            with self._connection() as connection:
                # Zero means no limit, so less than a millisecond is rounded up.
                connection.set_query_timeout(0 if timeout_s is None else max(1, int(timeout_s * 1000)))
                with connection.execute(statement.text, statement.parameters) as result:
                    return result.get_all()
        except RuntimeError as error:
            if "nterrupt" in str(error):
                raise Gap(f"{self.path.name} did not answer within the deadline; give it more time") from error
            raise Gap(f"{self.path.name} could not answer a step: {first_line(error)}") from error

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        """A connection that nothing else uses meanwhile; there are as many as were ever needed at once."""
        try:
            connection = self._idle.pop()  # the last one used, which remembers the most statements
        except IndexError:
            # One thread a statement: most take under a millisecond, and several run at once where a server plans.
            connection = load_ladybug().Connection(self._database, num_threads=1)
            self._open.append(connection)
        try:
            yield connection
        finally:
            self._idle.append(connection)

    @cached_property
    def node_kinds(self) -> dict[str, dict[str, str]]:
        """The kinds of columns by node type."""
        return {node.name: self._columns(node.name) for node in self.schema.nodes}

    @cached_property
    def kinds(self) -> Kinds:
        """The kinds of columns by type (or edge) and property, without those that cannot be compared."""
        columns = {edge.name: self._columns(relation(edge)) for edge in self.schema.edges if edge.properties}
        every = {**self.node_kinds, **columns}
        found = {(kind, name): declared for kind, of in every.items() for name, declared in of.items()}
        return {key: kind for key, kind in found.items() if kind != "other"}  # type: ignore[misc]

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
        with self._connection() as connection:
            return LOOKUP in table_names(connection)

    def fan_out(self, step: ExpandStep) -> float:
        """The mean number of nodes that a step reaches from one node."""
        edges = [edge for edge in self.schema.edges if edge.name in step.edges]
        both = 2 if step.direction == "any" else 1
        return sum(both * self.sizes[e.name] / max(1, self.sizes[e.ends(step.direction)[0]]) for e in edges)


def first_line(error: Exception) -> str:
    """The first line of a database's message."""
    return (str(error).splitlines() or ["no reason given"])[0]


def table_names(connection: Any) -> set[str]:
    """All tables of a database."""
    return {row[0] for row in connection.execute("CALL show_tables() RETURN name").get_all()}


def open_ladybug(path: Path, schema: GraphSchema | None = None) -> LadybugGraph:
    """Open a database read-only.

    Args:
        schema: the schema to use, if it is less than all of the database or more than it says itself.

    Raises:
        DataError: it is missing, not a database, locked by a writer, or has names that cannot be used.
    """
    from ..exchange.introspect import read_database_schema

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
