"""Which part of a query a filter applies to, if the query has several wishes.

*Velocity of the last two sprints, and what is blocked in cinder*: each wish has the filters of its own clause. A
clause without a date or a project of its own takes those of the clauses before it (*which releases fell in the worst
month*), unless it is a yes-or-no question, which is about now (*is there a ticket for it*). Of 66 labelled queries
with several wishes in several clauses, 45 had exactly their filters so, 40 where every wish had all filters, and 41
where nothing was carried over.
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
"""*Cinder: …; atlas: …*: what stands before a colon is of what follows it, up to the next of its kind."""
Span = tuple[int, int]
Read = Callable[[str], Filters]


class Carried(NamedTuple):
    """Filters that a later clause goes on with, those of names and of dates; others are of their clause alone."""

    names: tuple[str, ...] = ("projects",)
    dates: tuple[str, ...] = ("dates",)

    def has(self, key: str, *, asks_now: bool) -> bool:
        """Whether a clause goes on with a filter; a question of yes or no is about now."""
        return key in self.names or (key in self.dates and not asks_now)


CARRIED = Carried()


def clauses(text: str) -> list[Span]:
    """Where the clauses of a text stand; the text itself where it has no parts."""
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
        places: where the words of each wish stand in the text; without words of its own, a wish is of the clauses
            that no other wish has.
        read: the filters that a text states.
        carried: which of them a later clause goes on with.
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
    """What its clauses state, the clauses around them that are of no wish, and what was said before."""
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
