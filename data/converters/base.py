"""The interface of a converter, and the placeholder values for labels that a set does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ...signatures.types import Labels
from ..card import DomainCard, ExcludedTopic

NEUTRAL: Mapping[str, str] = {
    "is_follow_up": "always false; the queries have no history",
    "standalone_query": "always the query as typed",
    "referenced_entities": "always empty",
    "is_relevant": "always true; the set has no queries from outside",
    "rejection_kind": "always none",
    "complexity": "simple, unless other labels of the row exclude it",
    "intent": "always factual",
    "needs_decomposition": "always false",
    "sub_queries": "always empty",
    "entities": "always empty",
    "relationships_needed": "always empty",
}
"""The placeholder in a row for each label that its set does not have."""


@dataclass(frozen=True)
class Summary:
    """A summary of a conversion.

    Attributes:
        rows: number of rows written, by split.
        left_out: number of rows that were not written, by reason.
        nodes, edges: size of the graph, if there is one.
    """

    name: str
    folder: Path
    rows: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    nodes: int = 0
    edges: int = 0


class Converter(Protocol):
    """Turns one public set, in its published format, into a domain folder.

    Attributes:
        source: where the set comes from.
        licence: its licence.
        says: each label that the set has, with how it is derived.
        cannot_say: each label that it lacks, with the placeholder.
    """

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def licence(self) -> str: ...
    @property
    def says(self) -> Mapping[str, str]: ...
    @property
    def cannot_say(self) -> Mapping[str, str]: ...

    def convert(self, source: Path | str | None, out: Path, **options: Any) -> Summary:
        """Write the folder ``out``, which must not exist or be empty.

        Args:
            source: a file or folder, a hub name, or None for ``$QUERYPLAN_BENCHMARKS/NAME``.
            options: ``split``, to put all rows into one, and those that the converter's docstring names.

        Raises:
            DataError: there is no source, a file cannot be read (file and line are named), or an option is wrong.
        """
        ...


def unsaid(says: Mapping[str, str], **notes: str) -> dict[str, str]:
    """The labels that ``says`` does not have, each with its placeholder or a note."""
    return {label: notes.get(label, NEUTRAL[label]) for label in NEUTRAL if label not in says}


def labels(query: str, **known: Any) -> Labels:
    """Labels of a query: the known ones, and placeholders for the others."""
    neutral: dict[str, Any] = {
        "is_follow_up": False,
        "standalone_query": query,
        "is_relevant": True,
        "complexity": "simple",
        "intent": "factual",
        "needs_decomposition": False,
    }
    return Labels(**{**neutral, **known})


def open_card(name: str, title: str, covers: tuple[str, ...], **more: Any) -> DomainCard:
    """A card for a set without out-of-scope queries; its excluded topics are never used as labels."""
    return DomainCard(
        name=name, title=title, description=f"{title}, a public set.", covers=covers, excluded=_OPEN, **more
    )


_OPEN = (
    ExcludedTopic(
        kind="instructions",
        answer="orders",
        description="instructions to the planner itself",
        reason="I plan queries; I take no orders about how.",
    ),
    ExcludedTopic(
        kind="nonsense",
        answer="noise",
        description="text that asks nothing",
        reason="I could not find a question in this.",
    ),
)
