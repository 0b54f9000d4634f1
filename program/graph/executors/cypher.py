"""Translates graph steps into parameterised Cypher.

Values are always parameters. Types and properties cannot be: they are taken from the schema alone and back-quoted,
and a schema with a name that could end the quotes is refused when it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ....errors import DataError
from ....signatures.graph_steps import Condition, EdgeType, ExpandStep, GraphSchema, NodeType
from .conditions import kind_of

META = "_queryplan"
"""The table of an imported database that holds its schema and fingerprint."""

LOOKUP = "_queryplan_names"
"""The table of an imported database that finds nodes by the values of their properties."""

LISTED = 20
"""The most ids that are compared with ``IN`` a list; more are unwound, which was twice as fast at 100 ids and ten times
at 1,000."""

_OPERATORS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "in": "IN"}

_COLUMN_KINDS = ("STRING", "BOOL", "DOUBLE", "FLOAT", "INT", "UINT", "SERIAL", "DECIMAL")


class Statement(NamedTuple):
    """Cypher and its parameters."""

    text: str
    parameters: dict[str, Any]


def quoted(name: str) -> str:
    """A label, relation or property name in back quotes.

    Raises:
        DataError: the name has a back quote or a control character, which could end the quotes.
    """
    if "`" in name or not name.isprintable() or not name.strip():
        raise DataError(f"the graph schema has the name {name!r}: take back quotes and control characters out of it")
    return f"`{name}`"


def literal(name: str) -> str:
    """A table's name as text, for the calls of the database that take no parameters."""
    quoted(name)
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def check_names(schema: GraphSchema) -> None:
    """Refuse a schema whose names cannot be quoted.

    Raises:
        DataError: the name is said.
    """
    for kind in (*schema.nodes, *schema.edges):
        for name in (kind.name, *kind.properties):
            quoted(name)
    for node in schema.nodes:
        quoted(node.key)
        quoted(node.shown)
    for edge in schema.edges:
        quoted(relation(edge))


def relation(edge: EdgeType) -> str:
    """What the database calls an edge type."""
    return edge.label or edge.name


def column_kind(declared: str) -> str:
    """``number``, ``text``, ``boolean`` or ``other`` for the type of a database's column."""
    known = next((kind for kind in _COLUMN_KINDS if declared.startswith(kind)), "")
    if declared.endswith("]") or not known:
        return "other"
    return {"STRING": "text", "BOOL": "boolean"}.get(known, "number")


def stored(node: NodeType, name: str) -> str:
    """What the database calls a property of a node."""
    return {"id": node.key, "name": node.shown}.get(name, name)


@dataclass(frozen=True)
class Tests:
    """Conditions on one variable of a statement as text and parameters.

    ``kinds`` are the kinds of its columns: a value of another kind than its column never passes.
    """

    variable: str
    kinds: Mapping[str, str]
    node: NodeType | None = None

    def compile(self, conditions: Sequence[Condition], parameters: dict[str, Any]) -> list[str]:
        """One test for each condition; values are added to ``parameters``."""
        return [self._one(condition, parameters) for condition in conditions]

    def _one(self, condition: Condition, parameters: dict[str, Any]) -> str:
        name = stored(self.node, condition.property) if self.node else condition.property
        kind = self.kinds.get(name, "other")
        values = [_plain(value) for value in condition.candidates() if kind_of(value) == kind]
        if not values:
            return "false"
        key = f"p{len(parameters)}"
        parameters[key] = values if condition.op == "in" else values[0]
        return f"{self.variable}.{quoted(name)} {_OPERATORS[condition.op]} ${key}"


def _plain(value: Any) -> Any:
    return float(value) if kind_of(value) == "number" else value


def can_compile(conditions: Sequence[Condition]) -> bool:
    """Whether Cypher can test these conditions; not ``contains``, since its ``lower`` is no case folding as ours."""
    return all(condition.op in _OPERATORS for condition in conditions)


@dataclass(frozen=True)
class Hop:
    """One expansion of a chain, without conditions on edges.

    ``without`` has ids that it must not reach. With ``distinct``, distinct nodes are carried on to it instead of paths.
    """

    edges: tuple[EdgeType, ...]
    direction: str
    node_where: tuple[Condition, ...]
    target: NodeType
    without: tuple[Any, ...] = ()
    distinct: bool = False

    @classmethod
    def of(cls, step: ExpandStep, schema: GraphSchema, without: Sequence[Any] = (), distinct: bool = False) -> Hop:
        """The hop of a step that has passed the check."""
        edges = tuple(edge for edge in schema.edges if edge.name in step.edges)
        target = schema.node(edges[0].ends(step.direction)[1])
        assert target is not None
        return cls(edges, step.direction, step.node_where, target, tuple(without), distinct)

    def arrow(self, name: str) -> str:
        """The edge as Cypher draws it."""
        kinds = "|".join(f":{quoted(relation(edge))}" for edge in self.edges)
        left, right = {"in": ("<-", "-"), "out": ("-", "->"), "any": ("-", "-")}[self.direction]
        return f"{left}[{name}{kinds}]{right}"


@dataclass(frozen=True)
class Chain:
    """Some nodes of a type and the hops from them: what one statement can answer.

    Attributes:
        ids: the ids of the nodes that it starts from, as the database has them.
        node_kinds: for each node type, the kind of each column.
    """

    start: NodeType
    ids: tuple[Any, ...]
    node_kinds: Mapping[str, Mapping[str, str]]
    hops: tuple[Hop, ...] = ()

    @property
    def end(self) -> NodeType:
        """The type that it leads to."""
        return self.hops[-1].target if self.hops else self.start

    @property
    def tested(self) -> bool:
        """Whether the nodes that it leads to are tested, so that a statement must end there."""
        return bool(self.hops and (self.hops[-1].node_where or self.hops[-1].without))

    def then(self, hop: Hop) -> Chain:
        """The chain with one more hop."""
        return replace(self, hops=(*self.hops, hop))

    def filtered(self, conditions: Sequence[Condition]) -> Chain:
        """The chain of at least one hop with tests of the nodes that it leads to."""
        last = replace(self.hops[-1], node_where=(*self.hops[-1].node_where, *conditions))
        return replace(self, hops=(*self.hops[:-1], last))

    def statement(self, returning: str) -> Statement:
        """The whole chain; ``returning`` is what to return, with ``{end}`` for the variable of the last node."""
        parameters: dict[str, Any] = {}
        lines, tests = self._begin(parameters)
        pattern = f"(n0:{quoted(self.start.name)})"
        for number, hop in enumerate(self.hops, 1):
            if hop.distinct:
                lines += [f"MATCH {pattern}", *_where(tests), f"WITH DISTINCT n{number - 1}"]
                tests, pattern = [], f"(n{number - 1})"
            pattern += f"{hop.arrow(f'e{number}')}(n{number}:{quoted(hop.target.name)})"
            tests += self._tests(number, hop, parameters)
        lines += [f"MATCH {pattern}", *_where(tests), f"RETURN {returning.format(end=f'n{len(self.hops)}')}"]
        return Statement("\n".join(lines), parameters)

    def _begin(self, parameters: dict[str, Any]) -> tuple[list[str], list[str]]:
        """First lines and the tests of the first node."""
        one, many = len(self.ids) == 1, len(self.ids) > LISTED
        parameters["ids"] = self.ids[0] if one else list(self.ids)
        key = f"n0.{quoted(self.start.key)}"
        anchored = f"{key} = $ids" if one else f"{key} = i" if many else f"{key} IN $ids"
        return ["UNWIND $ids AS i"] if many else [], [anchored]

    def _tests(self, number: int, hop: Hop, parameters: dict[str, Any]) -> list[str]:
        here = f"n{number}"
        tests = Tests(here, self.node_kinds[hop.target.name], hop.target).compile(hop.node_where, parameters)
        if hop.without:
            key = f"p{len(parameters)}"
            parameters[key] = list(hop.without)
            tests.append(f"NOT {here}.{quoted(hop.target.key)} IN ${key}")
        return tests


def _where(tests: Sequence[str]) -> list[str]:
    return [f"WHERE {' AND '.join(tests)}"] if tests else []
