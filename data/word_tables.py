"""Reads tables of words in many languages: tab-separated lines under a head that ends with a tag for each language.

A cell has the words of one language, with "; " between two. A domain's own tables stand beside its card
(``other_words.py``, ``element_words.py``), those of the package in ``domains/`` (``grammar_words.py`` and the phrases
of plans in ``element_words.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import DataError

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z]{2,8})?")
BETWEEN = "; "


def table_lines(path: Path) -> list[str]:
    """The lines of a domain's table, the head first; none if there is no such file.

    Raises:
        DataError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig").splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{place_of(path)} cannot be read: {error}") from error


def place_of(path: Path) -> str:
    """A domain's table as errors name it: ``words.tsv of podcast``."""
    return f"{path.name} of {path.parent.name}"


def columns_of(head: str, own: Sequence[str], told: str, where: str) -> list[str]:
    """The headings of a table: its own ones, and then the tags of languages.

    Args:
        own: the headings before the tags.
        told: the same for the error, such as "name, perhaps type,".

    Raises:
        DataError: they are others, or one is there twice.
    """
    columns = head.split("\t")
    wrong = [column for column in columns[len(own) :] if not LANGUAGE.fullmatch(column)]
    if columns[: len(own)] != list(own) or wrong or len(set(columns)) < len(columns):
        raise wrong_head(head, told, where)
    return columns


def wrong_head(head: str, told: str, where: str) -> DataError:
    """The error for a head that is not as it must be."""
    return DataError(
        f"{where}: its first line must be {told} and tags of languages such as es or hi-Latn, each once, "
        f"with tabs between them, not {head[:80]!r}"
    )


def cells_of(line: str, width: int, where: str) -> list[str]:
    """The cells of a line, as many as there are headings.

    Raises:
        DataError: there are more or fewer.
    """
    cells = line.split("\t")
    if len(cells) != width:
        raise DataError(f"{where}: it has {len(cells)} cells under {width} headings; mend its tabs")
    return cells


def words_in(cells: Sequence[str]) -> str:
    """The words of every language, with `BETWEEN` between two; empty if there are none, or one is left empty."""
    words = BETWEEN.join(filter(None, cells))
    return "" if BETWEEN * 2 in f"{BETWEEN}{words}{BETWEEN}" else words


def package_phrases(path: Path) -> Iterator[tuple[str, str, str]]:
    """(first cell of its line, phrase, language) of every phrase in a table of the package, line by line.

    Raises:
        DataError: the table is missing or cannot be read, or a line does not have as many cells as the first.
    """
    try:
        head, *rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
        for row in rows:
            for language, cell in zip(head[1:], row[1:], strict=True):
                yield from ((row[0], phrase, language) for phrase in filter(None, cell.split(BETWEEN)))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, why: Exception) -> DataError:
    """The error for a table of the package that is not as it was installed."""
    return DataError(f"{path.name} of the package cannot be read ({why}); install it again")
