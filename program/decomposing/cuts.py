"""All cuts of a query into sub-queries: into clauses (``clauses.py``) or as a list (``lists.py``)."""

from __future__ import annotations

from collections.abc import Iterator

from ...signatures.types import MIN_SUB_QUERIES
from ..text.words import is_unspaced
from .clauses import clauses
from .family import Choice, Cut, Family
from .lists import lists
from .reading import Reading

MOST_SEGMENTS = 5
"""A query of more segments is not cut: it has many hundred cuts, and of the podcast's 70 such queries only one was cut
rightly."""


EVERYTHING = Choice()


def families(reading: Reading, chosen: Choice = EVERYTHING) -> Iterator[Family]:
    """The families of cuts that ``chosen`` selects; none for a query without joints, or with too many segments."""
    if MIN_SUB_QUERIES <= len(reading.segments) <= MOST_SEGMENTS:
        yield from clauses(reading, chosen)
        if not is_unspaced(reading.query):  # without spaces, an item's end cannot be told from the middle of a word
            yield from lists(reading, chosen)


def cuts(reading: Reading) -> Iterator[Cut]:
    """All cuts of a query, one by one, for learning."""
    for family in families(reading):
        for front in range(len(family.fronts)):
            for end in range(len(family.ends)):
                yield family.cut(front, end)
