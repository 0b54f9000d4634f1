"""Kinds of information that a query names only to say that they are not wanted: *commits instead of tickets*.

A negation alone says little of a kind: *tickets that are not deployed* and *commits without a ticket* want what they
deny something of. One that chooses says it (*instead of*), and so does *not* behind a break (*commits, not tickets*).
What is denied there of a record is no kind: *merged but not deployed*.
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
"""Characters before a cue in which such a denial is looked for."""


def excepted_kinds(query: str, cues: Iterable[CueSpan]) -> frozenset[int]:
    """The numbers of the kinds that a query names and does not want: each cue of theirs is left for another.

    Args:
        cues: where they stand, with the numbers of their kinds.
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
    """What is wanted without what the query leaves for another; where nothing is left, what it names beside.

    Args:
        named: the kinds that have a cue.
        confidence: of kinds that are wanted by their cues.
    """
    if not unwanted:
        return wanted
    left = {kind: sure for kind, sure in wanted.items() if kind not in unwanted}
    beside = [kind for kind in named if kind not in unwanted]
    return left or dict.fromkeys(beside, confidence) or wanted
