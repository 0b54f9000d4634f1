"""A compile in MLflow: what is written, what never is, and what happens when the server is down."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import queryplan
from queryplan.data.rows import LabelledRow
from queryplan.errors import UserError
from queryplan.eval.baselines import ConstantPlanner, TfidfPlanner
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.report import build_report
from queryplan.eval.tracking import CandidateRecord, CompileRecord, Tracking
from queryplan.program.plan import QueryPlan
from queryplan.program.registry import client, resolve

KEY = "sk-aVerySecretKey123456"


class StubPlanner:
    """Stands for the real planner: knows its folder and repeats what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def load(cls, folder: str) -> StubPlanner:
        """Read the folder as the real one would."""
        assert json.loads((Path(folder) / "manifest.json").read_text())["format"] == 1
        return cls(Path(folder))

    def plan(self, query: str, history: Any = None, session: Any = None) -> QueryPlan:
        """A plan that shows history and session."""
        return QueryPlan.model_validate(
            {
                "query": query,
                "standalone_query": query,
                "is_follow_up": bool(history),
                "conversation_context": json.dumps([history, session]),
                "is_relevant": True,
                "complexity": "simple",
                "intent": "factual",
                "needs_decomposition": False,
                "retrieval_strategy": {"use_rag": True, "use_kg": False},
            }
        )


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose tables exist: making them takes six seconds, so it is done once."""
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    client(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def uri(empty_database: Path, tmp_path: Path) -> str:
    shutil.copy(empty_database, tmp_path / "mlflow.db")
    return f"sqlite:///{tmp_path / 'mlflow.db'}"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "my-programs" / "podcast"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('{"format": 1}')
    (folder / "heads.safetensors").write_bytes(b"heads")
    return folder


@pytest.fixture
def evaluations(rows: list[LabelledRow], monkeypatch: pytest.MonkeyPatch) -> list[Evaluation]:
    return [evaluate(kind(rows), rows, name=kind.__name__) for kind in (ConstantPlanner, TfidfPlanner)]


@pytest.fixture
def record(program: Path, evaluations: list[Evaluation]) -> CompileRecord:
    return CompileRecord(
        domain="podcast",
        program=program,
        program_version="p-1",
        optimizer="bootstrap",
        arguments={"max_demos": 8, "api_key": KEY, "log_dir": str(program), "teacher": {"max_tokens": 60, "key": KEY}},
        lm="local",
        data_fingerprint="d" * 16,
        card_fingerprint="c" * 16,
        seed=7,
        code_version="0.1.0",
        stages=("follow_up", "relevance"),
        sample="24 of 100 rows",
        candidates=(
            CandidateRecord(stage="relevance", name="labeled-8", score=0.81, demos=8, chosen=True),
            CandidateRecord(stage="relevance", name="zero-shot", score=0.55, details={"log": str(program)}),
        ),
        evaluation=evaluations[1],
        report=build_report(evaluations),
    )


@pytest.fixture
def stubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queryplan, "QueryPlanner", StubPlanner, raising=False)


@pytest.fixture
def global_uri(uri: str) -> Iterator[str]:
    """MLflow's own entry points know only the global address."""
    import mlflow

    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(uri)
    yield uri
    mlflow.set_tracking_uri(before)


def test_a_compile_is_a_run_with_params_metrics_and_a_child_for_each_candidate(
    uri: str, record: CompileRecord, tmp_path: Path
) -> None:
    run_id, version = Tracking(uri, "test").log_compile(record)
    mlflow = client(uri)
    run = mlflow.get_run(run_id)
    assert run.info.status == "FINISHED"
    assert version == "1"
    expected = {
        "domain": "podcast",
        "optimizer": "bootstrap",
        "optimizer.max_demos": "8",
        "optimizer.teacher.max_tokens": "60",
        "lm": "local",
        "seed": "7",
        "stages": "follow_up, relevance",
        "sample": "24 of 100 rows",
        "data_fingerprint": "d" * 16,
        "card_fingerprint": "c" * 16,
        "code_version": "0.1.0",
        "program_version": "p-1",
    }
    assert expected.items() <= run.data.params.items()
    metrics = run.data.metrics
    assert metrics["labels_right"] == 1.0
    assert metrics["relevance/accuracy_low"] < metrics["relevance/accuracy"] <= metrics["relevance/accuracy_high"]
    assert {"intent/macro_f1", "plan_right_low", "latency_ms/p95", "lm_calls", "rewrite_f1"} <= metrics.keys()
    children = mlflow.search_runs([run.info.experiment_id], f"tags.`mlflow.parentRunId` = '{run_id}'")
    scores = {child.data.params["candidate"]: child.data.metrics["score"] for child in children}
    assert scores == {"labeled-8": 0.81, "zero-shot": 0.55}


def test_the_artifacts_are_the_program_the_rows_the_pictures_and_the_summary(
    uri: str, record: CompileRecord, tmp_path: Path
) -> None:
    run_id, _ = Tracking(uri, "test").log_compile(record)
    folder = tmp_path / "mlartifacts" / run_id / "artifacts"
    assert (folder / "program" / "heads.safetensors").read_bytes() == b"heads"
    assert (folder / "confusion" / "confusion-intent.png").is_file()
    assert "| measure | ConstantPlanner | TfidfPlanner |" in (folder / "summary.md").read_text()
    table = json.loads((folder / "test_rows.json").read_text())
    line = dict(zip(table["columns"], table["data"][0], strict=True))
    assert line["row"] == "r0-1"
    assert QueryPlan.model_validate_json(line["plan"]).query == "What is idea 0?"
    assert line["plan_right"] is True


def test_the_registered_model_is_the_challenger_and_carries_the_metrics(uri: str, record: CompileRecord) -> None:
    tracking = Tracking(uri, "test")
    assert [tracking.log_compile(record)[1] for _ in range(2)] == ["1", "2"]
    mlflow = client(uri)
    version = mlflow.get_model_version_by_alias("queryplan-podcast", "challenger")
    assert str(version.version) == "2"
    assert version.tags["program_version"] == "p-1"
    model = mlflow.get_logged_model(version.tags["model_id"])
    assert {m.key: m.value for m in model.metrics or ()}["labels_right"] == 1.0


def test_nothing_is_pickled_and_no_key_and_no_path_is_written(uri: str, record: CompileRecord, tmp_path: Path) -> None:
    run_id, _ = Tracking(uri, "test").log_compile(record)
    files = [path for path in (tmp_path / "mlartifacts").rglob("*") if path.is_file()]
    assert len(files) > 10
    assert not [p.name for p in files if p.suffix in (".pkl", ".pickle", ".joblib", ".bin", ".pt")]
    for path in files:
        content = path.read_bytes()
        assert not content.startswith(b"\x80\x04"), path.name
        for secret in (KEY, "api_key", str(tmp_path), os.getcwd(), str(Path.home())):
            assert secret.encode() not in content, (secret, path.name)
    mlflow = client(uri)
    for run in mlflow.search_runs([mlflow.get_run(run_id).info.experiment_id]):
        for value in {**run.data.params, **run.data.tags}.values():
            assert KEY not in value
            assert str(tmp_path) not in value


def test_the_registered_model_plans_without_pickle(
    global_uri: str, record: CompileRecord, stubbed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow
    import pandas as pd

    Tracking(global_uri, "test").log_compile(record)
    monkeypatch.setenv("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", "false")
    model = mlflow.pyfunc.load_model("models:/queryplan-podcast@challenger")
    turns = [{"role": "user", "content": "hi"}]
    frame = pd.DataFrame(
        {"query": ["a", "b", "c"], "history": [turns, json.dumps(turns), None], "session": [{"x": 1}, '{"x": 1}', ""]},
        index=[5, 6, 7],
    )
    plans = model.predict(frame)
    assert list(plans.index) == [5, 6, 7]
    contexts = [json.loads(QueryPlan.model_validate_json(plan).conversation_context) for plan in plans]
    assert contexts == [[turns, {"x": 1}], [turns, {"x": 1}], [[], {}]]
    assert len(model.predict([{"query": "only this"}])) == 1


def test_the_program_comes_back_from_the_registry_byte_by_byte(uri: str, record: CompileRecord) -> None:
    Tracking(uri, "test").log_compile(record)
    for name in ("models:/queryplan-podcast@challenger", "models:/queryplan-podcast/1"):
        folder = resolve(name, uri)
        assert {p.name: p.read_bytes() for p in folder.iterdir()} == {
            p.name: p.read_bytes() for p in record.program.iterdir()
        }


def test_an_evaluation_is_a_run_of_its_own(uri: str, evaluations: list[Evaluation]) -> None:
    run_id = Tracking(uri, "test").log_evaluation(evaluations[0], tags={"queryplan.model_version": "3"})
    run = client(uri).get_run(run_id)
    assert run.data.params["program_version"] == evaluations[0].program_version
    assert run.data.params["sample"] == "all rows"
    assert run.data.tags["queryplan.model_version"] == "3"
    assert run.data.metrics["plan_right"] == evaluations[0].summary().plan_right.value


def test_a_server_that_is_down_names_the_setting_and_loses_nothing(record: CompileRecord) -> None:
    with pytest.raises(UserError) as caught:
        Tracking("http://me:hunter2@127.0.0.1:9", "test").log_compile(record)
    assert "QUERYPLAN_TRACKING_URI" in str(caught.value)
    assert str(record.program) in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert (record.program / "manifest.json").is_file()


def test_a_run_that_breaks_off_is_marked_as_failed(
    uri: str, record: CompileRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queryplan.eval.tracking.write_model", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(UserError, match="disk full"):
        Tracking(uri, "test").log_compile(record)
    mlflow = client(uri)
    experiment = mlflow.get_experiment_by_name("test")
    assert experiment is not None
    runs = mlflow.search_runs([experiment.experiment_id], "tags.`queryplan.kind` = 'compile'")
    assert [run.info.status for run in runs] == ["FAILED"]


def test_the_default_is_a_database_in_the_current_folder(
    empty_database: Path, record: CompileRecord, tmp_path: Path
) -> None:
    Path(".queryplan").mkdir()
    shutil.copy(empty_database, ".queryplan/mlflow.db")
    run_id, _ = Tracking().log_compile(record)
    assert (tmp_path / ".queryplan" / "mlartifacts" / run_id / "artifacts" / "summary.md").is_file()
    assert (resolve("models:/queryplan-podcast@challenger") / "manifest.json").is_file()
    assert not Path("mlruns").exists()
