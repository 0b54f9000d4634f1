"""``QueryPlan``: the planner's typed answer for one query, and the trace that explains it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from ..signatures.types import (
    Complexity,
    DecidedBy,
    Frozen,
    GraphPlan,
    Intent,
    KgQueryType,
    RetrievalMethod,
    SourceIntent,
    SourcePlan,
    SourceQuery,
    Stage,
    SubQuery,
    check_dependencies,
)

SCHEMA_VERSION = 1


class RetrievalStrategy(Frozen):
    """How to search: which stores, how widely, and whether at all.

    ``iterative`` asks the retriever for another look after the first evidence; ``direct_answer``
    means that nothing needs to be retrieved.
    """

    use_rag: bool
    use_kg: bool
    kg_query_type: KgQueryType | None = None
    rag_expansion: bool = False
    iterative: bool = False
    direct_answer: bool = False
    retrieval_method: RetrievalMethod = "semantic"


class QueryCandidate(Frozen):
    """One way of asking, and where it came from."""

    query: str
    stage: str
    label: str
    weight: float = Field(default=1.0, ge=0)
    source_filter: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Decision(Frozen):
    """What one stage decided, who decided it, and what it cost.

    Attributes:
        confidence: the probability of ``value``, between 0 and 1; 1.0 for a rule.
        milliseconds: wall clock from asking to answer; 0 for what was known already.
        lm_calls: requests sent to a language model for this stage.
        tokens: prompt and completion tokens of those requests.
    """

    stage: Stage
    value: Any
    decided_by: DecidedBy
    confidence: float = Field(ge=0, le=1)
    milliseconds: float = Field(default=0.0, ge=0)
    lm_calls: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    reason: str = ""

    def __hash__(self) -> int:  # a value may be a dict
        return hash((self.stage, self.decided_by, self.confidence))


class PlanTrace(Frozen):
    """How the plan came to be.

    ``rounds`` counts sets of LM requests in flight together; ``wasted_requests`` those that were
    foreseen and not needed. ``requests`` is every LM request of the plan. ``completion_tokens`` are those among
    ``tokens`` that the model wrote, which cost more where tokens cost money; None where nobody counted them.
    """

    decisions: tuple[Decision, ...] = ()
    rounds: int = Field(default=0, ge=0)
    requests: int = Field(default=0, ge=0)
    wasted_requests: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    milliseconds: float = Field(default=0.0, ge=0)
    notes: tuple[str, ...] = ()

    def decision(self, stage: str) -> Decision | None:
        """The decision of one stage, or None if it was not made."""
        return next((d for d in self.decisions if d.stage == stage), None)


class Degraded(Frozen):
    """Something that could not be done, why, and what was done instead."""

    what: str
    why: str
    instead: str


class QueryPlan(Frozen):
    """What a retrieval system should do with one query. Always complete, never ill-typed."""

    schema_version: Literal[1] = SCHEMA_VERSION
    query: str
    standalone_query: str
    is_follow_up: bool
    referenced_entities: tuple[str, ...] = ()
    conversation_context: str = ""
    previous_topics: tuple[str, ...] = ()
    is_relevant: bool
    rejection_kind: str | None = None
    rejection_reason: str | None = None
    complexity: Complexity
    intent: Intent
    needs_decomposition: bool
    sub_queries: tuple[SubQuery, ...] = ()
    entities: tuple[str, ...] = ()
    relationships_needed: tuple[str, ...] = ()
    retrieval_strategy: RetrievalStrategy
    candidates: tuple[QueryCandidate, ...] = ()
    source_intents: tuple[SourceIntent, ...] = ()
    source_plans: tuple[SourcePlan, ...] = ()
    source_queries: tuple[SourceQuery, ...] = ()
    graph_plan: GraphPlan | None = None
    trace: PlanTrace = PlanTrace()
    degraded: tuple[Degraded, ...] = ()
    program_version: str = "unversioned"

    def __hash__(self) -> int:  # source plans may hold a dict
        return hash((self.query, self.standalone_query, self.intent, self.complexity, self.program_version))

    @field_validator("sub_queries")
    @classmethod
    def _dependencies(cls, value: tuple[SubQuery, ...]) -> tuple[SubQuery, ...]:
        return check_dependencies(value)

    @model_validator(mode="after")
    def _rejected_plans_ask_nothing(self) -> QueryPlan:
        if self.is_relevant == (self.intent == "out_of_scope"):
            raise ValueError("intent is out_of_scope exactly when is_relevant is false")
        if self.is_relevant and (self.rejection_kind or self.rejection_reason):
            raise ValueError("only a plan that is not relevant has a rejection")
        if not self.is_relevant and (self.sub_queries or self.retrieval_strategy.use_rag):
            raise ValueError("a plan that is not relevant retrieves nothing")
        return self
