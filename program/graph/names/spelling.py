"""Spellings of names: in capitals as symbols, in a catalogue's order, without apostrophes, and as trigrams."""

from __future__ import annotations

import re
from collections.abc import Iterator

CODE_LETTERS = 5
"""A name in capitals with more letters and no digit is a word."""
MOST_TURNED = 4
"""Parts of a name between commas that are turned round; more of them are a list."""
APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’ʼ](?=[^\W\d_])")
"""One between two letters, which parts their words here and which people leave out: "dont", "omalley"."""


def is_code(name: str) -> bool:
    """Whether a name is a sign for something, as those of genes are, and no word in capitals: "NCAN", "SLC22A1"."""
    in_capitals = " " not in name and name.upper() == name and sum(letter.isupper() for letter in name) > 1
    return in_capitals and (len(name) <= CODE_LETTERS or any(letter.isdigit() for letter in name))


def is_coded(typed: str) -> bool:
    """Whether a text may be a misspelled sign: "BRAC1", "brac1", "NCNA", and not "Narcan"."""
    return sum(letter.isupper() for letter in typed) > 1 or any(letter.isdigit() for letter in typed)


def turned(name: str) -> str | None:
    """A name as it is said that is written as catalogues do: "Sleep Apnea, Obstructive", "Matrix, The"."""
    parts = name.split(", ")
    return " ".join(reversed(parts)) if 1 < len(parts) <= MOST_TURNED and all(parts) else None


def as_said(name: str) -> Iterator[str]:
    """Other ways in which people write a name: turned round, and without its apostrophes."""
    if (other := turned(name)) is not None:
        yield other
    if (joined := APOSTROPHE.sub("", name)) != name:
        yield joined


def trigrams(text: str) -> list[str]:
    """The sequences of three letters of a folded text, its two ends among them, each once."""
    padded = f"  {text} "
    return list(dict.fromkeys(map("".join, zip(padded, padded[1:], padded[2:], strict=False))))
