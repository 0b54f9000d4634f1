"""Statuses that say what a record is about and not how it stands: *tickets about failed logins*, *red banner bug*."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .read_filters import FilterReader

STATUSES = "statuses"
_ABOUT = re.compile(
    r"\b(?:about|regarding|concerning|with|for|on|über|sobre|sur|om)\s+(?:(?:the|a|an|our|these|those)\s+)?$", re.I
)
_STANDS_FOR = "one ones stuff item items thing things work state status in on at by of and or for to from since".split()
_NOUN = re.compile(rf"\s+((?!(?:{'|'.join(_STANDS_FOR)})\b)[^\W\d_]{{2,}})")
_LINK = "that|which|who|is|are|was|were|be|been|has|have|had|got|get|sind|sont|están|estão|sono|zijn|är"
_BEHIND = re.compile(rf"\s+(?:(?:{_LINK})\s+)*", re.I)
_BEFORE = re.compile(rf"(?:\s+(?:{_LINK}))*\s+$", re.I)
_NEAR = 60
"""Characters before a status in which a record of its is looked for, or a word that says what one is about."""

Span = tuple[int, int]


def without_matter(query: str, reader: FilterReader, records: Iterable[Span]) -> str:
    """The query with blanks for statuses of what its records are about.

    Args:
        records: where words for records stand in it. A status before one is the record's: *about failed pipelines*.
    """
    beginnings = {start for start, _ in records}
    values = {start for key in reader.keys for start, _ in reader.spans(key, query)}
    for start, end in reader.spans(STATUSES, query):
        noun = _NOUN.match(query, end)
        other = noun is not None and noun.start(1) not in beginnings | values
        if other and _ABOUT.search(query[max(0, start - _NEAR) : start]):
            query = query[:start] + " " * (end - start) + query[end:]
    return query


def loose_statuses(query: str, reader: FilterReader, records: Iterable[Span]) -> frozenset[str]:
    """The statuses that stand beside no word for a record: *broken scanner tickets*, not *broken builds*."""
    places = list(records)
    starts, ends = {start for start, _ in places}, {end for _, end in places}
    found = dict[str, bool]()
    for start, end in reader.spans(STATUSES, query):
        at = max(0, start - _NEAR)
        before, behind = _BEFORE.search(query[at:start]), _BEHIND.match(query, end)
        beside = (before and at + before.start() in ends) or (behind and behind.end() in starts)
        for value in reader.values(STATUSES, query[start:end]):
            found[value] = found.get(value, True) and not beside
    return frozenset(value for value, loose in found.items() if loose)
