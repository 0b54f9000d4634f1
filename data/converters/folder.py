"""Writes a domain folder: all of it or nothing, and never over something that exists."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ...errors import DataError
from ..card import CARD_FILE, DomainCard
from ..graph_names import EDGES_FILE, NODES_FILE
from ..rows import LabelledRow

if TYPE_CHECKING:
    from .base import Converter


class DomainWriter:
    """A folder being written: rows and graph as they come, the card at the end."""

    def __init__(self, folder: Path, files: ExitStack) -> None:
        self.folder = folder
        self.rows: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.nodes: set[str] = set()
        self.edges = 0
        self._files = files
        self._handles: dict[str, TextIO] = {}
        self._ids: set[str] = set()

    def row(self, row: LabelledRow, split: str) -> None:
        """Add a row to a split.

        Raises:
            DataError: the id was there already.
        """
        if row.id in self._ids:
            raise DataError(f"two rows have the id {row.id!r}")
        self._ids.add(row.id)
        self.rows[split] += 1
        self._handle(f"{split}.jsonl").write(row_line(row) + "\n")

    def node(self, node_id: str, name: str, kind: str) -> None:
        """Add a node of the graph.

        Raises:
            DataError: the id was there already.
        """
        if node_id in self.nodes:
            raise DataError(f"two nodes have the id {node_id!r}")
        self.nodes.add(node_id)
        line = json.dumps({"id": node_id, "name": name, "type": kind}, ensure_ascii=False)
        self._handle(NODES_FILE).write(line + "\n")

    def edge(self, source: str, edge: str, target: str) -> None:
        """Add an edge between nodes that are there.

        Raises:
            DataError: a node is not there, or has an id that no line can hold.
        """
        for node in (source, target):
            if node not in self.nodes:
                raise DataError(f"edge {edge} joins the unknown node {node!r}")
            if any(c in node for c in "\t\n\r"):
                raise DataError(f"the id {node!r} has a tab or a line end")
        handle = self._handle(EDGES_FILE, "source\tedge\ttarget\n")
        handle.write(f"{source}\t{edge}\t{target}\n")
        self.edges += 1

    def card(self, card: DomainCard, converter: Converter) -> None:
        """Write the card, which labels are known, and where all of it comes from."""
        (self.folder / CARD_FILE).write_text(card_toml(card, f"Converted from {converter.source}."), encoding="utf-8")
        known = {"known": sorted(converter.says), "unknown": sorted(converter.cannot_say)}
        (self.folder / "labels.json").write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
        (self.folder / "SOURCE.md").write_text(_source_page(converter), encoding="utf-8")

    def _handle(self, name: str, head: str = "") -> TextIO:
        if name not in self._handles:
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            self._handles[name] = self._files.enter_context(path.open("w", encoding="utf-8", newline="\n"))
            self._handles[name].write(head)
        return self._handles[name]


@contextmanager
def domain_writer(out: Path) -> Iterator[DomainWriter]:
    """A writer whose folder becomes ``out`` when everything went well, and is removed otherwise.

    Raises:
        DataError: ``out`` is there and not an empty folder.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DataError(f"{out} is there already; give a folder that does not exist or is empty")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out} cannot be written: {error.strerror}; give another folder") from error
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as staging:
        with ExitStack() as files:
            yield DomainWriter(Path(staging), files)
        out.mkdir(exist_ok=True)
        for item in Path(staging).iterdir():
            shutil.move(item, out / item.name)


def row_line(row: LabelledRow) -> str:
    """A row as one line of JSON, defaults left out but the kind of a graph step: it tells steps apart."""
    values = row.model_dump(mode="json", exclude_defaults=True)
    if row.gold is not None and row.gold.graph_plan is not None:
        steps = row.gold.graph_plan.steps
        kept = [{"kind": step.kind, **step.model_dump(mode="json", exclude_defaults=True)} for step in steps]
        values["gold"]["graph_plan"] = {"steps": kept}
    return json.dumps(values, ensure_ascii=False)


def card_toml(card: DomainCard, comment: str) -> str:
    """A card as TOML, defaults left out."""
    return f"# {comment}\n" + "\n".join(_toml(card.model_dump(mode="json", exclude_defaults=True), ())) + "\n"


def _toml(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Plain values first: in TOML what follows a header belongs to it."""
    nested = {key: value for key, value in table.items() if _is_table(value) or _is_tables(value)}
    yield from (f"{k} = {_value(v)}" for k, v in table.items() if k not in nested)
    for key, value in nested.items():
        header = ".".join((*path, key))
        for item in [value] if _is_table(value) else value:
            yield f"\n[{header}]" if _is_table(value) else f"\n[[{header}]]"
            yield from _toml(item, (*path, key))


def _value(value: Any) -> str:
    # JSON's strings, numbers and lists are TOML's too, but for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_table(item) for item in value)


def _source_page(converter: Converter) -> str:
    says = "".join(f"- `{label}`: {how}\n" for label, how in converter.says.items()) or "- no label of a row\n"
    lacks = "".join(f"- `{label}`: {instead}\n" for label, instead in converter.cannot_say.items())
    return (
        f"# {converter.name}\n\nSource: {converter.source}. Licence: {converter.licence}. Converted by queryplan.\n\n"
        f"## What the labels say\n\n{says}\n## What they cannot say, and what stands there instead\n\n{lacks}"
    )
