"""Spellings of names: symbols in capitals, the word order of catalogues, missing apostrophes, and trigrams."""

from __future__ import annotations

import re
from collections.abc import Iterator

CODE_LETTERS = 5
"""The most letters of a symbol without digits; a longer name in capitals is a word."""
MOST_TURNED = 4
"""The most parts between commas of a name whose order is reversed; with more parts it is a list."""
APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’ʼ](?=[^\W\d_])")
"""An apostrophe between two letters. ``words_of`` splits a word there, and people leave it out: "dont", "omalley"."""


def is_code(name: str) -> bool:
    """Whether a name is a symbol, as of a gene ("NCAN", "SLC22A1"), and not a word in capitals."""
    in_capitals = " " not in name and name.upper() == name and sum(letter.isupper() for letter in name) > 1
    return in_capitals and (len(name) <= CODE_LETTERS or any(letter.isdigit() for letter in name))


def is_coded(typed: str) -> bool:
    """Whether a text may be a misspelled symbol: "BRAC1", "brac1" and "NCNA" may, "Narcan" may not."""
    return sum(letter.isupper() for letter in typed) > 1 or any(letter.isdigit() for letter in typed)


def turned(name: str) -> str | None:
    """A name in spoken order that is written as in catalogues: "Matrix, The" gives "The Matrix"; None for others."""
    parts = name.split(", ")
    return " ".join(reversed(parts)) if 1 < len(parts) <= MOST_TURNED and all(parts) else None


def as_said(name: str) -> Iterator[str]:
    """Other ways in which people write a name: turned round, and without its apostrophes."""
    if (other := turned(name)) is not None:
        yield other
    if (joined := APOSTROPHE.sub("", name)) != name:
        yield joined


def trigrams(text: str) -> list[str]:
    """The distinct sequences of three characters of a folded text, padded with spaces at both ends."""
    padded = f"  {text} "
    return list(dict.fromkeys(map("".join, zip(padded, padded[1:], padded[2:], strict=False))))
