"""Plans in one line and providers of one's own, for the tests that run plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from queryplan.program.plan import QueryPlan, RetrievalStrategy
from queryplan.program.retrieval.calls import Limits
from queryplan.program.retrieval.run_result import RunResult
from queryplan.program.retrieval.stores import Stores
from queryplan.signatures.types import SourcePlan, SourceQuery, SubQuery

BOTH = RetrievalStrategy(use_rag=True, use_kg=True, kg_query_type="multi_hop")
ITERATIVE = BOTH.model_copy(update={"iterative": True})
DIRECT = BOTH.model_copy(update={"retrieval_method": "direct"})


def plan_of(query: str, *subs: tuple[str, tuple[int, ...]], **more: Any) -> QueryPlan:
    """A plan for graph and text with these sub-queries, each a text and what it waits for."""
    made: dict[str, Any] = {
        "is_follow_up": False,
        "is_relevant": True,
        "complexity": "complex",
        "intent": "multi_part",
        "needs_decomposition": bool(subs),
        "sub_queries": tuple(SubQuery(id=n, text=t, depends_on=d) for n, (t, d) in enumerate(subs, 1)),
        "retrieval_strategy": BOTH,
    }
    return QueryPlan(query=query, standalone_query=query, **{**made, **more})


@dataclass(eq=False)
class Spy:
    """A provider that passes everything on to another and notes it."""

    inner: Any
    asked: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def limits(self) -> Limits:
        return Limits(concurrency=1)

    def variations(self, query: str) -> Any:
        raise AssertionError("a plan was given")

    def search(self, query: str, limit: int) -> Any:
        self.asked.append(query)
        return self.inner.search(query, limit)


@dataclass(eq=False)
class Fake:
    """A provider that does what a function does."""

    answer: Callable[[str], Any]
    name: str = "fake"
    limits: Limits = field(default_factory=lambda: Limits(concurrency=2, timeout_s=0.05))

    def variations(self, query: str) -> Any:
        raise AssertionError("a plan was given")

    def search(self, query: str, limit: int) -> Any:
        return self.answer(query)


def with_providers(stores: Stores, *providers: Any) -> Stores:
    """The same stores with these providers alone."""
    return replace(stores, providers=providers)


def kinds(result: RunResult) -> set[str]:
    """The kinds of what is missing in a result."""
    return {gap.kind for gap in result.gaps}


# -- sources ----------------------------------------------------------------------------------------


def source_plan(*queries: SourceQuery, **more: Any) -> QueryPlan:
    """A plan with these source queries."""
    plans = tuple(
        SourcePlan(id=q.id.removesuffix("_query"), description="d", sources=(q.source,), priority=10) for q in queries
    )
    return plan_of("failed pipelines of atlas", source_queries=queries, source_plans=plans, **more)


FAILED = SourceQuery(
    id="plan0_query",
    query_string="pipelines projects:atlas",
    source="gitlab",
    filters={"projects": ("atlas",), "statuses": ("failed",)},
)


# -- reading everything -----------------------------------------------------------------------------


def session(count: int, now: str = "2025-03-31T12:00:00+02:00") -> dict[str, Any]:
    """A session with statistics of a collection."""
    return {"now": now, "collection": {"composition_count": count, "last_stats_update": now}}
