"""Converts people's reasoning steps into the sub-queries of the annotation guide.

Both sets write ``#2`` for the answer of step 2, and have steps that look nothing up but work on earlier answers (``Is
#2 greater than #1?``). The guide counts retrievals: such a step is no sub-query, unless one that is needs its answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import DataError
from ...signatures.types import MAX_SUB_QUERIES, SubQuery
from ..rows import LabelledRow
from .base import labels
from .rowset import LeftOut
from .sources import Record

OPERATIONS = ("drop", "keep")
TOO_MANY = f"more than {MAX_SUB_QUERIES} sub-queries"
BAD_REFERENCE = "a step refers to one that is not before it"
REPEATS = "a step is the question itself"

_REFERENCE = re.compile(r"#(\d+)")


@dataclass(frozen=True)
class Step:
    """One step as published, and whether it only works on earlier answers."""

    text: str
    operation: bool

    @property
    def needs(self) -> tuple[int, ...]:
        """Positions, from 1, of the steps whose answers it uses."""
        return tuple(sorted({int(n) for n in _REFERENCE.findall(self.text)}))


def check_operations(operations: str) -> bool:
    """Whether steps that only work on earlier answers are kept.

    Raises:
        DataError: it is neither ``drop`` nor ``keep``.
    """
    if operations not in OPERATIONS:
        raise DataError(f"operations: give {' or '.join(OPERATIONS)}, not {operations!r}")
    return operations == "keep"


def steps_row(record: Record, query: str, steps: Sequence[Step], keep: bool, *tags: str) -> LabelledRow | LeftOut:
    """The row of a question with its steps; ``keep`` makes every published step a sub-query."""
    if any(not 0 < n < place for place, step in enumerate(steps, 1) for n in step.needs):
        return LeftOut(BAD_REFERENCE)
    subs = sub_queries(steps, keep)
    if len(subs) > MAX_SUB_QUERIES:
        return LeftOut(TOO_MANY)
    if any(s.text.casefold() == query.casefold() for s in subs):
        return LeftOut(REPEATS)
    row_id = record.text("id")
    known = labels(query, **decomposition(subs))
    tags = (*tags, f"steps:{len(steps)}")
    return LabelledRow(id=row_id, conversation=row_id, turn=1, query=query, labels=known, tags=tags)


def sub_queries(steps: Sequence[Step], keep: bool) -> tuple[SubQuery, ...]:
    """The steps that are retrievals, or whose answers such steps need, renumbered."""
    wanted: set[int] = set()
    for place in range(len(steps), 0, -1):
        if keep or not steps[place - 1].operation or any(place in steps[other - 1].needs for other in wanted):
            wanted.add(place)
    number = {place: new for new, place in enumerate(sorted(wanted), 1)}
    return tuple(_sub_query(steps[place - 1], new, number) for place, new in number.items())


def _sub_query(step: Step, new: int, number: Mapping[int, int]) -> SubQuery:
    text = _REFERENCE.sub(lambda match: f"{{{number[int(match[1])]}}}", step.text)
    return SubQuery(id=new, text=text, depends_on=tuple(number[n] for n in step.needs))


def decomposition(subs: Sequence[SubQuery]) -> dict[str, Any]:
    """The labels that follow from sub-queries: fewer than two are no decomposition."""
    if len(subs) < 2:
        return {}
    chain = any(s.depends_on for s in subs)
    return {
        "needs_decomposition": True,
        "sub_queries": tuple(subs),
        "complexity": "complex" if chain else "moderate",
    }
