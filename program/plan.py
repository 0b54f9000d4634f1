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


NO_MODEL = "no language model was given"
"""Why something was not done that a plan without a model never does, however often it is made."""


class Degraded(Frozen):
    """Something that could not be done, why, and what was done instead."""

    what: str
    why: str
    instead: str


class QueryPlan(Frozen):
    """What a retrieval system should do with one query. Always complete, never ill-typed."""

    schema_version: Literal[1] = SCHEMA_VERSION
    query: str
    """What the user typed."""
    standalone_query: str
    """The query rewritten so that it can be understood without the conversation; the query itself if it can already."""
    is_follow_up: bool
    """Whether the query can only be understood with the earlier turns."""
    referenced_entities: tuple[str, ...] = ()
    """What a follow-up points to, written as in the earlier turns."""
    conversation_context: str = ""
    """The last question and the beginning of its answer, at most 40 words."""
    previous_topics: tuple[str, ...] = ()
    """The card's names in the earlier turns, latest first, each once."""
    is_relevant: bool
    """Whether the query is in the domain's scope."""
    rejection_kind: str | None = None
    """The excluded topic of the card that an out-of-scope query belongs to."""
    rejection_reason: str | None = None
    """What to tell the user of an out-of-scope query, in the card's words."""
    complexity: Complexity
    """How hard the query is; ``data/README.md`` says what each label means."""
    intent: Intent
    """What kind of question it is, or ``out_of_scope``."""
    needs_decomposition: bool
    """Whether the query takes more than one search."""
    sub_queries: tuple[SubQuery, ...] = ()
    """The searches that together answer the query, if it takes more than one."""
    entities: tuple[str, ...] = ()
    """Names in ``standalone_query``, as written there."""
    relationships_needed: tuple[str, ...] = ()
    """Relations that the answer turns on, as short verb phrases."""
    retrieval_strategy: RetrievalStrategy
    candidates: tuple[QueryCandidate, ...] = ()
    """The texts to search for, best first."""
    source_intents: tuple[SourceIntent, ...] = ()
    """Kinds of information that the query wants of structured sources."""
    source_plans: tuple[SourcePlan, ...] = ()
    """What to ask of which structured sources."""
    source_queries: tuple[SourceQuery, ...] = ()
    """The queries of ``source_plans``, one for each plan and source."""
    graph_plan: GraphPlan | None = None
    """Steps over the domain's knowledge graph; None where there are none."""
    trace: PlanTrace = PlanTrace()
    """Who decided what, how surely, and at what cost."""
    degraded: tuple[Degraded, ...] = ()
    """What could not be done, why, and what was done instead; empty if all went well."""
    program_version: str = "unversioned"
    """The name of the program that made the plan; it changes whenever the same query could get another plan."""

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
