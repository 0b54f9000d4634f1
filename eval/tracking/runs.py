"""Writes compiles and evaluations into MLflow as runs, without autolog.

MLflow's autolog leaves out the optimizer's name, its arguments and the latency, and ``mlflow.dspy.log_model`` pickles
the LM's key in clear. Here everything is named, nothing is pickled, and neither keys nor paths of this machine are
written. No global state of MLflow is used.

Each record is kept on this disk first (`waiting.py`) and sent in steps, so that nothing is lost if a server is down or
goes down in the middle: the next time anything is tracked, what is missing is sent, and nothing twice.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...errors import ConfigError
from ...program.artifact.registry import client, speaking_to_mlflow, sqlite_file, tracking_uri_in_force
from ..evaluation import Evaluation
from ..report import Report
from .prompt_registry import register_prompts
from .public import public_params, public_value
from .records import CandidateRecord, CompileRecord, EvaluationRecord
from .registered import register_model, write_model
from .tracked import (
    dollars_metrics,
    log_dataset,
    log_evaluated,
    log_failures,
    log_metrics,
    log_params,
    metrics_of,
    moment_ms,
)
from .waiting import Parcel, Steps, Waiting

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

__all__ = ["ALIAS", "CandidateRecord", "CompileRecord", "Tracking", "metrics_of"]

ALIAS = "challenger"
RECORD_TAG = "queryplan.record"
_CANDIDATE_TAG = "queryplan.candidate"

logger = logging.getLogger(__name__)


class Tracking:
    """Writes into one experiment of one MLflow server or database.

    Args:
        uri: any MLflow tracking address; `tracking_uri_in_force` if not given. For a SQLite file the
            folder is created, and artifacts go into ``mlartifacts`` beside it.
        experiment: its name; created when missing.
        waiting: folder of what could not be sent yet; ``.queryplan/waiting`` if not given.
    """

    def __init__(self, uri: str | None = None, experiment: str = "queryplan", waiting: Path | None = None) -> None:
        self.uri = tracking_uri_in_force(uri)
        self.experiment = experiment
        self._waiting = Waiting(self.uri, waiting)

    def log_compile(self, record: CompileRecord) -> tuple[str, str]:
        """Write a compile and register its program as ``queryplan-DOMAIN``, alias ``challenger``.

        The same record written twice is one run and one version.

        Returns:
            The id of the run and the version of the registered model.

        Raises:
            ConfigError: the server is down or refuses; the record and its program wait on this disk.
        """
        record = record.public()
        text = record.model_dump_json()
        with self._waiting.alone():
            parcel = self._waiting.put("compile", self.experiment, text, record.key, record.program)
            try:
                return self._deliver(parcel)
            except ConfigError as error:
                raise ConfigError(f"{error}. The compiled program is safe in {record.program}; {_LATER}") from error

    def log_evaluation(
        self,
        evaluation: Evaluation,
        *,
        report: Report | None = None,
        tags: Mapping[str, str] | None = None,
        dataset: str | None = None,
    ) -> str:
        """Write an evaluation as a run of its own and return the run's id.

        The same evaluation written twice is one run. Where the program is registered, its metrics are also put
        on its logged model.

        Args:
            report: the comparison it belongs to, for ``summary.md``.
            tags: further tags, such as the domain or the registered version.
            dataset: what the rows are called; ``DOMAIN rows`` if not given.

        Raises:
            ConfigError: the server is down or refuses; the evaluation waits on this disk.
        """
        name = dataset or f"{evaluation.domain} rows".strip()
        record = EvaluationRecord(evaluation=evaluation, report=report, dataset=name, tags=dict(tags or {}))
        with self._waiting.alone():
            parcel = self._waiting.put("evaluation", self.experiment, record.model_dump_json(), record.key)
            try:
                return self._deliver(parcel)[0]
            except ConfigError as error:
                raise ConfigError(f"{error}. The evaluation is kept; {_LATER}") from error

    def _deliver(self, parcel: Parcel) -> tuple[str, str]:
        """Send a parcel, after any older ones that wait, so that the newest compile is the challenger.

        That an older one fails is only logged. One of another version stops no other; a server that fails is not asked
        for the rest of them.
        """
        for older in [one for one in self._waiting.all() if one.folder != parcel.folder]:
            try:
                self._send(older)
            except ValidationError:
                logger.warning(
                    "%s was kept by another version: move it away, or send it with that version", older.folder
                )
            except ConfigError as error:
                logger.warning("something older still waits to be tracked: %s", error)
                break
        return self._send(parcel)

    def _send(self, parcel: Parcel) -> tuple[str, str]:
        steps = parcel.steps()
        if parcel.kind == "compile":
            record = CompileRecord.model_validate_json(parcel.text)
            name, tags = f"compile {record.domain} {record.optimizer}", _compile_tags(record)
            with self._run(parcel, steps, name, tags) as sending:
                version = _send_compile(sending, record, parcel.program)
        else:
            evaluated = EvaluationRecord.model_validate_json(parcel.text)
            tags = {**evaluated.tags, "queryplan.kind": "evaluation", "queryplan.domain": evaluated.evaluation.domain}
            with self._run(parcel, steps, f"evaluate {evaluated.evaluation.program_version}", tags) as sending:
                version = _send_evaluation(sending, evaluated)
        Waiting.drop(parcel)
        return sending.run_id, version

    @contextmanager
    def _run(self, parcel: Parcel, steps: Steps, name: str, tags: Mapping[str, str]) -> Iterator[Sending]:
        """The run of a parcel, begun or resumed; its status ends as FINISHED, or FAILED if not everything was sent."""
        with speaking_to_mlflow(self.uri):
            if file := sqlite_file(self.uri):
                file.parent.mkdir(parents=True, exist_ok=True)
            mlflow = client(self.uri)
            experiment = self.experiment_id(mlflow, parcel.experiment)
            run_id = _begun(mlflow, steps, experiment, parcel.name, name, tags)
            try:
                yield Sending(self.uri, mlflow, experiment, run_id, steps)
            except BaseException:
                with suppress(Exception):  # the server that just failed may not take this either
                    mlflow.set_terminated(run_id, "FAILED")
                raise
            mlflow.set_terminated(run_id, "FINISHED")

    def experiment_id(self, mlflow: MlflowClient, name: str) -> str:
        """The id of the experiment of that name, made if missing; with SQLite its artifacts are beside the file."""
        file = sqlite_file(self.uri)
        known = mlflow.get_experiment_by_name(name)
        if known is not None:
            return known.experiment_id
        beside = (file.resolve().parent / "mlartifacts").as_uri() if file else None
        return mlflow.create_experiment(name, artifact_location=beside)


_LATER = "run the same command again, or track anything else, to send it"


class Sending:
    """The sending of one record into one run."""

    def __init__(self, uri: str, mlflow: MlflowClient, experiment: str, run_id: str, steps: Steps) -> None:
        self.uri, self.mlflow, self.experiment = uri, mlflow, experiment
        self.run_id, self.steps = run_id, steps

    def once(self, name: str, do: Callable[..., Any], *arguments: Any) -> Any:
        """Call ``do(mlflow, run_id, …)`` and return its result; if the step is done already, return the kept result."""
        return self.steps.once(name, lambda: do(self.mlflow, self.run_id, *arguments))


def _begun(mlflow: MlflowClient, steps: Steps, experiment: str, key: str, name: str, tags: Mapping[str, str]) -> str:
    """The id of the run that has all or part of this record, else of a new run."""
    found = mlflow.search_runs([experiment], f"tags.`{RECORD_TAG}` = '{key}'", max_results=1)
    if not found:
        steps.forget()  # the server is new, or somebody deleted the run
        return mlflow.create_run(experiment, run_name=name, tags={**tags, RECORD_TAG: key}).info.run_id
    run = found[0].info
    if steps.get("run") != run.run_id:
        steps.forget()
    if run.status != "FINISHED":
        mlflow.update_run(run.run_id, status="RUNNING")
    return run.run_id


def _send_compile(sending: Sending, record: CompileRecord, program: Path) -> str:
    """Send everything of a compile; returns the version that it is registered as."""
    mlflow, run_id = sending.mlflow, sending.run_id
    sending.steps.once("run", lambda: run_id)
    when = moment_ms(record.evaluation) if record.evaluation else _started(mlflow, run_id)
    sending.once("params", log_params, _compile_params(record))
    sending.once("scores", log_metrics, {**record.best_scores, **record.spent}, when)
    for split, found in record.read.items():
        named, context = f"{record.domain} {split}", "train" if split == "lent" else split
        sending.once(f"read {split}", log_dataset, named, found.digest, context, {"rows": found.rows})
    sending.once("candidates", _log_candidates, record.candidates, when)
    sending.once("program", lambda server, run: server.log_artifacts(run, str(program), "program"))
    model_id = sending.once("model", write_model, program, record.model)
    if record.evaluation is not None:
        _send_measured(sending, record.evaluation, record.report, f"{record.domain} test", model_id)
    sending.once("prompts", register_prompts, record.model, record.prompts, model_id)
    return sending.once("version", _register, model_id, record)


def _send_evaluation(sending: Sending, record: EvaluationRecord) -> str:
    """Send everything of an evaluation; returns the empty string, for nothing is registered."""
    evaluation, run_id = record.evaluation, sending.run_id
    sending.steps.once("run", lambda: run_id)
    sending.once("params", log_params, _evaluation_params(evaluation))
    model_id = sending.once("model", _model_of, evaluation)
    _send_measured(sending, evaluation, record.report, record.dataset, model_id)
    return ""


def _send_measured(
    sending: Sending, evaluation: Evaluation, report: Report | None, dataset: str, model_id: str | None
) -> None:
    """Send the rows as a data set, the metrics of run and model, the tables, and the failures as traces."""
    digest, when = evaluation.data_fingerprint, moment_ms(evaluation)
    summary = evaluation.summary()
    counts = {"rows": summary.n, "conversations": summary.conversations, "sample": evaluation.sample or "all rows"}
    sending.once("measured on", log_dataset, dataset, digest, "eval", counts)
    metrics = metrics_of(summary) | dollars_metrics(evaluation.dollars)
    if evaluation.replayed:
        metrics = {name: value for name, value in metrics.items() if not name.startswith("latency_ms/")}
    sending.once("metrics", log_metrics, metrics, when, model_id, (dataset, digest))
    sending.once("rows", log_evaluated, evaluation, report)
    traced = lambda _, run: log_failures(sending.uri, sending.experiment, run, evaluation, model_id)  # noqa: E731
    sending.once("failures", traced)


def _started(mlflow: MlflowClient, run_id: str) -> int:
    return mlflow.get_run(run_id).info.start_time or int(time.time() * 1000)


def _compile_tags(record: CompileRecord) -> dict[str, str]:
    return {"queryplan.kind": "compile", "queryplan.domain": record.domain}


def _compile_params(record: CompileRecord) -> dict[str, str]:
    plain = {
        "domain": record.domain,
        "optimizer": record.optimizer,
        "lm": record.lm,
        "seed": record.seed,
        "stages": ", ".join(record.stages),
        "sample": record.sample or "all rows",
        "program_version": record.program_version,
        "data_fingerprint": record.data_fingerprint,
        "card_fingerprint": record.card_fingerprint,
        "code_version": record.code_version,
        "chosen": {c.stage: c.name for c in record.candidates if c.chosen},
    }
    return public_params(plain) | public_params(record.arguments, "optimizer.") | public_params(record.heads, "heads.")


def _evaluation_params(evaluation: Evaluation) -> dict[str, str]:
    return {
        "domain": evaluation.domain,
        "lm": evaluation.lm,
        "program_version": evaluation.program_version,
        "data_fingerprint": evaluation.data_fingerprint,
        "sample": evaluation.sample or "all rows",
        "price": str(evaluation.price or ("nothing" if evaluation.lm == "none" else "unknown")),
    }


def _log_candidates(mlflow: MlflowClient, parent: str, candidates: tuple[CandidateRecord, ...], when_ms: int) -> None:
    """Write each candidate as a child run, so that MLflow's table shows it under its compile."""
    experiment = mlflow.get_run(parent).info.experiment_id
    children = mlflow.search_runs([experiment], f"tags.`mlflow.parentRunId` = '{parent}'", max_results=1000)
    there = {child.data.tags.get(_CANDIDATE_TAG): child.info.run_id for child in children}
    for candidate in candidates:
        name = f"{candidate.stage} {candidate.name}"
        run_id = there.get(name) or _child(mlflow, experiment, parent, name)
        plain = {"stage": candidate.stage, "candidate": candidate.name, "demos": candidate.demos}
        details = public_params(candidate.details, "details.")
        log_params(mlflow, run_id, {**plain, "chosen": candidate.chosen, **details})
        log_metrics(mlflow, run_id, {"score": candidate.score}, when_ms)
        mlflow.set_terminated(run_id, "FINISHED")


def _child(mlflow: MlflowClient, experiment: str, parent: str, name: str) -> str:
    tags = {"mlflow.parentRunId": parent, "queryplan.kind": "candidate", _CANDIDATE_TAG: name}
    return mlflow.create_run(experiment, run_name=name, tags=tags).info.run_id


def _model_of(mlflow: MlflowClient, run_id: str, evaluation: Evaluation) -> str | None:
    """The logged model of the program that was evaluated, if it is registered here."""
    if not evaluation.domain:
        return None
    found = mlflow.search_model_versions(
        f"name = 'queryplan-{evaluation.domain}' AND tag.program_version = '{evaluation.program_version}'"
    )
    return found[0].tags.get("model_id") if found else None


def _register(mlflow: MlflowClient, run_id: str, model_id: str, record: CompileRecord) -> str:
    tags = {"program_version": record.program_version, "data_fingerprint": record.data_fingerprint, "lm": record.lm}
    version = register_model(mlflow, record.model, run_id, model_id, {k: public_value(v) for k, v in tags.items()})
    mlflow.set_registered_model_alias(record.model, ALIAS, version)
    return version
