"""Reads nodes and edges from files; checks every line against a schema, and names wrong ones by file and line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from ....errors import DataError
from ....signatures.graph_steps import EdgeType, GraphSchema, NodeType, PropertyType
from ..executors.conditions import as_number, kind_of, storable

SEPARATORS = {",": "commas", ";": "semicolons", "|": "bars"}
"""Separators that tables are often written with instead of tabs."""
NAMED = 20
"""The most wrong lines that are named; the others are counted."""


class NodeLine(NamedTuple):
    """A node as a line tells it, with the properties that its schema lists."""

    id: str
    name: str
    kind: str
    properties: Mapping[str, Any]
    unlisted: tuple[str, ...] = ()


class EdgeLine(NamedTuple):
    """An edge as a line tells it. (A tuple: a frozen dataclass made an import of 620,000 edges a third slower.)"""

    source: str
    edge: str
    target: str
    properties: Mapping[str, Any]


@dataclass
class _Lines:
    """A file of lines, and what was found wrong with it."""

    path: Path
    schema: GraphSchema
    problems: list[str] = field(default_factory=list)
    wrong: int = 0
    unlisted: Counter[str] = field(default_factory=Counter)
    strange: Counter[str] = field(default_factory=Counter)
    kinds: dict[tuple[str, str], str] = field(default_factory=dict)

    def raw(self) -> Iterator[tuple[int, bytes]]:
        """(number, line) of every line that is not empty.

        Raises:
            DataError: the file cannot be read, or is no whole gzip file.
        """
        try:
            with gzip.open(self.path) if self.path.suffix == ".gz" else self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield number, line
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{self.path} cannot be read: {error}") from error

    def bad(self, number: int, said: str) -> None:
        """Remember a wrong line."""
        self.wrong += 1
        if len(self.problems) < NAMED:
            self.problems.append(f"{self.path.name}:{number}: {said}")

    def refuse_problems(self) -> None:
        """Stop if any line was wrong.

        Raises:
            DataError: the first wrong lines are named, the others counted.
        """
        if self.problems:
            more = self.wrong - len(self.problems)
            raise DataError("\n".join([*self.problems, *([f"and {more:,} more lines"] if more else [])]))

    def left_out(self) -> tuple[str, ...]:
        """Types and properties that the schema does not list, one sentence each."""
        return (*self.strangers(), *(_left_out(what, count) for what, count in self.unlisted.items()))

    def strangers(self) -> tuple[str, ...]:
        """Types that the schema does not list, one sentence each; lines of such types are left out as a whole."""
        known = [node.name for node in self.schema.nodes]
        return tuple(
            _left_out(f"nodes of type {name!r:.60}", count) + nearest_of(name, known)
            for name, count in self.strange.items()
        )

    def kind_of(self, kind: NodeType | EdgeType, name: str) -> str:
        """The kind of a property's values: as declared, else that of the first value found, else text."""
        told = kind.property_type(name)
        if told is not None:
            return "text" if told.kind == "enum" else told.kind
        return self.kinds.get((kind.name, name), "text")

    def fits(self, number: int, kind: NodeType | EdgeType, name: str, value: Any) -> bool:
        """Whether a value is of its property's kind; the first value of an undeclared one decides."""
        found = kind_of(value)
        told = kind.property_type(name)
        if value == "" or not storable(value):
            expected = "text, a finite number that 64 bits hold exactly, true or false"
            self.bad(number, f"{name} of {kind.name} must be {expected}, not {value!r:.60}")
            return False
        wanted = self.kind_of(kind, name) if told else self.kinds.setdefault((kind.name, name), found)
        if found != wanted:
            advice = "" if told else "; declare its kind in the schema"
            self.bad(number, f"{name} of {kind.name} is a {wanted}, not {value!r:.60}{advice}")
            return False
        if told and told.values and value not in told.values:
            self.bad(number, f"{name} of {kind.name} is one of {', '.join(told.values)}, not {value!r:.60}")
            return False
        if told and told.kind == "number" and (bound := _out_of_bounds(value, told)):
            self.bad(number, f"{name} of {kind.name} is {bound}, not {value!r:.60}; mend the line or the schema")
            return False
        return True


@dataclass
class NodeLines(_Lines):
    """JSON lines with ``id``, ``name`` and ``type`` (or ``kind``).

    Nodes of types that the schema does not have are left out; an edge that joins one is wrong. After
    :meth:`check`, ``types`` has the type of each id, and ``dropped`` those of nodes that were left out.
    """

    types: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._names: dict[str, NodeType] = {}
        for node in self.schema.nodes:
            # Hetionet's files write `Side Effect` where its databases have `SideEffect`.
            for spelling in (*node.aliases, node.name):
                self._names[spelling] = self._names[spelling.replace(" ", "")] = node

    def check(self) -> Iterator[bytes]:
        """Check every line once, yielding it."""
        self.unlisted.clear()
        self.strange.clear()
        for number, line in self.raw():
            if (node := self._read(number, line)) is not None:
                self._check(number, node)
            yield line

    def lines(self) -> Iterator[NodeLine]:
        """Every node of a file that was checked."""
        for number, line in self.raw():
            if (told := self._read(number, line)) is not None:
                yield told

    def _read(self, number: int, line: bytes) -> NodeLine | None:
        try:
            told = json.loads(line)
            kind = self._names.get(str(told.get("type", told.get("kind"))).replace(" ", ""))
            made = NodeLine(told["id"], told["name"], kind.name if kind else "", {})
        except UnicodeDecodeError:
            self.bad(number, "the line is not UTF-8")
            return None
        except (ValueError, KeyError, AttributeError, RecursionError):
            self.bad(number, "expected a JSON object with id, name and type")
            return None
        if kind is None:
            self.strange[stranger := str(told.get("type", told.get("kind")))] += 1
            self.dropped[str(made.id)] = stranger
            return None
        if "properties" not in kind.properties and isinstance(nested := told.get("properties"), dict):
            told = {**nested, **{name: value for name, value in told.items() if name != "properties"}}
        listed = {name: value for name, value in told.items() if name in kind.properties and value is not None}
        unlisted = told.keys() - {"id", "name", "type", "kind", *kind.properties}
        return made._replace(properties=listed, unlisted=tuple(unlisted))

    def _check(self, number: int, node: NodeLine) -> None:
        if not all(isinstance(text, str) and text and storable(text) for text in (node.id, node.name)):
            self.bad(number, "id and name must be text that is not empty")
            return
        if node.id in self.types:
            self.bad(number, f"two nodes have the id {node.id!r:.60}")
        self.types[node.id] = node.kind
        self.unlisted.update(f"{name} of {node.kind}" for name in node.unlisted)
        kind = self.schema.node(node.kind)
        assert kind is not None
        for name, value in node.properties.items():
            self.fits(number, kind, name, value)


class EdgeLines(_Lines):
    """Tab-separated lines with a header; the first three columns are source, edge and target."""

    def __init__(self, path: Path, schema: GraphSchema, nodes: NodeLines) -> None:
        super().__init__(path, schema)
        self.nodes = nodes
        self._names = {spelling: edge for edge in schema.edges for spelling in (*edge.aliases, edge.name)}
        self._columns: list[str] = []
        self._texts: set[tuple[str, str]] = set()

    def check(self) -> Iterator[bytes]:
        """Check every line once, yielding it."""
        for number, line in self.raw():
            if not self._columns:
                self._head(number, line)
            elif (cells := self._cells(number, line)) is not None:
                self._check(number, cells)
            yield line
        if not self._columns:
            self.bad(1, head_problem(""))

    def lines(self) -> Iterator[EdgeLine]:
        """Every edge of a file that was checked."""
        for index, (number, line) in enumerate(self.raw()):
            if index:
                cells = self._cells(number, line)
                assert cells is not None, "the file changed while it was read"
                yield self._edge(cells)

    def kind_of(self, kind: NodeType | EdgeType, name: str) -> str:
        """As declared; otherwise a number if every cell of the edge type is one, else text."""
        if kind.property_type(name) is not None:
            return super().kind_of(kind, name)
        return "text" if (kind.name, name) in self._texts or name not in self._columns else "number"

    def _head(self, number: int, line: bytes) -> None:
        self._columns = line.decode("utf-8-sig", "replace").rstrip("\r\n").split("\t")
        if len(self._columns) < 3 or (self._columns[0], self._columns[2]) != ("source", "target"):
            self.bad(number, head_problem(self._columns[0]))
            raise DataError(self.problems[-1])

    def _cells(self, number: int, line: bytes) -> list[str] | None:
        try:
            cells = line.decode("utf-8").rstrip("\r\n").split("\t")
        except UnicodeDecodeError:
            self.bad(number, "the line is not UTF-8")
            return None
        if len(cells) != len(self._columns):
            self.bad(number, f"expected {len(self._columns)} columns: {', '.join(self._columns)}")
            return None
        return cells

    def _check(self, number: int, cells: list[str]) -> None:
        source, name, target = cells[:3]
        edge = self._names.get(name)
        if edge is None:
            known = [e.name for e in self.schema.edges]
            self.bad(number, f"the edge {name!r:.60} is none of {', '.join(known)}{nearest_of(name, known)}")
            return
        types = self.nodes.types
        if types.get(source) != edge.source or types.get(target) != edge.target:
            self._check_ends(number, edge, source, target)
        if len(cells) > 3:
            self._check_properties(number, edge, cells)

    def _check_ends(self, number: int, edge: EdgeType, source: str, target: str) -> None:
        name = edge.name
        for node, wanted in ((source, edge.source), (target, edge.target)):
            if node in self.nodes.dropped:
                known = [each.name for each in self.schema.nodes]
                kind = self.nodes.dropped[node]
                said = f"a {kind!r:.60}, which the schema does not have{nearest_of(kind, known)}"
                self.bad(number, f"edge {name} joins {node!r:.60}, {said}")
            elif node not in self.nodes.types:
                self.bad(number, f"edge {name} joins the unknown node {node!r:.60}")
            elif self.nodes.types[node] != wanted:
                found = self.nodes.types[node]
                self.bad(number, f"edge {name} joins {edge.source} to {edge.target}, and {node!r:.60} is a {found}")

    def _check_properties(self, number: int, edge: EdgeType, cells: list[str]) -> None:
        for name, cell in zip(self._columns[3:], cells[3:], strict=True):
            if not cell:
                continue
            if name not in edge.properties:
                self.unlisted[f"{name} of {edge.name}"] += 1
                continue
            if edge.property_type(name) is not None:
                self.fits(number, edge, name, _cell(cell, super().kind_of(edge, name)))
            elif as_number(cell) is None:
                self._texts.add((edge.name, name))

    def _edge(self, cells: list[str]) -> EdgeLine:
        edge = self._names[cells[1]]
        if len(cells) == 3:
            return EdgeLine(cells[0], edge.name, cells[2], {})
        given = {
            name: _cell(cell, self.kind_of(edge, name))
            for name, cell in zip(self._columns[3:], cells[3:], strict=True)
            if cell and name in edge.properties
        }
        return EdgeLine(cells[0], edge.name, cells[2], given)


def head_problem(line: str) -> str:
    """What is wrong with the first line of an edge file that lacks the expected tab-separated columns."""
    said = "the first line must name the columns source, edge, target with tabs between them"
    found = next((name for sign, name in SEPARATORS.items() if len(line.split(sign)) >= 3), None)
    return said if found is None else f"{said}, not {found}; separate every line by tabs"


def nearest_of(name: str, known: Sequence[str]) -> str:
    """The end of a sentence that suggests the known name nearest to a wrong one; empty where none is like it."""
    same = {each.casefold(): each for each in known}
    near = get_close_matches(name.casefold(), same, n=2)
    return f" (nearest: {', '.join(same[each] for each in near)})" if near else ""


def _out_of_bounds(value: float, told: PropertyType) -> str:
    """Which of its property's bounds a number does not keep, in words; empty if it keeps both."""
    if told.minimum is not None and value < told.minimum:
        return f"at least {told.minimum:g}"
    return f"at most {told.maximum:g}" if told.maximum is not None and value > told.maximum else ""


def _left_out(what: str, count: int) -> str:
    return f"{what}: not in the schema, {count:,} {'time' if count == 1 else 'times'}"


def _cell(cell: str, kind: str) -> Any:
    """A cell as a value of a kind, or itself if it is none."""
    if kind == "number":
        number = as_number(cell)
        return cell if number is None else number
    if kind == "boolean":
        return {"true": True, "false": False}.get(cell.lower(), cell)
    return cell
