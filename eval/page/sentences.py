"""The summary of a report in three sentences: how many plans are right, where others go wrong, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence

from ..compare import CompareReport
from ..evaluation import Evaluation
from ..oracle import blame
from ..render import format_difference, format_estimate
from ..significance import SAME
from .html_pictures import pareto_front


def summary_sentences(report: CompareReport, evaluations: Sequence[Evaluation]) -> tuple[str, str, str]:
    """Three sentences on one program, on a pair, or on several against the first."""
    if len(evaluations) == 1:
        return _alone(evaluations[0])
    if len(report.comparisons) == 1:
        first, second, third = report.comparisons[0].sentences
        return first, second, third
    return _several(report, evaluations)


def _alone(evaluation: Evaluation) -> tuple[str, str, str]:
    summary = evaluation.summary()
    right = (
        f"{evaluation.name} gets {format_estimate(summary.plan_right, 'share')} of whole plans and "
        f"{format_estimate(summary.labels_right, 'share')} of label sets right, on {summary.n} rows in "
        f"{summary.conversations} conversations."
    )
    return right, _lost(evaluation), _cost(evaluation)


def _lost(evaluation: Evaluation) -> str:
    found = sorted(blame(evaluation.cases), key=lambda one: -one.rows)
    wrong = sum(one.rows for one in found)
    if not wrong:
        return "No plan is wrong."
    told = ", ".join(f"{one.stage} {one.rows}" for one in found[:3] if one.rows)
    return f"Of {wrong} wrong plans, the earliest wrong stage is most often: {told}."


def _cost(evaluation: Evaluation) -> str:
    summary = evaluation.summary()
    time = f"a median of {summary.latency.p50.value:.1f} ms and {summary.latency.p99.value:.1f} ms at p99"
    taken = "times that mean nothing, since answers came from a journal" if evaluation.replayed else time
    asked = f"{summary.lm_calls.value:.1f} LM calls and {summary.tokens.value:.0f} tokens"
    return f"A plan takes {taken}, {asked}; {summary.degraded.value:.0%} of plans say that something could not be done."


def _several(report: CompareReport, evaluations: Sequence[Evaluation]) -> tuple[str, str, str]:
    best = max(evaluations, key=lambda e: e.summary().plan_right.value)
    first = f"{best.name} has the most whole plans right, {format_estimate(best.summary().plan_right, 'share')}."
    told = []
    for one in report.comparisons:
        whole = one.difference("plan_right")
        if whole is not None:
            told.append(
                f"{one.later} {whole.verdict}{'' if whole.verdict == SAME else f' ({format_difference(whole)})'}"
            )
    timed = [(e.name, e.summary().latency.p50.value, e.summary().plan_right) for e in evaluations if not e.replayed]
    front = ", ".join(f"{name} at {ms:.1f} ms" for name, ms, _ in pareto_front(timed))
    last = f"No other is both faster and righter than: {front}." if front else "No latency was measured."
    return first, f"Whole plans against {report.columns[0]}: {'; '.join(told)}.", last
