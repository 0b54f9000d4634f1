"""Finding a program: folders, registered versions, and the sentence when there is none."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from queryplan.errors import ConfigError, ProgramError
from queryplan.program.artifact import registry
from queryplan.program.artifact.folder import PREDICTORS, check_program
from queryplan.program.artifact.registry import (
    public_uri,
    resolve,
    sqlite_file,
    tracking_uri_in_force,
    without_password,
)


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A registry with one registered model that is not ours."""
    home = tmp_path_factory.mktemp("registry")
    found = f"sqlite:///{home / 'mlflow.db'}"
    foreign = home / "foreign"
    (foreign / "artifacts" / "program").mkdir(parents=True)
    (foreign / "artifacts" / "program" / "readme.txt").write_text("no program")
    mlflow = registry.client(found)
    mlflow.create_registered_model("foreign")
    mlflow.create_model_version("foreign", foreign.as_uri())
    return found


def test_a_folder_is_returned_as_it_is(tmp_path: Path) -> None:
    assert resolve(tmp_path) == tmp_path
    assert resolve(str(tmp_path)) == tmp_path


def test_a_folder_that_is_not_there_is_named() -> None:
    with pytest.raises(ProgramError, match="no program folder nowhere: give a folder"):
        resolve("nowhere")


@pytest.mark.parametrize("uri_", ["models:/", "models:/a", "models:/a/b", "models:/a@", "models:a/1", "models:/a/1/x"])
def test_a_name_that_is_no_model_uri_is_refused_before_mlflow_is_asked(uri_: str) -> None:
    with pytest.raises(ProgramError, match="write models:/NAME@ALIAS or models:/NAME/VERSION"):
        resolve(uri_)


def test_without_a_database_none_is_made() -> None:
    with pytest.raises(ProgramError, match="no database yet"):
        resolve("models:/queryplan-podcast@champion")
    assert not Path(".queryplan").exists()


@pytest.mark.parametrize(
    "name", ["models:/queryplan-podcast@champion", "models:/foreign@champion", "models:/foreign/7"]
)
def test_an_unknown_model_alias_or_version_is_named(uri: str, name: str) -> None:
    with pytest.raises(ProgramError, match=f"has no {name}"):
        resolve(name, uri)


def test_a_model_that_holds_no_program_is_refused(uri: str) -> None:
    with pytest.raises(ProgramError, match="holds no queryplan program"):
        resolve("models:/foreign/1", uri)


def test_a_download_that_was_damaged_is_fetched_again(
    uri: str, old_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUERYPLAN_CACHE", str(tmp_path / "cache"))
    shutil.copytree(old_program, tmp_path / "ours" / "artifacts" / "program")
    mlflow = registry.client(uri)
    mlflow.create_registered_model("ours")
    mlflow.create_model_version("ours", (tmp_path / "ours").as_uri())
    found = resolve("models:/ours/1", uri)
    (found / PREDICTORS).write_text("{}")
    assert check_program(resolve("models:/ours/1", uri)).domain == "podcast"


@pytest.mark.parametrize("address", ["http://localhost:99999", "http://me:hunter2@h:port", "http://[bad"])
def test_an_address_that_there_cannot_be_names_the_setting_and_hides_the_password(address: str) -> None:
    with pytest.raises(ProgramError, match="QUERYPLAN_TRACKING_URI") as caught:
        resolve("models:/queryplan-podcast@champion", address)
    assert "hunter2" not in str(caught.value)


def test_a_registry_that_is_down_names_the_setting_and_hides_the_password() -> None:
    with pytest.raises(ProgramError, match="QUERYPLAN_TRACKING_URI") as caught:
        resolve("models:/queryplan-podcast@champion", "http://me:hunter2@127.0.0.1:9/x")
    assert "hunter2" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ConfigError)


@pytest.fixture
def silent_server() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.socket() as taking:
        taking.bind(("127.0.0.1", 0))
        taking.listen()
        yield f"http://me:hunter2@127.0.0.1:{taking.getsockname()[1]}"


def test_a_registry_that_hangs_is_given_up_in_time(silent_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queryplan.program.artifact.registry._ANSWER_S", 0.2)
    began = time.monotonic()
    with pytest.raises(ProgramError, match=r"gave no answer within 0 seconds.*QUERYPLAN_TRACKING_URI") as caught:
        resolve("models:/queryplan-podcast@champion", silent_server)
    assert time.monotonic() - began < 5
    assert "hunter2" not in str(caught.value)
    said = caught.value.__cause__
    assert said is not None
    assert isinstance(said.__cause__, TimeoutError), "as one that may come back"


def test_behind_a_proxy_a_server_is_not_asked_directly(silent_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queryplan.program.artifact.registry._ANSWER_S", 0.2)
    monkeypatch.setenv("http_proxy", silent_server)
    with pytest.raises(ProgramError, match="gave no answer within 0 seconds"):
        resolve("models:/queryplan-podcast@champion", "http://mlflow.invalid:5000")


def test_ours_comes_before_mlflows_variable_and_a_given_address_before_both(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tracking_uri_in_force() == "sqlite:///.queryplan/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://theirs")
    assert tracking_uri_in_force() == "http://theirs"
    monkeypatch.setenv("QUERYPLAN_TRACKING_URI", "http://ours")
    assert tracking_uri_in_force() == "http://ours"
    assert tracking_uri_in_force("http://given") == "http://given"


def test_addresses_are_read_and_shown_without_secrets() -> None:
    assert sqlite_file("sqlite:////data/mlflow.db") == Path("/data/mlflow.db")
    assert sqlite_file("sqlite:///.queryplan/mlflow.db") == Path(".queryplan/mlflow.db")
    assert sqlite_file("http://host") is None
    assert public_uri("postgresql://me:pw@host:5432/db?sslkey=x") == "postgresql://host:5432/db"
    assert public_uri("sqlite:///.queryplan/mlflow.db") == "sqlite:///.queryplan/mlflow.db"


def test_a_message_of_mlflows_is_shown_without_the_passwords_in_it() -> None:
    uri = "http://bob:s3cret@tracking:5000"
    said = f"404 Client Error for url: {uri}/api/x, then s3://key:other@bucket/x"
    assert without_password(said, uri) == "404 Client Error for url: http://tracking:5000/api/x, then s3://bucket/x"


def test_what_a_database_says_happened_is_told_and_not_when(uri: str) -> None:
    said = "(raised as a result of Query-invoked autoflush; …)\n(sqlite3.OperationalError) database is locked\n[SQL]"
    with (
        pytest.raises(ConfigError, match=r"cannot be used \(\(sqlite3.OperationalError\) database is locked\)"),
        registry.speaking_to_mlflow(uri),
    ):
        raise OSError(said)


def test_a_folder_in_the_place_of_a_database_is_said_at_once(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match=r"cannot be used \(.* is a folder, not a database\)"),
        registry.speaking_to_mlflow(f"sqlite:///{tmp_path}"),
    ):
        pytest.fail("MLflow would try again for minutes")


@pytest.mark.parametrize("given", ["./mlruns", "mlruns", "/somewhere/mlruns", "file:///somewhere/mlruns"])
def test_a_folder_of_runs_is_refused_with_what_to_write_instead(given: str) -> None:
    with (
        pytest.raises(
            ConfigError, match=r"is a folder, and MLflow keeps runs in a database: write sqlite:///NAME\.db$"
        ),
        registry.speaking_to_mlflow(given),
    ):
        pytest.fail("MLflow would be asked")
