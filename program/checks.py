"""Checks of the written parts of a plan. Each problem found is a sentence for the language model to act on."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from ..signatures.decompose_query import WrittenSubQuery
from ..signatures.problems import said_of
from ..signatures.types import MAX_SUB_QUERIES, MIN_SUB_QUERIES, SubQuery, check_dependencies
from .retrieval.candidates.canonical import canonical
from .retrieval.placeholders import REFERENCE

# The longest gold rewrites add about sixty characters of names for each thing they resolve.
REWRITE_ROOM = 300


def check_rewrite(query: str, standalone: str) -> list[str]:
    """The problems of a rewritten query; empty if it can be used."""
    text = standalone.strip()
    if not text:
        return ["standalone_query is empty; write the query so that it can be understood alone"]
    if len(text) > 2 * len(query) + REWRITE_ROOM:
        return ["standalone_query is much longer than the query; add nothing but the names it points to"]
    return []


def check_sub_queries(query: str, written: Sequence[WrittenSubQuery]) -> tuple[tuple[SubQuery, ...], list[str]]:
    """Typed sub-queries and their problems; use them only if there are none."""
    if not MIN_SUB_QUERIES <= len(written) <= MAX_SUB_QUERIES:
        return (), [f"give {MIN_SUB_QUERIES} to {MAX_SUB_QUERIES} sub_queries, not {len(written)}"]
    problems = []
    texts = [_compared(w.text) for w in written]
    if _compared(query) in texts:
        problems.append("a sub-query repeats the whole question; ask only for a part of it")
    if len(set(texts)) != len(texts):
        problems.append("two sub-queries are the same")
    try:
        return check_dependencies(tuple(_sub_query(i, w) for i, w in enumerate(written, 1))), problems
    except (ValidationError, ValueError) as error:
        message = said_of(error.errors()[0]) if isinstance(error, ValidationError) else str(error)
        return (), [*problems, message]


def _compared(text: str) -> str:
    """A text without case and signs, or as it is where it has nothing else."""
    return canonical(text) or text.strip()


def _sub_query(number: int, written: WrittenSubQuery) -> SubQuery:
    """A typed sub-query, whose dependencies are those written and those that ``{n}`` in its text implies."""
    named = {int(n) for n in REFERENCE.findall(written.text)}
    return SubQuery(id=number, text=written.text.strip(), depends_on=tuple(sorted(named | set(written.depends_on))))
