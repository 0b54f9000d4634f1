"""Features of an edit (traits), each with a name: of what is inserted, and of how.

Each class is one small description, comparable and hashable. They do not depend on texts, so that a sum of weights that
was computed for one query can be reused for the next.
"""

from __future__ import annotations

from typing import NamedTuple

Traits = tuple[tuple[str, float], ...]
"""Names of traits, each with its size."""
PLACE, FARTHEST = "place", 20
"""The only trait of a referent that is a measure: the number of words before it in its turn, at most ``FARTHEST``."""


class Look(NamedTuple):
    """The features of a referent apart from its place; many referents have the same.

    ``words`` is at most 5 and ``times`` at most 3.
    """

    kind: str
    turn: int
    role: str
    words: int
    times: int
    first: bool
    small: bool
    figures: bool

    def traits(self) -> Traits:
        """Its traits, as names with sizes."""
        return (
            (f"kind {self.kind}", 1.0),
            (f"turn {self.turn}", 1.0),
            (f"kind {self.kind} turn {self.turn}", 1.0),
            (f"role {self.role}", 1.0),
            (f"words {self.words}", 1.0),
            (f"times {self.times}", 1.0),
            ("first", float(self.first)),
            ("small", float(self.small)),
            ("figures", float(self.figures)),
        )


class Keep(NamedTuple):
    """The features of a query that is left as typed: its number of words, and its pointing words."""

    words: int
    pointing: tuple[str, ...]

    def traits(self) -> Traits:
        """Its traits, as names with sizes."""
        points = tuple((f"keep {said}", 1.0) for said in self.pointing)
        return (("keep", 1.0), (f"keep words {min(self.words, 8)}", 1.0), *points)


class Filler(NamedTuple):
    """The features of a referent that is put in a word's place; ``words`` is at most 4.

    Attributes:
        name: the text, if it is a name of the card; else empty.
        order: its place among similar referents of its turn, as ``2 of 3``.
        like: for a name, its similarity to each pointing word of the query, see ``likeness.py``.
    """

    name: str
    kind: str
    turn: int
    words: int
    small: bool
    first: bool
    order: str
    like: tuple[tuple[str, int], ...]


class Put(NamedTuple):
    """The features of replacing the pointing words ``said``: if they end the query, and how many others there are."""

    said: str
    closes: bool
    shape: str
    others: int

    def traits(self) -> Traits:
        """Its traits, as names with sizes."""
        at = f"put for {self.said}"
        others, closes = (f"{at} others", float(self.others)), (f"{at} at the end", float(self.closes))
        return ((at, 1.0), others, closes, (f"{at} {self.shape}", 1.0))


class Filled(NamedTuple):
    """The features of what replaces the pointing words ``said``."""

    said: str
    filler: Filler

    def traits(self) -> Traits:
        """Its traits, as names with sizes."""
        at, filler = f"put for {self.said}", self.filler
        seen = (
            (f"{at} kind {filler.kind}", 1.0),
            (f"{at} turn {filler.turn}", 1.0),
            (f"{at} words {filler.words}", 1.0),
            (f"{at} small", float(filler.small)),
            (f"{at} first", float(filler.first)),
            *((f"put for {word} order {filler.order}", 1.0) for word in self.said.split()),
        )
        like = float(dict(filler.like).get(self.said, 0))
        alike = (("put alike", like), (f"{at} alike", like)) if like else ()
        return (*seen, *alike, (f"{at} {filler.name}", 1.0)) if filler.name else (*seen, *alike)


class Add(NamedTuple):
    """The features of a query to which something is added behind a joint: its last word, lengths and pointing words."""

    joint: str
    closing: str
    words: int
    points: int

    def traits(self) -> Traits:
        """Its traits, as names with sizes."""
        return (
            (f"add {self.joint}", 1.0),
            (f"add {self.joint} after {self.closing}", 1.0),
            (f"add after {self.closing}", 1.0),
            (f"add to words {min(self.words, 10)}", 1.0),
            ("add beside pointing", float(self.points)),
        )


class Added(NamedTuple):
    """The features of what is added behind a joint."""

    joint: str
    kind: str
    turn: int

    def traits(self) -> Traits:
        """Its traits, as names with sizes."""
        return ((f"add {self.joint} kind {self.kind}", 1.0), (f"add {self.joint} turn {self.turn}", 1.0))


class Turned(NamedTuple):
    """The features of a query of which a part, the new text, is put into the question before.

    Attributes:
        new: the number of words of the new text, at most 5.
        cut: the number of words before it.
        opener: the query's first word if that is common, else ``*``.
        body: whether the new text is exactly from the first to the last uncommon word.
    """

    words: int
    points: int
    new: int
    cut: int
    opener: str
    body: bool

    def traits(self) -> Traits:
        """Its traits, as names with sizes."""
        return (
            ("turn", 1.0),
            (f"turn words {min(self.words, 8)}", 1.0),
            (f"turn new {self.new}", 1.0),
            (f"turn from {self.opener} cut {self.cut}", 1.0),
            (f"turn cut {self.cut}", 1.0),
            ("turn body", float(self.body)),
            ("turn beside pointing", float(self.points)),
        )


class Replaced(NamedTuple):
    """The features of what the new text replaces: its kind, and both of their sorts."""

    kind: str
    sort: str
    new: str

    def traits(self) -> Traits:
        """Its traits, as names with sizes."""
        return ((f"turn kind {self.kind}", 1.0), (f"turn {self.new} for {self.sort}", 1.0))


Own = Keep | Put | Filled | Add | Added | Turned | Replaced
"""The features of a way of editing, apart from those of the referent by itself (``Look``)."""
