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

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataError

NAMES_FILE = "names.tsv"
THESAURUS_FILE = "thesaurus.tsv"
"""A table of the same form, for names that larger graphs with a domain's edges have but its card lacks."""
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z]{2,8})?")
BETWEEN = "; "


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
    where = f"{path.name} of {path.parent.name}"
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{where} cannot be read: {error}") from error
    columns = _columns(lines[0], where) if lines else []
    return tuple(_row(columns, line, f"{where}, line {n}") for n, line in enumerate(lines[1:], 2) if line)


def _columns(header: str, where: str) -> list[str]:
    columns = header.split("\t")
    own = ["name", "type"] if columns[1:2] == ["type"] else ["name"]
    wrong = [column for column in columns[len(own) :] if not LANGUAGE.fullmatch(column)]
    if columns[: len(own)] != own or wrong or len(set(columns)) < len(columns):
        raise DataError(
            f"{where}: its first line must be name, perhaps type, and tags of languages such as es or hi-Latn, "
            f"each once, with tabs between them, not {header[:80]!r}"
        )
    return columns


def _row(columns: list[str], line: str, where: str) -> OtherWords:
    name, *cells = line.split("\t")
    if len(cells) != len(columns) - 1:
        raise DataError(f"{where}: it has {len(cells) + 1} cells under {len(columns)} headings; mend its tabs")
    kind = cells.pop(0) or None if columns[1:2] == ["type"] else None
    words = BETWEEN.join(filter(None, cells))
    if not name or not words or BETWEEN * 2 in f"{BETWEEN}{words}{BETWEEN}":
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
