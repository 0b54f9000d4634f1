"""Four passages, candidates and plans in one line, and a provider that notes what it is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from queryplan.program.plan import QueryCandidate, QueryPlan, RetrievalStrategy
from queryplan.program.retrieval.calls import Limits
from queryplan.program.retrieval.passages import Passage
from queryplan.program.retrieval.providers import Variation
from queryplan.program.retrieval.results import SearchResult
from queryplan.signatures.types import SubQuery

TEXTS = {
    "kiln": "The kiln cooled for two days before the potter opened the door.",
    "bees": "Bees keep their hive at the same warmth all winter long.",
    "radio": "Nobody on the night radio knew what the silence meant.",
    "door": "She stands at the workshop door and does nothing at all.",
}
PASSAGES = [Passage(name, text, "talks") for name, text in TEXTS.items()]


def candidate(query: str, label: str = "standalone", stage: str = "rule_based", **more: Any) -> QueryCandidate:
    return QueryCandidate(query=query, stage=stage, label=label, **more)


def plan_of(query: str, *candidates: QueryCandidate, subs: Sequence[str] = (), **more: Any) -> QueryPlan:
    strategy = more.pop("retrieval_strategy", RetrievalStrategy(use_rag=True, use_kg=False))
    made: dict[str, Any] = {
        "is_follow_up": False,
        "is_relevant": True,
        "complexity": "moderate",
        "intent": "factual",
        "needs_decomposition": bool(subs),
        "sub_queries": tuple(SubQuery(id=n, text=text) for n, text in enumerate(subs, 1)),
        "candidates": candidates,
        "retrieval_strategy": strategy,
    }
    return QueryPlan(query=query, standalone_query=query, **{**made, **more})


@dataclass(eq=False)
class Spy:
    """A provider that notes what it is asked and answers as told."""

    answer: Callable[[str], Any] = lambda query: [SearchResult(PASSAGES[0], 1.0, "spy")]
    name: str = "spy"
    limits: Limits = field(default_factory=lambda: Limits(concurrency=1, timeout_s=2))
    asked: list[str] = field(default_factory=list)
    made: int = 0

    def variations(self, query: str) -> Sequence[Variation]:
        self.made += 1
        return (Variation(query, "as typed"), Variation(query + "?", "asked"), Variation(query, "again"))

    def search(self, query: str, limit: int) -> Any:
        self.asked.append(query)
        return self.answer(query)
