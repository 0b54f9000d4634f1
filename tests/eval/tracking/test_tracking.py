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
from queryplan.eval.prices import Price
from queryplan.eval.report import build_report
from queryplan.eval.tracking.prompt_registry import PromptText
from queryplan.eval.tracking.runs import CandidateRecord, CompileRecord, Tracking
from queryplan.eval.tracking.tracked import log_metrics
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


@pytest.fixture
def uri(mlflow_uri: str) -> str:
    return mlflow_uri


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
    # The score of the stage is the best one, not that of the candidate tried last.
    assert (metrics["best_on_dev/relevance"], run.data.params["chosen.relevance"]) == (0.81, "labeled-8")


def test_the_artifacts_are_the_program_the_rows_the_pictures_and_the_summary(
    uri: str, record: CompileRecord, tmp_path: Path
) -> None:
    run_id, _ = Tracking(uri, "test").log_compile(record)
    folder = tmp_path / "mlartifacts" / run_id / "artifacts"
    assert (folder / "program" / "heads.safetensors").read_bytes() == b"heads"
    assert (folder / "confusion" / "confusion-intent.png").is_file()
    assert "| measure | ConstantPlanner | TfidfPlanner |" in (folder / "summary.md").read_text()
    table = json.loads((folder / "eval_results_table.json").read_text())
    line = dict(zip(table["columns"], table["data"][0], strict=True))
    assert (line["row"], line["plan_right"]) == ("r0-1: What is idea 0?", True)
    assert (line["gold"], line["plan"]) == ("simple, definition", "right: simple, definition")
    assert Evaluation.load(folder / "evaluation") == record.evaluation
    assert (folder / "evaluation" / "rows.parquet").is_file()


def test_the_registered_model_is_the_challenger_and_carries_the_metrics(uri: str, record: CompileRecord) -> None:
    tracking = Tracking(uri, "test")
    other = record.model_copy(update={"seed": 8})
    assert [tracking.log_compile(made)[1] for made in (record, other)] == ["1", "2"]
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
    assert given == {"podcast train": "d" * 16, "podcast test": record.evaluation.data_fingerprint}
    assert [(d.name, d.digest) for d in _datasets(uri, other)] == [("podcast test", record.evaluation.data_fingerprint)]


def test_logged_models_are_found_by_accuracy_and_latency(uri: str, record: CompileRecord) -> None:
    run_id, version = Tracking(uri, "test").log_compile(record)
    mlflow = client(uri)
    experiment = mlflow.get_run(run_id).info.experiment_id
    model_id = mlflow.get_model_version("queryplan-podcast", version).tags["model_id"]

    def search(asked: str, **more: Any) -> list[str]:
        return [m.model_id for m in mlflow.search_logged_models([experiment], filter_string=asked, **more)]

    assert search("metrics.plan_right > 0.5 AND metrics.`latency_ms/p95` < 100000") == [model_id]
    assert search("metrics.plan_right > 0.5 AND metrics.`latency_ms/p95` < 0.0000001") == []
    assert record.evaluation is not None
    rows = {"dataset_name": "podcast test", "dataset_digest": record.evaluation.data_fingerprint}
    assert search("metrics.plan_right > 0.5", datasets=[rows]) == [model_id]


def test_a_later_evaluation_puts_its_metrics_on_the_program_it_is_of(uri: str, record: CompileRecord) -> None:
    assert record.evaluation is not None
    evaluation = record.evaluation.model_copy(update={"program_version": "p-1", "domain": "podcast", "name": "later"})
    _, version = Tracking(uri, "queryplan-podcast").log_compile(record.model_copy(update={"evaluation": None}))
    Tracking(uri, "queryplan-podcast").log_evaluation(evaluation)
    mlflow = client(uri)
    model = mlflow.get_logged_model(mlflow.get_model_version("queryplan-podcast", version).tags["model_id"])
    assert {m.key for m in model.metrics or ()} > {"plan_right", "latency_ms/p95"}


def test_replayed_answers_give_no_latency(uri: str, record: CompileRecord) -> None:
    assert record.evaluation is not None
    run_id = Tracking(uri, "test").log_evaluation(record.evaluation.model_copy(update={"replayed": True}))
    metrics = client(uri).get_run(run_id).data.metrics
    assert "plan_right" in metrics
    assert not [name for name in metrics if name.startswith("latency_ms")]


def test_failures_are_traces_with_gold_and_feedback_and_nothing_else_is(
    uri: str, rows: list[LabelledRow], table_planner: Any
) -> None:
    wrong = {"r0-1": {"intent": "factual"}, "r3-2": {"standalone_query": "And he?"}}
    evaluation = evaluate(table_planner(rows, wrong), rows, name="table")
    run_id = Tracking(uri, "test").log_evaluation(evaluation)
    mlflow = client(uri)
    experiment = mlflow.get_run(run_id).info.experiment_id
    traces = mlflow.search_traces(locations=[experiment])
    assert {trace.data.spans[0].inputs["row"] for trace in traces} == {"r0-1", "r3-2"}
    assert {trace.info.tags["queryplan.lost_at"] for trace in traces} == {"intent", "rewrite"}
    assert all(trace.info.trace_metadata["mlflow.sourceRun"] == run_id for trace in traces)
    judged = {a.name: getattr(a, "value", None) for a in traces[0].info.assessments}
    assert judged["plan_right"] is False
    assert judged["follow_up"] is True
    assert "gold" in judged


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


def test_money_is_a_metric_where_it_is_known_and_the_price_is_a_parameter(uri: str, rows: list[LabelledRow]) -> None:
    plain = evaluate(ConstantPlanner(rows), rows, name="constant", domain="podcast", lm="openai/x")
    scores = [c.score.model_copy(update={"tokens": 1000, "completion_tokens": 500}) for c in plain.cases]
    cases = [c.model_copy(update={"score": s}) for c, s in zip(plain.cases, scores, strict=True)]
    spent = plain.model_copy(update={"cases": tuple(cases)})
    found = {}
    for name, one in (("unknown", spent), ("known", spent.priced(Price(prompt=2, completion=8)))):
        run = client(uri).get_run(Tracking(uri, name).log_evaluation(one))
        found[name] = (run.data.params["price"], run.data.metrics.get("dollars_per_1000"))
    assert found["unknown"] == ("unknown", None)
    assert found["known"] == ("$2 a million tokens read and $8 written", 5.0)


def test_many_metrics_logged_twice_on_a_model_are_there_once(uri: str, record: CompileRecord) -> None:
    run_id, _ = Tracking(uri, "test").log_compile(record)
    mlflow = client(uri)
    (model,) = mlflow.search_logged_models([mlflow.get_run(run_id).info.experiment_id])
    many = {f"many/{i}": float(i) for i in range(250)}
    for _ in range(2):
        log_metrics(mlflow, run_id, many, 1_700_000_000_000, model.model_id)
    kept = [m for m in mlflow.get_logged_model(model.model_id).metrics or () if m.key.startswith("many/")]
    assert {m.key: m.value for m in kept} == many
    assert len(kept) == 250
