"""One cut of a query, families of cuts that share their parts, and the parts of a family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .reading import Reading, Span
from .traits import Own

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


class Side(NamedTuple):
    """Where a list's first item may begin, or its last may end.

    Attributes:
        at: before which unit.
        how: why there.
        own: what is seen of that.
        around: what may be said beyond it, and what is seen of that.
    """

    at: int
    how: str
    own: Own
    around: Sequence[tuple[Span, Seen]]


class Outline(NamedTuple):
    """A list whose items are in the segments from ``first`` to ``last``.

    Attributes:
        around: what is seen of the joints between its items and around it.
        lefts: where its first item may begin; ``rights`` where its last may end.
    """

    first: int
    last: int
    around: Seen
    lefts: Sequence[Side]
    rights: Sequence[Side]


class Division(NamedTuple):
    """A query's clauses, before it is decided what is told with each of them.

    Attributes:
        spans: of the clauses.
        joints: what is seen of the joints, and ``seen`` of the clauses.
        fronts: as a family has them.
    """

    spans: tuple[Span, ...]
    joints: Seen
    seen: Seen
    fronts: Sequence[tuple[Span, Seen]]


class Choice:
    """Which of what a query may be cut into is looked at more closely: everything, as it is for learning."""

    def divisions(self, found: Sequence[Division]) -> Sequence[Division]:
        """Of clauses."""
        return found

    def outlines(self, found: Sequence[Outline]) -> Sequence[Outline]:
        """Of lists."""
        return found

    def sides(self, found: Sequence[Side]) -> Sequence[Side]:
        """Of the beginnings, or of the ends, of one list."""
        return found


def _text(reading: Reading, part: Part) -> str:
    said = (piece if isinstance(piece, str) else reading.text(piece) for piece in part)
    return " ".join(piece for piece in said if piece)
