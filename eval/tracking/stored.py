"""Loads kept evaluations: from a folder or a file, or from an MLflow run; and lists the runs of a program."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import ConfigError, DataError
from ...program.artifact.registry import client, public_uri, speaking_to_mlflow
from ..evaluation import HEAD_FILE
from ..measured import Measured, is_evaluation
from .tracked import EVALUATION

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

_RUN_ID = re.compile(r"[0-9a-f]{32}")


def stored(what: str, tracking_uri: str) -> Measured | None:
    """The evaluation that ``what`` names on a command line; None if it names a program, which is still to be measured.

    Args:
        what: the folder or JSON file of an evaluation, the id of an MLflow run, or else a program.

    Raises:
        DataError: an evaluation that cannot be read, or a run that has none.
        ConfigError: no such run, or a tracking server that is down.
    """
    path = Path(what)
    if is_evaluation(path):
        return Measured.load(path)
    if _RUN_ID.fullmatch(what) and not path.exists():
        return measured_of_run(tracking_uri, what)
    return None


def measured_of_run(uri: str, run_id: str) -> Measured:
    """The evaluation that an MLflow run has as an artifact, under the name of the run.

    Raises:
        ConfigError: no such run, or a server that cannot be used.
        DataError: the run has no evaluation, or one that this version cannot read.
    """
    with speaking_to_mlflow(uri):
        mlflow = client(uri)
        name = _run(mlflow, uri, run_id).info.run_name or run_id[:8]
        if not any(file.path == f"{EVALUATION}/{HEAD_FILE}" for file in mlflow.list_artifacts(run_id, EVALUATION)):
            raise DataError(
                f"run {run_id} has no evaluation (artifact {EVALUATION}): give a run of `queryplan evaluate` or "
                "`queryplan compile`, or evaluate its program again"
            )
        with tempfile.TemporaryDirectory() as scratch:
            return Measured.load(Path(mlflow.download_artifacts(run_id, EVALUATION, scratch))).named(name)


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


def _run(mlflow: MlflowClient, uri: str, run_id: str) -> Run:
    from mlflow.exceptions import MlflowException

    try:
        return mlflow.get_run(run_id)
    except MlflowException as error:
        if error.error_code not in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
            raise
        raise ConfigError(f"MLflow at {public_uri(uri)} has no run {run_id}: give the id of one") from error
