"""Statuses that name a record's subject, not its state: *tickets about failed logins*, *red banner bug*."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable

from .read_filters import FilterReader
from .wish_frames import CueSpan

STATUSES = "statuses"
"""The filter that a card names so: its values are predicates of records ("merged", "failed"), and no names."""
_DETERMINED = r"\s+(?:(?:the|a|an|our|these|those)\s+)?$"
_ABOUT = re.compile(rf"\b(?:about|regarding|concerning|über|sobre){_DETERMINED}", re.I)
_BEHIND_RECORD = re.compile(rf"\s+(?:with|for|on|sur|om){_DETERMINED}", re.I)
_STANDS_FOR = "one ones stuff item items thing things work state status in on at by of and or for to from since".split()
_NOUN = re.compile(rf"\s+((?!(?:{'|'.join(_STANDS_FOR)})\b)[^\W\d_]{{2,}})\s*")
_LINK = "that|which|who|is|are|was|were|be|been|has|have|had|got|get|sind|sont|están|estão|sono|zijn|är"
_BEHIND = re.compile(rf"\s+(?:(?:{_LINK})\s+)*", re.I)
_BEFORE = re.compile(rf"(?:\s+(?:{_LINK}))*\s+$", re.I)
_AND = re.compile(r"\s*(?:,|&|\+|/|\b(?:and|or|und|oder|et|ou|y|o|e|en|och|i)\b)\s*", re.I)
_NEAR = 60
"""The most characters before a status in which its record, or a word such as *about*, is looked for."""

Span = tuple[int, int]


def without_matter(query: str, reader: FilterReader, records: Collection[Span]) -> str:
    """The query with blanks in place of statuses that belong to what its records are about.

    Args:
        records: where words for records stand in it. A status before one is that record's own: *about failed
            pipelines*, *about failed nightly pipelines*.
    """
    beginnings, ends = {start for start, _ in records}, {end for _, end in records}
    values = {start for key in reader.keys for start, _ in reader.spans(key, query)}
    for start, end in reader.spans(STATUSES, query):
        noun = _NOUN.match(query, end)
        other = noun is not None and not {noun.start(1), noun.end()} & beginnings and noun.start(1) not in values
        if other and _is_about(query, start, ends):
            query = query[:start] + " " * (end - start) + query[end:]
    return query


def _is_about(query: str, start: int, ends: Container[int]) -> bool:
    """Whether the words before say that a record is about what begins here."""
    at = max(0, start - _NEAR)
    behind = _BEHIND_RECORD.search(query[at:start])
    return bool(_ABOUT.search(query[at:start]) or (behind and at + behind.start() in ends))


def said_of(query: str, reader: FilterReader, records: Iterable[CueSpan]) -> dict[str, list[frozenset[int]]]:
    """For each occurrence of each status, the numbers of the kinds whose records it describes; empty for none.

    In *broken scanner tickets* the status describes no records, in *open tickets and branches* both kinds, and in *open
    tickets and the branches of cinder* the tickets.

    Args:
        records: where words for records stand, and the numbers of the kinds that ask for them.
    """
    places = _enumerated(query, records)
    starts = {start: kinds for start, _, kinds in places}
    ends = {end: kinds for _, end, kinds in places}
    found = dict[str, list[frozenset[int]]]()
    for start, end in reader.spans(STATUSES, query):
        at = max(0, start - _NEAR)
        before, behind = _BEFORE.search(query[at:start]), _BEHIND.match(query, end)
        own = starts.get(behind.end()) if behind else None
        own = own or (ends.get(at + before.start()) if before else None) or ()
        for value in reader.values(STATUSES, query[start:end]):
            found.setdefault(value, []).append(frozenset(own))
    return found


def _enumerated(query: str, records: Iterable[CueSpan]) -> list[tuple[int, int, set[int]]]:
    """Where words for records stand, each with the kinds of all records that it is enumerated with."""
    found, kinds, last = list[tuple[int, int, set[int]]](), set[int](), -1
    for start, end, own in sorted(records):
        if last < 0 or not _AND.fullmatch(query, last, start):
            kinds = set()
        kinds.update(own)
        found.append((start, end, kinds))
        last = end
    return found
