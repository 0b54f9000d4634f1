"""Share of complex questions whose evidence is complete, with the planner and without it.

A question counts as answered when every passage that holds its answer is in the evidence. That is necessary for any
answer that rests on evidence, and needs no judge; it is not sufficient, since whoever writes the answer may still get
it wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...program.plan import QueryPlan
from ...program.retrieval.execute import RunSettings, execute
from ...program.retrieval.results import ids
from ...program.retrieval.search import search_with_plan
from ...program.retrieval.stores import Stores
from ...signatures.types import Frozen
from ..significance import PairedDifference, paired_difference
from ..statistics import Estimate, clustered_interval, clustered_quantiles
from .recall import K, PlanOf, Question


class AnsweringReport(Frozen):
    """Complex questions with the planner off and on.

    Attributes:
        off, on: share of the questions for which all evidence was found.
        gain: on minus off, paired by question.
        rejected: ids of the questions that the planner took for out of the domain; they count as not answered.
        milliseconds: time of executing a plan, without planning: median and 95th percentile.
    """

    off: Estimate
    on: Estimate
    gain: PairedDifference
    searches_off: float
    searches_on: float
    rejected: tuple[str, ...]
    milliseconds: tuple[Estimate, ...]

    def lines(self) -> list[str]:
        """The report as Markdown."""
        gain, median = self.gain.difference, self.milliseconds[0].value
        return [
            f"{self.off.n} complex questions of {self.off.clusters} conversations",
            "",
            "| planner | all evidence found | searches |",
            "|---|---|---|",
            f"| off | {self.off.bracketed('.3f')} | {self.searches_off:.1f} |",
            f"| on | {self.on.bracketed('.3f')} | {self.searches_on:.1f} |",
            "",
            f"on – off: {gain.bracketed('+.3f')}, p = {self.gain.p_value:.3f}, "
            f"{self.gain.verdict()}; rejected: {', '.join(self.rejected) or 'none'}; median run {median:.1f} ms, "
            f"95 % under {self.milliseconds[1].value:.1f} ms",
        ]


class _Answered(Frozen):
    complete: bool
    searches: int
    milliseconds: float = 0.0
    rejected: bool = False


def measure_answering(
    questions: Sequence[Question], stores: Stores, plan_of: PlanOf, k: int = K, settings: RunSettings | None = None
) -> AnsweringReport:
    """Search for the evidence of the complex ones among some questions, with the planner off and on.

    Off is the search of an application without a planner: the query as typed, with the providers' own variations. On
    executes the plan of the query in its conversation.

    Raises:
        ValueError: none of the questions is complex.
    """
    hard = [question for question in questions if question.row.labels.complexity == "complex"]
    if not hard:
        raise ValueError("there is no complex question among these; choose splits that have some")
    base = settings or RunSettings()
    # Both ways are given the same number of passages.
    limited = replace(base, search=replace(base.search, limit=k), complex_times=1)
    off = [_without(question, stores, limited) for question in hard]
    on = [_with(question, plan_of(question.row), stores, limited) for question in hard]
    clusters = [question.row.conversation for question in hard]
    return AnsweringReport(
        off=clustered_interval([a.complete for a in off], clusters),
        on=clustered_interval([a.complete for a in on], clusters),
        gain=paired_difference([a.complete for a in on], [a.complete for a in off], clusters),
        searches_off=sum(a.searches for a in off) / len(off),
        searches_on=sum(a.searches for a in on) / len(on),
        rejected=tuple(q.row.id for q, a in zip(hard, on, strict=True) if a.rejected),
        milliseconds=clustered_quantiles([a.milliseconds for a in on], clusters, (0.5, 0.95)),
    )


def _without(question: Question, stores: Stores, settings: RunSettings) -> _Answered:
    run = search_with_plan(question.row.query, stores.providers, settings=settings.search)
    return _Answered(complete=question.gold <= set(ids(run.evidence)), searches=run.queries)


def _with(question: Question, plan: QueryPlan, stores: Stores, settings: RunSettings) -> _Answered:
    run = execute(plan, stores, session=question.row.session, settings=settings)
    return _Answered(
        complete=question.gold <= set(ids(run.evidence)),
        searches=run.trace.queries,
        milliseconds=run.timings.total,
        rejected=not plan.is_relevant,
    )
