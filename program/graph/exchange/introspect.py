"""The schema of a LadybugDB database: as the import recorded it, or else derived from the database's tables."""

from __future__ import annotations

from typing import Any

from ....errors import DataError
from ....signatures.graph_steps import EdgeType, GraphSchema, NodeType, PropertyType
from ..executors.cypher import LOOKUP, META, column_kind, literal

_SHOWN = ("name", "title", "label")
"""Columns that name a node for a person, the first that is there; else its primary key does."""

_DETAIL = {"number": "number", "boolean": "boolean", "text": "text"}


def read_database_schema(connection: Any, where: str) -> tuple[GraphSchema, str | None]:
    """The schema, and the fingerprint that an import wrote; None for a database that something else wrote.

    Raises:
        DataError: the database has no node table.
        RuntimeError: what the database raises.
    """
    tables = connection.execute("CALL show_tables() RETURN name, type, comment").get_all()
    if any(name == META for name, _, _ in tables):
        kept = dict(connection.execute(f"MATCH (m:`{META}`) RETURN m.id, m.text").get_all())
        return GraphSchema.model_validate_json(kept["schema"]), kept["fingerprint"]
    nodes = [_node(connection, n, said) for n, kind, said in tables if kind == "NODE" and n not in (META, LOOKUP)]
    if not nodes:
        raise DataError(f"{where} has no node table, so it is no graph")
    edges = [edge for name, kind, said in tables if kind == "REL" for edge in _edges(connection, name, said)]
    return GraphSchema(nodes=tuple(nodes), edges=tuple(edges)), None


def _columns(connection: Any, table: str) -> list[tuple[str, str, bool]]:
    """(name, kind, is the primary key) of each column."""
    result = connection.execute(f"CALL table_info({literal(table)}) RETURN *")
    at = {name: index for index, name in enumerate(result.get_column_names())}
    key = at.get("primary key")
    return [
        (row[at["name"]], column_kind(row[at["type"]]), bool(key is not None and row[key])) for row in result.get_all()
    ]


def _node(connection: Any, name: str, said: str) -> NodeType:
    columns = _columns(connection, name)
    key = next(column for column, _, primary in columns if primary)
    shown = next((c for c in _SHOWN if c in {column for column, _, _ in columns}), key)
    own = [(column, kind) for column, kind, _ in columns if column not in (key, shown, "id", "name")]
    return NodeType(
        name=name, description=said or "", key=key, shown=shown, properties=_names(own), details=_details(own)
    )


def _edges(connection: Any, table: str, said: str) -> list[EdgeType]:
    """An edge type for each pair of node types that a relation joins."""
    pairs = connection.execute(f"CALL show_connection({literal(table)}) RETURN *").get_all()
    own = [(column, kind) for column, kind, _ in _columns(connection, table)]
    told: dict[str, Any] = {"description": said or "", "properties": _names(own), "details": _details(own)}
    if len(pairs) == 1:
        return [EdgeType(name=table, source=pairs[0][0], target=pairs[0][1], **told)]
    return [
        EdgeType(name=f"{table} {row[0]} {row[1]}", source=row[0], target=row[1], label=table, **told) for row in pairs
    ]


def _names(columns: list[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(name for name, kind in columns if kind != "other")


def _details(columns: list[tuple[str, str]]) -> tuple[PropertyType, ...]:
    made = ((name, _DETAIL.get(kind)) for name, kind in columns)
    return tuple(PropertyType(name=name, kind=kind) for name, kind in made if kind)  # type: ignore[arg-type]
