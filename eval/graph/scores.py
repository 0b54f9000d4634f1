"""Scores graph planners by running their plans: the share of exactly right answers, beside a simple planner.

A plan is right if it returns exactly the labelled set of answers (denotation accuracy), whatever its steps. A
question that the graph cannot answer is right if there is no plan, or none of its answers. Every plan is checked
before it is run; one that does not pass is counted, and answers nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ...data.rows import LabelledRow
from ...program.graph.check import check_graph_plan
from ...program.graph.executor import GraphExecutor, execute_graph
from ...program.graph.names.linking import NameIndex
from ...program.graph.question.words import folded_words, name_words
from ...program.graph.sketch import Branch, Hop, Sketch
from ...signatures.graph_steps import CountStep, ExpandStep, GraphPlan, GraphSchema, NodeRef, OrderStep
from ...signatures.types import Frozen
from ..statistics import SHARE, Estimate, clustered_interval
from .metrics import set_f1

ALL = "all"
NO_PLAN = "not expressible"


class Planner(Protocol):
    """Makes graph plans from questions."""

    def plan(self, query: str) -> Any:
        """A proposal for one question: an object with ``plan`` (or None), ``decided_by`` and ``confidence``."""
        ...


class GraphQuestion(Frozen):
    """A labelled question.

    Attributes:
        answers: names, or a count as text; empty if the right answer is that there is none.
        kind: questions of the same kind are reported together.
        cluster: the same for questions that are not independent of each other; empty for the question's own id.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    kind: str = ALL
    cluster: str = ""


class GraphResult(Frozen):
    """The plan of one question and how right its answers are; ``found`` has them, None if there was no plan."""

    id: str
    kind: str
    cluster: str
    right: bool
    f1: float
    found: tuple[str, ...] | None
    plan: GraphPlan | None
    decided_by: str
    confidence: float
    milliseconds: float
    ill_typed: bool = False


class GraphScores(Frozen):
    """The scores on one kind of questions: denotation accuracy and F1 with intervals, and how many got no plan."""

    kind: str
    accuracy: Estimate
    f1: Estimate
    without_plan: int


class GraphReport(Frozen):
    """The results of a planner on a set of questions.

    Attributes:
        scores: over all questions first, then by kind.
        p50_ms, p95_ms: time of planning alone, with whatever else the machine was doing.
        ill_typed: how many plans of the planner the check refused; none reached an executor.
    """

    name: str
    scores: tuple[GraphScores, ...]
    results: tuple[GraphResult, ...]
    p50_ms: float
    p95_ms: float
    ill_typed: int

    def sentences(self) -> list[str]:
        """Times and counts that the table leaves out, as lines of text."""
        planned = f"planning took p50 {self.p50_ms:.1f} ms, p95 {self.p95_ms:.1f} ms, on whatever else the machine did"
        return [planned, f"ill-typed plans that reached an executor: 0; plans the check refused: {self.ill_typed}"]

    def rows(self) -> list[dict[str, Any]]:
        """A table: a line for each kind."""
        return [
            {
                "planner": self.name,
                "questions": score.kind,
                "n": score.accuracy.n,
                "right": round(score.accuracy.value, 4),
                "low": round(score.accuracy.low, 4),
                "high": round(score.accuracy.high, 4),
                "f1": round(score.f1.value, 4),
                "no plan": score.without_plan,
            }
            for score in self.scores
        ]


def measure_graph(
    planner: Planner,
    executor: GraphExecutor,
    questions: Sequence[GraphQuestion],
    name: str = "planner",
    progress: Callable[[int, int], None] | None = None,
) -> GraphReport:
    """Plan, check and run every question."""
    results = []
    for done, question in enumerate(questions, 1):
        results.append(_result(planner, executor, question))
        if progress is not None:
            progress(done, len(questions))
    kinds = [ALL, *(k for k in dict.fromkeys(r.kind for r in results) if k != ALL)]
    chosen = {kind: [r for r in results if kind in (ALL, r.kind)] for kind in kinds}
    times = [r.milliseconds for r in results] or [0.0]
    return GraphReport(
        name=name,
        scores=tuple(_scores(kind, some) for kind, some in chosen.items() if some),
        results=tuple(results),
        p50_ms=float(np.quantile(times, 0.5)),
        p95_ms=float(np.quantile(times, 0.95)),
        ill_typed=sum(r.ill_typed for r in results),
    )


def _result(planner: Planner, executor: GraphExecutor, question: GraphQuestion) -> GraphResult:
    began = time.perf_counter()
    proposal = planner.plan(question.text)
    took = (time.perf_counter() - began) * 1000
    plan, ill_typed = proposal.plan, False
    if plan is not None and check_graph_plan(plan, executor.schema):
        plan, ill_typed = None, True
    found = None if plan is None else execute_graph(plan, executor).names
    gold, answered = frozenset(question.answers), frozenset(found or ())
    return GraphResult(
        id=question.id,
        kind=question.kind,
        cluster=question.cluster or question.id,
        right=gold == answered,
        f1=set_f1(gold, answered),
        found=found,
        plan=plan,
        decided_by=getattr(proposal, "decided_by", ""),
        confidence=float(getattr(proposal, "confidence", 0.0) or 0.0),
        milliseconds=took,
        ill_typed=ill_typed,
    )


def _scores(kind: str, results: Sequence[GraphResult]) -> GraphScores:
    clusters = [r.cluster for r in results]
    return GraphScores(
        kind=kind,
        accuracy=clustered_interval([r.right for r in results], clusters),
        f1=clustered_interval([r.f1 for r in results], clusters, bounds=SHARE),
        without_plan=sum(r.plan is None for r in results),
    )


def questions_of_rows(rows: Iterable[LabelledRow]) -> list[GraphQuestion]:
    """Questions from the rows that have labelled answers, or are labelled inexpressible; kinds are ``kind_of``'s."""
    return [
        GraphQuestion(
            id=row.id,
            text=row.labels.standalone_query,
            answers=row.gold.answers or (),
            kind=kind_of(row.gold.graph_plan) if row.gold.expressible else NO_PLAN,
            cluster=row.conversation,
        )
        for row in rows
        if row.gold is not None and (row.gold.answers is not None or not row.gold.expressible)
    ]


def kind_of(plan: GraphPlan | None) -> str:
    """The kind of a question, from its labelled plan.

    "count", "order", "difference", "intersect", "union", the number of hops such as "2 hops", or "not expressible"
    without a plan.
    """
    if plan is None:
        return NO_PLAN
    if any(isinstance(step, CountStep) for step in plan.steps):
        return "count"
    if any(isinstance(step, OrderStep) for step in plan.steps):
        return "order"
    kinds = {step.kind for step in plan.steps}
    if combined := kinds & {"union", "intersect", "difference"}:
        return "difference" if "difference" in combined else "intersect" if "intersect" in combined else "union"
    return f"{sum(isinstance(step, ExpandStep) for step in plan.steps)} hops"


class OneHop:
    """A simple rival: one hop from the longest name found, along the edge type whose words are nearest by TF-IDF."""

    def __init__(self, schema: GraphSchema, index: NameIndex) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.schema, self.index = schema, index
        self._texts = [
            " ".join([*name_words(e.name), *folded_words(e.description), e.source, e.target]) for e in schema.edges
        ]
        self._vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4)).fit(self._texts)
        self._edges = self._vectorizer.transform(self._texts)

    def plan(self, query: str) -> Any:
        """A proposal with a plan of one hop; without a plan if no name is found, or no edge type fits it."""
        mentions = self.index.mentions(query)
        longest = max(mentions, key=lambda m: (m.readings[0].score, m.last - m.first, len(m.text)), default=None)
        near = (self._vectorizer.transform([query]) @ self._edges.T).toarray()[0]
        for place in np.argsort(-near, kind="stable") if longest is not None else ():
            edge = self.schema.edges[int(place)]
            for reading in longest.readings if longest is not None else ():
                if reading.type in (edge.source, edge.target):
                    hop = Hop(edge.name, "out" if reading.type == edge.source else "in")
                    node = NodeRef(name=reading.name, type=reading.type, field="id" if reading.how == "id" else "name")
                    return _Proposal(Sketch((Branch((node,), (hop,)),)).to_plan())
        return _Proposal(None)


class _Proposal:
    def __init__(self, plan: GraphPlan | None) -> None:
        self.plan, self.decided_by, self.confidence = plan, "one hop", 0.0


def table(reports: Sequence[GraphReport]) -> list[Mapping[str, Any]]:
    """The table rows of several planners on the same questions, sorted by kind."""
    rows = [row for report in reports for row in report.rows()]
    kinds = list(dict.fromkeys(row["questions"] for row in rows))
    return sorted(rows, key=lambda row: kinds.index(row["questions"]))
