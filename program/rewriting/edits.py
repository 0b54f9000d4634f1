"""Every candidate edit that may make a follow-up stand alone, with its features.

The query is left as it is (*keep*), or changed by one of three moves. They *put* something said before (a *referent*)
in the place of a word that points to it ("did **he** win" becomes "did Kwabena win"), *add* it at the front or the end
("how many" becomes "how many on Chiamaka's stuck wall"), or *turn* the question before to what is new ("and Priya?"
after "what does Ansei say about sleep" becomes "what does Priya say about sleep").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...signatures.types import Turn
from ..text.linker import Linker
from .lexicon import Lexicon
from .moves import Adding, Move, Putting, Turning, Typed, typed_query
from .referents import Referent, referents
from .traits import FARTHEST, PLACE, Own, Traits

KEEP = "keep"


class Edit(NamedTuple):
    """One candidate edit of a follow-up.

    Attributes:
        text: the query after the edit.
        move: ``keep``, ``put``, ``add`` or ``turn``.
        referent: what is inserted or replaced; None for ``keep``.
        own: features of the way it is done, beside those of the referent.
    """

    text: str
    move: str
    referent: Referent | None
    own: tuple[Own, ...]

    def traits(self) -> Traits:
        """All its features, named as weights are: those of the referent, prefixed by the move, and its own."""
        shared: Traits = ()
        if self.referent is not None:
            place = (PLACE, min(self.referent.place, FARTHEST) / FARTHEST)
            shared = tuple((f"{self.move} {name}", size) for name, size in (*self.referent.look.traits(), place))
        own = (one for seen in self.own for one in seen.traits())
        return tuple((name, size) for name, size in (*shared, *own) if size)


class Choices(NamedTuple):
    """A query as typed, and groups of moves with the referents that they may be made with."""

    typed: Typed
    groups: Sequence[tuple[tuple[Move[Any], ...], list[Referent]]]


def choices(query: str, turns: Sequence[Turn], shown: str, lexicon: Lexicon, linker: Linker) -> Choices:
    """The moves and referents for a query after these turns; nothing that the query itself says is a referent."""
    typed = typed_query(query, lexicon)
    if not typed.end:
        return Choices(typed, [])
    folded, common = query.lower(), lexicon.ordinary
    others = [one for one in referents(turns, shown, linker, common) if one.low not in folded]
    question = [turn for turn in turns if turn.role == "user"][-1:]
    asked = "".join(turn.content for turn in question)
    turning = Turning(typed, asked, lexicon, linker)
    there = (Putting(typed, lexicon), Adding(typed, lexicon)), others
    return Choices(typed, [there, ((turning,), referents(question, "", linker, common))])


def edits(query: str, turns: Sequence[Turn], shown: str, lexicon: Lexicon, linker: Linker) -> list[Edit]:
    """All edits of a query after these turns; the first leaves it as it was typed."""
    typed, groups = choices(query, turns, shown, lexicon, linker)
    kept = Edit(typed.text, KEEP, None, (typed.keep(),))
    return [kept, *(edit for moves, of in groups for one in of for move in moves for edit in _made(move, one))]


def _made(move: Move[Any], referent: Referent) -> Iterator[Edit]:
    part = move.part(referent)
    if part is not None:
        for way, own in move.ways(part):
            yield Edit(move.text(way, referent), move.name, referent, own)
