"""A compile in MLflow: what is written, what never is, and what happens when the server is down."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.loading import to_dataset
from queryplan.data.rows import LabelledRow, read_rows
from queryplan.errors import UserError
from queryplan.eval.evaluation import Evaluation
from queryplan.eval.tracking.prompt_registry import PromptText
from queryplan.eval.tracking.records import print_of
from queryplan.eval.tracking.runs import CompileRecord, Tracking
from queryplan.program.artifact.registry import client, resolve

from .conftest import KEY

pytestmark = pytest.mark.slow


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
    # The score of the stage is the best one, not that of the candidate tried last.
    assert (metrics["best_on_dev/relevance"], run.data.params["chosen.relevance"]) == (0.81, "labeled-8")


def test_the_artifacts_are_the_program_the_rows_the_pictures_and_the_summary(
    uri: str, record: CompileRecord, tmp_path: Path
) -> None:
    run_id, _ = Tracking(uri, "test").log_compile(record)
    folder = tmp_path / "mlartifacts" / run_id / "artifacts"
    assert (folder / "program" / "heads.safetensors").read_bytes() == b"heads"
    assert (folder / "confusion" / "confusion-intent.png").is_file()
    assert "| measure | rows | ConstantPlanner | TfidfPlanner |" in (folder / "summary.md").read_text()
    table = json.loads((folder / "eval_results_table.json").read_text())
    line = dict(zip(table["columns"], table["data"][0], strict=True))
    assert (line["row"], line["plan_right"]) == ("r0-1: What is idea 0?", True)
    assert (line["gold"], line["plan"]) == ("simple, definition", "right: simple, definition")
    assert Evaluation.load(folder / "evaluation") == record.evaluation
    assert (folder / "evaluation" / "rows.parquet").is_file()


def test_nothing_is_pickled_and_no_key_and_no_path_is_written(uri: str, record: CompileRecord, tmp_path: Path) -> None:
    run_id, _ = Tracking(uri, "test").log_compile(record)
    files = [path for path in (tmp_path / "mlartifacts").rglob("*") if path.is_file()]
    assert len(files) > 10
    assert not list((tmp_path / ".queryplan").rglob("record.json"))
    database = (tmp_path / "mlflow.db").read_bytes()
    assert KEY.encode() not in database
    # MLflow must know where a local artifact store is; nothing else of this machine is in the database.
    here = str(tmp_path).encode()
    assert database.count(here) == database.count(here + b"/mlartifacts")
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


def test_the_same_record_twice_is_one_run_one_model_one_data_set_and_one_of_each_candidate(
    uri: str, record: CompileRecord
) -> None:
    first = Tracking(uri, "test").log_compile(record)
    assert Tracking(uri, "test").log_compile(record) == first
    assert record.evaluation is not None
    runs = [Tracking(uri, "test").log_evaluation(record.evaluation) for _ in range(2)]
    assert runs[0] == runs[1] != first[0]
    mlflow = client(uri)
    experiment = mlflow.get_run(first[0]).info.experiment_id
    kinds = [run.data.tags["queryplan.kind"] for run in mlflow.search_runs([experiment])]
    assert sorted(kinds) == ["candidate", "candidate", "compile", "evaluation"]
    models = mlflow.search_logged_models([experiment])
    assert [str(model.status) for model in models] == ["READY"]
    assert [len(mlflow.get_metric_history(first[0], name)) for name in ("plan_right", "best_on_dev/relevance")] == [
        1,
        1,
    ]


def test_rows_are_mlflow_data_sets_and_the_same_rows_are_one(uri: str, record: CompileRecord) -> None:
    run_id, _ = Tracking(uri, "test").log_compile(record)
    assert record.evaluation is not None
    other = Tracking(uri, "test").log_evaluation(record.evaluation, dataset="podcast test")
    given = {d.name: d.digest for d in _datasets(uri, run_id)}
    read = {f"podcast {split}": found.digest for split, found in record.read.items()}
    assert given == {**read, "podcast test": record.evaluation.data_fingerprint}
    assert [f"podcast {split}" for split in ("train", "lent", "dev", "calibrate")] == list(read)
    said = {"lent": "train", "test": "eval"}
    inputs: Any = client(uri).get_run(run_id).inputs
    contexts = {one.dataset.name: one.tags[0].value for one in inputs.dataset_inputs}
    assert contexts == {name: said.get(name.split()[1], name.split()[1]) for name in given}
    assert [(d.name, d.digest) for d in _datasets(uri, other)] == [("podcast test", record.evaluation.data_fingerprint)]


def test_a_digest_is_of_the_rows_alone(
    uri: str, record: CompileRecord, rows: list[LabelledRow], tmp_path: Path
) -> None:
    copy = tmp_path / "other place" / "train.parquet"
    copy.parent.mkdir()
    to_dataset(rows[::-1]).to_parquet(copy)
    again = print_of(read_rows(copy))
    assert again == print_of(rows) == print_of(rows[3:] + rows[:3])
    changed = [rows[0].model_copy(update={"tags": ("checked",)}), *rows[1:]]
    others = [print_of(rows[1:]), print_of(changed), print_of([*rows, rows[0]])]
    assert len({found.digest for found in (again, *others)}) == 4
    run_id, _ = Tracking(uri, "test").log_compile(record.model_copy(update={"read": {"train": again}}))
    (train, _) = _datasets(uri, run_id)
    told = f"{train.name} {train.source} {train.schema} {train.profile}"
    assert json.loads(train.profile) == {"rows": len(rows)}
    assert str(tmp_path) not in told
    assert not [row.id for row in rows if row.query in told or row.id in told or row.conversation in told]


def test_prompts_are_in_the_registry_one_version_a_wording(uri: str, record: CompileRecord) -> None:
    def logged(text: str, seed: int) -> tuple[str, list[dict[str, str]]]:
        prompt = PromptText(name="relevance", messages=(("system", text), ("user", "query: {{query}}")))
        made = record.model_copy(update={"prompts": (prompt,), "seed": seed, "evaluation": None, "report": None})
        run_id, _ = Tracking(uri, "test").log_compile(made)
        return run_id, json.loads(client(uri).get_run(run_id).data.tags["mlflow.linkedPrompts"])

    versions = [
        logged(text, seed)[1][0]["version"] for seed, text in enumerate(("Is it ours?", "Ours?", "Is it ours?"))
    ]
    assert versions == ["1", "2", "1"]
    mlflow = client(uri)
    name = "queryplan-podcast.relevance"
    kept = _prompt(uri, f"{name}/2")
    assert kept.template == [{"role": "system", "content": "Ours?"}, {"role": "user", "content": "query: {{query}}"}]
    assert kept.format(query="what is focus?")[1]["content"] == "query: what is focus?"
    assert [prompt.name for prompt in mlflow.search_prompts()] == [name]


def test_a_prompt_longer_than_mlflow_takes_is_cut_and_says_so(uri: str, record: CompileRecord) -> None:
    prompt = PromptText(name="relevance", messages=(("system", "é" * 90_000), ("user", "{{query}}")))
    assert len(json.dumps(prompt.template())) <= 100_000
    made = record.model_copy(update={"prompts": (prompt,), "evaluation": None, "report": None})
    Tracking(uri, "test").log_compile(made)
    text = _prompt(uri, "queryplan-podcast.relevance/1").template[0]["content"]
    assert text.endswith("predictors.json)")


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
    monkeypatch.setattr(
        "queryplan.eval.tracking.runs.write_model", lambda *_: (_ for _ in ()).throw(OSError("disk full"))
    )
    with pytest.raises(UserError, match="disk full"):
        Tracking(uri, "test").log_compile(record)
    mlflow = client(uri)
    experiment = mlflow.get_experiment_by_name("test")
    assert experiment is not None
    runs = mlflow.search_runs([experiment.experiment_id], "tags.`queryplan.kind` = 'compile'")
    assert [run.info.status for run in runs] == ["FAILED"]


def test_the_default_is_a_database_in_the_current_folder(
    mlflow_database: Path, record: CompileRecord, tmp_path: Path
) -> None:
    Path(".queryplan").mkdir()
    shutil.copy(mlflow_database, ".queryplan/mlflow.db")
    run_id, _ = Tracking().log_compile(record)
    assert (tmp_path / ".queryplan" / "mlartifacts" / run_id / "artifacts" / "summary.md").is_file()
    assert (resolve("models:/queryplan-podcast@challenger") / "manifest.json").is_file()
    assert not Path("mlruns").exists()


def _datasets(uri: str, run_id: str) -> list[Any]:
    inputs = client(uri).get_run(run_id).inputs
    return [given.dataset for given in inputs.dataset_inputs] if inputs else []


def _prompt(uri: str, name: str) -> Any:
    return client(uri).load_prompt(f"prompts:/{name}")
