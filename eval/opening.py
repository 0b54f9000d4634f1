"""From what a command line names to an evaluation: a folder, a file, an MLflow run, or a program measured now."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..errors import DataError
from ..program.registry import client, speaking_to_mlflow
from .evaluation import HEAD_FILE
from .measured import Measured, is_evaluation

ARTIFACT = "evaluation"
"""The folder of a run's artifacts that holds its evaluation."""

_RUN_ID = re.compile(r"[0-9a-f]{32}")

Measure = Callable[[str], Measured]


def open_measured(what: str, tracking_uri: str, measure: Measure) -> Measured:
    """The evaluation that ``what`` names.

    Args:
        what: the folder or JSON file of an evaluation, the id of an MLflow run, or else a program.
        measure: evaluates a program: a folder or ``models:/NAME@ALIAS``.

    Raises:
        DataError: no such evaluation, or a run that has none.
        ConfigError: the tracking server is down.
    """
    path = Path(what)
    if is_evaluation(path):
        return Measured.load(path)
    if _RUN_ID.fullmatch(what) and not path.exists():
        return measured_of_run(what, tracking_uri)
    return measure(what)


def measured_of_run(run_id: str, tracking_uri: str) -> Measured:
    """The evaluation that a run logged, under the name of the run.

    Raises:
        DataError: the run has no evaluation.
        ConfigError: the server is down, or has no such run.
    """
    with speaking_to_mlflow(tracking_uri), tempfile.TemporaryDirectory() as scratch:
        mlflow = client(tracking_uri)
        name = mlflow.get_run(run_id).info.run_name or run_id[:8]
        if not any(f.path == f"{ARTIFACT}/{HEAD_FILE}" for f in mlflow.list_artifacts(run_id, ARTIFACT)):
            raise DataError(
                f"run {run_id} has no evaluation: give a run of `queryplan evaluate` or `queryplan compile`"
            )
        folder = mlflow.download_artifacts(run_id, ARTIFACT, scratch)
        return Measured.load(Path(folder)).named(name)
