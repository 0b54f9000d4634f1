"""One cut of a query, families of cuts that share their parts, and the parts of a family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .reading import Reading, Span
from .traits import Own

NOTHING = (0, 0)
"""The empty span."""
Part = tuple[Span | str, ...]
"""The pieces of a sub-query: spans of the query, and words that the query does not have there."""


Seen = tuple[Own, ...]


class Cut(NamedTuple):
    """One way of cutting a query.

    Attributes:
        kind: ``clauses`` or ``list``.
        before, behind: the spans that are repeated before and behind each part.
        parts: those of the sub-queries, in order.
        needs: for each sub-query, the number of the one whose answer it needs; 0 for none.
        seen: its features.
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
    """Cuts with the same parts, which differ in what is repeated before and behind each part.

    Attributes:
        kind, parts, needs: as in ``Cut``.
        seen: the features of all of them, in groups that other families share.
        fronts: each span that may be repeated before the parts, with its features.
        ends: likewise behind the parts.
    """

    kind: str
    parts: Sequence[Part]
    needs: Sequence[int]
    seen: tuple[Seen, ...]
    fronts: Sequence[tuple[Span, Seen]]
    ends: Sequence[tuple[Span, Seen]]

    def cut(self, front: int, end: int) -> Cut:
        """The cut with the front and the end of these numbers."""
        (before, first), (behind, last) = self.fronts[front], self.ends[end]
        seen = tuple(own for group in (*self.seen, first, last) for own in group)
        return Cut(self.kind, before, self.parts, behind, self.needs, seen)


class Side(NamedTuple):
    """Where a list's first item may begin, or its last may end.

    Attributes:
        at: the unit before which that is.
        how: the reason for this place, such as ``left name``.
        own: the features of this side.
        around: each span that may be repeated beyond it, with its features.
    """

    at: int
    how: str
    own: Own
    around: Sequence[tuple[Span, Seen]]


class Outline(NamedTuple):
    """A list whose items are in the segments from ``first`` to ``last``.

    Attributes:
        around: the features of the joints between its items and around it.
        lefts, rights: where its first item may begin, and its last may end.
    """

    first: int
    last: int
    around: Seen
    lefts: Sequence[Side]
    rights: Sequence[Side]


class Division(NamedTuple):
    """A query divided into clauses, before it is decided what is repeated with each of them.

    Attributes:
        spans: the clauses.
        joints, seen: the features of the joints, and of the clauses.
        fronts: as in ``Family``.
    """

    spans: tuple[Span, ...]
    joints: Seen
    seen: Seen
    fronts: Sequence[tuple[Span, Seen]]


class Choice:
    """Selects which divisions, lists and sides of a query are scored in full; this class selects all, for learning."""

    def divisions(self, found: Sequence[Division]) -> Sequence[Division]:
        """The divisions into clauses that are kept."""
        return found

    def outlines(self, found: Sequence[Outline]) -> Sequence[Outline]:
        """The lists that are kept."""
        return found

    def sides(self, found: Sequence[Side]) -> Sequence[Side]:
        """The beginnings, or the ends, of one list that are kept."""
        return found


def _text(reading: Reading, part: Part) -> str:
    said = (piece if isinstance(piece, str) else reading.text(piece) for piece in part)
    return " ".join(piece for piece in said if piece)
