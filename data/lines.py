"""Splits the text of a file of records into its lines."""

from __future__ import annotations

from collections.abc import Iterator


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number from 1, line) of every line that is not blank.

    Lines end with a line feed alone: a string in JSON, or a cell, may hold U+2028, at which ``str.splitlines`` cuts.
    """
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
