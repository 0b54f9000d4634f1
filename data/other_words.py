"""Other words for a card's names, of laypeople and of other languages, read from a table beside the card.

They are kept out of ``domain.toml``, where some thousands of them would hide the names themselves and take ten times
as long to read, and out of a name's ``aliases``, the first of which query candidates are written with. The table
``names.tsv`` has a column ``name``, perhaps a column ``type``, and one for each language, headed by its tag; a cell
has the words for the name in that language, with "; " between them::

    name    en              es      de      ja
    gout    gouty arthritis gota    Gicht   痛風

A row without type is meant for every name so spelled: an oedema is called the same as a symptom and as a side effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataError
from .word_tables import BETWEEN, cells_of, columns_of, place_of, table_lines, words_in

NAMES_FILE = "names.tsv"
THESAURUS_FILE = "thesaurus.tsv"
"""A table of the same form, for names that larger graphs with a domain's edges have but its card lacks."""


@dataclass(frozen=True)
class OtherWords:
    """One row of the table.

    Attributes:
        name: the name as the card spells it.
        type: the type that it is about; None for every name of that spelling.
        words: the words of every language in the order of the columns, joined by ``BETWEEN``. Splitting thousands takes
            two thirds of the time of reading them, and is done only where names are searched for.
    """

    name: str
    type: str | None
    words: str


def read_other_words(path: Path) -> tuple[OtherWords, ...]:
    """Read the rows of a table; empty if there is no table.

    Raises:
        DataError: the file cannot be read, or a column or row is wrong, which is named.
    """
    where, lines = place_of(path), table_lines(path)
    columns = _columns(lines[0], where) if lines else []
    return tuple(_row(columns, line, f"{where}, line {n}") for n, line in enumerate(lines[1:], 2) if line)


def _columns(header: str, where: str) -> list[str]:
    own = ["name", "type"] if header.split("\t")[1:2] == ["type"] else ["name"]
    return columns_of(header, own, "name, perhaps type,", where)


def _row(columns: list[str], line: str, where: str) -> OtherWords:
    name, *cells = cells_of(line, len(columns), where)
    kind = cells.pop(0) or None if columns[1:2] == ["type"] else None
    words = words_in(cells)
    if not name or not words:
        raise DataError(f"{where}: it needs a name and words, with '; ' between two words and none left empty")
    return OtherWords(name, kind, words)


def each_word(words: str) -> tuple[str, ...]:
    """The words of a row one by one, without duplicates."""
    return tuple(dict.fromkeys(words.split(BETWEEN))) if words else ()


def add_other_words(names: Iterable[Any], rows: Iterable[OtherWords], where: str) -> None:
    """Add their other words to the names of a card, as parsed from TOML.

    Raises:
        DataError: a row is about no name, or is the second about one.
    """
    places: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for name in names:
        if isinstance(name, dict):
            for kind in (name.get("type"), None):
                places.setdefault((str(name.get("name")), kind), []).append(name)
    for row in rows:
        _add(places, row, where)


def _add(places: Mapping[tuple[str, str | None], list[dict[str, Any]]], row: OtherWords, where: str) -> None:
    meant = places.get((row.name, row.type), [])
    if not meant:
        raise DataError(f"{where}: the card has no name {row.name!r}{f' of type {row.type}' if row.type else ''}")
    for name in meant:
        if "other_words" in name:
            raise DataError(f"{where}: {row.name!r} has its other words twice; write them in one row")
        name["other_words"] = row.words
