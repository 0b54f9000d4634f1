"""Words in many languages by which a graph question compares, negates or excludes, read by their form.

The package's own table ``domains/graph-grammar.tsv`` has a line for each comparison, for negation and for exclusion,
and a column for each language. In a phrase ``N`` is the number, ``Y`` one written as a year, and ``*`` stands for any
word or any beginning of one::

    line   en                     de                     ja
    lt     fewer than N; under N  weniger als N; vor Y   N未満
    not    not; never             nicht; kein
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from .word_tables import package_phrases

GRAMMAR_FILE = Path(__file__).parent / "domains" / "graph-grammar.tsv"


class GrammarPhrase(NamedTuple):
    """A phrase of one language, with the line of the table that it belongs to."""

    line: str
    text: str
    language: str


@lru_cache(maxsize=1)
def read_grammar() -> tuple[GrammarPhrase, ...]:
    """Every phrase of the table, line by line.

    Raises:
        DataError: the table is missing, or a line does not have as many cells as the first.
    """
    return tuple(GrammarPhrase(*found) for found in package_phrases(GRAMMAR_FILE))
