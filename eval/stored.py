"""Evaluations that are in MLflow, brought back: the row table of a run, or of a program version."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError, DataError
from ..program.registry import client, public_uri, speaking_to_mlflow
from .evaluation import Evaluation
from .tracked import EVALUATION

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient


def evaluation_of_run(uri: str, run_id: str) -> Evaluation:
    """The evaluation that a run has as an artifact.

    Raises:
        ConfigError: no such run, or a server that cannot be used.
        DataError: the run has no evaluation, or one that this version cannot read.
    """
    from mlflow.exceptions import MlflowException

    with speaking_to_mlflow(uri):
        mlflow = client(uri)
        try:
            mlflow.get_run(run_id)
        except MlflowException as error:
            if error.error_code not in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                raise
            raise ConfigError(f"MLflow at {public_uri(uri)} has no run {run_id}: give the id of one") from error
        return _downloaded(mlflow, run_id)


def evaluations_of_version(uri: str, domain: str, program_version: str) -> Iterator[Evaluation]:
    """Every evaluation of a program, newest first: of its compile, and those made later.

    Raises:
        ConfigError: a server that cannot be used.
        DataError: a run whose evaluation is missing or cannot be read.
    """
    for run in runs_of_version(uri, domain, program_version):
        with speaking_to_mlflow(uri):
            yield _downloaded(client(uri), run.info.run_id)


def runs_of_version(uri: str, domain: str, program_version: str) -> list[Run]:
    """The finished runs that measured a program, newest first; their parameters have ``data_fingerprint``.

    Raises:
        ConfigError: a server that cannot be used.
    """
    with speaking_to_mlflow(uri):
        mlflow = client(uri)
        # Where `compile` and `evaluate` log; a run that somebody keeps elsewhere is found by its id.
        experiment = mlflow.get_experiment_by_name(f"queryplan-{domain}")
        if experiment is None:
            return []
        wanted = f"params.program_version = '{program_version}' AND attributes.status = 'FINISHED'"
        return list(mlflow.search_runs([experiment.experiment_id], wanted, order_by=["attributes.start_time DESC"]))


def _downloaded(mlflow: MlflowClient, run_id: str) -> Evaluation:
    if not any(file.path == EVALUATION for file in mlflow.list_artifacts(run_id)):
        raise DataError(
            f"run {run_id} has no evaluation (artifact {EVALUATION}): run `queryplan evaluate` for its program again"
        )
    with tempfile.TemporaryDirectory() as scratch:
        return Evaluation.load(Path(mlflow.download_artifacts(run_id, EVALUATION, scratch)))
