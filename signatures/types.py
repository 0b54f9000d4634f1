"""The vocabulary that labelled rows, signatures and plans share, as types.

Everything here is a frozen pydantic model or a literal type: it says what a word means and nothing else. The meaning
of each label is given in ``data/README.md``.
"""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from .graph_steps import (
    AnchorStep,
    CountStep,
    DifferenceStep,
    EdgeType,
    ExpandStep,
    FilterStep,
    GraphPlan,
    GraphSchema,
    GraphStep,
    IntersectStep,
    NodeRef,
    NodeType,
    OrderStep,
    UnionStep,
)

Complexity = Literal["simple", "moderate", "complex"]
Intent = Literal[
    "greeting",
    "definition",
    "factual",
    "comparison",
    "causal",
    "multi_entity",
    "cross_episode",
    "multi_part",
    "out_of_scope",
]
Role = Literal["user", "assistant"]
KgQueryType = Literal["entity_centric", "multi_hop", "cross_episode"]
RetrievalMethod = Literal["semantic", "direct"]
Stage = Literal["follow_up", "relevance", "complexity", "rewrite", "decompose", "graph"]
DecidedBy = Literal["rule", "head", "lm", "cache", "fallback"]

__all__ = [
    "COMPLEXITIES",
    "INTENTS",
    "IN_DOMAIN_INTENTS",
    "MAX_SUB_QUERIES",
    "MIN_SUB_QUERIES",
    "STAGES",
    "AnchorStep",
    "Complexity",
    "CountStep",
    "DecidedBy",
    "DifferenceStep",
    "EdgeType",
    "ExpandStep",
    "FilterStep",
    "Frozen",
    "GraphPlan",
    "GraphSchema",
    "GraphStep",
    "Intent",
    "IntersectStep",
    "KgQueryType",
    "Labels",
    "NodeRef",
    "NodeType",
    "OrderStep",
    "RetrievalMethod",
    "Role",
    "SourceIntent",
    "SourcePlan",
    "SourceQuery",
    "Stage",
    "SubQuery",
    "Turn",
    "UnionStep",
    "check_dependencies",
]

COMPLEXITIES: tuple[str, ...] = get_args(Complexity)
INTENTS: tuple[str, ...] = get_args(Intent)
IN_DOMAIN_INTENTS: tuple[str, ...] = tuple(i for i in INTENTS if i != "out_of_scope")
STAGES: tuple[str, ...] = get_args(Stage)

MAX_SUB_QUERIES = 4
MIN_SUB_QUERIES = 2


class Frozen(BaseModel):
    """A value: cannot be changed, and refuses a field it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Turn(Frozen):
    """One earlier message of the conversation."""

    role: Role
    content: str


class SubQuery(Frozen):
    """One question that the whole needs.

    ``text`` stands alone, except that ``{n}`` stands for the answer of sub-query ``n``, which
    ``depends_on`` then names. Ids count from 1 in the order of the plan.
    """

    id: int = Field(ge=1)
    text: str = Field(min_length=1)
    depends_on: tuple[int, ...] = ()


def check_dependencies(sub_queries: tuple[SubQuery, ...]) -> tuple[SubQuery, ...]:
    """Return ``sub_queries`` if ids are distinct and dependencies form no cycle.

    Raises:
        ValueError: an id twice, a dependency that does not exist, or a cycle.
    """
    waiting = {s.id: set(s.depends_on) for s in sub_queries}
    if len(waiting) != len(sub_queries):
        raise ValueError("two sub-queries have the same id")
    unknown = {d for ds in waiting.values() for d in ds} - waiting.keys()
    if unknown:
        raise ValueError(f"depends_on names sub-queries that do not exist: {sorted(unknown)}")
    while waiting:
        ready = {i for i, needs in waiting.items() if not needs}
        if not ready:
            raise ValueError(f"depends_on has a cycle through sub-queries {sorted(waiting)}")
        waiting = {i: needs - ready for i, needs in waiting.items() if i not in ready}
    return sub_queries


class SourceIntent(Frozen):
    """A kind of information that the query wants, with the filters it states."""

    type: str
    confidence: float = Field(ge=0, le=1)
    filters: dict[str, tuple[str, ...]] = {}


class SourcePlan(Frozen):
    """What to ask of which sources, and how urgent it is (10 is first)."""

    id: str
    description: str
    sources: tuple[str, ...]
    filters: dict[str, tuple[str, ...]] = {}
    priority: int = 5


class SourceQuery(Frozen):
    """One normalised query string for one source."""

    id: str
    query_string: str
    source: str
    filters: dict[str, tuple[str, ...]] = {}
    results: tuple[str, ...] = ()


class Labels(Frozen):
    """Everything the annotation guide labels about one query in its conversation.

    The consistency that the guide demands is checked here, so that neither a row nor a gold plan
    can contradict it.
    """

    is_follow_up: bool
    standalone_query: str
    referenced_entities: tuple[str, ...] = ()
    is_relevant: bool
    rejection_kind: str | None = None
    complexity: Complexity
    intent: Intent
    needs_decomposition: bool
    sub_queries: tuple[SubQuery, ...] = ()
    entities: tuple[str, ...] = ()
    relationships_needed: tuple[str, ...] = ()

    @field_validator("sub_queries")
    @classmethod
    def _dependencies(cls, value: tuple[SubQuery, ...]) -> tuple[SubQuery, ...]:
        return check_dependencies(value)

    @model_validator(mode="after")
    def _follow_the_guide(self) -> Labels:
        if problems := list(self._contradictions()):
            raise ValueError("; ".join(problems))
        return self

    def _contradictions(self) -> list[str]:
        found = []
        if not self.is_follow_up and self.referenced_entities:
            found.append("referenced_entities must be empty when is_follow_up is false")
        if self.needs_decomposition != bool(self.sub_queries):
            found.append("sub_queries must be given exactly when needs_decomposition is true")
        if self.sub_queries and not MIN_SUB_QUERIES <= len(self.sub_queries) <= MAX_SUB_QUERIES:
            found.append(f"sub_queries must be {MIN_SUB_QUERIES} to {MAX_SUB_QUERIES}")
        same = self.standalone_query.strip().casefold()
        if any(s.text.strip().casefold() == same for s in self.sub_queries):
            found.append("a sub-query repeats the query itself")
        return found + self._relevance_contradictions()

    def _relevance_contradictions(self) -> list[str]:
        if self.is_relevant:
            found = ["intent out_of_scope needs is_relevant false"] if self.intent == "out_of_scope" else []
            return found + (["rejection_kind needs is_relevant false"] if self.rejection_kind else [])
        found = []
        if self.rejection_kind is None:
            found.append("rejection_kind must name an excluded topic when is_relevant is false")
        if (self.complexity, self.intent) != ("simple", "out_of_scope"):
            found.append("out of domain must be simple and out_of_scope")
        if self.entities or self.sub_queries or self.relationships_needed:
            found.append("out of domain has no entities, relations or sub-queries")
        return found
