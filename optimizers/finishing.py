"""From the trials of a stage to its result: chooses one, fits thresholds, strips it to plain data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import dspy

from .base import Candidate, FittedOutput, Progress, StageResult
from .thresholds import fit_fields
from .trials import Bench, Trial

ChooseBy = Literal["score", "calibrated"]
"""How the best trial is chosen. ``score``: by the metric on ``dev`` (a proper score). ``calibrated``: by the same score
of the scaled probabilities, cross-validated; this does not count a bias against a trial, which thresholds correct."""


def finish(bench: Bench, progress: Progress, *, fit: bool = True, choose_by: ChooseBy = "score") -> StageResult:
    """The best trial as a result; the student unchanged when nothing was tried.

    Of equally good trials the earlier one is taken, which is the simpler one.
    """
    fits = [_fit(bench, trial) for trial in bench.trials]
    candidates = tuple(_candidate(trial, fitted) for trial, (_, fitted) in zip(bench.trials, fits, strict=True))
    if not candidates:
        return _close(bench, progress, untouched(bench))
    best = max(range(len(candidates)), key=lambda i: _merit(candidates[i], choose_by))
    fields, fitted = fits[best] if fit else ({}, ())
    predictor = compiled(bench.trials[best], fields)
    result = StageResult(bench.task.stage, predictor, candidates, candidates[best].name, 0, thresholds=fitted)
    return _close(bench, progress, result)


def compiled(trial: Trial, fields: dict[str, dict[str, Any]]) -> dspy.Predict:
    """A copy of the trial's predictor that holds plain data: demonstrations, fields, and no LM."""
    predictor = trial.program.predict.deepcopy()
    predictor.demos = trial.program.demos()
    predictor.fields = {
        name: {**predictor.fields.get(name, {}), **fields.get(name, {})} for name in {**predictor.fields, **fields}
    }
    predictor.lm, predictor.traces, predictor.train = None, [], []
    return predictor


def untouched(bench: Bench) -> StageResult:
    """The result if no candidate could be tried: the student itself."""
    student = bench.task.student.deepcopy()
    student.lm = None
    return StageResult(bench.task.stage, student, (), "zero-shot", 0)


def _close(bench: Bench, progress: Progress, result: StageResult) -> StageResult:
    """Fill in cost and notes, and report that the stage is done."""
    ledger = bench.ledger
    result = replace(result, calls=ledger.calls, tokens=ledger.tokens, notes=(*result.notes, *_notes(bench)))
    score = next((c.score for c in result.candidates if c.name == result.chosen), None)
    text = f"{result.chosen}, {score:.3f} on dev" if score is not None else "nothing was tried"
    progress.finish(bench.task.stage, f"{text}, {result.calls} LM calls")
    return result


def _notes(bench: Bench) -> list[str]:
    notes = list(bench.notes)
    if bench.refused:
        names = ", ".join(bench.refused)
        notes.append(f"not tried, because they did not fit into {bench.task.max_calls} calls: {names}")
    if bench.ledger.unreadable:
        notes.append(f"{bench.ledger.unreadable} answers could not be read and scored 0")
    return notes


def _fit(bench: Bench, trial: Trial) -> tuple[dict[str, dict[str, Any]], tuple[FittedOutput, ...]]:
    if bench.task.writes:
        return {}, ()
    return fit_fields(bench.task.signature, trial.pairs, bench.task.seed)


def _candidate(trial: Trial, fitted: tuple[FittedOutput, ...]) -> Candidate:
    details: dict[str, Any] = {"calls": trial.calls}
    if fitted:
        details["accuracy"] = {f.output: f.accuracy_before for f in fitted}
        details["fitted_accuracy"] = {f.output: f.accuracy_after for f in fitted}
        known = [f.calibrated for f in fitted if f.calibrated is not None]
        details["calibrated"] = sum(known) / len(known) if known else None
    return Candidate(trial.name, trial.score, len(trial.program.predict.demos), details)


def _merit(candidate: Candidate, choose_by: ChooseBy) -> float:
    calibrated = candidate.details.get("calibrated")
    return calibrated if choose_by == "calibrated" and calibrated is not None else candidate.score
