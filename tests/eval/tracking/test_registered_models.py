"""Programs as models of MLflow: aliases, metrics to search by, and loading one without pickle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import queryplan
from queryplan.eval.tracking.runs import CompileRecord, Tracking
from queryplan.eval.tracking.tracked import log_metrics
from queryplan.program.artifact.registry import client, resolve
from queryplan.program.plan import QueryPlan


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
