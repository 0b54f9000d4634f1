"""The slices of a labelled set: groups of rows that are reported by themselves.

A slice is read off the row alone, never off a plan, so that every program has the same ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..data.rows import LabelledRow
from .text import tokens

SHORT, LONG = 5, 15
"""Words up to which a query is short, and from which on it is long; a character in scripts without spaces."""

SMALLEST = 10
"""Rows below which a slice is not reported: its interval would span half of everything."""

WHOLE = "all rows"


def slices_of(row: LabelledRow) -> tuple[str, ...]:
    """The names of the slices a row belongs to, its tags among them.

    * where in the conversation: ``first turn``, ``follow-up``, ``later turn, stands alone``;
    * ``out of domain``, ``needs decomposition``;
    * length: ``short``, ``medium``, ``long``, by the words of the query as typed;
    * language: ``language en``, ``language de``, …, and ``not English`` for all but the first;
    * each tag with its underscores as spaces: ``close negative``, ``injection``, ``topic switch``, …
    """
    labels = row.labels
    found = [_place(row), _length(row.query), f"language {row.language}"]
    found += ["not English"] if row.language != "en" else []
    found += ["out of domain"] if not labels.is_relevant else []
    found += ["needs decomposition"] if labels.needs_decomposition else []
    return tuple(dict.fromkeys([*found, *(tag.replace("_", " ") for tag in row.tags)]))


def reported(slices: Iterable[Sequence[str]], smallest: int = SMALLEST) -> tuple[str, ...]:
    """The slices worth reporting, largest first: large enough, not everything, and no two of the same rows.

    Args:
        slices: the slices of each row, in one order.
    """
    members: dict[str, list[int]] = {}
    total = 0
    for total, names in enumerate(slices, 1):
        for name in names:
            members.setdefault(name, []).append(total)
    sizes = Counter({name: len(rows) for name, rows in members.items()})
    kept: dict[tuple[int, ...], str] = {}
    for name, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        if smallest <= size < total:
            kept.setdefault(tuple(members[name]), name)
    return tuple(kept.values())


def _place(row: LabelledRow) -> str:
    if not row.history:
        return "first turn"
    return "follow-up" if row.labels.is_follow_up else "later turn, stands alone"


def _length(query: str) -> str:
    words = len(tokens(query))
    return "short" if words <= SHORT else "long" if words >= LONG else "medium"
