"""Logs the plans made in production, so that they can be counted, inspected and labelled.

What users typed is personal. Unless a log is opened with ``text=True``, it keeps labels, probabilities, times and
counts and no word of a user's: no query, no history, no session, no rewrite, no names. Such a log shows what a
planner does and how surely; only a log with text can be labelled (``queryplan label``).
"""

from __future__ import annotations

import errno
import json
import logging
import os
import queue
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from pydantic import TypeAdapter

from ..data.disk import writing
from ..signatures.types import STAGES
from .artifact.registry import client, speaking_to_mlflow, tracking_uri_in_force
from .context import History, as_given
from .lm.forked import renewed_in_child
from .plan import QueryPlan
from .plan_traces import KIND_TAG, LOGGED_PLAN, TEXT_TAG, TracedPlan, write_traces

logger = logging.getLogger(__name__)

_KEPT = (
    "schema_version",
    "is_follow_up",
    "is_relevant",
    "rejection_kind",
    "complexity",
    "intent",
    "needs_decomposition",
    "retrieval_strategy",
    "program_version",
)
"""Fields of a plan without any word of a user's: labels of the card and the package, versions, truth values."""

_KEPT_OF_TRACE = ("rounds", "requests", "wasted_requests", "tokens", "milliseconds")
_KEPT_OF_DECISIONS = ("stage", "decided_by", "confidence", "milliseconds", "lm_calls", "tokens")
_DECIDING = ("follow_up", "relevance", "complexity")
_LACKING = frozenset({*STAGES, "query", "history", "heads"})
"""What ``degraded`` may name in a log without text: words of the package, none of a user's."""

_JSON: TypeAdapter[Any] = TypeAdapter(Any)
_WAITING = 1000
_BATCH = 50
_WAIT_S = 1.0


class Sink(Protocol):
    """A destination of logged plans. It must be quick, and may raise: no plan is lost to its log."""

    def put(self, record: Mapping[str, Any]) -> None:
        """Keep one record: ``plan``, ``text``, and with text ``query``, ``history``, ``session``, ``conversation``."""

    def close(self) -> None:
        """Write what is still pending."""


class PlanLog:
    """Logs plans to one or several sinks.

    Args:
        sinks: see `JsonlSink` and `TraceSink`.
        text: also keep what users typed; off by default.
    """

    def __init__(self, *sinks: Sink, text: bool = False) -> None:
        self.text = text
        self.failed = 0
        self._sinks = sinks

    def log(
        self,
        plan: QueryPlan,
        history: History = None,
        session: Mapping[str, Any] | None = None,
        conversation: str | None = None,
    ) -> None:
        """Log one plan. A failure of a disk or server is counted in ``failed``, warned of once, and never raised.

        Args:
            conversation: the application's own id of the conversation. It is kept even without text, so it must not
                identify anybody.
        """
        for sink in self._sinks:
            try:
                sink.put(self._record(plan, history, session, conversation))
            except Exception as error:  # production goes on without its log
                self.failed += 1
                tell = logger.warning if self.failed == 1 else logger.debug
                tell("a plan could not be logged%s", _why(error))

    def _record(
        self, plan: QueryPlan, history: History, session: Mapping[str, Any] | None, conversation: str | None
    ) -> dict[str, Any]:
        return _record(plan, history, session, conversation) if self.text else _without_text(plan, conversation)

    def close(self) -> None:
        """Write what is still pending and close the sinks."""
        for sink in self._sinks:
            sink.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def log_of_environment(variables: Mapping[str, str] | None = None) -> PlanLog | None:
    """The log that the environment asks for; None unless ``QUERYPLAN_PLAN_LOG`` names a file.

    What users typed is kept only where ``QUERYPLAN_PLAN_LOG_TEXT`` is ``1``.
    """
    told = os.environ if variables is None else variables
    path = told.get("QUERYPLAN_PLAN_LOG", "").strip()
    return PlanLog(JsonlSink(Path(path)), text=told.get("QUERYPLAN_PLAN_LOG_TEXT") == "1") if path else None


class JsonlSink:
    """Appends plans to a JSON-lines file that only its owner may read. Threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        # One write a line to a file opened for appending: lines of several processes do not mix.
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def put(self, record: Mapping[str, Any]) -> None:
        """Append a line, whole or not at all.

        Raises:
            OSError: the disk is full; the error names the file.
        """
        line = json.dumps(record, ensure_ascii=True).encode() + b"\n"
        with writing(self.path):
            if (written := os.write(self._file, line)) < len(line):
                self._take_back(written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _take_back(self, written: int) -> None:
        """Remove half a line, which would spoil the next one too; it stays if others wrote after it."""
        end = os.lseek(self._file, 0, os.SEEK_CUR)
        if os.fstat(self._file).st_size == end:
            os.ftruncate(self._file, end - written)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class TraceSink:
    """Sends plans to MLflow as traces, from a thread of its own.

    A server that is slow or down never delays a plan: up to a thousand plans wait, and more are dropped and counted.
    Close it before the process ends, since what waits ends with it. A forked process has a thread of its own, and sends
    what it planned itself.

    Args:
        experiment: the MLflow experiment; created if missing.
        tracking_uri: by default `tracking_uri_in_force`.

    Attributes:
        dropped: plans of this process that were not sent.
    """

    def __init__(self, experiment: str, tracking_uri: str | None = None) -> None:
        self._closed = self._given_up = False
        self._uri, self._experiment = tracking_uri_in_force(tracking_uri), experiment
        self._experiment_id: str | None = None
        self.renew()
        renewed_in_child(self)

    def renew(self) -> None:
        """Begin with nothing waiting and no thread; after a fork, what waits is the parent's to send."""
        self.dropped = 0
        self._lock = threading.Lock()
        self._waiting: queue.Queue[TracedPlan | None] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None

    def put(self, record: Mapping[str, Any]) -> None:
        """Queue a plan. One that cannot be queued counts as dropped.

        Raises:
            queue.Full: a thousand plans wait.
            ValueError: the sink is closed.
            RuntimeError: the system starts no further thread.
        """
        try:
            with self._lock:
                if self._closed:
                    raise ValueError("the sink is closed")
                self._have_thread()
                self._waiting.put_nowait(_trace(record))
        except Exception:
            self.dropped += 1
            raise

    def _have_thread(self) -> None:
        """Start the thread at the first plan: most processes that are forked make none."""
        if self._thread is None or not self._thread.is_alive():
            thread = threading.Thread(target=self._send_all, name="queryplan-traces", daemon=True)
            thread.start()
            self._thread = thread

    def close(self, timeout_s: float = 30.0) -> None:
        """Send what still waits, for at most ``timeout_s`` seconds; what is left then is counted and warned of."""
        with self._lock:
            self._closed = True
        if self._given_up:
            return
        if self._thread is not None and self._thread.is_alive():
            until = time.monotonic() + timeout_s
            with suppress(queue.Full):
                self._waiting.put(None, timeout=timeout_s)
            self._thread.join(max(0.0, until - time.monotonic()))
        self._given_up = True
        with self._waiting.mutex:
            left = self._waiting.unfinished_tasks - (None in self._waiting.queue)
        if left:
            self.dropped += left
            logger.warning("plans were not sent to MLflow within %g seconds: %d", timeout_s, left)

    def _send_all(self) -> None:
        more = True
        while more:
            batch, more = self._next()
            if batch:
                self._send(batch)

    def _next(self) -> tuple[list[TracedPlan], bool]:
        """The waiting plans, up to a batch, and whether more may come."""
        batch = [self._waiting.get()]
        deadline = time.monotonic() + _WAIT_S
        while batch[-1] is not None and len(batch) < _BATCH:
            try:
                batch.append(self._waiting.get(timeout=max(0.0, deadline - time.monotonic())))
            except queue.Empty:
                break
        if batch[-1] is None:
            self._waiting.task_done()
        return [trace for trace in batch if trace is not None], batch[-1] is not None

    def _send(self, batch: list[TracedPlan]) -> None:
        try:
            with speaking_to_mlflow(self._uri):
                write_traces(self._uri, self._id(), batch)
        except Exception as error:  # whatever it is, the thread goes on with the next batch
            if self._given_up:
                return
            if not self.dropped:
                logger.warning("plans could not be sent to MLflow: %s", error)
            self.dropped += len(batch)
        finally:
            for _ in batch:
                self._waiting.task_done()

    def _id(self) -> str:
        if self._experiment_id is None:
            mlflow = client(self._uri)
            known = mlflow.get_experiment_by_name(self._experiment)
            self._experiment_id = known.experiment_id if known else mlflow.create_experiment(self._experiment)
        return self._experiment_id


def _why(error: Exception) -> str:
    """The system's reason and the file's name without its path, else the error's type: messages may quote a user."""
    if not isinstance(error, OSError) or not error.strerror:
        return f": {type(error).__name__}"
    return f"{f' to {Path(str(error.filename)).name}' if error.filename else ''}: {error.strerror}"


def _record(
    plan: QueryPlan, history: History, session: Mapping[str, Any] | None, conversation: str | None
) -> dict[str, Any]:
    return {
        "text": True,
        "query": plan.query,
        "history": as_given(history),
        # What is no JSON is written out: a session's ``now`` may be a datetime.
        "session": _JSON.dump_python(dict(session or {}), mode="json", fallback=str),
        "conversation": conversation,
        "plan": plan.model_dump(mode="json"),
    }


def _without_text(plan: QueryPlan, conversation: str | None) -> dict[str, Any]:
    """The parts of a plan that may be kept without text: listed field by field, so that a new field is left out."""
    whole = plan.model_dump(mode="json")
    kept = {name: whole[name] for name in _KEPT}
    trace = {name: whole["trace"][name] for name in _KEPT_OF_TRACE}
    decisions = [_decision(decision) for decision in whole["trace"]["decisions"]]
    counts = {"sub_queries": len(plan.sub_queries), "candidates": len(plan.candidates)}
    lacking = [{"what": gap.what if gap.what in _LACKING else "something else"} for gap in plan.degraded]
    shown = {**kept, "counts": counts, "degraded": lacking, "trace": {**trace, "decisions": decisions}}
    return {"text": False, "conversation": conversation, "plan": shown}


def _decision(decision: Mapping[str, Any]) -> dict[str, Any]:
    """A decision without its reason, and with its value only if that is a label."""
    kept = {name: decision[name] for name in _KEPT_OF_DECISIONS}
    return {**kept, "value": decision["value"]} if decision["stage"] in _DECIDING else kept


def _trace(record: Mapping[str, Any]) -> TracedPlan:
    plan = record["plan"]
    milliseconds = plan["trace"]["milliseconds"]
    asked = {name: record[name] for name in ("query", "history", "session", "conversation") if record.get(name)}
    return TracedPlan(
        key=uuid.uuid4().hex,
        plan=plan,
        inputs=asked,
        started_ms=int(time.time() * 1000 - milliseconds),
        milliseconds=milliseconds,
        tags={KIND_TAG: LOGGED_PLAN, TEXT_TAG: "kept" if record["text"] else "left out"},
        conversation=record.get("conversation"),
    )
