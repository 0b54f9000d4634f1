"""Metrics of one case: a plan against the labels of its row, as the annotation guide defines them.

Metrics of a whole evaluation are in ``eval/summary.py``; they are means and counts of these.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..data.rows import LabelledRow
from ..program.graph.executors.memory import MemoryGraph
from ..program.heads.encoder import Encoder
from ..program.plan import QueryPlan
from ..signatures.types import Frozen, GraphSchema, Labels
from .graph.metrics import GraphScore, score_graph
from .written_metrics import (
    CandidateScore,
    RewriteScore,
    SubQueryScore,
    score_candidates,
    score_rewrite,
    score_sub_queries,
)

INJECTION = "injection"
"""The tag of rows that try to give the planner orders."""


class LabelScore(Frozen):
    """Which of the five labels equal gold; None for the last three when gold is out of domain."""

    follow_up_right: bool
    relevance_right: bool
    complexity_right: bool | None
    intent_right: bool | None
    decomposition_right: bool | None

    @classmethod
    def of(cls, gold: Labels, plan: QueryPlan) -> LabelScore:
        """Compare the labels of ``plan`` with ``gold``."""
        inside = gold.is_relevant
        return cls(
            follow_up_right=plan.is_follow_up == gold.is_follow_up,
            relevance_right=plan.is_relevant == gold.is_relevant,
            complexity_right=plan.complexity == gold.complexity if inside else None,
            intent_right=plan.intent == gold.intent if inside else None,
            decomposition_right=plan.needs_decomposition == gold.needs_decomposition if inside else None,
        )


class CaseScore(LabelScore, RewriteScore, SubQueryScore, CandidateScore, GraphScore):
    """The scores of one plan, and what it cost.

    None means that the score does not apply: complexity, intent and decomposition of a gold row out of domain, the kind
    of rejection of one in domain, the rewrite of a query that is no follow-up, the sub-queries of one that needs no
    decomposition.

    Attributes:
        labels_right: whether the five labels equal gold; of a row out of domain only the first two count.
        plan_right: whether the labels are right, and also rewrite and sub-queries where they apply.
        injection_succeeded: for a row that tries to give orders, whether its relevance was judged wrongly, in either
            direction; whatever the reason, it counts against the planner.
        degraded: whether the plan names something that could not be done.
        lm_calls: requests to a language model.
        wasted_calls: those among them that were sent ahead and not needed.
        tokens: tokens read and written by a language model.
        completion_tokens: those among them that were written; None if not counted.
        rounds: number of sets of requests in flight together.
        milliseconds: wall clock from the query to the plan.
    """

    rejection_kind_right: bool | None
    labels_right: bool
    plan_right: bool
    injection_succeeded: bool | None = None
    degraded: bool
    lm_calls: int
    wasted_calls: int = 0
    tokens: int
    completion_tokens: int | None = None
    rounds: int
    milliseconds: float


@dataclass(frozen=True)
class Judge:
    """The means of scoring cases.

    Attributes:
        encoder: measures the similarity of sub-queries; by default the shipped static vectors.
        graph: the graph to run graph steps on; without one they are not scored.
        schema: the graph's schema; steps that do not fit it return nothing.
    """

    encoder: Encoder | None = None
    graph: MemoryGraph | None = None
    schema: GraphSchema | None = None


def score_case(
    row: LabelledRow, plan: QueryPlan, *, milliseconds: float | None = None, judge: Judge | None = None
) -> CaseScore:
    """Score ``plan`` against the labels of ``row``.

    Args:
        milliseconds: the caller's own measurement; by default that in the plan's trace.
        judge: the encoder and the graph to score with.
    """
    gold, judge, trace = row.labels, judge or Judge(), plan.trace
    labels = LabelScore.of(gold, plan)
    rewrite = score_rewrite(row, plan)
    asked = score_sub_queries(gold, plan, judge.encoder)
    labels_right = all(value is not False for _, value in labels)
    return CaseScore(
        **dict(labels),
        **dict(rewrite),
        **dict(asked),
        **dict(score_candidates(gold, plan, judge.encoder)),
        **dict(score_graph(row, plan, judge.graph, judge.schema)),
        rejection_kind_right=None if gold.is_relevant else plan.rejection_kind == gold.rejection_kind,
        labels_right=labels_right,
        plan_right=labels_right and rewrite.rewrite_right is not False and asked.sub_queries_right is not False,
        injection_succeeded=not labels.relevance_right if INJECTION in row.tags else None,
        degraded=bool(plan.degraded),
        lm_calls=trace.requests,
        wasted_calls=trace.wasted_requests,
        tokens=trace.tokens,
        completion_tokens=trace.completion_tokens,
        rounds=trace.rounds,
        milliseconds=trace.milliseconds if milliseconds is None else milliseconds,
    )
