"""Names that only a domain's graph has, taken over by a card that lists the types whose names users type.

``names_from_graph = ["Person", "Device"]`` on a card saves writing them a second time as ``[[names]]``. The types are
listed and not guessed: nodes of others are often plain words ("change", "attention") and no names in what users type.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ..errors import DataError
from .lines import numbered_lines

NODES_FILE, EDGES_FILE = "graph/nodes.jsonl", "graph/edges.tsv"
MOST = 20_000
"""The most names for a card: each is searched for in every query, and all are part of a compiled program."""


def names_of_graph(folder: Path, types: Collection[str]) -> Iterator[tuple[str, str]]:
    """(name, type) of every node of the given types in ``graph/nodes.jsonl``, without duplicates, in the file's order.

    Raises:
        DataError: the file is missing or cannot be read, or has more than `MOST` such names.
    """
    found: dict[tuple[str, str], None] = {}
    for number, line in _lines(folder):
        try:
            told = json.loads(line)
            name, kind = str(told["name"]), str(told.get("type", told.get("kind")))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(f"nodes.jsonl:{number}: expected a JSON object with id, name and type") from error
        if kind in types and name.strip():
            found.setdefault((name, kind))
    if len(found) > MOST:
        raise DataError(
            f"names_from_graph means {len(found):,} names, and a card has {MOST:,} at most; name fewer types"
        )
    yield from found


def graph_files(folder: Path) -> tuple[Path, Path]:
    """The files of a domain's graph, nodes and edges, whether they are there or not."""
    return folder / NODES_FILE, folder / EDGES_FILE


def strange_to(spellings: Iterable[str], names: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The names that are not among the given spellings, ignoring case."""
    known = {spelling.casefold() for spelling in spellings}
    return [(name, kind) for name, kind in names if name.casefold() not in known]


def _lines(folder: Path) -> Iterator[tuple[int, str]]:
    path = folder / NODES_FILE
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise DataError(
            f"names_from_graph on the card of {folder.name} needs {NODES_FILE}, which is not there"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{NODES_FILE} of {folder.name} cannot be read: {error}") from error
    return numbered_lines(text)
