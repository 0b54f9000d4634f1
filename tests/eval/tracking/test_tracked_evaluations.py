"""An evaluation in MLflow: a run of its own, failures as traces, money where it is known."""

from __future__ import annotations

from typing import Any

from queryplan.data.rows import LabelledRow
from queryplan.eval.baselines import ConstantPlanner
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.prices import Price
from queryplan.eval.tracking.runs import CompileRecord, Tracking
from queryplan.program.artifact.registry import client


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


def test_an_evaluation_is_a_run_of_its_own(uri: str, evaluations: list[Evaluation]) -> None:
    run_id = Tracking(uri, "test").log_evaluation(evaluations[0], tags={"queryplan.model_version": "3"})
    run = client(uri).get_run(run_id)
    assert run.data.params["program_version"] == evaluations[0].program_version
    assert run.data.params["sample"] == "all rows"
    assert run.data.tags["queryplan.model_version"] == "3"
    assert run.data.metrics["plan_right"] == evaluations[0].summary().plan_right.value


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
