"""Which values that stand in a text are meant as filters: not what is excepted, asked about, or told as an event."""

from __future__ import annotations

import re

from .dates import starts_with_date
from .read_filters import FilterReader

# Of languages whose questions begin with a verb; in others a status in such a question is taken for a filter.
_YES_NO = re.compile(
    r"^\W*(?:and |but |so |please |und |y |e |et |och |en )*(?:is|are|was|were|did|does|do|has|have|had|will|can|ist"
    r"|sind|war|waren|wurde|wurden|hat|haben|est-ce|está|están|fue|è|sono|är|czy)\b",
    re.I,
)
_OR_NOT = re.compile(r"\b(?:or not|oder nicht|ou pas|o no|ou não)\b", re.I)
_IDIOMS = re.compile(
    r"\b(?:to do with|running out|(?:get|gets|getting|got|gotten|has|have|had)\s+(?:\w+\s+){0,2}done"
    r"|done\s+(?:their|his|her|its|my|our|your|the|with))\b",
    re.I,
)
"""Words of statuses that say something else."""
_THERE = re.compile(r"^\W*(?:is|are|was|were) there\b|\bany\b", re.I)
_CLAUSES = re.compile(
    r"[;?!。？；]|\.(?=\s)|, (?=and |but |or |is |are |was |did |has )"
    r"|\s(?=and (?:is|are|was|were|did|does|has|have)\b)"
)
_EXCEPT = re.compile(
    r"\b(?:not|without|except|excluding|apart from|other than|ohne|außer|sauf|sans|excepto|salvo|sin|exceto|sem|tranne"
    r"|senza|zonder|behalve|utom|bez|oprócz)"
    r"(?:\s+(?:the|in|from|of|for|one|ones|any|those|die|der|das|den|in|les|la|le|el|los|as|os))*\s+$",
    re.IGNORECASE,
)
_AFTER = "by in on at yet already now and or since because for with to from if noch schon".split()
_ENDS = re.compile(rf"^\s*(?:$|[,.;:)?!]|(?:{'|'.join(_AFTER)})\b)", re.I)
_OBJECT = re.compile(r"^\s*(?:the|a|an|this|that|these|those|it|them|[#!]\d)\b|^\s*[#!]\d|^\s*[A-Z]{2,}-\d", re.I)


def without_exceptions(query: str, reader: FilterReader) -> str:
    """The query without values that it does not want: *not the open ones*, *except in ember*."""
    for key in reader.keys:
        for start, end in reversed(reader.spans(key, query)):
            if _EXCEPT.search(query, 0, start):
                query = query[:start] + " " * (end - start) + query[end:]
    return query


def without_predicates(query: str, reader: FilterReader) -> str:
    """The query without statuses that are asked about ("is it fixed?") or told as events ("who fixed #12")."""
    kept = []
    for clause in _split(query):
        asks = bool(_OR_NOT.search(clause)) or (bool(_YES_NO.match(clause)) and not _THERE.search(clause))
        for start, end in reversed(reader.spans("statuses", clause)):
            after = clause[end:]
            participle = clause[start:end].casefold().endswith("ed")
            tells = participle and _OBJECT.match(after) and not starts_with_date(after)
            if (asks and _ENDS.match(after)) or tells or _is_idiom(clause, start, end):
                clause = f"{clause[:start]} {after}"
        kept.append(clause)
    return "".join(kept)


def _is_idiom(clause: str, start: int, end: int) -> bool:
    return any(match.start() < end and start < match.end() for match in _IDIOMS.finditer(clause))


def _split(query: str) -> list[str]:
    """The clauses of a query, each with the sign that ends it."""
    ends = [match.end() for match in _CLAUSES.finditer(query)]
    return [query[a:b] for a, b in zip([0, *ends], [*ends, len(query)], strict=True)]
