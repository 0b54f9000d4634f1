"""The parts of a run in MLflow: parameters, data sets, metrics, the row table, and traces of what went wrong.

Each function may be called twice with the same arguments and leaves one of everything.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...program.plan import QueryPlan
from ...program.plan_traces import KIND_TAG, Judgement, TracedPlan, write_traces
from ...signatures.types import Labels
from ..evaluation import Case, Evaluation
from ..page.confusion_pictures import write_confusions
from ..render import to_markdown
from ..report import Report, build_report
from ..statistics import Estimate
from ..summary import Summary
from .public import public_params

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

EVALUATION = "evaluation"
"""The artifact folder with the head and the row table of an evaluation, as `Evaluation.load` reads it."""

RESULTS_TABLE = "eval_results_table.json"
"""The name under which MLflow's page looks for rows to compare between runs."""

FAILURE = "failure"
TRACED_FAILURES = 100
"""The most wrong plans that are sent as traces, the most certain first; the table has all rows."""

# MLflow takes 1,000 metrics in one request. But if a logged model has more than 100 of them already, it tries to add
# some again, which its database refuses (3.17.2).
_METRICS_A_BATCH = 100


def log_params(mlflow: MlflowClient, run_id: str, values: Mapping[str, Any]) -> None:
    """Parameters without keys and without paths of this machine."""
    from mlflow.entities import Param

    mlflow.log_batch(run_id, params=[Param(name, value) for name, value in public_params(values).items()])


def log_metrics(
    mlflow: MlflowClient,
    run_id: str,
    values: Mapping[str, float],
    when_ms: int,
    model_id: str | None = None,
    dataset: tuple[str, str] | None = None,
) -> None:
    """Metrics of a run, and of the logged model and the data set where given.

    Args:
        when_ms: the time to log them with; if it is the same when they are logged again, they are kept only once.
        dataset: name and digest, see `log_dataset`.
    """
    from mlflow.entities import Metric

    name, digest = dataset or (None, None)
    metrics = [
        Metric(key, value, when_ms, 0, model_id=model_id, dataset_name=name, dataset_digest=digest, run_id=run_id)
        for key, value in values.items()
    ]
    for start in range(0, len(metrics), _METRICS_A_BATCH):
        mlflow.log_batch(run_id, metrics=metrics[start : start + _METRICS_A_BATCH])


def log_dataset(
    mlflow: MlflowClient, run_id: str, name: str, digest: str, context: str, profile: Mapping[str, Any]
) -> None:
    """Log a data set as input of a run; for MLflow the same name and digest are the same data set.

    Args:
        digest: the same for the same rows in any order, see `rows_hash`.
        context: ``train``, ``dev``, ``calibrate`` or ``eval``.
        profile: counts, shown beside it.
    """
    from mlflow.entities import Dataset, DatasetInput, InputTag

    source = json.dumps({"tags": {"mlflow.source.name": name}})
    columns = [{"type": "string", "name": column, "required": True} for column in ("query", "labels")]
    schema = json.dumps({"mlflow_colspec": columns})
    dataset = Dataset(name, digest, "code", source, schema=schema, profile=json.dumps(dict(profile)))
    mlflow.log_inputs(run_id, datasets=[DatasetInput(dataset, [InputTag("mlflow.data.context", context)])])


def log_evaluated(mlflow: MlflowClient, run_id: str, evaluation: Evaluation, report: Report | None) -> None:
    """Log the row table (to load, and for MLflow's page), the confusion matrices as pictures, and the summary."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        evaluation.save_folder(folder / EVALUATION)
        write_confusions(evaluation, folder / "confusion")
        mlflow.log_artifacts(run_id, scratch)
    mlflow.log_text(run_id, json.dumps(results_table(evaluation.cases), ensure_ascii=False), RESULTS_TABLE)
    # `MlflowClient.log_table` sets this tag, but it appends to a table that is there, which would double its rows.
    mlflow.set_tag(run_id, "mlflow.loggedArtifacts", json.dumps([{"path": RESULTS_TABLE, "type": "table"}]))
    report = report or build_report([evaluation], title=evaluation.name)
    mlflow.log_text(run_id, to_markdown(report), "summary.md")
    mlflow.log_dict(run_id, report.to_dict(), "report.json")


def results_table(cases: Sequence[Case]) -> dict[str, Any]:
    """The rows as a table for MLflow's page, which compares runs: grouped by the first column, with the second of each
    run side by side.
    """
    table = [
        {
            "row": f"{case.row_id}: {case.query}",
            "plan": told(case),
            "gold": said(case.gold),
            "standalone_query": case.plan.standalone_query,
            "plan_right": case.score.plan_right,
            "labels_right": case.score.labels_right,
            "lost_at": case.lost_at or "",
            "degraded": case.score.degraded,
            "milliseconds": round(case.score.milliseconds, 2),
            "lm_calls": case.score.lm_calls,
            "slices": ", ".join(case.slices),
        }
        for case in cases
    ]
    columns = list(table[0]) if table else []
    return {"columns": columns, "data": [list(row.values()) for row in table]}


def log_failures(
    uri: str, experiment_id: str, run_id: str, evaluation: Evaluation, model_id: str | None = None
) -> list[str]:
    """A trace for each wrong plan, the surest first, linked to the run; returns the ids of their rows."""
    wrong = sorted((c for c in evaluation.cases if not c.all_right), key=lambda c: -certainty(c))
    shown = wrong[:TRACED_FAILURES]
    started = moment_ms(evaluation)
    write_traces(uri, experiment_id, [_trace(case, run_id, model_id, started) for case in shown])
    return [case.row_id for case in shown]


def metrics_of(summary: Summary) -> dict[str, float]:
    """Every estimate of a summary as ``name``, ``name_low`` and ``name_high``."""
    found: dict[str, Estimate | None] = {}
    for row in summary.stages:
        found |= {f"{row.stage}/accuracy": row.accuracy, f"{row.stage}/macro_f1": row.macro_f1}
    for name in Summary.model_fields:
        value = getattr(summary, name)
        if isinstance(value, Estimate):
            found[name] = value
    found |= {f"latency_ms/{name}": estimate for name, estimate in summary.latency}
    return _with_bounds(found)


def dollars_metrics(found: Estimate | None) -> dict[str, float]:
    """The cost of a thousand plans as ``dollars_per_1000``, with its bounds; empty if it is not known."""
    return _with_bounds({"dollars_per_1000": found})


def _with_bounds(found: Mapping[str, Estimate | None]) -> dict[str, float]:
    bounds = {name: {"": e.value, "_low": e.low, "_high": e.high} for name, e in found.items() if e is not None}
    return {f"{name}{end}": value for name, ends in bounds.items() for end, value in ends.items()}


def certainty(case: Case) -> float:
    """How certain a plan is: the product of its decisions' probabilities."""
    sure = 1.0
    for decision in case.plan.trace.decisions:
        sure *= decision.confidence
    return sure


def moment_ms(evaluation: Evaluation) -> int:
    """When the evaluation ended, in milliseconds since 1970."""
    return int(datetime.fromisoformat(evaluation.finished).timestamp() * 1000)


def _trace(case: Case, run_id: str, model_id: str | None, started_ms: int) -> TracedPlan:
    judged = {name: right for name, right in case.outcomes.items() if right is not None}
    return TracedPlan(
        key=f"{run_id} {case.row_id}",
        plan=case.plan.model_dump(mode="json"),
        inputs={"query": case.query, "row": case.row_id},
        started_ms=started_ms,
        milliseconds=case.score.milliseconds,
        preview=told(case),
        tags={KIND_TAG: FAILURE, "queryplan.lost_at": case.lost_at or ""},
        run_id=run_id,
        model_id=model_id,
        judgements=(
            Judgement("plan_right", case.score.plan_right, f"lost at {case.lost_at}"),
            *(Judgement(name, right) for name, right in judged.items()),
        ),
        expected=case.gold.model_dump(mode="json"),
    )


def told(case: Case) -> str:
    """The plan's labels and whether they are right, in one line."""
    return f"{'right' if case.all_right else f'wrong at {case.lost_at}'}: {said(case.plan)}"


def said(labels: Labels | QueryPlan) -> str:
    """The labels of a gold row or of a plan in one line."""
    words = ["follow-up"] if labels.is_follow_up else []
    if not labels.is_relevant:
        return ", ".join([*words, f"out of domain ({labels.rejection_kind or 'no kind'})"])
    parts = [f"{len(labels.sub_queries)} parts"] if labels.needs_decomposition else []
    return ", ".join([*words, labels.complexity, labels.intent, *parts])
