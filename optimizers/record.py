"""Records a finished job for MLflow."""

from __future__ import annotations

from typing import Any

from .. import __version__
from ..eval.tracking.records import print_of
from ..eval.tracking.runs import CandidateRecord, CompileRecord, Tracking
from .base import Candidate, StageResult
from .job_contract import Outcome
from .prompts import prompts_of


def log_outcome(outcome: Outcome, tracking_uri: str | None) -> tuple[str, str]:
    """Write a job into the experiment of its domain and register its program as ``challenger``.

    Returns:
        The id of the run and the version of the registered model.

    Raises:
        ConfigError: the server is down or refuses; the program folder is untouched.
    """
    manifest = outcome.manifest
    record = CompileRecord(
        domain=manifest.domain,
        program=outcome.folder,
        program_version=manifest.version,
        optimizer=outcome.optimizer.name,
        arguments=outcome.optimizer.arguments(),
        lm=manifest.fingerprints.get("lm", manifest.lm),
        data_fingerprint=manifest.fingerprints["data"],
        card_fingerprint=manifest.fingerprints["card"],
        seed=manifest.compiled["seed"],
        code_version=__version__,
        stages=tuple(outcome.results),
        sample=outcome.sample,
        rows=dict(outcome.rows),
        read={split: print_of(rows) for split, rows in outcome.read.items()},
        heads=_heads(outcome),
        spent=_spent(outcome),
        candidates=tuple(_candidate(r, c) for r in outcome.results.values() for c in r.candidates),
        prompts=tuple(p for name, r in outcome.results.items() for p in prompts_of(name, r.predictor)),
        evaluation=outcome.compiled,
        report=outcome.report,
    )
    return Tracking(tracking_uri, f"queryplan-{manifest.domain}").log_compile(record)


def _heads(outcome: Outcome) -> dict[str, Any]:
    """How the heads were trained, so that compiles that differ in this alone can be told apart."""
    manifest = outcome.manifest
    encoders = {"encoder": manifest.encoder, "closer": manifest.closer or "none"} if manifest.heads else {}
    return encoders | {"lending": "lent" in manifest.compiled}


def _spent(outcome: Outcome) -> dict[str, float]:
    """Requests and tokens that compiling took, by stage."""
    calls = {f"spent/{name}/calls": float(result.calls) for name, result in outcome.results.items()}
    return calls | {f"spent/{name}/tokens": float(result.tokens) for name, result in outcome.results.items()}


def _candidate(result: StageResult, candidate: Candidate) -> CandidateRecord:
    return CandidateRecord(
        stage=result.stage,
        name=candidate.name,
        score=candidate.score,
        demos=candidate.demos,
        chosen=candidate.name == result.chosen,
        details=candidate.details,
    )
