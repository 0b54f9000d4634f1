"""Recall of evidence by planned candidates, beside the plain query, and the number of searches each takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...data.domain import EVIDENCE_FILE, load_domain
from ...data.lines import numbered_lines
from ...data.rows import LabelledRow
from ...errors import DataError
from ...program.plan import QueryCandidate, QueryPlan
from ...program.retrieval.execute import RunSettings, execute
from ...program.retrieval.results import ids
from ...program.retrieval.search import SearchRun, SearchSettings, search_with_plan
from ...program.retrieval.stores import Stores
from ...program.strategy import choose_strategy
from ...signatures.types import Frozen
from ..significance import PairedDifference, corrected, paired_difference
from ..statistics import SHARE, Estimate, clustered_interval

K = 10
PLAIN, TYPED, FIXED, PLANNED, RUN = "plain query", "as typed", "fixed variations", "planned candidates", "whole run"


@dataclass(frozen=True)
class Question:
    """A labelled query and the ids of the passages that hold its answer."""

    row: LabelledRow
    gold: frozenset[str]


class Arm(Frozen):
    """One way of searching.

    Attributes:
        recall: mean share of a question's gold passages among the first k.
        complete: share of the questions all of whose gold passages are there.
        queries: mean number of searches sent.
    """

    name: str
    recall: Estimate
    complete: Estimate
    queries: Estimate


class Against(Frozen):
    """How much the recall and the number of searches of ``arm`` exceed those of ``baseline``, paired by question."""

    arm: str
    baseline: str
    recall: PairedDifference
    queries: PairedDifference


class RecallReport(Frozen):
    """Every way of searching, and the differences between the planned ones and the others."""

    k: int
    arms: tuple[Arm, ...]
    against: tuple[Against, ...]

    def arm(self, name: str) -> Arm:
        """The arm of that name."""
        return next(arm for arm in self.arms if arm.name == name)

    def lines(self) -> list[str]:
        """The report as Markdown tables."""
        return [*_arm_lines(self), "", *_against_lines(self)]


PlanOf = Callable[[LabelledRow], QueryPlan]


@dataclass(frozen=True)
class _Found:
    recall: float
    complete: bool
    queries: int


def evidence_questions(domain: str | Path, splits: Sequence[str]) -> list[Question]:
    """The rows of some splits that have gold evidence, in the row or in the domain's ``evidence.jsonl``.

    Raises:
        DataError: the domain cannot be read, or no row of these splits has evidence.
    """
    read = load_domain(domain, splits=splits)
    beside = _beside(read.folder / EVIDENCE_FILE)
    found = [
        Question(row, frozenset(gold))
        for split in splits
        for row in read.rows(split)
        if (gold := (row.gold.evidence if row.gold else None) or beside.get(row.id))
    ]
    if not found:
        raise DataError(f"no row of {', '.join(splits)} of {read.card.name} has evidence; label some, or choose others")
    return found


def _beside(path: Path) -> dict[str, tuple[str, ...]]:
    if not path.is_file():
        return {}
    rows = (json.loads(line) for _, line in numbered_lines(path.read_text(encoding="utf-8")))
    return {row["id"]: tuple(row["evidence"]) for row in rows}


def measure_recall(
    questions: Sequence[Question], stores: Stores, plan_of: PlanOf, k: int = K, settings: RunSettings | None = None
) -> RecallReport:
    """Search each question in five ways over the same stores and compare them question by question.

    ``plain query`` is the plan's standalone form, so that the gain of rewriting is not credited to the candidates;
    ``as typed`` is the query without rewriting. ``fixed variations`` are those that the reference provider adds by
    itself.

    Args:
        plan_of: gives the plan of a row; `plan_from_labels` stands for a planner that is always right.
    """
    plans = [plan_of(question.row) for question in questions]
    found = {
        name: [search(question, plan) for question, plan in zip(questions, plans, strict=True)]
        for name, search in _arms(stores, k, settings or RunSettings()).items()
    }
    clusters = [question.row.conversation for question in questions]
    arms = tuple(_arm(name, rows, clusters) for name, rows in found.items())
    pairs = ((PLANNED, PLAIN), (PLANNED, FIXED), (RUN, PLAIN), (RUN, FIXED), (RUN, TYPED))
    against = [_against(a, b, found[a], found[b], clusters) for a, b in pairs]
    recalls = corrected([each.recall for each in against])
    updated = (each.model_copy(update={"recall": recall}) for each, recall in zip(against, recalls, strict=True))
    return RecallReport(k=k, arms=arms, against=tuple(updated))


def plan_from_labels(row: LabelledRow, stores: Stores) -> QueryPlan:
    """The plan with a row's gold labels, as a planner without errors makes it: it shows the most planning can gain."""
    labels = row.labels
    strategy = choose_strategy(labels.is_relevant, labels.intent, labels.complexity, len(labels.entities))
    candidates: tuple[QueryCandidate, ...] = ()
    if strategy.use_rag:
        seed = stores.candidates.seed(
            labels.standalone_query, labels.entities, labels.sub_queries, labels.relationships_needed
        )
        candidates = stores.candidates.plan(seed, expand=strategy.rag_expansion).candidates
    return QueryPlan(
        query=row.query,
        **{name: getattr(labels, name) for name in type(labels).model_fields},
        retrieval_strategy=strategy,
        candidates=candidates,
        program_version="labels",
    )


def _arms(stores: Stores, k: int, settings: RunSettings) -> dict[str, Callable[[Question, QueryPlan], _Found]]:
    limited = SearchSettings(**{**vars(settings.search), "limit": k})

    def one(query: str) -> SearchRun:
        candidate = QueryCandidate(query=query, stage="rule_based", label="alone")
        return search_with_plan(query, stores.providers, [candidate], settings=limited)

    def run(question: Question, plan: QueryPlan) -> _Found:
        # Every way of searching is given the same number of passages.
        whole = replace(settings, search=limited, complex_times=1)
        result = execute(plan, stores, session=question.row.session, settings=whole)
        return _found(question, ids(result.evidence), result.trace.queries)

    return {
        TYPED: lambda question, plan: _of(question, one(question.row.query)),
        PLAIN: lambda question, plan: _of(question, one(plan.standalone_query)),
        FIXED: lambda question, plan: _of(
            question, search_with_plan(plan.standalone_query, stores.providers, settings=limited)
        ),
        PLANNED: lambda question, plan: _of(
            question, search_with_plan(plan.query, stores.providers, plan, settings=limited)
        ),
        RUN: run,
    }


def _of(question: Question, run: SearchRun) -> _Found:
    return _found(question, ids(run.evidence), run.queries)


def _found(question: Question, there: Iterable[str], queries: int) -> _Found:
    hits = len(question.gold & set(there))
    return _Found(hits / len(question.gold), hits == len(question.gold), queries)


def _arm(name: str, found: Sequence[_Found], clusters: Sequence[str]) -> Arm:
    return Arm(
        name=name,
        recall=clustered_interval([f.recall for f in found], clusters, bounds=SHARE),
        complete=clustered_interval([f.complete for f in found], clusters),
        queries=clustered_interval([float(f.queries) for f in found], clusters),
    )


def _against(a: str, b: str, left: Sequence[_Found], right: Sequence[_Found], clusters: Sequence[str]) -> Against:
    return Against(
        arm=a,
        baseline=b,
        recall=paired_difference([f.recall for f in left], [f.recall for f in right], clusters, shares=True),
        queries=paired_difference([float(f.queries) for f in left], [float(f.queries) for f in right], clusters),
    )


def _arm_lines(report: RecallReport) -> list[str]:
    first = report.arms[0].recall
    head = [f"{first.n} questions of {first.clusters} conversations", ""]
    head += [f"| | recall@{report.k} | all evidence found | searches |", "|---|---|---|---|"]
    return head + [
        f"| {a.name} | {a.recall.bracketed('.3f')} | {a.complete.bracketed('.3f')} | {a.queries.value:.1f} |"
        for a in report.arms
    ]


def _against_lines(report: RecallReport) -> list[str]:
    head = ["| | recall | | searches |", "|---|---|---|---|"]
    return head + [
        f"| {a.arm} – {a.baseline} | {a.recall.difference.bracketed('+.3f')} | {a.recall.verdict()} "
        f"| {a.queries.difference.value:+.1f} |"
        for a in report.against
    ]
