"""Compiles and evaluations in MLflow, written by our own hand.

MLflow's autolog leaves out the optimizer's name, its arguments and the latency, and
``mlflow.dspy.log_model`` pickles the LM's key in clear. Here everything is named, nothing is
pickled, and neither keys nor paths of this machine are written. No global state of MLflow is used.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from ..program.registry import client, speaking_to_mlflow, sqlite_file, tracking_uri_in_force
from ..signatures.types import Frozen
from .evaluation import Case, Evaluation
from .pictures import write_confusions
from .public import public_params, public_value
from .registered import register_model, write_model
from .render import to_markdown
from .report import Report, build_report
from .statistics import Estimate
from .summary import Summary

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

ALIAS = "challenger"
# What MLflow takes in one request.
_METRICS_A_BATCH = 1000


class CandidateRecord(Frozen):
    """One predictor that an optimizer tried for a stage."""

    stage: str
    name: str
    score: float
    demos: int = 0
    chosen: bool = False
    details: dict[str, Any] = {}


class CompileRecord(Frozen):
    """Everything that is kept of one compile.

    Attributes:
        program: the folder of the compiled program, already on the disk.
        arguments: the optimizer's settings; what looks like a key is left out.
        data_fingerprint: of the rows it was compiled on.
        sample: a sentence about how the rows were drawn, if they are not all.
        evaluation: of the compiled program, on rows that it was not compiled on.
        report: the same beside its rivals; made from ``evaluation`` alone if not given.
    """

    domain: str
    program: Path
    program_version: str
    optimizer: str
    arguments: dict[str, Any] = {}
    lm: str
    data_fingerprint: str
    card_fingerprint: str
    seed: int
    code_version: str
    stages: tuple[str, ...]
    sample: str | None = None
    candidates: tuple[CandidateRecord, ...] = ()
    evaluation: Evaluation | None = None
    report: Report | None = None


class Tracking:
    """Writes into one experiment of one MLflow server or database.

    Args:
        uri: any MLflow tracking address; `tracking_uri_in_force` if not given. For a SQLite file the
            folder is created, and artifacts go into ``mlartifacts`` beside it.
        experiment: its name; created when missing.
    """

    def __init__(self, uri: str | None = None, experiment: str = "queryplan") -> None:
        self.uri = tracking_uri_in_force(uri)
        self.experiment = experiment

    def log_compile(self, record: CompileRecord) -> tuple[str, str]:
        """Write a compile and register its program as ``queryplan-DOMAIN``, alias ``challenger``.

        Returns:
            The id of the run and the version of the registered model.

        Raises:
            ConfigError: the server is down or refuses; the program folder is untouched.
        """
        try:
            with self._run(f"compile {record.domain} {record.optimizer}", _compile_tags(record)) as (mlflow, run_id):
                _log_params(mlflow, run_id, _compile_params(record))
                for candidate in record.candidates:
                    _log_candidate(mlflow, run_id, candidate)
                mlflow.log_artifacts(run_id, str(record.program), "program")
                model_id = write_model(mlflow, run_id, record.program, _model_name(record))
                if record.evaluation is not None:
                    _log_measured(mlflow, run_id, record.evaluation, record.report, model_id)
                return run_id, _register(mlflow, run_id, model_id, record)
        except ConfigError as error:
            raise ConfigError(f"{error}. The compiled program is safe in {record.program}") from error

    def log_evaluation(
        self, evaluation: Evaluation, *, report: Report | None = None, tags: Mapping[str, str] | None = None
    ) -> str:
        """Write an evaluation as a run of its own and return the run's id.

        Args:
            report: the comparison it belongs to, for ``summary.md``.
            tags: further tags, such as the domain or the registered version.

        Raises:
            ConfigError: the server is down or refuses.
        """
        params = {
            "program_version": evaluation.program_version,
            "data_fingerprint": evaluation.data_fingerprint,
            "sample": evaluation.sample or "all rows",
        }
        named = {**(tags or {}), "queryplan.kind": "evaluation"}
        with self._run(f"evaluate {evaluation.name}", named) as (mlflow, run_id):
            _log_params(mlflow, run_id, params)
            _log_measured(mlflow, run_id, evaluation, report, None)
            return run_id

    @contextmanager
    def _run(self, name: str, tags: Mapping[str, str]) -> Iterator[tuple[MlflowClient, str]]:
        """A run that ends FINISHED, or FAILED if what is written into it fails."""
        with speaking_to_mlflow(self.uri):
            if file := sqlite_file(self.uri):
                file.parent.mkdir(parents=True, exist_ok=True)
            mlflow = client(self.uri)
            run_id = mlflow.create_run(self._experiment_id(mlflow), run_name=name, tags=dict(tags)).info.run_id
            try:
                yield mlflow, run_id
            except BaseException:
                mlflow.set_terminated(run_id, "FAILED")
                raise
            mlflow.set_terminated(run_id, "FINISHED")

    def _experiment_id(self, mlflow: MlflowClient) -> str:
        file = sqlite_file(self.uri)
        known = mlflow.get_experiment_by_name(self.experiment)
        if known is not None:
            return known.experiment_id
        beside = (file.resolve().parent / "mlartifacts").as_uri() if file else None
        return mlflow.create_experiment(self.experiment, artifact_location=beside)


def metrics_of(summary: Summary) -> dict[str, float]:
    """Every estimate of a summary as ``name``, ``name_low`` and ``name_high``."""
    found: dict[str, Estimate | None] = {}
    for row in summary.stages:
        found |= {f"{row.stage}/accuracy": row.accuracy, f"{row.stage}/macro_f1": row.macro_f1}
    for name in Summary.model_fields:
        if name not in ("n", "conversations", "stages", "latency"):
            found[name] = getattr(summary, name)
    found |= {f"latency_ms/{name}": estimate for name, estimate in summary.latency}
    bounds = {name: {"": e.value, "_low": e.low, "_high": e.high} for name, e in found.items() if e is not None}
    return {f"{name}{end}": value for name, ends in bounds.items() for end, value in ends.items()}


def _model_name(record: CompileRecord) -> str:
    return f"queryplan-{record.domain}"


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
    }
    return public_params(plain) | public_params(record.arguments, "optimizer.")


def _log_params(mlflow: MlflowClient, run_id: str, values: Mapping[str, Any]) -> None:
    from mlflow.entities import Param

    mlflow.log_batch(run_id, params=[Param(name, value) for name, value in public_params(values).items()])


def _log_metrics(mlflow: MlflowClient, run_id: str, values: Mapping[str, float], model_id: str | None = None) -> None:
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    metrics = [Metric(name, value, now, 0, model_id=model_id, run_id=run_id) for name, value in values.items()]
    for start in range(0, len(metrics), _METRICS_A_BATCH):
        mlflow.log_batch(run_id, metrics=metrics[start : start + _METRICS_A_BATCH])


def _log_candidate(mlflow: MlflowClient, parent: str, candidate: CandidateRecord) -> None:
    """A child run, so that MLflow's table shows the candidates under their compile."""
    experiment = mlflow.get_run(parent).info.experiment_id
    tags = {"mlflow.parentRunId": parent, "queryplan.kind": "candidate"}
    name = f"{candidate.stage} {candidate.name}"
    run_id = mlflow.create_run(experiment, run_name=name, tags=tags).info.run_id
    plain = {
        "stage": candidate.stage,
        "candidate": candidate.name,
        "demos": candidate.demos,
        "chosen": candidate.chosen,
    }
    _log_params(mlflow, run_id, {**plain, **public_params(candidate.details, "details.")})
    _log_metrics(mlflow, run_id, {"score": candidate.score})
    mlflow.set_terminated(run_id, "FINISHED")


def _log_measured(
    mlflow: MlflowClient, run_id: str, evaluation: Evaluation, report: Report | None, model_id: str | None
) -> None:
    """Metrics, the table of rows, the pictures and the summary."""
    _log_metrics(mlflow, run_id, metrics_of(evaluation.summary()), model_id)
    mlflow.log_table(run_id, _table(evaluation.cases), "test_rows.json")
    report = report or build_report([evaluation], title=evaluation.name)
    mlflow.log_text(run_id, to_markdown(report), "summary.md")
    mlflow.log_dict(run_id, report.to_dict(), "report.json")
    with tempfile.TemporaryDirectory() as scratch:
        write_confusions(evaluation, Path(scratch))
        mlflow.log_artifacts(run_id, scratch, "confusion")


def _table(cases: Sequence[Case]) -> dict[str, list[Any]]:
    """One column a field, one entry a row; labels and plans as JSON text."""
    table: dict[str, list[Any]] = {
        "row": [case.row_id for case in cases],
        "conversation": [case.conversation for case in cases],
        "query": [case.query for case in cases],
        "gold": [case.gold.model_dump_json() for case in cases],
        "plan": [case.plan.model_dump_json() for case in cases],
    }
    scores = [case.score.model_dump() for case in cases]
    return table | {name: [score[name] for score in scores] for name in scores[0]}


def _register(mlflow: MlflowClient, run_id: str, model_id: str, record: CompileRecord) -> str:
    tags = {"program_version": record.program_version, "data_fingerprint": record.data_fingerprint, "lm": record.lm}
    name = _model_name(record)
    version = register_model(mlflow, name, run_id, model_id, {k: public_value(v) for k, v in tags.items()})
    mlflow.set_registered_model_alias(name, ALIAS, version)
    return version
