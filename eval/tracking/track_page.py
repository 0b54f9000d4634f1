"""Logs HTML pages to MLflow: an evaluation's in its run, a comparison's in a run of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...program.artifact.registry import client, speaking_to_mlflow, sqlite_file, tracking_uri_in_force
from ..measured import Measured
from .runs import Tracking
from .tracked import EVALUATION

PAGE = "report.html"


def log_page(page: str, measured: Measured, tracking_uri: str, run_id: str) -> None:
    """Put a page into a run as ``report.html``, and what was measured beside the evaluation into its folder.

    Raises:
        ConfigError: the server is down or refuses, or has no such run.
    """
    uri = tracking_uri_in_force(tracking_uri)
    with speaking_to_mlflow(uri), tempfile.TemporaryDirectory() as scratch:
        mlflow = client(uri)
        mlflow.log_text(run_id, page, PAGE)
        measured.save_beside(Path(scratch))
        if measured.ladder is not None or measured.throughput:
            mlflow.log_artifacts(run_id, scratch, EVALUATION)


def log_comparison(page: str, tracking_uri: str, domain: str, versions: Sequence[str]) -> str:
    """Put a page into a new run of the domain's experiment; returns the run's id.

    Raises:
        ConfigError: the server is down or refuses.
    """
    tracking = Tracking(tracking_uri, f"queryplan-{domain}" if domain else "queryplan")
    tags = {"queryplan.kind": "comparison", "queryplan.domain": domain, "queryplan.versions": ", ".join(versions)}
    with speaking_to_mlflow(tracking.uri):
        if file := sqlite_file(tracking.uri):
            file.parent.mkdir(parents=True, exist_ok=True)
        mlflow = client(tracking.uri)
        experiment = tracking.experiment_id(mlflow, tracking.experiment)
        run = mlflow.create_run(experiment, run_name=f"compare {' and '.join(versions)}", tags=tags)
        mlflow.log_text(run.info.run_id, page, PAGE)
        mlflow.set_terminated(run.info.run_id, "FINISHED")
    return run.info.run_id
