"""Compiles a planner predictor by predictor, each against its own labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import dspy

from ..data.card import DomainCard
from ..data.rows import LabelledRow
from ..errors import UserError
from ..program.stages import StageSpec, examples, new_predictor
from .base import Metric, Optimizer, Progress, StageResult, StageTask
from .progress import SilentProgress
from .scores import stage_metric
from .trials import WRITTEN_DEV

MIN_DEV = 5
MIN_TRAIN = 2

Budget = int | Mapping[str, int] | None


class Clients(Protocol):
    """The parts of an opened language model (``program.lm.LMHandle``) that compiling needs."""

    @property
    def decider(self) -> Any:
        """Answers decision requests with probabilities."""
        ...

    @property
    def writer(self) -> Any:
        """A DSPy language model that generates text."""
        ...

    @property
    def adapter(self) -> Any:
        """The DSPy adapter that goes with ``writer``."""
        ...


def compile_stages(
    specs: Mapping[str, StageSpec],
    rows_train: Sequence[LabelledRow],
    rows_dev: Sequence[LabelledRow],
    card: DomainCard,
    optimizer: Optimizer,
    lm: Clients,
    *,
    stages: Sequence[str] | None = None,
    seed: int = 0,
    max_calls: Budget = None,
    progress: Progress | None = None,
    metrics: Mapping[str, Metric] | None = None,
) -> dict[str, StageResult]:
    """Compile the named stages, in the order of ``specs``.

    The same arguments send the same requests in the same order, so with a client that keeps a journal a stopped compile
    continues at no cost.

    Args:
        specs: every stage of the domain.
        rows_train: rows from which demonstrations are drawn.
        rows_dev: rows on which candidates are compared and thresholds fitted.
        stages: names of stages; None is all.
        max_calls: LM requests for all stages together, divided in proportion to one pass over their dev examples (what
            one stage leaves goes to the next); or a number for each stage, with no limit for one that is not named.
        metrics: metrics of stages that are not scored by ``stage_metric``.

    Raises:
        UserError: the domain does not have a stage.
        LMError: the language model is unreachable.
    """
    progress = progress or SilentProgress()
    chosen = _chosen(specs, stages)
    tasks = {name: _task(specs[name], rows_train, rows_dev, card, seed) for name in chosen}
    tasks = {name: replace(task, metric=(metrics or {}).get(name, task.metric)) for name, task in tasks.items()}
    written = optimizer.arguments().get("written_dev", WRITTEN_DEV)
    weights = {name: _pass_cost(task, written) for name, task in tasks.items()}
    results: dict[str, StageResult] = {}
    for name in chosen:
        spent = sum(result.calls for result in results.values())
        limit = _share(max_calls, name, spent, {n: weights[n] for n in chosen if n not in results})
        task = _limited(tasks[name], limit)
        results[name] = _compile_one(task, optimizer, lm, progress)
    return results


def _chosen(specs: Mapping[str, StageSpec], stages: Sequence[str] | None) -> list[str]:
    unknown = sorted(set(stages or ()) - specs.keys())
    if unknown:
        raise UserError(f"there is no stage {', '.join(unknown)}: give some of {', '.join(specs)}")
    return [name for name in specs if stages is None or name in stages]


def _task(
    spec: StageSpec, rows_train: Sequence[LabelledRow], rows_dev: Sequence[LabelledRow], card: DomainCard, seed: int
) -> StageTask:
    train, dev = examples(spec, rows_train, card), examples(spec, rows_dev, card)
    return StageTask(spec.name, new_predictor(spec), train, dev, stage_metric(spec), seed)


def _limited(task: StageTask, limit: int | None) -> StageTask:
    return StageTask(task.stage, task.student, task.train, task.dev, task.metric, task.seed, limit)


def _compile_one(task: StageTask, optimizer: Optimizer, lm: Clients, progress: Progress) -> StageResult:
    reason = _too_few(task)
    if reason:
        progress.finish(task.stage, reason)
        return StageResult(task.stage, task.student, (), "zero-shot", 0, (reason,))
    with dspy.context(lm=lm.writer if task.writes else lm.decider, adapter=lm.adapter):
        return optimizer.compile(task, progress)


def _too_few(task: StageTask) -> str:
    if len(task.dev) < MIN_DEV:
        return f"left as it is: {len(task.dev)} labelled dev examples, and {MIN_DEV} are needed"
    if len(task.train) < MIN_TRAIN:
        return f"left as it is: {len(task.train)} labelled train examples, and {MIN_TRAIN} are needed"
    return ""


def _pass_cost(task: StageTask, written: int) -> int:
    """Requests for one pass over the examples that a stage is scored on; 0 if it has too few to be compiled.

    Args:
        written: how many examples a stage that writes is scored on.
    """
    if _too_few(task):
        return 0
    if task.writes:
        return min(len(task.dev), written)
    return sum(name in example for example in task.dev for name in task.decisions)


def _share(budget: Budget, stage: str, spent: int, weights: Mapping[str, int]) -> int | None:
    if budget is None or isinstance(budget, Mapping):
        return budget.get(stage) if budget is not None else None
    left = max(0, budget - spent)
    return left * weights[stage] // max(1, sum(weights.values()))
