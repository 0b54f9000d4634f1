"""All cuts of a query into sub-queries: into clauses (``clauses.py``) or as a list (``lists.py``)."""

from __future__ import annotations

from collections.abc import Iterator

from ...signatures.types import MIN_SUB_QUERIES
from ..rewriting.words import is_unspaced
from .clauses import clauses
from .family import Choice, Cut, Family
from .lists import lists
from .reading import Reading

MOST_SEGMENTS = 5
"""A query of more is not cut: it has many hundred cuts, and of the podcast's 70 such queries one was cut rightly."""


EVERYTHING = Choice()


def families(reading: Reading, chosen: Choice = EVERYTHING) -> Iterator[Family]:
    """The cuts of a query that are chosen; none of one without joints, or with too many."""
    if MIN_SUB_QUERIES <= len(reading.segments) <= MOST_SEGMENTS:
        yield from clauses(reading, chosen)
        if not is_unspaced(reading.query):  # a run of signs may be half of what a list's item is
            yield from lists(reading, chosen)


def cuts(reading: Reading) -> Iterator[Cut]:
    """All cuts, one by one, to learn from."""
    for family in families(reading):
        for front in range(len(family.fronts)):
            for end in range(len(family.ends)):
                yield family.cut(front, end)
