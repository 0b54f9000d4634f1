"""Finds labels of a row that contradict the annotation guide, beyond what the model of a row refuses.

``LabelledRow`` refuses what can never be right. What is found here is nearly always a slip of whoever labelled:
`queryplan data check` shows it, and nothing else depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .rows import LabelledRow

_ANSWER = re.compile(r"\{(\d+)\}")


def contradictions(row: LabelledRow) -> list[str]:
    """One sentence for each contradiction to the guide; empty for a row that follows it."""
    return [*_follow_up(row), *_names(row), *_effort(row), *_parts(row)]


def _follow_up(row: LabelledRow) -> Iterator[str]:
    labels = row.labels
    if labels.is_follow_up and labels.standalone_query.strip() == row.query.strip():
        yield "a follow-up whose standalone_query resolves nothing"
    if labels.is_follow_up and labels.intent == "greeting" and labels.referenced_entities:
        yield "a greeting points to no entities"
    asked = sum(turn.role == "user" for turn in row.history)
    if asked >= row.turn:
        yield f"turn is {row.turn}, but the history has {asked} queries before it"


def _names(row: LabelledRow) -> Iterator[str]:
    said = " ".join(turn.content for turn in row.history).casefold()
    for name in row.labels.referenced_entities:
        if name.casefold() not in said:
            yield f"referenced_entities has {name!r}, which no earlier turn says"
    for name in row.labels.entities:
        if name not in row.labels.standalone_query:
            yield f"entities has {name!r}, which standalone_query does not say"


def _effort(row: LabelledRow) -> Iterator[str]:
    labels = row.labels
    if labels.complexity == "simple" and labels.needs_decomposition:
        yield "a simple query needs one retrieval at most, so it is not decomposed"
    if labels.intent == "greeting" and labels.complexity != "simple":
        yield "a greeting is simple"
    if labels.intent in ("multi_part", "cross_episode") and labels.complexity != "complex":
        yield "several questions in one, or one across episodes or over time, are complex"
    if labels.intent in ("comparison", "multi_entity", "causal") and labels.complexity == "simple":
        yield f"{labels.intent} is moderate at least"


def _parts(row: LabelledRow) -> Iterator[str]:
    texts = [" ".join(part.text.casefold().split()) for part in row.labels.sub_queries]
    if len(set(texts)) < len(texts):
        yield "two sub-queries ask the same"
    for part in row.labels.sub_queries:
        for number in sorted({int(n) for n in _ANSWER.findall(part.text)} - set(part.depends_on)):
            yield f"sub-query {part.id} uses {{{number}}}, which its depends_on does not name"
