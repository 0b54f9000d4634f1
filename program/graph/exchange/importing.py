"""Imports nodes and edges into a new LadybugDB database.

Both files are read twice: once to check every line, once to write. So nothing is written if a line is wrong, and
memory holds no more than the nodes' ids and a chunk of rows. The database is written beside its final place and
renamed when it is complete.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ....errors import DataError
from ....signatures.graph_steps import EdgeType, GraphSchema, NodeType
from ..executors.conditions import lookup_key
from ..executors.cypher import LOOKUP, META, check_names, quoted
from ..executors.ladybug import first_line
from ..executors.ladybug_run import lookup_id
from ..executors.native import load_ladybug
from .graph_files import EdgeLine, EdgeLines, NodeLine, NodeLines

CHUNK = 200_000
"""Rows written at a time."""

STEP = 10_000
"""Rows between two reports of progress."""

BUFFER_BYTES = 512 * 2**20
"""What the database may keep in memory while it is written: Hetionet's import then peaks at about 0.6 GB."""

_COLUMNS = {"number": "DOUBLE", "text": "STRING", "boolean": "BOOL"}

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ImportReport:
    """What an import wrote: how much of each type, what it left out, and how long it took."""

    database: Path
    nodes: Mapping[str, int]
    edges: Mapping[str, int]
    left_out: tuple[str, ...]
    fingerprint: str
    seconds: float


def import_graph(
    nodes: Path, edges: Path, schema: GraphSchema, out: Path, progress: Progress | None = None
) -> ImportReport:
    """Make a database of two files.

    Args:
        nodes: JSON lines with ``id``, ``name``, ``type`` (or ``kind``) and the schema's properties; also ``.gz``.
        edges: tab-separated with a header ``source``, ``edge``, ``target`` and the schema's properties; also ``.gz``.
        schema: what the graph may hold; properties that it does not list are left out.
        out: the database; must not exist.
        progress: called with (lines done, lines in all); each line counts twice, checked and written.

    Raises:
        DataError: ``out`` is there, the schema has a name that a database cannot, there is no node, or lines are
            wrong: the first twenty are named, with file and line.
    """
    began = time.perf_counter()
    check_names(schema)
    if out.exists():
        raise DataError(f"{out} is there already; remove it or give another --out")
    counted = _Counted(progress or (lambda done, total: None))
    read_nodes = NodeLines(nodes, schema)
    read_edges = EdgeLines(edges, schema, read_nodes)
    fingerprint = _check(read_nodes, read_edges, counted)
    left_out = (*read_nodes.left_out(), *read_edges.left_out())
    if not read_nodes.types:
        why = "; ".join(read_nodes.strangers()) or "the file is empty"
        raise DataError(f"{nodes.name} has no node of a type that the schema has ({why}), so there is no graph to make")
    with _beside(out) as path:
        writer = _Writer(path, schema, read_nodes, read_edges)
        try:
            writer.write(counted, fingerprint)
        finally:
            writer.close()
    return ImportReport(out, writer.nodes, writer.edges, left_out, fingerprint, time.perf_counter() - began)


class _Counted:
    """Lines done so far; the total is known once both files have been checked."""

    def __init__(self, report: Progress) -> None:
        self.report, self.done, self.total = report, 0, 0

    def over(self, lines: Iterator[Any]) -> Iterator[list[Any]]:
        while some := list(islice(lines, STEP)):
            self.done += len(some)
            self.report(self.done, self.total)
            yield some

    def checked(self) -> None:
        self.total = 2 * self.done
        self.report(self.done, self.total)


def _check(nodes: NodeLines, edges: EdgeLines, counted: _Counted) -> str:
    """Read every line of both files; the hash of what they hold."""
    digest = hashlib.sha256(nodes.schema.model_dump_json(exclude_defaults=True).encode())
    for read in (nodes, edges):
        for lines in counted.over(read.check()):
            digest.update(b"".join(lines))
        read.refuse_problems()
    counted.checked()
    return digest.hexdigest()[:16]


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
    """A path in a folder beside ``out`` that becomes ``out`` if all went well; the folder goes either way."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise DataError(f"{out} cannot be written: {error.strerror}; give another --out") from error
    try:
        yield folder / out.name
        if out.exists():
            raise DataError(f"{out} was made by someone else meanwhile; give another --out")
        (folder / out.name).rename(out)
    except RuntimeError as error:
        raise DataError(f"{out.name} could not be written: {first_line(error)}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Writer:
    """A database being written."""

    def __init__(self, path: Path, schema: GraphSchema, nodes: NodeLines, edges: EdgeLines) -> None:
        ladybug = load_ladybug()
        self.schema, self.read_nodes, self.read_edges = schema, nodes, edges
        self.nodes: Counter[str] = Counter()
        self.edges: Counter[str] = Counter()
        self.found_by: dict[str, list[str]] = defaultdict(list)
        self.database = ladybug.Database(str(path), buffer_pool_size=BUFFER_BYTES)
        self.connection = ladybug.Connection(self.database)

    def close(self) -> None:
        self.connection.close()
        self.database.close()

    def write(self, counted: _Counted, fingerprint: str) -> None:
        self._tables()
        for chunk in _chunks(counted.over(self.read_nodes.lines())):
            self._write_nodes(chunk)
        for chunk in _chunks(counted.over(self.read_edges.lines())):
            self._write_edges(chunk)
        self._write_lookup()
        self._write_meta(fingerprint)
        counted.report(counted.total, counted.total)

    def _tables(self) -> None:
        for node in self.schema.nodes:
            columns = ", ".join(f"{quoted(n)} {_COLUMNS[kind]}" for n, kind in self.node_columns(node).items())
            more = f", {columns}" if columns else ""
            self.connection.execute(
                f"CREATE NODE TABLE {quoted(node.name)}(`id` STRING PRIMARY KEY, `name` STRING{more})"
            )
        for edge in self.schema.edges:
            columns = "".join(f", {quoted(n)} {_COLUMNS[kind]}" for n, kind in self.edge_columns(edge).items())
            ends = f"FROM {quoted(edge.source)} TO {quoted(edge.target)}"
            self.connection.execute(f"CREATE REL TABLE {quoted(edge.name)}({ends}{columns})")
        self.connection.execute(f"CREATE NODE TABLE {quoted(LOOKUP)}(`id` STRING PRIMARY KEY, `ids` STRING[])")
        self.connection.execute(f"CREATE NODE TABLE {quoted(META)}(`id` STRING PRIMARY KEY, `text` STRING)")

    def node_columns(self, node: NodeType) -> dict[str, str]:
        return {name: self.read_nodes.kind_of(node, name) for name in node.properties}

    def edge_columns(self, edge: EdgeType) -> dict[str, str]:
        return {name: self.read_edges.kind_of(edge, name) for name in edge.properties}

    def _write_nodes(self, chunk: Sequence[NodeLine]) -> None:
        by_type: dict[str, list[NodeLine]] = defaultdict(list)
        for line in chunk:
            by_type[line.kind].append(line)
        for kind, lines in by_type.items():
            node = self.schema.node(kind)
            assert node is not None
            table: dict[str, Any] = {"id": [n.id for n in lines], "name": [n.name for n in lines]}
            for name, column in self.node_columns(node).items():
                table[name] = (column, [n.properties.get(name) for n in lines])
            self._copy(kind, table)
            self.nodes[kind] += len(lines)
            for line in lines:
                self._find_by(node, line)

    def _find_by(self, node: NodeType, line: NodeLine) -> None:
        values = {"id": line.id, "name": line.name, **line.properties}
        for name in node.anchors:
            if values.get(name) is not None:
                self.found_by[lookup_id(node.name, name, lookup_key(values[name]))].append(line.id)

    def _write_edges(self, chunk: Sequence[EdgeLine]) -> None:
        by_type: dict[str, list[EdgeLine]] = defaultdict(list)
        for line in chunk:
            by_type[line.edge].append(line)
        for name, lines in by_type.items():
            edge = self.schema.edge(name)
            assert edge is not None
            table: dict[str, Any] = {"source": [e.source for e in lines], "target": [e.target for e in lines]}
            for column, kind in self.edge_columns(edge).items():
                table[f"_{column}"] = (kind, [e.properties.get(column) for e in lines])
            self._copy(name, table)
            self.edges[name] += len(lines)

    def _write_lookup(self) -> None:
        items = iter(self.found_by.items())
        while part := list(islice(items, CHUNK)):
            self._copy(LOOKUP, {"id": [key for key, _ in part], "ids": [ids for _, ids in part]})

    def _write_meta(self, fingerprint: str) -> None:
        self._copy(
            META,
            {
                "id": ["schema", "fingerprint"],
                "text": [self.schema.model_dump_json(exclude_defaults=True), fingerprint],
            },
        )

    def _copy(self, table: str, columns: Mapping[str, Any]) -> None:
        """Append rows; a column is its values, or (kind, values) where they alone might not tell the type."""
        import pyarrow as pa

        types = {"number": pa.float64(), "text": pa.string(), "boolean": pa.bool_()}
        arrays = {
            name: pa.array(values[1], types[values[0]]) if isinstance(values, tuple) else pa.array(values)
            for name, values in columns.items()
        }
        self.connection.execute(f"COPY {quoted(table)} FROM $rows", {"rows": pa.table(arrays)})


def _chunks(parts: Iterator[list[Any]]) -> Iterator[list[Any]]:
    """Parts of ``STEP`` rows joined to chunks of ``CHUNK`` rows."""
    while chunk := [row for part in islice(parts, CHUNK // STEP) for row in part]:
        yield chunk
