"""Registers a program folder as an MLflow model: code plus data, no pickle, loadable by ``mlflow.pyfunc`` and Spark."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ... import __version__
from ...program.artifact.registry import PROGRAM_ARTIFACT

if TYPE_CHECKING:
    from mlflow.models import Model, ModelSignature
    from mlflow.tracking import MlflowClient

_CODE = Path(__file__).parents[2] / "program" / "artifact" / "pyfunc.py"
_CODE_NAME = "planner_model.py"
# MLflow adds these if they are in the current folder, where they belong to somebody else's project.
_NOT_OURS = ("pyproject.toml", "uv.lock", ".python-version")


def write_model(mlflow: MlflowClient, run_id: str, program: Path, name: str) -> str:
    """Upload ``program`` as the one logged model of the run and return the model's id.

    Raises:
        mlflow.exceptions.MlflowException: the server refuses.
    """
    experiment = mlflow.get_run(run_id).info.experiment_id
    for model in mlflow.search_logged_models([experiment], filter_string=f"source_run_id = '{run_id}'"):
        if model.status == "READY":
            return model.model_id
        mlflow.delete_logged_model(model.model_id)  # its upload was interrupted
    model_id = mlflow.create_logged_model(experiment, name=name, source_run_id=run_id, model_type="queryplan").model_id
    with tempfile.TemporaryDirectory() as scratch:
        mlflow.log_model_artifacts(model_id, str(_save(program, Path(scratch), run_id, model_id)))
    mlflow.finalize_logged_model(model_id, "READY")
    _link(mlflow, run_id, model_id)
    return model_id


def register_model(mlflow: MlflowClient, name: str, run_id: str, model_id: str, tags: dict[str, str]) -> str:
    """The version of the registered model ``name`` that is this run's program; model and version are made if needed."""
    from mlflow.exceptions import MlflowException

    try:
        mlflow.create_registered_model(name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    if there := mlflow.search_model_versions(f"name = '{name}' AND run_id = '{run_id}'"):
        return str(there[0].version)
    # Not "models:/ID": MLflow would look that up in whatever its global tracking address is (3.17.2).
    source = mlflow.get_logged_model(model_id).artifact_location
    # The tag, because SQL registries do not keep the id themselves.
    tags = {**tags, "model_id": model_id}
    made = mlflow.create_model_version(name, source, run_id=run_id, tags=tags, model_id=model_id)
    return str(made.version)


def _save(program: Path, scratch: Path, run_id: str, model_id: str) -> Path:
    """The model as a folder in ``scratch``; program and code are first copied there, so that their names are fixed."""
    import mlflow
    from mlflow.models import Model

    data, code, folder = scratch / Path(PROGRAM_ARTIFACT).name, scratch / _CODE_NAME, scratch / "model"
    shutil.copytree(program, data)
    shutil.copyfile(_CODE, code)
    with warnings.catch_warnings():
        # MLflow warns that there is no input example; with one, it would load and run the program now.
        warnings.filterwarnings("ignore", message=".*input example.*")
        mlflow.pyfunc.save_model(
            path=str(folder),
            python_model=str(code),
            artifacts={data.name: str(data)},
            pip_requirements=[f"queryplan=={__version__}", f"mlflow=={mlflow.__version__}"],
            signature=_signature(),
            mlflow_model=Model(artifact_path="model", run_id=run_id, model_id=model_id),
        )
    for stray in _NOT_OURS:
        (folder / stray).unlink(missing_ok=True)
    _forget_paths(Model.load(str(folder)), folder)
    return folder


def _forget_paths(model: Model, folder: Path) -> None:
    """Remove the paths of this machine that MLflow wrote; only those inside the model are read back."""
    flavor = model.flavors["python_function"]
    flavor["model_code_path"] = _CODE_NAME
    for artifact in flavor["artifacts"].values():
        artifact["uri"] = artifact["path"]
    model.save(str(folder / "MLmodel"))


def _signature() -> ModelSignature:
    from mlflow.models import ModelSignature
    from mlflow.types.schema import AnyType, ColSpec, Schema

    optional = [ColSpec(AnyType(), name, required=False) for name in ("history", "session")]
    return ModelSignature(inputs=Schema([ColSpec("string", "query"), *optional]), outputs=Schema([ColSpec("string")]))


def _link(mlflow: MlflowClient, run_id: str, model_id: str) -> None:
    from mlflow.entities import LoggedModelOutput

    mlflow.log_outputs(run_id, [LoggedModelOutput(model_id, step=0)])
