"""Compiles the stage ``graph``: learns to rank plans from a domain's rows, and scores written plans by running them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import dspy
from threadpoolctl import threadpool_limits

from ..data.domain import Domain
from ..data.rows import LabelledRow
from ..errors import DataError
from ..eval.cascade.learn_then_test import CONFIDENCE, ERROR, lowest_safe
from ..eval.graph.metrics import set_f1
from ..program.graph.asking.steps import read_steps
from ..program.graph.executor import GraphExecutor, execute_graph
from ..program.graph.executors.memory import MemoryGraph, load_graph
from ..program.graph.learning.labelled import Question, Source
from ..program.graph.learning.learning import (
    Judged,
    evidence_questions,
    fit_sure,
    graph_values,
    index_of,
    judge,
    learn_domain,
    questions_of,
    shared_knowledge,
    shipped_sources,
)
from ..program.graph.learning.store import Learned
from ..program.graph.names.linking import NameIndex
from ..program.graph.ranking.answering import Answerer, Found
from ..program.graph.ranking.endings import Values
from ..program.graph.ranking.paths import PathTable
from ..program.graph.ranking.ranking import Ranker
from ..program.heads.encoder import default_encoder
from .base import Metric

MOST_QUESTIONS = 500
"""The most labelled questions to learn from; more improve little and take long."""


def graph_metric(executor: GraphExecutor) -> Metric:
    """A metric of written steps by their answers: F1 against gold's; 0 for a plan that does not pass the check."""

    def metric(example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        plan, _, _ = read_steps(prediction.get("steps"), executor.schema)
        if plan is None:
            return 0.0
        return set_f1(set(example.get("answers") or ()), set(execute_graph(plan, executor).names))

    return metric


def domain_graph(domain: Domain) -> MemoryGraph:
    """The graph of a domain.

    Raises:
        DataError: the domain has none.
    """
    if domain.card.graph is None:
        raise DataError(f"the domain {domain.card.name} has no graph: add [graph] to its card and graph/ beside it")
    return load_graph(domain.folder, domain.card.graph)


def graph_index(domain: Domain) -> NameIndex:
    """The names of a domain's graph, and the card's other spellings of them."""
    return index_of(domain_graph(domain), domain.card)


def learn_graph(
    domain: Domain, rows: Sequence[LabelledRow], seed: int = 0, graph: MemoryGraph | None = None
) -> Learned:
    """Learn to rank graph plans from a domain's labelled questions; certainty is fitted on its rows in ``calibrate``.

    Raises:
        DataError: the domain has no graph, or no row with a graph plan.
    """
    graph = graph or domain_graph(domain)
    schema = graph.schema
    questions = sample_questions((*questions_of(rows), *evidence_questions(domain.folder, rows)), seed)
    if not any(question.plan is not None for question in questions):
        raise DataError(
            f"no row of {domain.card.name} has gold.graph_plan; label some, or compile without --stages graph"
        )
    source = Source(domain.card.name, schema, index_of(graph, domain.card), questions)
    values = graph_values(schema, graph)
    with threadpool_limits(1):
        learned = learn_domain(shared_knowledge(), schema, (source, values), shipped_sources(), default_encoder())
        kept = domain.splits.get("calibrate", ())
        held = sample_questions((*questions_of(kept), *evidence_questions(domain.folder, kept)), seed)
        return _with_certainty(learned, source, values, held, graph)


def _with_certainty(
    learned: Learned, source: Source, values: Values, held: Sequence[Question], graph: MemoryGraph
) -> Learned:
    """Fit certainty on every second held-out question, and on the others how certain the ranking must be to answer."""
    ranker = Ranker(PathTable(source.schema), default_encoder(), learned.paths)
    answerer = Answerer(ranker, learned, source.index, values, default_encoder())
    judged = judge(answerer, held, lambda found, question: same_answers(found, question, graph))
    fitted, proven = (Judged(judged.features[i::2], judged.right[i::2]) for i in (0, 1))
    sure = fit_sure(fitted)
    certainty, right = proven.certainty(sure), proven.right
    lowest = lowest_safe(lambda at: int((~right[certainty >= at]).sum()), len(right), ERROR, CONFIDENCE)
    note = (
        f"of graph questions, the ranking alone answers those it is sure of to {lowest}"
        if lowest is not None
        else (f"{len(right)} held-out graph questions do not prove that the ranking alone may answer")
    )
    return replace(learned, sure=sure, answers_from=lowest, notes=(*learned.notes, note))


def same_answers(found: Found | None, question: Question, graph: MemoryGraph) -> bool:
    """Whether a plan gives the answers of the labelled one; without a labelled plan, whether none was found."""
    if found is None or found.none or question.plan is None:
        return question.plan is None and (found is None or found.none)
    return set(execute_graph(found.plan, graph).names) == set(execute_graph(question.plan, graph).names)


def sample_questions(questions: Sequence[Question], seed: int, most: int = MOST_QUESTIONS) -> tuple[Question, ...]:
    """A random sample of at most ``most`` questions, in their order."""
    if len(questions) <= most:
        return tuple(questions)
    chosen = sorted(Random(seed).sample(range(len(questions)), most))
    return tuple(questions[i] for i in chosen)
