"""Plans written down in production: with text only where asked for, and never in the way of a plan."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import socket
import stat
import threading
import time
import warnings
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.data.labelling import LoggedPlan, least_certain_first, logged_plans, read_logged
from queryplan.errors import ConfigError, DataError
from queryplan.program.artifact.registry import client
from queryplan.program.plan import QueryPlan
from queryplan.program.plan_log import JsonlSink, PlanLog, TraceSink, log_of_environment
from queryplan.program.plan_traces import TracedPlan, read_traces
from queryplan.program.planner import QueryPlanner

SECRET = "Zanzibarius"
"""In every text of the plan; must be nowhere in a log without text."""


def made_plan(confidence: float = 0.6, query: str = f"and what of {SECRET}?") -> QueryPlan:
    """A plan that has the user's words in every field that can hold words."""
    decision = {"confidence": confidence, "milliseconds": 2.0, "reason": f"{SECRET} was named"}
    return QueryPlan.model_validate(
        {
            "query": query,
            "standalone_query": f"What of {SECRET}?",
            "is_follow_up": True,
            "referenced_entities": [SECRET],
            "conversation_context": SECRET,
            "previous_topics": [SECRET],
            "is_relevant": True,
            "complexity": "moderate",
            "intent": "comparison",
            "needs_decomposition": True,
            "sub_queries": [{"id": n, "text": f"{SECRET} {n}"} for n in (1, 2)],
            "entities": [SECRET],
            "relationships_needed": [SECRET],
            "retrieval_strategy": {"use_rag": True, "use_kg": False},
            "candidates": [{"query": SECRET, "stage": "rewrite", "label": SECRET, "tags": [SECRET]}],
            "trace": {
                "decisions": [
                    {**decision, "stage": "relevance", "value": True, "decided_by": "head"},
                    {**decision, "stage": "rewrite", "value": f"What of {SECRET}?", "decided_by": "lm", "lm_calls": 1},
                ],
                "milliseconds": 4.0,
                "notes": [SECRET],
            },
            "degraded": [
                {"what": "history", "why": SECRET, "instead": SECRET},
                {"what": SECRET, "why": "x", "instead": "y"},
            ],
        }
    )


HISTORY = [{"role": "user", "content": f"tell me about {SECRET}"}, {"role": "assistant", "content": "gladly"}]


# A file


def test_a_log_has_no_word_of_a_user_unless_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "plans.jsonl"
    with PlanLog(JsonlSink(path)) as log:
        log.log(made_plan(), HISTORY, {"user": SECRET}, conversation="c7")
    text = path.read_text()
    assert SECRET not in text
    record = json.loads(text)
    assert record["text"] is False
    assert record["conversation"] == "c7"
    plan = record["plan"]
    assert (plan["complexity"], plan["intent"], plan["counts"]) == (
        "moderate",
        "comparison",
        {"sub_queries": 2, "candidates": 1},
    )
    assert [d["what"] for d in plan["degraded"]] == ["history", "something else"]
    assert plan["trace"]["decisions"][0]["value"] is True
    assert "value" not in plan["trace"]["decisions"][1]
    with pytest.raises(DataError, match="without what users typed"):
        read_logged(path)


def test_with_text_a_log_can_be_labelled(tmp_path: Path) -> None:
    path = tmp_path / "plans.jsonl"
    with PlanLog(JsonlSink(path), text=True) as log:
        log.log(made_plan(), HISTORY, {"active_entity": "x"}, conversation="c7")
        log.log(made_plan(query="line\u2028end \ud800".encode(errors="replace").decode()), None)
    first, second = read_logged(path)
    assert (first.query, first.conversation, first.session) == (f"and what of {SECRET}?", "c7", {"active_entity": "x"})
    assert [turn.content for turn in first.history] == [turn["content"] for turn in HISTORY]
    assert QueryPlan.model_validate(first.plan) == made_plan()
    assert second.query.startswith("line\u2028end")


def test_messages_that_the_planner_leaves_out_are_left_out_of_the_log_too(bench: Any, tmp_path: Path) -> None:
    planner = bench.planner()
    planner.log = PlanLog(JsonlSink(tmp_path / "plans.jsonl"), text=True)
    system, bare, tool = {"role": "system", "content": "Be brief."}, {"role": "user"}, {"role": "tool", "content": None}
    planner.plan("and meditation?", [system, bare, *HISTORY, tool])
    planner.log.close()
    (read,) = read_logged(tmp_path / "plans.jsonl")
    assert [turn.content for turn in read.history] == [turn["content"] for turn in HISTORY]
    assert planner.log.failed == 0


def test_a_plan_is_not_lost_to_a_record_that_cannot_be_made(tmp_path: Path) -> None:
    with PlanLog(JsonlSink(tmp_path / "plans.jsonl"), text=True) as log:
        log.log(made_plan(), [1], conversation="c7")  # type: ignore[list-item]
    assert log.failed == 1


def test_a_session_with_a_time_in_it_is_logged(tmp_path: Path) -> None:
    log = PlanLog(JsonlSink(tmp_path / "plans.jsonl"), text=True)
    log.log(made_plan(), session={"now": datetime(2026, 3, 1, 12, tzinfo=UTC), "seen": {3}, "score": float("nan")})
    session = read_logged(tmp_path / "plans.jsonl")[0].session
    assert session["now"] == "2026-03-01T12:00:00Z"
    assert session["seen"] == [3]
    assert log.failed == 0


def test_a_full_disk_leaves_no_half_line_and_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log, kept = PlanLog(JsonlSink(tmp_path / "plans.jsonl"), text=True), resource.getrlimit(resource.RLIMIT_FSIZE)
    log.log(made_plan())
    size = (tmp_path / "plans.jsonl").stat().st_size
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + size // 2, kept[1]))
        log.log(made_plan())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept)
    log.log(made_plan())
    assert log.failed == 1
    assert caplog.messages == ["a plan could not be logged to plans.jsonl: No space left on device"]
    assert len(read_logged(tmp_path / "plans.jsonl")) == 2


def test_only_the_owner_may_read_a_log(tmp_path: Path) -> None:
    PlanLog(JsonlSink(tmp_path / "plans.jsonl")).close()
    assert stat.S_IMODE((tmp_path / "plans.jsonl").stat().st_mode) == 0o600


def test_threads_share_a_log_and_lines_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "plans.jsonl"
    with PlanLog(JsonlSink(path), text=True) as log:
        threads = [
            threading.Thread(target=lambda: [log.log(made_plan(), HISTORY) for _ in range(25)]) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(read_logged(path)) == 100


def test_a_log_that_fails_is_counted_and_told_once_and_never_raised(caplog: pytest.LogCaptureFixture) -> None:
    class Full:
        def put(self, record: Any) -> None:
            raise OSError("no space left")

        def close(self) -> None:
            """Nothing to close."""

    log = PlanLog(Full())
    for _ in range(3):
        log.log(made_plan(), HISTORY)
    assert log.failed == 3
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert SECRET not in caplog.text


# MLflow


def test_plans_logged_as_traces_come_back_least_certain_first(mlflow_uri: str) -> None:
    with PlanLog(TraceSink("plans", mlflow_uri), text=True) as log:
        for number, confidence in enumerate((0.9, 0.2, 0.6)):
            log.log(made_plan(confidence, f"query {number}"), HISTORY, {"now": "x"}, conversation="c1")
    assert log.failed == 0
    logged = logged_plans((f"trace {n}", record) for n, record in enumerate(read_traces(mlflow_uri, "plans")))
    assert [plan.query for plan in least_certain_first(logged)] == ["query 1", "query 2", "query 0"]
    assert all(plan.conversation == "c1" and len(plan.history) == 2 and plan.session == {"now": "x"} for plan in logged)
    (trace,) = client(mlflow_uri).search_traces(locations=[_experiment(mlflow_uri)], max_results=1)
    assert [span.name for span in trace.data.spans] == ["plan", "relevance", "rewrite"]
    assert trace.info.trace_metadata["mlflow.trace.session"] == "c1"


def test_traces_have_no_word_of_a_user_unless_asked_for(mlflow_uri: str, tmp_path: Path) -> None:
    with PlanLog(TraceSink("plans", mlflow_uri)) as log:
        log.log(made_plan(), HISTORY, {"user": SECRET})
    assert SECRET.encode() not in (tmp_path / "mlflow.db").read_bytes()
    (record,) = read_traces(mlflow_uri, "plans")
    assert record["text"] is False
    with pytest.raises(DataError, match="without what users typed"):
        logged_plans([("trace 1", record)])


def test_many_traces_are_read_page_by_page_up_to_a_limit(mlflow_uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queryplan.program.plan_traces._PAGE", 5)
    with PlanLog(TraceSink("plans", mlflow_uri), text=True) as log:
        for number in range(12):
            log.log(made_plan(query=f"query {number}"))
    assert len(list(read_traces(mlflow_uri, "plans"))) == 12
    assert len(list(read_traces(mlflow_uri, "plans", limit=7))) == 7


def test_an_experiment_that_is_not_there_is_named(mlflow_uri: str) -> None:
    with pytest.raises(ConfigError, match="no experiment 'nowhere'"):
        list(read_traces(mlflow_uri, "nowhere"))


def test_a_server_that_is_down_costs_a_plan_nothing(caplog: pytest.LogCaptureFixture) -> None:
    sink = TraceSink("plans", "http://me:hunter2@127.0.0.1:9")
    with PlanLog(sink) as log:
        log.log(made_plan(), HISTORY)
        log.log(made_plan(), HISTORY)
    assert (sink.dropped, log.failed) == (2, 0)
    assert "hunter2" not in caplog.text
    assert SECRET not in caplog.text


def test_plans_that_a_hanging_server_does_not_take_in_time_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as taking:
        taking.bind(("127.0.0.1", 0))
        taking.listen()
        sink = TraceSink("plans", f"http://127.0.0.1:{taking.getsockname()[1]}")
        log, began = PlanLog(sink), time.monotonic()
        log.log(made_plan(), HISTORY)
        time.sleep(1.5)  # the first is under way
        log.log(made_plan(), HISTORY)
        sink.close(timeout_s=0.2)
        sink.close(timeout_s=0.2)
        assert (sink.dropped, time.monotonic() - began < 10) == (2, True)
    assert caplog.text.count("plans were not sent to MLflow within 0.2 seconds: 2") == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_sends_what_it_planned_and_the_parent_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, may_send = tmp_path / "sent", threading.Event()

    def write(uri: str, experiment: str, batch: list[TracedPlan]) -> None:
        may_send.wait(10)
        with sent.open("a") as file:
            file.writelines(f"{os.getpid()} {trace.inputs['query']}\n" for trace in batch)

    monkeypatch.setattr("queryplan.program.plan_log.write_traces", write)
    monkeypatch.setattr("queryplan.program.plan_log.speaking_to_mlflow", nullcontext)
    monkeypatch.setattr(TraceSink, "_id", lambda sink: "1")
    sink = TraceSink("plans", "http://127.0.0.1:9")
    log = PlanLog(sink, text=True)
    log.log(made_plan(query="before"))

    def child() -> int:
        may_send.set()
        log.log(made_plan(query="forked"))
        log.close()
        return sink.dropped

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, which is the point
        forked = os.fork()
    if forked == 0:
        dropped = 9
        try:
            dropped = child()
        finally:
            os._exit(dropped)
    assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 0
    assert sent.read_text() == f"{forked} forked\n"
    may_send.set()
    log.log(made_plan(query="after"))
    log.close()
    assert sorted(sent.read_text().splitlines()) == sorted(
        [f"{forked} forked", f"{os.getpid()} before", f"{os.getpid()} after"]
    )
    assert (sink.dropped, log.failed) == (0, 0)


def test_plans_whose_thread_ended_are_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(TraceSink, "_send_all", lambda sink: None)
    sink = TraceSink("plans", "http://127.0.0.1:9")
    with PlanLog(sink) as log:
        log.log(made_plan())
        log.log(made_plan())
    assert (sink.dropped, log.failed) == (2, 0)
    assert "plans were not sent to MLflow within 30 seconds: 2" in caplog.text
    log.log(made_plan())
    sink.close()
    assert (sink.dropped, log.failed) == (3, 1)


def test_what_the_log_says_is_what_a_logged_plan_reads() -> None:
    assert {"query", "history", "session", "conversation", "plan"} == set(LoggedPlan.model_fields)


def _experiment(mlflow_uri: str) -> str:
    found = client(mlflow_uri).get_experiment_by_name("plans")
    assert found is not None
    return found.experiment_id


# What planners and services write down


def test_a_planner_logs_what_it_plans_only_while_it_has_a_log(tmp_path: Path) -> None:
    path = tmp_path / "plans.jsonl"
    planner = QueryPlanner(load_card(domain_folder("podcast")))
    planner.plan("hello")
    with PlanLog(JsonlSink(path), text=True) as log:
        planner.log = log
        planner.plan("hello", HISTORY, {"active_entity": "Nell"})
        asyncio.run(planner.aplan("hi"))
    planner.log = None
    planner.plan("hello")
    first, second = read_logged(path)
    assert (first.query, first.session, second.query) == ("hello", {"active_entity": "Nell"}, "hi")


def test_a_service_logs_where_its_environment_says_so(tmp_path: Path) -> None:
    path = tmp_path / "plans.jsonl"
    assert log_of_environment({}) is None
    assert log_of_environment({"QUERYPLAN_PLAN_LOG": " "}) is None
    for said in ({}, {"QUERYPLAN_PLAN_LOG_TEXT": "yes"}, {"QUERYPLAN_PLAN_LOG_TEXT": "1"}):
        log = log_of_environment({"QUERYPLAN_PLAN_LOG": str(path), **said})
        assert log is not None
        with log:
            assert log.text is (said == {"QUERYPLAN_PLAN_LOG_TEXT": "1"})
