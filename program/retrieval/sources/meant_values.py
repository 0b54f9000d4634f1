"""Which statuses in a text are meant as filters: not those that are asked about or told as an event."""

from __future__ import annotations

import re

from ..dates.finding import starts_with_date
from .read_filters import FilterReader

# Only languages whose questions begin with a verb; in others a status in a yes-or-no question is taken for a filter.
_YES_NO = re.compile(
    r"^\W*(?:and |but |so |please |und |y |e |et |och |en )*(?:(?:is|are|was|were|did|does|do|has|have|had)(?:n['’]?t)?"
    r"|will|can|ist|sind|war|waren|wurde|wurden|hat|haben|est-ce|está|están|fue|è|sono|är|czy)\b",
    re.I,
)
_WHETHER = re.compile(r"\b(?:if|whether|ob|si|czy)\b(?!.*\b(?:there|any)\b)[^,:]*$", re.I)
_OR_NOT = re.compile(r"\b(?:or not|oder nicht|ou pas|o no|ou não)\b", re.I)
_IDIOMS = re.compile(
    r"\b(?:to do with|running out|(?:get|gets|getting|got|gotten|has|have|had)\s+(?:\w+\s+){0,2}done"
    r"|done\s+(?:their|his|her|its|my|our|your|the|with))\b",
    re.I,
)
"""Idioms with the words of statuses, which mean something else there."""
_NEAR, _FAR = 60, 400
"""The most characters beside a status in which such an idiom is looked for, and before it in which a *whether* is."""
_THERE = re.compile(r"^\W*(?:is|are|was|were) there\b|\bany\b", re.I)
_CLAUSES = re.compile(
    r"[;?。？；]|!(?!\d)|(?<!\bvs)\.(?=\s)|, (?=and |but |or |is |are |was |did |has )"
    r"|\s(?=and (?:is|are|was|were|did|does|has|have)\b)"
)
_AFTER = "by in on at yet already now and or since because for with to from if noch schon ist sind".split()
_ENDS = re.compile(rf"^\s*(?:$|[,.;:)?!]|(?:{'|'.join(_AFTER)})\b)", re.I)
_RECORD = r"(?:[#!]\d+|\b[A-Z]{2,}-\d+)"
_OBJECT = re.compile(rf"^\s*(?:the|a|an|this|that|these|those|it|them)\b|^\s*{_RECORD}", re.I)
_VERBLESS = re.compile(rf"^\W*(?:and |but |so |und )*{_RECORD}[,:]?\s+(?:(?:already|now|not)\s+)*$", re.I)
"""*ATL-219 closed?* asks for the status, while *why is ATL-219 blocked* presupposes it."""


def without_predicates(query: str, reader: FilterReader) -> str:
    """The query without statuses that are asked about ("is it fixed?") or told as events ("who fixed #12")."""
    kept = []
    for clause in _split(query):
        all_asks = bool(_OR_NOT.search(clause)) or (bool(_YES_NO.match(clause)) and not _THERE.search(clause))
        for start, end in reversed(reader.spans("statuses", clause)):
            before, after = clause[:start], clause[end:]
            asks = all_asks or _WHETHER.search(before[-_FAR:]) or _VERBLESS.search(before)
            participle = clause[start:end].casefold().endswith("ed")
            tells = participle and _OBJECT.match(after) and not starts_with_date(after)
            if (asks and _ENDS.match(after)) or tells or _is_idiom(clause, start, end):
                clause = f"{before} {after}"
        kept.append(clause)
    return "".join(kept)


def _is_idiom(clause: str, start: int, end: int) -> bool:
    near = _IDIOMS.finditer(clause, max(0, start - _NEAR), end + _NEAR)
    return any(match.start() < end and start < match.end() for match in near)


def _split(query: str) -> list[str]:
    """The clauses of a query, each with the punctuation that ends it."""
    ends = [match.end() for match in _CLAUSES.finditer(query)]
    return [query[a:b] for a, b in zip([0, *ends], [*ends, len(query)], strict=True)]
