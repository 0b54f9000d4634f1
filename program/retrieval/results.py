"""What retrieval returns: hits of a retriever, labelled results of a provider, evidence, and gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...signatures.types import Frozen
from ..plan import QueryCandidate
from .passages import Passage

GapKind = Literal["provider", "coverage", "dependency", "deadline", "graph", "source", "plan"]


class Gap(Frozen):
    """Something that could not be found or asked, why, and what was done instead."""

    kind: GapKind
    what: str
    why: str
    instead: str


@dataclass(frozen=True)
class Hit:
    """A passage that a retriever found; ``score`` is comparable within one answer only, higher is better."""

    passage: Passage
    score: float


@dataclass(frozen=True)
class SearchResult:
    """A hit with where it came from.

    Attributes:
        provider: name of the provider that found it.
        channel: the provider's ranking that it is part of; each channel is ranked by itself.
        query: the text that was searched for.
        query_variant: ``stage:label`` of the candidate, or the provider's label of its own variation.
    """

    passage: Passage
    score: float
    provider: str
    channel: str = ""
    query: str = ""
    query_variant: str = ""

    def asked(self, query: str, variant: str) -> SearchResult:
        """The same result, labelled with the query that found it."""
        return SearchResult(self.passage, self.score, self.provider, self.channel, query, variant)


@dataclass(frozen=True)
class RankedList:
    """The answer to one query in one channel of one provider, best first."""

    provider: str
    channel: str
    query: str
    variant: str
    results: tuple[SearchResult, ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Evidence:
    """A passage that several lists may have found, with its fused score.

    Attributes:
        score: sum of weighted reciprocal ranks.
        query_variant: that of the list that contributed most.
        variants: those of all lists that have it, most contributing first.
    """

    passage: Passage
    score: float
    query_variant: str
    variants: tuple[str, ...]
    providers: tuple[str, ...]

    @property
    def id(self) -> str:
        """Id of the passage within its source."""
        return self.passage.id


@dataclass(frozen=True)
class Asked:
    """One candidate sent to one provider; ``error`` says why there is no answer."""

    candidate: QueryCandidate
    provider: str
    found: int = 0
    milliseconds: float = 0.0
    error: str = ""


def variant_of(candidate: QueryCandidate) -> str:
    """The label that a candidate's results carry."""
    return f"{candidate.stage}:{candidate.label}"


def ids(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Ids of the passages, in order."""
    return tuple(item.id for item in evidence)
