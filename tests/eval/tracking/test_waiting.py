"""A tracking server that is down, or goes down in the middle: nothing is lost, and nothing arrives twice."""

from __future__ import annotations

import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.rows import LabelledRow
from queryplan.errors import ConfigError
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.tracking import runs
from queryplan.eval.tracking.prompt_registry import PromptText
from queryplan.eval.tracking.runs import CandidateRecord, CompileRecord, Tracking
from queryplan.eval.tracking.waiting import Steps, Waiting
from queryplan.program.artifact.registry import client

SECRET = "hunter2"


class DyingServer:
    """MLflow's own server on a port of this machine, which can be told to die after so many requests.

    Attributes:
        folder: its database and its artifacts.
        left: requests that it still answers; None is any number.
    """

    def __init__(self, database: Path) -> None:
        import uvicorn
        from mlflow.server import handlers
        from mlflow.server.fastapi_app import app

        self.folder = database.parent
        self.left: int | None = None
        self.served = 0
        self._app: Any = app
        handlers.initialize_backend_stores(f"sqlite:///{database}", default_artifact_root="mlflow-artifacts:/")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(self, host="127.0.0.1", port=self.port, log_level="critical", lifespan="off")
        )
        self._thread = threading.Thread(target=self._uvicorn.run, daemon=True)

    @property
    def uri(self) -> str:
        """Its address, with a password in it."""
        return f"http://me:{SECRET}@127.0.0.1:{self.port}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or break off where it is dead."""
        if self.left is not None and self.served >= self.left:
            raise ConnectionResetError("dead")
        self.served += 1
        await self._app(scope, receive, send)

    def start(self) -> None:
        """Listen."""
        self._thread.start()
        while not self._uvicorn.started:
            time.sleep(0.01)

    def stop(self) -> None:
        """Listen no more."""
        self._uvicorn.should_exit = True
        self._thread.join()


@pytest.fixture(scope="module")
def only_server(mlflow_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DyingServer]:
    """One for all tests: MLflow keeps the database that it first served from."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(mlflow_database, folder / "server.db")
    with pytest.MonkeyPatch.context() as patch:
        # What a server sets for its process, so that it is as it was afterwards.
        patch.setattr("mlflow.tracking._tracking_service.utils._tracking_uri", None)
        patch.setenv("MLFLOW_TRACKING_URI", "")
        patch.setattr("mlflow.tracking._model_registry.utils._registry_uri", None)
        patch.setenv("MLFLOW_REGISTRY_URI", "")
        patch.setenv("_MLFLOW_SERVER_SERVE_ARTIFACTS", "true")
        patch.setenv("_MLFLOW_SERVER_ARTIFACT_DESTINATION", str(folder / "stored"))
        patch.setenv("_MLFLOW_SERVER_ARTIFACT_ROOT", "mlflow-artifacts:/")
        patch.setenv("_MLFLOW_SERVER_FILE_STORE", f"sqlite:///{folder / 'server.db'}")
        served = DyingServer(folder / "server.db")
        served.start()
        yield served
        served.stop()


@pytest.fixture
def server(only_server: DyingServer, monkeypatch: pytest.MonkeyPatch) -> DyingServer:
    """In good health, and not asked again when it is dead."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    only_server.left = None
    return only_server


@pytest.fixture
def evaluation(rows: list[LabelledRow], table_planner: Any) -> Evaluation:
    return evaluate(table_planner(rows, {"r0-1": {"intent": "factual"}}), rows, name="table", domain="podcast")


@pytest.fixture
def record(tmp_path: Path, evaluation: Evaluation) -> CompileRecord:
    program = tmp_path / "program"
    program.mkdir()
    (program / "manifest.json").write_text('{"format": 1}')
    return CompileRecord(
        domain="podcast",
        program=program,
        program_version="p-1",
        optimizer="bootstrap",
        lm="local",
        data_fingerprint="d" * 16,
        card_fingerprint="c" * 16,
        seed=7,
        code_version="0.1.0",
        stages=("relevance",),
        candidates=(CandidateRecord(stage="relevance", name="zero-shot", score=0.55, chosen=True),),
        prompts=(PromptText(name="relevance", messages=(("user", "{{query}}"),)),),
        evaluation=evaluation,
    )


def everything(uri: str, domain: str = "podcast") -> dict[str, Any]:
    """What a server has of a domain, without ids and times."""
    mlflow = client(uri)
    found = mlflow.get_experiment_by_name(f"queryplan-{domain}")
    assert found is not None
    runs = mlflow.search_runs([found.experiment_id])
    models = mlflow.search_logged_models([found.experiment_id])
    return {
        "runs": sorted((r.info.run_name, r.info.status, len(r.data.params), len(r.data.metrics)) for r in runs),
        "models": [(str(m.status), len(m.metrics or ())) for m in models],
        "versions": [str(v.version) for v in mlflow.search_model_versions(f"name = 'queryplan-{domain}'")],
        "prompts": [p.name for p in mlflow.search_prompts() if p.name.startswith(f"queryplan-{domain}.")],
        "traces": len(mlflow.search_traces(locations=[found.experiment_id])),
        "artifacts": sorted(f.path for r in runs for f in mlflow.list_artifacts(r.info.run_id)),
    }


def test_a_server_that_dies_anywhere_gets_the_rest_when_it_is_back_and_nothing_twice(
    server: DyingServer, record: CompileRecord, tmp_path: Path
) -> None:
    tracking = Tracking(server.uri, "queryplan-podcast")
    answer, said = None, list[str]()
    # It dies after a few more requests each time, so in ever later steps.
    for left in range(3, 120, 9):
        server.left, server.served = left, 0
        try:
            answer = tracking.log_compile(record)
            break
        except ConfigError as error:
            said.append(str(error))
    assert len(said) >= 4
    assert all("run the same command again" in text and SECRET not in text for text in said)
    assert answer is not None
    run_id, version = answer
    server.left = None
    assert version == "1"
    found = everything(server.uri)
    assert [run[:2] for run in found["runs"]] == [
        ("compile podcast bootstrap", "FINISHED"),
        ("relevance zero-shot", "FINISHED"),
    ]
    assert [status for status, _ in found["models"]] == ["READY"]
    assert (found["versions"], found["prompts"], found["traces"]) == (["1"], ["queryplan-podcast.relevance"], 1)
    assert len(found["artifacts"]) == len(set(found["artifacts"]))
    assert not list(Path(".queryplan").rglob("record.json"))
    kept = [path for path in server.folder.rglob("*") if path.is_file()]
    assert len(kept) > 10
    for path in kept:
        content = path.read_bytes()
        assert not [word for word in (SECRET, str(tmp_path), str(Path.home())) if word.encode() in content], path.name
        assert not content.startswith(b"\x80\x04"), path.name
    # The same as on a server that never died.
    other = f"sqlite:///{tmp_path / 'whole.db'}"
    Tracking(other, "queryplan-podcast").log_compile(record)
    assert everything(other) == found
    assert client(server.uri).get_run(run_id).data.metrics["plan_right"] == pytest.approx(23 / 24)


def test_what_waits_goes_when_anything_else_is_tracked(
    server: DyingServer, record: CompileRecord, evaluation: Evaluation
) -> None:
    server.left, server.served = 8, 0
    with pytest.raises(ConfigError):
        Tracking(server.uri, "queryplan-journal").log_compile(record.model_copy(update={"domain": "journal"}))
    server.left = None
    Tracking(server.uri, "elsewhere").log_evaluation(evaluation)
    assert everything(server.uri, "journal")["versions"] == ["1"]
    assert list(Waiting(server.uri).all()) == []


def test_the_newest_compile_is_the_challenger_though_an_older_one_waited(
    server: DyingServer, record: CompileRecord
) -> None:
    tracking = Tracking(server.uri, "queryplan-podcast")
    server.left, server.served = 8, 0
    with pytest.raises(ConfigError):
        tracking.log_compile(record.model_copy(update={"program_version": "podcast-older"}))
    server.left = None
    _, version = tracking.log_compile(record.model_copy(update={"program_version": "podcast-newer"}))
    found = client(server.uri).get_model_version_by_alias("queryplan-podcast", "challenger")
    assert (str(found.version), found.tags["program_version"]) == (version, "podcast-newer")
    (older,) = client(server.uri).search_model_versions("tag.program_version = 'podcast-older'")
    assert int(older.version) == int(version) - 1


def test_what_waits_on_the_disk_has_no_password_of_the_server(server: DyingServer, evaluation: Evaluation) -> None:
    server.left, server.served = 2, 0
    with pytest.raises(ConfigError, match="The evaluation is kept"):
        Tracking(server.uri).log_evaluation(evaluation)
    kept = [path for path in Path(".queryplan").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if SECRET.encode() in path.read_bytes()]


# The parcels by themselves


def test_a_step_that_is_done_is_not_done_again_by_another_process(tmp_path: Path) -> None:
    calls: list[str] = []
    for _ in range(2):
        steps = Steps(tmp_path / "steps.json")
        assert steps.once("model", lambda: calls.append("x") or "m-1") == "m-1"
    assert calls == ["x"]
    with pytest.raises(OSError, match="broken"):
        Steps(tmp_path / "steps.json").once("rows", _broken)
    assert Steps(tmp_path / "steps.json").get("rows") is None


def test_steps_that_cannot_be_read_are_none_done(tmp_path: Path) -> None:
    (tmp_path / "steps.json").write_text('{"model": "m')
    assert Steps(tmp_path / "steps.json").get("model") is None


def test_a_parcel_is_for_one_server_and_the_same_content_is_one(tmp_path: Path) -> None:
    here, there = Waiting("http://a:1", tmp_path), Waiting("http://b:1", tmp_path)
    first = here.put("evaluation", "e", "{}", "key")
    assert here.put("evaluation", "e", '{"newer": 1}', "key").folder == first.folder
    here.put("evaluation", "e", "{}", "other key")
    assert [json.loads(parcel.text) for parcel in here.all()] == [{"newer": 1}, {}]
    assert list(there.all()) == []
    Waiting.drop(first)
    assert len(list(here.all())) == 1


def test_the_program_in_a_parcel_is_a_copy_that_outlives_the_original(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.mkdir()
    (program / "manifest.json").write_text("1")
    waiting = Waiting("http://a:1", tmp_path / "waiting")
    parcel = waiting.put("compile", "e", "{}", "key", program)
    (program / "manifest.json").write_text("2")
    assert (parcel.program / "manifest.json").read_text() == "1"
    waiting.put("compile", "e", "{}", "key", program)
    assert (parcel.program / "manifest.json").read_text() == "2"


def test_a_parcel_of_another_version_is_named_and_waits(
    mlflow_uri: str, evaluation: Evaluation, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Waiting(mlflow_uri).put("evaluation", "e", '{"from": "the future"}', "key")
    Tracking(mlflow_uri).log_evaluation(evaluation)
    assert "kept by another version" in caplog.text
    assert [parcel.folder for parcel in Waiting(mlflow_uri).all()] == [kept.folder]


def test_a_parcel_that_cannot_be_sent_or_read_stops_no_other(
    mlflow_uri: str, evaluations: list[Evaluation], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = evaluations
    waiting = Waiting(mlflow_uri)
    of_another_version = waiting.put("evaluation", "e", '{"from": "the future"}', "key")
    cut = waiting.put("evaluation", "e", "{}", "another key")
    (cut.folder / "record.json").write_text('{"kind": "eval')
    with monkeypatch.context() as down:
        down.setattr(Tracking, "_send", _refused)
        with pytest.raises(ConfigError, match="is down"):
            Tracking(mlflow_uri).log_evaluation(first)
    assert len(list(waiting.all())) == 2
    Tracking(mlflow_uri).log_evaluation(second)
    assert [parcel.folder for parcel in waiting.all()] == [of_another_version.folder]


def _refused(*arguments: object) -> None:
    raise ConfigError("MLflow is down")


def test_a_disk_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot keep what is to be tracked"):
        Waiting("http://a:1", tmp_path / "file").put("evaluation", "e", "{}", "key")


def _broken() -> None:
    raise OSError("broken")


def test_of_two_that_track_at_once_each_sends_its_own_after_the_other(
    mlflow_uri: str, evaluations: list[Evaluation], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sending what waits, one would take the other's parcel under way, send it too, and throw it away."""
    at_once, most = [0], [0]
    send = runs._send_evaluation

    def slowly(*arguments: Any) -> str:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        time.sleep(0.5)
        answer = send(*arguments)
        at_once[0] -= 1
        return answer

    monkeypatch.setattr(runs, "_send_evaluation", slowly)
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda one: Tracking(mlflow_uri, "both").log_evaluation(one), evaluations))
    assert most == [1]
    found = [client(mlflow_uri).get_run(run_id) for run_id in done]
    assert [run.info.status for run in found] == ["FINISHED"] * 2
    assert [run.data.params["program_version"] for run in found] == [one.program_version for one in evaluations]
