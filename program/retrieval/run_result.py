"""The result of running a plan: evidence with its sources, what is missing, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from ...signatures.types import Frozen
from ..plan import QueryPlan
from .collection.collection import ContextResult
from .gaps import Coverage
from .graph_facts import Fact
from .results import Evidence, Gap
from .search import SearchTrace
from .sources.records import SourceAnswer

Kind = Literal["rejected", "direct_answer", "read_everything", "searched"]


class SubAnswer(Frozen):
    """The answer to a sub-query that others wait for, and the text by which it was asked."""

    id: int
    question: str
    answers: tuple[str, ...] = ()


class Timings(Frozen):
    """Milliseconds of the parts of a run; parts that run in parallel overlap."""

    search: float = 0.0
    graph: float = 0.0
    sources: float = 0.0
    follow_ups: float = 0.0
    total: float = 0.0


@dataclass(frozen=True)
class RunResult:
    """A plan and the result of running it.

    Attributes:
        kind: what was done: nothing (rejected), an answer without a search, everything read, or a search.
        text: the rejection, direct answer or synthesis.
        evidence: the best passages, best first.
        graph_answers: the answers of the plan's graph steps.
        facts: edges of the graph at the names in the question.
        source_answers: records, one entry for each source query.
        context: a collection as read, formatted for a language model.
        rounds: number of batches of searches, one after the other.
        gaps: everything that could not be found, asked or done.
    """

    plan: QueryPlan
    kind: Kind
    text: str = ""
    evidence: tuple[Evidence, ...] = ()
    sub_answers: tuple[SubAnswer, ...] = ()
    graph_answers: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    source_answers: tuple[SourceAnswer, ...] = ()
    context: ContextResult | None = None
    coverage: Coverage = field(default_factory=lambda: Coverage(needs=()))
    gaps: tuple[Gap, ...] = ()
    trace: SearchTrace = field(default_factory=lambda: SearchTrace(planned=True))
    rounds: int = 0
    timings: Timings = field(default_factory=Timings)

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return {
            "kind": self.kind,
            "text": self.text,
            "plan": self.plan.model_dump(mode="json"),
            "evidence": [evidence_json(item) for item in self.evidence],
            "sub_answers": [answer.model_dump(mode="json") for answer in self.sub_answers],
            "graph_answers": list(self.graph_answers),
            "facts": [str(fact) for fact in self.facts],
            "source_answers": [_source_json(answer) for answer in self.source_answers],
            "context": self.context.model_dump(mode="json") if self.context is not None else None,
            "coverage": self.coverage.model_dump(mode="json"),
            "gaps": [gap.model_dump(mode="json") for gap in self.gaps],
            "trace": self.trace.model_dump(mode="json"),
            "rounds": self.rounds,
            "timings": self.timings.model_dump(mode="json"),
        }


def evidence_json(item: Evidence) -> dict[str, Any]:
    """A passage with its source, as JSON can hold it."""
    passage = item.passage
    return {
        "id": passage.id,
        "source": passage.source,
        "title": passage.title,
        "date": passage.date,
        "text": passage.text,
        "fields": _plain(passage.fields),
        "score": round(item.score, 6),
        "query_variant": item.query_variant,
        "variants": list(item.variants),
    }


def _source_json(answer: SourceAnswer) -> dict[str, Any]:
    found = [hit.passage.id for hit in answer.hits]
    return {"id": answer.query.id, "source": answer.query.source, "records": found, "cut": answer.cut}


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in dict(fields).items()}


EMPTY: Mapping[str, Any] = MappingProxyType({})
