"""Which part of a query a filter applies to, if the query has several wishes.

A *wish* is a kind of information that the query wants. In *velocity of the last two sprints, and what is blocked in
cinder* each wish has the filters of its own clause. A clause without a date or a project of its own takes those of the
clauses before it (*which releases fell in the worst month*); only a yes-or-no question takes no date, since it is about
now (*is there a ticket for it*). Of 66 labelled queries with several wishes in several clauses, 45 get exactly their
filters so, 40 if every wish gets all filters, and 41 if nothing is carried over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from .filters import Filters

_QUESTION = "who|what|which|when|where|why|how|is|are|was|were|did|does|do|has|have|any|whether|tell|say|give|show"
_JOIN = "and|but|or|then|also|plus|the|und|aber|y|et|e|och|oraz"
_BREAK = re.compile(
    rf"[;?。？；]+|!+(?!\d)|(?<!\bvs)\.(?=\s)|[:—–]|\s-\s|,\s*(?=(?:{_QUESTION}|{_JOIN})\b)"
    rf"|\s(?=(?:and|but|then)\s+(?:separately\s+)?(?:{_QUESTION})\b)|[，、](?=\S)",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^\W*(?:and |but |so |plus |also |then )*(?:is|are|was|were|did|does|do|has|have|had|will|can|any)\b",
    re.IGNORECASE,
)
_SIGNS = (r":\s|：", r"\s[-–—]\s")
_HEADS = tuple(re.compile(rf"(?:^|[,;.，；。、\n])\s*([^,;:.?!，；。：、]{{1,40}}?)(?:{sign})") for sign in _SIGNS)
"""Headings, as in *cinder: …; atlas: …*: one belongs to what follows its colon, up to the next heading."""
Span = tuple[int, int]
Read = Callable[[str], Filters]


class Carried(NamedTuple):
    """The filters that later clauses take over, those of names and of dates; others apply to their own clause alone."""

    names: tuple[str, ...] = ("projects",)
    dates: tuple[str, ...] = ("dates",)

    def has(self, key: str, *, asks_now: bool) -> bool:
        """Whether a clause takes a filter over; ``asks_now`` says that it is a yes-or-no question, about now."""
        return key in self.names or (key in self.dates and not asks_now)


CARRIED = Carried()


def clauses(text: str) -> list[Span]:
    """Where the clauses of a text stand; the whole text if it has no parts."""
    heads = max(([match.start(1) for match in head.finditer(text)] for head in _HEADS), key=len)
    found, start = [], 0
    if len(heads) > 1:
        found, start = list(zip([0, *heads], heads, strict=False)), heads[-1]
    for match in _BREAK.finditer(text) if not found else ():
        found.append((start, match.start()))
        start = match.end()
    found.append((start, len(text)))
    return [(a, b) for a, b in found if any(map(str.isalnum, text[a:b]))] or [(0, len(text))]


def scoped_filters(
    text: str, places: Mapping[str, Sequence[int]], read: Read, carried: Carried = CARRIED
) -> dict[str, Filters]:
    """The filters of each wish.

    Args:
        places: where the words of each wish stand in the text; a wish without words belongs to the clauses that no
            other wish has.
        read: a function to the filters that a text states.
        carried: which of them later clauses take over.
    """
    spans = clauses(text)
    if len(spans) < 2 or len(places) < 2:
        whole = read(text)
        return {wish: dict(whole) for wish in places}
    stated = [read(text[a:b]) for a, b in spans]
    own = {
        wish: [n for n, (a, b) in enumerate(spans) if any(a <= at < b for at in found)]
        for wish, found in places.items()
    }
    claimed = {n for mine in own.values() for n in mine}
    free = [n for n in range(len(spans)) if n not in claimed]
    asks_now = [bool(_YES_NO.match(text[a:b])) for a, b in spans]
    return {
        wish: _of_wish(mine or free or range(len(spans)), free, claimed, stated, asks_now, carried)
        for wish, mine in own.items()
    }


def _of_wish(
    mine: Sequence[int],
    free: Sequence[int],
    claimed: set[int],
    stated: Sequence[Filters],
    asks_now: Sequence[bool],
    carried: Carried,
) -> Filters:
    """The filters of one wish: those of its clauses, of adjacent clauses without a wish, and those taken over.

    Args:
        mine: the numbers of its clauses.
        free: the numbers of clauses without a wish.
        claimed: the numbers of clauses with one.
        stated, asks_now: for each clause, its filters, and whether it is a yes-or-no question.
        carried: which filters are taken over from earlier clauses.
    """
    first = min(mine)
    around = [n for n in free if n < min(claimed, default=0) or n - 1 in mine]
    used = sorted({*mine, *around})
    found = Filters()
    for key in dict.fromkeys(key for each in stated for key in each):
        values = [value for n in used for value in stated[n].get(key, ())]
        if not values and carried.has(key, asks_now=asks_now[first]):
            values = next((list(stated[n][key]) for n in range(first - 1, -1, -1) if key in stated[n]), [])
        if values:
            found[key] = tuple(dict.fromkeys(values))
    return found
