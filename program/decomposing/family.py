"""A cut of a query, and families of cuts that share their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .reading import Reading, Span
from .traits import (
    Own,
)

NOTHING = (0, 0)
"""The span of no unit."""
Part = tuple[Span | str, ...]
"""What a sub-query is put together from: stretches of the query, and words that are not there."""


Seen = tuple[Own, ...]


class Cut(NamedTuple):
    """One way of cutting a query.

    Attributes:
        kind: ``clauses`` or ``list``.
        before: what is said before each part; ``behind`` what is said behind it.
        parts: of the sub-queries, in order.
        needs: of each sub-query the number of the one whose answer it needs; 0 for none.
        seen: what is seen of it.
    """

    kind: str
    before: Span
    parts: Sequence[Part]
    behind: Span
    needs: Sequence[int]
    seen: Seen

    def texts(self, reading: Reading) -> list[str]:
        """The sub-queries."""
        return [_text(reading, (self.before, *part, self.behind)) for part in self.parts]


class Family(NamedTuple):
    """Cuts with the same parts, which differ in what is said before and behind each.

    Attributes:
        kind, parts, needs: as a cut has them.
        seen: what is seen of all of them, in groups that other families share.
        fronts: what may be said before each part, and what is seen of that.
        ends: likewise behind it.
    """

    kind: str
    parts: Sequence[Part]
    needs: Sequence[int]
    seen: tuple[Seen, ...]
    fronts: Sequence[tuple[Span, Seen]]
    ends: Sequence[tuple[Span, Seen]]

    def cut(self, front: int, end: int) -> Cut:
        """One of them."""
        (before, first), (behind, last) = self.fronts[front], self.ends[end]
        seen = tuple(own for group in (*self.seen, first, last) for own in group)
        return Cut(self.kind, before, self.parts, behind, self.needs, seen)


def _text(reading: Reading, part: Part) -> str:
    said = (piece if isinstance(piece, str) else reading.text(piece) for piece in part)
    return " ".join(piece for piece in said if piece)
