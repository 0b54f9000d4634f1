"""A server that stays well and private whatever its model and its callers do."""

from __future__ import annotations

import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from queryplan.errors import LMError, WeightsError
from queryplan.program.plan import QueryPlan
from queryplan.program.plan_log import JsonlSink, PlanLog
from queryplan.program.planner import QueryPlanner

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")

from queryplan.program.integrations import http_service
from queryplan.program.integrations.http import create_app
from queryplan.program.integrations.http_types import Limits

from .serving import FACT, HEADS, SECRET, TOKEN, Serve, asked_raw, plan_of, problem, until

# --- a model that is slow, dead, or not open yet


def test_a_dead_model_is_a_degraded_plan(bench: Any, serve: Serve) -> None:
    client = serve(bench.planner(bench.lm(error=ConnectionError("10.0.0.1 refused")), HEADS))
    plan = plan_of(client.post("/v1/plan", json={"query": "Who is Nell?"}))
    assert plan.degraded
    assert "10.0.0.1" not in plan.model_dump_json()
    assert client.get("/v1/health").json()["degraded_plans"] == 1


def test_until_the_model_is_open_callers_are_asked_to_come_back(bench: Any, serve: Serve) -> None:
    lm, opened = bench.lm(FACT), threading.Event()

    def opener() -> Any:
        opened.wait(5)
        return lm

    client = serve(bench.planner(opener), wait=False)
    assert client.get("/v1/health").json()["status"] == "starting"
    assert client.get("/v1/ready").status_code == 503
    answer = client.post("/v1/plan", json={"query": "Who is Nell?"})
    assert "opening" in problem(answer, 503)
    assert int(answer.headers["Retry-After"]) >= 1
    opened.set()
    until(lambda: client.get("/v1/ready").status_code == 200)
    assert client.get("/v1/health").json()["lm"] == "scripted"
    assert lm.warmed
    assert not plan_of(client.post("/v1/plan", json={"query": "Who is Nell?"})).degraded


def test_a_model_that_does_not_answer_is_done_without_and_tried_again(
    bench: Any, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_service, "RETRY_S", (0.05, 0.1))
    lm, there = bench.lm(FACT), threading.Event()

    def opener() -> Any:
        if not there.is_set():
            raise LMError("the endpoint does not answer; start it")
        return lm

    client = serve(bench.planner(opener, HEADS))
    health = client.get("/v1/health").json()
    assert (health["status"], health["lm_open"]) == ("degraded", False)
    assert health["degraded"] == ["the endpoint does not answer; start it"]
    assert plan_of(client.post("/v1/plan", json={"query": "Who is Nell?"})).degraded
    there.set()
    until(lambda: client.get("/v1/health").json()["status"] == "ready")
    assert not plan_of(client.post("/v1/plan", json={"query": "Who is Nell?"})).degraded


@pytest.mark.parametrize("told", [True, False])
def test_a_mistake_that_only_a_person_can_mend_is_told_or_done_without(bench: Any, serve: Serve, told: bool) -> None:
    def opener() -> Any:
        raise WeightsError("the weights are not there; pull them")

    fatal: list[Exception] = []
    client = serve(bench.planner(opener, HEADS), wait=False, fatal=fatal.append if told else None)
    if told:
        until(lambda: fatal)
        assert client.get("/v1/ready").status_code == 503
    else:
        until(lambda: client.get("/v1/health").json()["status"] == "degraded")
        assert plan_of(client.post("/v1/plan", json={"query": "Who is Nell?"})).degraded


@pytest.mark.parametrize("given", [{"deadline_s": 0.1}, {"deadline_s": 1000}, {}])
def test_a_plan_is_made_by_its_deadline_or_the_servers(bench: Any, serve: Serve, given: dict[str, float]) -> None:
    server_s = 0.2 if given.get("deadline_s") != 0.1 else 30.0
    client = serve(bench.planner(bench.lm(FACT, delay=20), HEADS), limits=Limits(deadline_s=server_s))
    began = time.monotonic()
    plan = plan_of(client.post("/v1/plan", json={"query": "Who is Nell?", **given}))
    assert time.monotonic() - began < 5
    assert "the deadline passed" in {gap.why for gap in plan.degraded}


def test_too_many_are_asked_to_come_back_and_waiting_counts_against_the_deadline(bench: Any, serve: Serve) -> None:
    limits = Limits(running=1, waiting=1, deadline_s=30)
    client = serve(bench.planner(bench.lm(FACT, delay=4.0), HEADS), limits=limits)
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(client.post, "/v1/plan", json={"query": "first?"})
        until(lambda: client.get("/v1/health").json()["running"] == 1)
        began = time.monotonic()
        waiting = pool.submit(client.post, "/v1/plan", json={"query": "second?", "deadline_s": 1.5})
        until(lambda: client.get("/v1/health").json()["waiting"] == 1)
        refused = client.post("/v1/plan", json={"query": "third?"})
        assert plan_of(waiting.result()).degraded
        assert time.monotonic() - began < 3.5
        assert not plan_of(slow.result()).degraded
    assert "too many" in problem(refused, 503)
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert client.get("/v1/health").json()["running"] == client.get("/v1/health").json()["waiting"] == 0
    assert "takes 2 queries" in problem(client.post("/v1/plan/batch", json={"queries": [{"query": "a"}] * 3}), 422)


class Busy(QueryPlanner):
    """Computes for a while, as a large graph does."""

    async def aplan(self, *args: Any, **options: Any) -> QueryPlan:
        time.sleep(0.5)
        return await super().aplan(*args, **options)


def test_what_a_plan_computes_does_not_delay_other_answers(bench: Any, serve: Serve) -> None:
    planner = Busy(bench.card)
    bench.planners.append(planner)
    client = serve(planner)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.post, "/v1/plan", json={"query": "a"})
        until(lambda: client.get("/v1/health").json()["running"] == 1)
        began = time.monotonic()
        client.get("/v1/health")
        assert time.monotonic() - began < 0.3
        assert slow.result().status_code == 200


# --- callers that go away, or never send


def body(text: str, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": text.encode(), "more_body": more}


def test_a_body_in_parts_is_put_together(bench: Any) -> None:
    app = create_app(bench.planner(heads=HEADS))
    status, said = asked_raw(app, [body('{"query": ', True), 0.01, body('"a b"}')])
    assert status == 200
    assert QueryPlan.model_validate_json(said).query == "a b"


def test_a_body_that_does_not_come_is_not_waited_for(bench: Any) -> None:
    app = create_app(bench.planner(heads=HEADS), limits=Limits(read_s=0.1))
    assert asked_raw(app, [body('{"query": ', True)])[0] == 408


def test_a_caller_that_goes_away_stops_what_was_asked_for(bench: Any) -> None:
    lm = bench.lm(FACT, delay=30)
    app = create_app(bench.planner(lm, HEADS))
    began = time.monotonic()
    asked_raw(app, [body('{"query": "Who is Nell?"}'), 0.3, {"type": "http.disconnect"}])
    assert time.monotonic() - began < 5
    assert lm.decider.cancelled >= 1


def test_a_caller_that_goes_away_while_sending_is_no_fault(bench: Any, caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(bench.planner(heads=HEADS))
    asked_raw(app, [body('{"query": ', True), {"type": "http.disconnect"}])
    assert "failed" not in caplog.text


def test_who_still_waits_when_the_server_has_no_more_time_is_told_to_ask_again(bench: Any) -> None:
    app = create_app(bench.planner(bench.lm(FACT, delay=30), HEADS))
    status, said = asked_raw(app, [body('{"query": "Who is Nell?"}')], ends_after=0.3)
    assert (status, json.loads(said)) == (503, {"detail": "the server is stopping; ask again"})


# --- what is written down


def test_no_word_of_a_user_is_written_down(bench: Any, serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = serve(bench.planner(bench.lm(error=ValueError(SECRET)), HEADS), token=TOKEN)
    allowed = {"Authorization": f"Bearer {TOKEN.get_secret_value()}"}
    asked = {"query": SECRET, "history": [{"role": "user", "content": SECRET}], "session": {"active_entity": SECRET}}
    client.post("/v1/plan", json=asked, headers=allowed)
    client.post(f"/v1/plan?query={SECRET}", json={"query": 3, SECRET: SECRET}, headers=allowed)
    client.post(f"/{SECRET}", json=asked, headers=allowed)
    client.request(SECRET.upper(), "/v1/plan", headers=allowed)
    client.get(f"/v1/health?{SECRET}")
    lines = [record.getMessage() for record in caplog.records if record.name.startswith(("queryplan", "uvicorn"))]
    assert [line.rsplit(" ", 2)[0] for line in lines if line.startswith(("POST", "?"))] == [
        "POST /v1/plan 200",
        "POST /v1/plan 422",
        "POST (no endpoint) 404",
        "? /v1/plan 405",
    ]
    assert SECRET not in "".join(lines).lower()
    assert TOKEN.get_secret_value() not in caplog.text


class Broken(QueryPlanner):
    """Has a fault of ours."""

    async def aplan(self, query: str, *args: Any, **options: Any) -> QueryPlan:
        raise ZeroDivisionError(query)


def test_a_fault_is_a_sentence_and_its_place_is_written_down(
    bench: Any, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    planner = Broken(bench.card)
    bench.planners.append(planner)
    client = serve(planner)
    for path, sent in (("/v1/plan", {"query": SECRET}), ("/v1/explain", {"query": SECRET})):
        assert SECRET not in problem(client.post(path, json=sent), 500)
    assert SECRET not in problem(client.post("/v1/plan/batch", json={"queries": [{"query": SECRET}] * 2}), 500)
    assert SECRET not in caplog.text
    assert f"ZeroDivisionError in {Path(__file__).name}:" in caplog.text
    assert client.get("/v1/health").json()["running"] == 0


@pytest.mark.parametrize("text", [True, False])
def test_plans_are_logged_with_words_only_where_that_was_said(
    bench: Any, serve: Serve, tmp_path: Path, text: bool
) -> None:
    planner = bench.planner(heads=HEADS)
    with PlanLog(JsonlSink(tmp_path / "plans.jsonl"), text=text) as log:
        planner.log = log
        serve(planner).post("/v1/plan", json={"query": SECRET})
    assert (SECRET in (tmp_path / "plans.jsonl").read_text()) == text


@pytest.mark.parametrize("seconds", [0, -1, -0.5])
def test_a_deadline_that_has_passed_is_one_as_it_is_in_python(bench: Any, serve: Serve, seconds: float) -> None:
    planner = bench.planner(bench.lm(FACT, delay=20), HEADS)
    assert planner.plan("who?", deadline_s=seconds).degraded
    answer = serve(planner).post("/v1/plan", json={"query": "who?", "deadline_s": seconds})
    assert answer.status_code == 200
    assert "the deadline passed" in {gap["why"] for gap in answer.json()["degraded"]}


def test_what_is_wrong_with_a_list_is_said_without_words_of_python(bench: Any, serve: Serve) -> None:
    answer = serve(bench.planner(heads=HEADS)).post("/v1/plan/batch", json={"queries": []})
    assert (answer.status_code, answer.json()["detail"]) == (
        422,
        "queries: must have at least 1 entry; see /openapi.json",
    )
