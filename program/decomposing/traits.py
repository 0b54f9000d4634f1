"""Features of a cut (traits), each with a name.

Each class is one small description, comparable and hashable, so that a sum of weights that was computed for one query
can be reused for the next. *Kinds* are those of units (``units.py``), *sorts* those of stretches (``reading.py``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

Traits = tuple[str, ...]
OUTSIDE = "<>"
"""The kind that stands for the places before the first and behind the last unit."""
EDGES = (1, 2, 3, 5, 8, 12, 20)


_SIZES = tuple(sum(count > edge for edge in EDGES) for count in range(EDGES[-1] + 1))


def size(count: float) -> int:
    """A number of words as one of eight sizes."""
    return _SIZES[math.ceil(count)] if count <= EDGES[-1] else len(EDGES)


class Split(NamedTuple):
    """The numbers of clauses and segments, and whether the lead is repeated and the last segment is kept."""

    parts: int
    segments: int
    begun: bool
    told: bool
    closed: bool

    def traits(self) -> Traits:
        """The names of its traits."""
        lead = "none" if self.begun else "told" if self.told else "dropped"
        return (
            "clauses",
            f"clauses {self.parts}",
            f"clauses {self.parts} of {self.segments}",
            f"clauses lead {lead}",
            f"clauses tail {'kept' if self.closed else 'dropped'}",
        )


class At(NamedTuple):
    """A joint between two segments, with the kinds of units beside it, and whether the query is cut there."""

    cut: bool
    joint: str
    before: str
    after: str
    then: str

    def traits(self) -> Traits:
        """The names of its traits."""
        at = "cut" if self.cut else "uncut"
        seen = (f"{at} {self.joint}", f"{at} {self.joint} before {self.after}", f"{at} before {self.after}")
        return (*seen, f"cut after {self.before}", f"cut before {self.after} {self.then}") if self.cut else seen


class Begins(NamedTuple):
    """The kinds with which the first two clauses begin, and whether any two clauses begin with the same."""

    first: str
    second: str
    alike: bool

    def traits(self) -> Traits:
        """The names of its traits."""
        seen = (f"begins {self.first}", f"begins {self.first} & {self.second}")
        return (*seen, "begin alike") if self.alike else seen


class Sizes(NamedTuple):
    """The lengths of the shortest and the longest clause, and their ratio, as sizes."""

    shortest: int
    longest: int
    ratio: int

    def traits(self) -> Traits:
        """The names of its traits."""
        return (f"shortest {self.shortest}", f"longest {self.longest}", f"ratio {self.ratio}")


class Sorts(NamedTuple):
    """The sort of each clause, whether it has a name, and whether it has any telling unit."""

    sorts: tuple[str, ...]
    named: tuple[bool, ...]
    telling: tuple[bool, ...]

    def traits(self) -> Traits:
        """The names of its traits."""
        named, telling = self.named, self.telling
        return (
            f"sorts {' & '.join(self.sorts[:2])}",
            f"sorts of all {' & '.join(self.sorts)}",
            f"last sort {self.sorts[-1]}",
            f"named first {named[0]} all {all(named)} later {any(named[1:])}",
            f"telling all {all(telling)} first {telling[0]}",
        )


class Lead(NamedTuple):
    """What stands before the first clause, and whether it is repeated with each (``told``) or dropped."""

    told: bool
    words: int
    telling: int
    named: bool
    joint: str
    first: str
    last: str
    then: str

    def traits(self) -> Traits:
        """The names of its traits."""
        at = "lead told" if self.told else "lead dropped"
        seen = (
            f"words {self.words}",
            f"telling {self.telling}",
            f"named {self.named}",
            f"joint {self.joint}",
            f"first {self.first}",
            f"last {self.last}",
            f"then {self.then}",
        )
        return tuple(f"{at} {one}" for one in seen)


class Tail(NamedTuple):
    """The last segment, which is left out."""

    words: int
    telling: int
    joint: str
    first: str

    def traits(self) -> Traits:
        """The names of its traits."""
        seen = (f"words {self.words}", f"telling {self.telling}", f"joint {self.joint}", f"first {self.first}")
        return tuple(f"tail {one}" for one in seen)


class AsIs(NamedTuple):
    """Clauses as they stand: the pointing words in later ones, and whether one lacks a name that the first has."""

    pointing: tuple[str, ...]
    unnamed: bool

    def traits(self) -> Traits:
        """The names of its traits."""
        seen = ("as is", *(f"as is {words}" for words in self.pointing))
        return (*seen, "as is unnamed") if self.unnamed else seen


class TopicPut(NamedTuple):
    """The first clause's topic in the place of a pointing word."""

    topic: str
    words: str
    then: str

    def traits(self) -> Traits:
        """The names of its traits."""
        put = f"put {self.words}"
        return ("topic", f"topic {self.topic}", f"topic {put}", f"topic {self.topic} {put}", f"topic {put} {self.then}")


class TopicAdded(NamedTuple):
    """The first clause's topic at the end of a later one that does not point."""

    topic: str
    sort: str
    telling: int
    named: bool
    first: str
    last: str

    def traits(self) -> Traits:
        """The names of its traits."""
        seen = (
            f"to {self.topic}",
            f"to {self.sort} {self.telling}",
            f"named {self.named}",
            f"after {self.last}",
            f"begins {self.first}",
        )
        return ("topic", f"topic {self.topic}", "topic added", *(f"topic added {one}" for one in seen))


class AnswerPut(NamedTuple):
    """The answer to the clause before in the place of a pointing word."""

    words: str
    then: str
    named: bool
    begins: str

    def traits(self) -> Traits:
        """The names of its traits."""
        put = f"answer {self.words}"
        of_first = (f"answer named {self.named}", f"answer begins {self.begins}")
        return ("answer", *of_first, put, f"{put} begins {self.begins}", f"{put} {self.then}")


class Items(NamedTuple):
    """The numbers of a list's items and of segments, the reasons for its ends, and whether anything is around it."""

    items: int
    segments: int
    left: str
    right: str
    framed: tuple[bool, bool]

    def traits(self) -> Traits:
        """The names of its traits."""
        pair, framed = f"list {self.left} {self.right}", f"list framed {self.framed[0]} {self.framed[1]}"
        return ("list", f"list {self.items}", f"list {self.items} of {self.segments}", pair, framed)


class Opens(NamedTuple):
    """The beginning of a list's first item: the reason for it, and the kinds of the units before and at it."""

    how: str
    before: str
    first: str

    def traits(self) -> Traits:
        """The names of its traits."""
        before = f"list before {self.before}"
        return (f"list {self.how}", before, f"{before} item {self.first}", f"list item {self.first}")


class Closes(NamedTuple):
    """The reason why a list's last item ends where it does."""

    how: str

    def traits(self) -> Traits:
        """The names of its traits."""
        return (f"list {self.how}",)


class Lengths(NamedTuple):
    """The lengths of a list's longest and shortest items, and their difference, as sizes."""

    difference: int
    longest: int
    shortest: int

    def traits(self) -> Traits:
        """The names of its traits."""
        return (f"list differs {self.difference}", f"list longest {self.longest}", f"list shortest {self.shortest}")


class Kinds(NamedTuple):
    """The kinds with which the first and last items begin and end, whether all items do so, and their sorts."""

    begin: tuple[str, str]
    end: tuple[str, str]
    alike: tuple[bool, bool]
    sorts: tuple[str, str]

    def traits(self) -> Traits:
        """The names of its traits."""
        return (
            f"list items {' & '.join(self.begin)}",
            f"list ends {' & '.join(self.end)}",
            f"list begins alike {self.alike[0]}",
            f"list ends alike {self.alike[1]}",
            f"list sorts {' & '.join(self.sorts)}",
        )


class Named(NamedTuple):
    """The number of a list's items, and of those with a name."""

    named: int
    items: int

    def traits(self) -> Traits:
        """The names of its traits."""
        return (f"list named {self.named} of {self.items}",)


class Between(NamedTuple):
    """A joint between two items of a list; ``last`` if it is the one before the last item."""

    joint: str
    last: bool

    def traits(self) -> Traits:
        """The names of its traits."""
        return (f"list joint {self.joint}", f"list {'last' if self.last else 'earlier'} {self.joint}")


class Beside(NamedTuple):
    """The joint next to a list's first or last segment, and whether the list begins or ends at it."""

    side: str
    joint: str
    at: bool

    def traits(self) -> Traits:
        """The names of its traits."""
        return (f"list {self.side} {self.joint} {'at' if self.at else 'off'}",)


class Left(NamedTuple):
    """A joint that is in no list."""

    joint: str

    def traits(self) -> Traits:
        """The names of its traits."""
        return (f"list leaves {self.joint}",)


class Before(NamedTuple):
    """What is repeated before each item: its length, sort and beginning; and what is left out before that."""

    size: int
    telling: int
    sort: str
    first: str
    items: int
    cut: bool
    lost: int

    def traits(self) -> Traits:
        """The names of its traits."""
        return (
            f"frame left {self.size}",
            f"frame left telling {self.telling}",
            f"frame left {self.sort}",
            f"frame begins {self.first}",
            f"frame begins {self.first} items {self.items}",
            f"frame left cut {self.cut} lost {self.lost}",
        )


class Behind(NamedTuple):
    """What is repeated behind each item, and what is left out behind that."""

    size: int
    telling: int
    sort: str
    first: str
    cut: bool
    lost: int

    def traits(self) -> Traits:
        """The names of its traits."""
        return (
            f"frame right {self.size}",
            f"frame right telling {self.telling}",
            f"frame right {self.sort}",
            f"list after {self.first}",
            f"frame right cut {self.cut} lost {self.lost}",
        )


class Dropped(NamedTuple):
    """What a list leaves out of the query, before its frame (``lead``) or behind it (``tail``)."""

    side: str
    first: str
    words: int

    def traits(self) -> Traits:
        """The names of its traits."""
        return (f"frame {self.side} first {self.first}", f"frame {self.side} words {self.words}")


Own = (
    Split | At | Begins | Sizes | Sorts | Lead | Tail | AsIs | TopicPut | TopicAdded | AnswerPut
    | Items | Opens | Closes | Lengths | Kinds | Named | Between | Beside | Left | Before | Behind | Dropped
)  # fmt: skip
"""Any of these descriptions of a cut."""
