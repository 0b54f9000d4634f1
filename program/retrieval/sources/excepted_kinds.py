"""Kinds of information that a query names only to say that they are not wanted: *commits instead of tickets*.

A negation alone does not exclude a kind: *tickets that are not deployed* and *commits without a ticket* want the
records of which they deny something. Words that choose do (*instead of*), and *not* behind a comma (*commits, not
tickets*). A participle in that place is no kind, but is denied of a record: *merged but not deployed*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .wish_frames import CueSpan

_CHOOSES = re.compile(
    r"(?:\b(?:instead of|rather than|as opposed to|statt|anstatt|anstelle von|au lieu d[eu]s?|plutôt que|en vez de"
    r"|em vez de|invece di|in plaats van|i stället för|zamiast)|(?:^|[,;(]|\bbut|\band)\s*not|(?:^|[,;(])\s*no)"
    r"(?:[\s'’]+(?:the|any|those|these|der|die|das|den|dem|les|des|los|las|os|as|i|le|de))*[\s'’]+$",
    re.IGNORECASE,
)
_NEAR = 40
"""The most characters before a cue in which such words are looked for."""


def excepted_kinds(query: str, cues: Iterable[CueSpan]) -> frozenset[int]:
    """The numbers of the kinds that a query excludes: every cue of theirs is rejected in favour of another.

    Args:
        cues: where cues stand, with the numbers of their kinds.
    """
    left, named = set[int](), set[int]()
    for start, end, kinds in cues:
        (left if _is_left(query, start, end) else named).update(kinds)
    return frozenset(left - named)


def _is_left(query: str, start: int, end: int) -> bool:
    participle = query[start:end].casefold().endswith("ed")
    return not participle and _CHOOSES.search(query[max(0, start - _NEAR) : start]) is not None


def without_kinds(
    wanted: dict[str, float], unwanted: Sequence[str], named: Sequence[str], confidence: float
) -> dict[str, float]:
    """The wanted kinds without the excluded ones; if none is left, the other kinds that the query names.

    Args:
        wanted: the confidence of each wanted kind.
        unwanted: the excluded kinds.
        named: the kinds that have a cue in the query.
        confidence: that of kinds that are wanted by their cues alone.
    """
    if not unwanted:
        return wanted
    left = {kind: sure for kind, sure in wanted.items() if kind not in unwanted}
    beside = [kind for kind in named if kind not in unwanted]
    return left or dict.fromkeys(beside, confidence) or wanted
