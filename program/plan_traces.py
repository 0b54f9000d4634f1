"""Plans as MLflow traces, written and read through a client of its own, without MLflow's global state.

MLflow's own decorators write to whatever tracking address the process has set globally, which belongs to the
application. A trace here is built from the plan's own record of what it decided, after the fact.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from .artifact.registry import client, public_uri, speaking_to_mlflow

if TYPE_CHECKING:
    from mlflow.entities import Assessment, Span, Trace, TraceInfo

logger = logging.getLogger(__name__)

KIND_TAG, TEXT_TAG = "queryplan.kind", "queryplan.text"
LOGGED_PLAN = "plan"
"""Value of the tag ``queryplan.kind`` on traces of production plans."""

_PREVIEW = 200
_PAGE = 100
# Requests carry the spans of so many traces; a trace of a plan has eight or so.
_BATCH = 50
_NS = 1_000_000


@dataclass(frozen=True)
class Judgement:
    """Whether one aspect of a plan is right, with the reason in words."""

    name: str
    right: bool
    why: str = ""


@dataclass(frozen=True)
class TracedPlan:
    """One plan as a trace shows it.

    Attributes:
        key: identifies the trace: written twice with the same key, it exists once.
        plan: a ``QueryPlan`` as JSON, or the part of one that may be kept.
        inputs: what was asked, shown as the inputs of the trace.
        preview: the text for the plan in a list of traces; by default its labels.
        started_ms: milliseconds since 1970.
        milliseconds: wall clock of the plan.
        conversation: an id; MLflow shows the traces of one conversation as a session.
        run_id: the run of the evaluation that it belongs to.
        judgements: shown as feedback.
        expected: shown as the expectation.
    """

    key: str
    plan: Mapping[str, Any]
    inputs: Mapping[str, Any]
    started_ms: int
    milliseconds: float
    preview: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    conversation: str | None = None
    run_id: str | None = None
    model_id: str | None = None
    judgements: tuple[Judgement, ...] = ()
    expected: Mapping[str, Any] | None = None

    @property
    def trace_id(self) -> str:
        """The id of the trace, derived from the key alone."""
        return f"tr-{hashlib.sha256(self.key.encode()).hexdigest()[:32]}"


def write_traces(uri: str, experiment_id: str, traces: Sequence[TracedPlan]) -> None:
    """Write traces into an experiment; existing ones stay as they are.

    Raises:
        mlflow.exceptions.MlflowException: the server refuses; `speaking_to_mlflow` turns it into a sentence.
    """
    from mlflow.tracing.client import TracingClient

    tracing = TracingClient(uri)
    for start in range(0, len(traces), _BATCH):
        batch = traces[start : start + _BATCH]
        for trace in batch:
            tracing.start_trace(_info(trace, experiment_id))
        try:
            tracing.log_spans(experiment_id, [span for trace in batch for span in _spans(trace)])
        except NotImplementedError as error:  # a server before 3.4, which has no place for them
            logger.warning("the traces have no spans: %s", error)


def read_traces(uri: str, experiment: str, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """Read production plans, newest first, as ``query``, ``history``, ``session``, ``conversation``, ``plan``.

    A plan that was logged without its text has ``text`` false and no query.

    Raises:
        ConfigError: there is no such experiment, or the server cannot be used.
    """
    with speaking_to_mlflow(uri):
        mlflow = client(uri)
        found = mlflow.get_experiment_by_name(experiment)
        if found is None:
            raise ConfigError(
                f"MLflow at {public_uri(uri)} has no experiment {experiment!r}: give the one that plans are logged to"
            )
        token, count = None, 0
        while limit is None or count < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - count)
            page = mlflow.search_traces(
                locations=[found.experiment_id],
                filter_string=f"tag.`{KIND_TAG}` = '{LOGGED_PLAN}'",
                max_results=size,
                page_token=token,
            )
            yield from (_record(trace) for trace in page)
            count, token = count + len(page), page.token
            if not token:
                return


def _record(trace: Trace) -> dict[str, Any]:
    root = next(span for span in trace.data.spans if span.parent_id is None)
    inputs, outputs = root.inputs, root.outputs
    asked = dict(inputs) if isinstance(inputs, Mapping) else {}
    return {**asked, "plan": outputs, "text": trace.info.tags.get(TEXT_TAG) == "kept"}


def _info(trace: TracedPlan, experiment_id: str) -> TraceInfo:
    from mlflow.entities import TraceInfo, TraceLocation
    from mlflow.entities.trace_state import TraceState

    linked = {
        "mlflow.sourceRun": trace.run_id,
        "mlflow.modelId": trace.model_id,
        "mlflow.trace.session": trace.conversation,
    }
    return TraceInfo(
        trace_id=trace.trace_id,
        trace_location=TraceLocation.from_experiment_id(experiment_id),
        request_time=trace.started_ms,
        execution_duration=round(trace.milliseconds),
        state=TraceState.OK,
        request_preview=str(trace.inputs.get("query", ""))[:_PREVIEW],
        response_preview=(trace.preview or _preview(trace.plan))[:_PREVIEW],
        trace_metadata={name: value for name, value in linked.items() if value},
        tags={"mlflow.traceName": "plan", **trace.tags},
        assessments=_assessments(trace),
    )


def _preview(plan: Mapping[str, Any]) -> str:
    told = ("is_follow_up", "is_relevant", "complexity", "intent", "needs_decomposition")
    return ", ".join(f"{name}={plan[name]}" for name in told if name in plan)


def _assessments(trace: TracedPlan) -> list[Assessment]:
    from mlflow.entities import Expectation, Feedback

    found: list[Assessment] = [Feedback(name=j.name, value=j.right, rationale=j.why) for j in trace.judgements]
    if trace.expected is not None:
        found.append(Expectation(name="gold", value=json.dumps(trace.expected, ensure_ascii=False)))
    return found


def _spans(trace: TracedPlan) -> list[Span]:
    """A span for the plan, and under it one for each decision, in sequence, as the plan keeps no start times."""
    start = trace.started_ms * _NS
    shown = {"mlflow.spanType": "CHAIN", "mlflow.spanInputs": dict(trace.inputs), "mlflow.spanOutputs": trace.plan}
    spans = [_span(trace, 0, "plan", start, start + round(trace.milliseconds * _NS), shown)]
    for number, decision in enumerate((trace.plan.get("trace") or {}).get("decisions") or (), 1):
        end = start + round(decision.get("milliseconds", 0.0) * _NS)
        spans.append(_span(trace, number, decision["stage"], start, end, _shown(decision)))
        start = end
    return spans


def _shown(decision: Mapping[str, Any]) -> dict[str, Any]:
    kind = "LLM" if decision.get("lm_calls") else "TOOL"
    facts = {name: value for name, value in decision.items() if name not in ("stage", "value") and value is not None}
    return {"mlflow.spanType": kind, "mlflow.spanOutputs": decision.get("value"), **facts}


def _span(trace: TracedPlan, number: int, name: str, start: int, end: int, shown: Mapping[str, Any]) -> Span:
    from mlflow.entities import Span

    identity = {"mlflow.traceRequestId": trace.trace_id}
    attributes = {k: json.dumps(v, ensure_ascii=False, default=str) for k, v in {**identity, **shown}.items()}
    return Span.from_dict(
        {
            "trace_id": _encoded(trace.trace_id.removeprefix("tr-")),
            "span_id": _encoded(f"{number + 1:016x}"),
            "parent_span_id": _encoded(f"{1:016x}") if number else None,
            "name": name,
            "start_time_unix_nano": start,
            "end_time_unix_nano": end,
            "events": [],
            "status": {"code": "STATUS_CODE_OK", "message": ""},
            "attributes": attributes,
            "links": [],
        }
    )


def _encoded(hexadecimal: str) -> str:
    return base64.b64encode(bytes.fromhex(hexadecimal)).decode()
