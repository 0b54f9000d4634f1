"""Finds a program: a folder on this machine, or a version in an MLflow registry, which is downloaded."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...data.disk import user_cache
from ...errors import ConfigError, ProgramError, QueryPlanError
from .folder import MANIFEST, check_program, hint_of_domain, put_back

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion
    from mlflow.tracking import MlflowClient

DEFAULT_TRACKING_URI = "sqlite:///.queryplan/mlflow.db"
PROGRAM_ARTIFACT = "artifacts/program"
"""Where the program folder lies inside a registered model."""

_SETTING = "--tracking-uri, QUERYPLAN_TRACKING_URI or tracking_uri in queryplan.toml"
_MODEL = re.compile(r"models:/(?P<name>[^/@]+)(?:@(?P<alias>[^/@]+)|/(?P<version>\d+))")
_CONNECT_S = 5.0
_ANSWER_S = 30.0  # a busy server with one worker takes some seconds


def resolve(uri_or_folder: str | Path, tracking_uri: str | None = None) -> Path:
    """Find the folder of a program; a registered one is downloaded first.

    Args:
        uri_or_folder: a folder, ``models:/NAME@ALIAS`` or ``models:/NAME/VERSION``. A registered
            version is downloaded once and then taken from the cache (``QUERYPLAN_CACHE`` or
            ``~/.cache/queryplan``).
        tracking_uri: the MLflow registry; by default `tracking_uri_in_force`.

    Raises:
        ProgramError: there is no such folder, name, alias or version, no program in it, or the registry cannot be
            reached.
    """
    text = str(uri_or_folder)
    if not text.startswith("models:"):
        return _local(Path(uri_or_folder))
    match = _MODEL.fullmatch(text)
    if match is None:
        raise ProgramError(f"{text} is no registered program: write models:/NAME@ALIAS or models:/NAME/VERSION")
    uri = tracking_uri_in_force(tracking_uri)
    if (file := sqlite_file(uri)) is not None and not file.is_file():
        raise ProgramError(f"{text} cannot be looked up, {uri} has no database yet: compile first, or set {_SETTING}")
    try:
        with speaking_to_mlflow(uri):
            return _registered(text, match, uri)
    except ConfigError as error:
        raise ProgramError(f"{text} cannot be looked up: {error}") from error


def tracking_uri_in_force(given: str | None = None) -> str:
    """The tracking address: ``given``, or QUERYPLAN_TRACKING_URI, or MLFLOW_TRACKING_URI, or the local default."""
    named = given or os.environ.get("QUERYPLAN_TRACKING_URI") or os.environ.get("MLFLOW_TRACKING_URI")
    return named or DEFAULT_TRACKING_URI


def sqlite_file(uri: str) -> Path | None:
    """The database file of a ``sqlite:///`` address; None for any other address."""
    return Path(uri.removeprefix("sqlite:///").split("?")[0]) if uri.startswith("sqlite:///") else None


def public_uri(uri: str) -> str:
    """``uri`` without user, password and query, so that it may be shown."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return "an address that cannot be read"
    if "@" not in parts.netloc and not parts.query:
        return uri
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def without_password(said: str, uri: str) -> str:
    """A message of MLflow's, which quotes addresses, without the users and passwords in them."""
    return re.sub(r"://[^/@\s]+@", "://", said.replace(uri, public_uri(uri)))


def client(uri: str) -> MlflowClient:
    """An MLflow client of a server, for runs and registered models, without MLflow's global state."""
    quiet_mlflow()
    from mlflow.tracking import MlflowClient

    return MlflowClient(tracking_uri=uri, registry_uri=uri)


def quiet_mlflow() -> None:
    """Make MLflow send no telemetry, draw no bars, print no links, and give up sooner on a dead or hanging server.

    What the user has set stays.
    Must run before MLflow is imported for the first time.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    # Its own seven tries, each after twice the time, hang for four minutes on a server that died.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "3")
    # Each of these tries waits two minutes for a server that hangs.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "60")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    # Lines about database tables at the first use of a file, and about waiting for a version.
    for name in ("mlflow.store.db.utils", "mlflow.store.model_registry.abstract_store"):
        logging.getLogger(name).setLevel(logging.WARNING)


@contextmanager
def speaking_to_mlflow(uri: str) -> Iterator[None]:
    """Turn the failure of a server into one sentence that names the setting to change.

    Raises:
        ConfigError: MLflow, its database or its server failed.
    """
    quiet_mlflow()
    from mlflow.exceptions import MlflowException
    from requests import RequestException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        _knock(uri)
        yield
    except QueryPlanError:
        raise
    except (MlflowException, RequestException, SQLAlchemyError, OSError) as error:
        said = without_password(_cause(str(error)), uri)
        raise ConfigError(
            f"MLflow at {public_uri(uri)} cannot be used ({said}): start it, or set {_SETTING}"
        ) from error


def _cause(text: str) -> str:
    """The line of an error that says what happened; SQLAlchemy's first line may only say when."""
    lines = [line for line in text.splitlines() if not line.startswith("(raised as a result of")]
    return lines[0] if lines else text


def _knock(uri: str) -> None:
    """Fail soon if no server listens or answers, or a folder is in the database's place: MLflow retries for minutes."""
    if (file := sqlite_file(uri)) is not None and file.is_dir():
        raise IsADirectoryError(f"{file} is a folder, not a database")
    if _is_of_folders(uri):
        raise ConfigError(
            f"{public_uri(uri)} is a folder, and MLflow keeps runs in a database: write sqlite:///NAME.db"
        )
    try:
        parts = urlsplit(uri)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise OSError("there can be no such host or port") from None
    if parts.scheme in ("http", "https") and parts.hostname:
        _await_answer(uri, (parts.hostname, port))


def _await_answer(uri: str, place: tuple[str, int]) -> None:
    """Wait for any answer of a server; what is wrong with the answer is left to MLflow to say."""
    import requests
    from requests.utils import get_environ_proxies, select_proxy

    if select_proxy(uri, get_environ_proxies(uri)) is None:  # with a proxy, the server itself may be out of reach
        socket.create_connection(place, timeout=_CONNECT_S).close()
    wait = (_CONNECT_S, _ANSWER_S)
    try:
        requests.get(f"{uri.rstrip('/')}/health", timeout=wait, allow_redirects=False, stream=True).close()
    except requests.Timeout:
        raise TimeoutError(f"it takes connections and gave no answer within {_ANSWER_S:.0f} seconds") from None
    except requests.RequestException:
        return


def _is_of_folders(uri: str) -> bool:
    """Whether the address is a folder of files, which MLflow 3 refuses unless it is told to accept it."""
    told = os.environ.get("MLFLOW_ALLOW_FILE_STORE", "").strip().lower() in ("true", "1")
    return not told and (uri.startswith("file:") or ":" not in uri)


def _local(folder: Path) -> Path:
    put_back(folder)
    if not folder.is_dir():
        what = "give a folder that `queryplan compile` wrote, or models:/NAME@ALIAS"
        raise ProgramError(f"there is no program folder {folder}: {hint_of_domain(folder) or what}")
    return folder


def _registered(text: str, match: re.Match[str], uri: str) -> Path:
    version = _version(text, match, uri)
    key = hashlib.sha256(f"{uri} {version.source} {version.creation_timestamp}".encode()).hexdigest()[:12]
    folder = user_cache("programs") / f"{version.name}-{version.version}-{key}"
    if not _intact(folder):
        shutil.rmtree(folder, ignore_errors=True)
        _download(text, version, uri, folder)
    if not (folder / MANIFEST).is_file():
        raise ProgramError(f"{text} holds no queryplan program: give a model that `queryplan compile` registered")
    return folder


def _intact(folder: Path) -> bool:
    """Whether a downloaded program exists and is as it was saved; if not, it is fetched again."""
    try:
        check_program(folder)
    except ProgramError:
        return False
    return True


def _version(text: str, match: re.Match[str], uri: str) -> ModelVersion:
    from mlflow.exceptions import MlflowException

    registry = client(uri)
    try:
        if match["alias"]:
            return registry.get_model_version_by_alias(match["name"], match["alias"])
        return registry.get_model_version(match["name"], match["version"])
    except MlflowException as error:
        if error.error_code not in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
            raise
        raise ProgramError(
            f"MLflow at {public_uri(uri)} has no {text}: look at its registered models, or set {_SETTING}"
        ) from error


def _download(text: str, version: ModelVersion, uri: str, folder: Path) -> None:
    """Fetch beside ``folder`` and move there, so that a broken download is never taken for a program."""
    from mlflow.artifacts import download_artifacts
    from mlflow.exceptions import MlflowException
    from mlflow.utils.uri import append_to_uri_path

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        try:
            # Not "models:/…": MLflow looks that up at its global tracking address, not at ours (3.17.2).
            source = client(uri).get_model_version_download_uri(version.name, version.version)
            artifact = append_to_uri_path(source, PROGRAM_ARTIFACT)
            got = download_artifacts(artifact_uri=artifact, dst_path=scratch, tracking_uri=uri, registry_uri=uri)
        except (MlflowException, OSError) as error:
            said = without_password(_cause(str(error)), uri)
            raise ProgramError(f"{text} cannot be downloaded ({said}): register the program again") from error
        if not folder.is_dir():
            Path(got).rename(folder)
