"""Features of an edit (traits), each with a name: of what is inserted, and of how.

They depend on small, comparable descriptions and not on texts, so that a sum of weights that was computed for one
query serves the next.
"""

from __future__ import annotations

from typing import NamedTuple

Traits = tuple[tuple[str, float], ...]
"""What is seen of something: names of traits, each with its size."""
PLACE, FARTHEST = "place", 20
"""The one trait of a referent alone that is a measure: how far into its turn it stands, up to so many words."""


class Look(NamedTuple):
    """What is seen of a referent but its place; many look alike. Words are counted to 5 and times to 3."""

    kind: str
    turn: int
    role: str
    words: int
    times: int
    first: bool
    small: bool
    figures: bool

    def traits(self) -> Traits:
        """Names and sizes."""
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
    """What is seen of a query that is left as it was typed: how many words it has, and which of them point."""

    words: int
    pointing: tuple[str, ...]

    def traits(self) -> Traits:
        """Names and sizes."""
        points = tuple((f"keep {said}", 1.0) for said in self.pointing)
        return (("keep", 1.0), (f"keep words {min(self.words, 8)}", 1.0), *points)


class Filler(NamedTuple):
    """What is seen of a referent where it is put for a word; words are counted to 4, and only a card's name is told.

    Attributes:
        order: which of its like it is in its turn, as ``2 of 3``.
        like: how like a name is to each of the query's words that point, in steps of ``likeness.py``.
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
    """What is seen of putting something for the words ``said``, which close the query or not, beside other such."""

    said: str
    closes: bool
    shape: str
    others: int

    def traits(self) -> Traits:
        """Names and sizes."""
        at = f"put for {self.said}"
        others, closes = (f"{at} others", float(self.others)), (f"{at} at the end", float(self.closes))
        return ((at, 1.0), others, closes, (f"{at} {self.shape}", 1.0))


class Filled(NamedTuple):
    """What is seen of what is put for the words ``said``."""

    said: str
    filler: Filler

    def traits(self) -> Traits:
        """Names and sizes."""
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
    """What is seen of a query of so many words, closing with that word, to which something is added behind a joint."""

    joint: str
    closing: str
    words: int
    points: int

    def traits(self) -> Traits:
        """Names and sizes."""
        return (
            (f"add {self.joint}", 1.0),
            (f"add {self.joint} after {self.closing}", 1.0),
            (f"add after {self.closing}", 1.0),
            (f"add to words {min(self.words, 10)}", 1.0),
            ("add beside pointing", float(self.points)),
        )


class Added(NamedTuple):
    """What is seen of what is added behind a joint."""

    joint: str
    kind: str
    turn: int

    def traits(self) -> Traits:
        """Names and sizes."""
        return ((f"add {self.joint} kind {self.kind}", 1.0), (f"add {self.joint} turn {self.turn}", 1.0))


class Turned(NamedTuple):
    """What is seen of a query from which something new is put into the question before.

    Attributes:
        new: how many words are new, to 5.
        cut: how many stand before what is new.
        opener: the query's first word if that is common.
        body: whether just what stands from the first to the last uncommon word is new.
    """

    words: int
    points: int
    new: int
    cut: int
    opener: str
    body: bool

    def traits(self) -> Traits:
        """Names and sizes."""
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
    """What is seen of what is replaced there: its kind, and its sort beside that of what is new."""

    kind: str
    sort: str
    new: str

    def traits(self) -> Traits:
        """Names and sizes."""
        return ((f"turn kind {self.kind}", 1.0), (f"turn {self.new} for {self.sort}", 1.0))


Own = Keep | Put | Filled | Add | Added | Turned | Replaced
"""What is seen of a way of editing, apart from what the referent looks like by itself."""
