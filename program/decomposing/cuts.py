"""Every cut of a query into sub-queries: into clauses (``clauses.py``) or as a list (``lists.py``)."""

from __future__ import annotations

from collections.abc import Iterator

from ...signatures.types import MIN_SUB_QUERIES
from ..rewriting.words import is_unspaced
from .clauses import clauses
from .family import Cut, Family
from .lists import Choice, all_sides, lists
from .reading import Reading

MOST_SEGMENTS = 5
"""A query of more is not cut: it has many hundred cuts, and of the podcast's 70 such queries one was cut rightly."""


def families(reading: Reading, chosen: Choice = all_sides) -> Iterator[Family]:
    """All cuts of a query; none of one without joints, or with too many.

    Args:
        chosen: which of the sides of a list are looked at together with all of the other sides.
    """
    if MIN_SUB_QUERIES <= len(reading.segments) <= MOST_SEGMENTS:
        yield from clauses(reading)
        if not is_unspaced(reading.query):  # a run of signs may be half of what a list's item is
            yield from lists(reading, chosen)


def cuts(reading: Reading) -> Iterator[Cut]:
    """All cuts, one by one, to learn from."""
    for family in families(reading):
        for front in range(len(family.fronts)):
            for end in range(len(family.ends)):
                yield family.cut(front, end)
