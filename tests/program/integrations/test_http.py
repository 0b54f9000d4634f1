"""Plans over HTTP: the same plans, typed, limited, private, and a server that stays well whatever its model does."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr
from queryplan.errors import ConfigError, LMError, WeightsError
from queryplan.program.explaining import Explanation
from queryplan.program.plan import QueryPlan
from queryplan.program.plan_cache import PlanCache
from queryplan.program.plan_log import JsonlSink, PlanLog
from queryplan.program.planner import QueryPlanner

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")

from fastapi.testclient import TestClient
from queryplan.program.integrations import http_service
from queryplan.program.integrations.http import LOOPBACK_HOSTS, create_app
from queryplan.program.integrations.http_server import (
    address_of,
    bound_socket,
    is_loopback,
    listen,
    token_of_environment,
)
from queryplan.program.integrations.http_types import MAX_BATCH, MAX_DEPTH, MAX_HISTORY, Limits

TURNS = [
    {"role": "user", "content": "What is sleep debt?"},
    {"role": "assistant", "content": "Lost sleep that adds up. Priya explained it, and Rosalind took it further."},
]
FACT = {"is_relevant": 0.9, "complexity": "simple", "intent": "factual", "needs_decomposition": 0.1}
HEADS = {"is_relevant": {"true": 0.9, "false": 0.1}}
SECRET = "zanzibarsecret"
TOKEN = SecretStr("0123456789abcdef0123")
Serve = Callable[..., TestClient]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Clients of planners; each is ready unless ``wait`` is false."""
    with ExitStack() as stack:

        def start(planner: QueryPlanner, wait: bool = True, **options: Any) -> TestClient:
            app = create_app(planner, **options)
            client = stack.enter_context(TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False))
            if wait:
                until(lambda: client.get("/v1/health").json()["ready"])
            return client

        yield start


def until(so: Callable[[], Any], seconds: float = 5.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < end, "it never was so"
        time.sleep(0.01)


def plan_of(answer: Any) -> QueryPlan:
    assert answer.status_code == 200, answer.text
    return QueryPlan.model_validate_json(answer.text)


def untimed(plan: QueryPlan) -> dict[str, Any]:
    return plan.model_dump(exclude={"trace": {"milliseconds": True, "decisions": {"__all__": {"milliseconds"}}}})


def problem(answer: Any, status: int) -> str:
    """The one sentence that a refusal says."""
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["detail"]
    assert "\n" not in answer.json()["detail"]
    return answer.json()["detail"]


# --- plans


@pytest.mark.parametrize("given", [{}, {"history": TURNS, "session": {"active_entity": "Rosalind"}}])
def test_a_plan_over_http_is_the_planners_own(bench: Any, serve: Serve, given: dict[str, Any]) -> None:
    planner = bench.planner(bench.lm({**FACT, "is_follow_up": 0.9}))
    asked = {"query": "what did she say about that?", **given}
    assert untimed(plan_of(serve(planner).post("/v1/plan", json=asked))) == untimed(planner.plan(**asked))


def test_a_batch_is_planned_in_its_order(bench: Any, serve: Serve) -> None:
    queries = [{"query": f"who is Nell {number}?"} for number in range(MAX_BATCH)]
    answer = serve(bench.planner(heads=HEADS)).post("/v1/plan/batch", json={"queries": queries})
    plans = [QueryPlan.model_validate(plan) for plan in answer.json()["plans"]]
    assert [{"query": plan.query} for plan in plans] == queries


def test_many_callers_at_once_share_one_planner(bench: Any, serve: Serve) -> None:
    planner = bench.planner(bench.lm(FACT, delay=0.01))
    client = serve(planner)
    queries = [f"who is number {number}?" for number in range(40)]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda query: client.post("/v1/plan", json={"query": query}), queries))
    assert [plan_of(answer).query for answer in answers] == queries
    assert all(not plan_of(answer).degraded for answer in answers)
    assert client.get("/v1/health").json()["plans"] == 40


def test_an_explanation_has_the_plan_and_its_routes_and_no_training_row(bench: Any, serve: Serve) -> None:
    planner = bench.planner(heads=HEADS)
    answer = serve(planner).post("/v1/explain", json={"query": "What is flow?"})
    found = Explanation.model_validate_json(answer.text)
    assert untimed(found.plan) == untimed(planner.plan("What is flow?"))
    assert {route.stage for route in found.routes} == {"follow_up", "relevance", "complexity"}
    assert all(route.nearest == () for route in found.routes)


@pytest.mark.parametrize("text", ["", "\x00", "x" * 100_000, "你好", "😀"])
def test_any_text_is_planned(bench: Any, serve: Serve, text: str) -> None:
    assert plan_of(serve(bench.planner(heads=HEADS)).post("/v1/plan", json={"query": text})).query == text


def test_half_a_character_is_planned_and_answered_as_text(planned_by_rules: TestClient) -> None:
    sent = {"content": b'{"query": "a \\ud800"}', "headers": {"Content-Type": "application/json"}}
    for path in ("/v1/plan", "/v1/explain"):
        assert planned_by_rules.post(path, **sent).json()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
QUERIES = st.fixed_dictionaries({"query": st.text()}, optional={"session": JSON})
FIELDS = st.sampled_from(["query", "history", "session", "deadline_s", "queries", "other"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=JSON | st.dictionaries(FIELDS, JSON) | st.fixed_dictionaries({"query": st.text()}, optional={"session": JSON})
)
def test_whatever_is_sent_is_planned_or_refused_in_a_sentence(planned_by_rules: TestClient, body: Any) -> None:
    for path in ("/v1/plan", "/v1/plan/batch", "/v1/explain"):
        answer = planned_by_rules.post(
            path, content=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
        )
        if answer.status_code != 200:
            assert problem(answer, 422)


@pytest.fixture
def planned_by_rules(bench: Any, serve: Serve) -> TestClient:
    return serve(bench.planner(heads=HEADS))


# --- what is refused


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "query: field required"),
        ({"query": 3}, "query: input should be a valid string"),
        ({"query": "a", "limit": SECRET}, "limit: extra inputs"),
        ({"query": "a", "history": [{"role": SECRET, "content": "b"}]}, "history[0].role: input should be 'user'"),
        ({"query": "a", "history": [*TURNS, {"role": "user"}]}, "history[2].content: field required"),
        ({"query": "a", "history": TURNS * MAX_HISTORY}, "history: tuple should have at most 200"),
        ({"query": "a", "session": SECRET}, "session: input should be a valid dictionary"),
        ({"query": "a", "deadline_s": 0}, "deadline_s: input should be greater than 0"),
        ({"query": "a", "deadline_s": -1, "history": 4}, ", and 1 more"),
        (SECRET, "the body must be a JSON object"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_without_the_input(
    planned_by_rules: TestClient, body: Any, where: str
) -> None:
    said = problem(planned_by_rules.post("/v1/plan", json=body), 422)
    assert where in said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b'{"query": ', "application/json"),
        (b'{"query": "a"}', "text/plain"),
        (b"", "application/json"),
        (b"\xff", "application/json"),
    ],
)
def test_what_is_no_json_is_refused(planned_by_rules: TestClient, content: bytes, kind: str) -> None:
    answer = planned_by_rules.post("/v1/plan", content=content, headers={"Content-Type": kind})
    assert answer.status_code in (400, 422)
    assert "detail" in answer.json()


def test_a_batch_of_none_or_too_many_is_refused(planned_by_rules: TestClient) -> None:
    for count in (0, MAX_BATCH + 1):
        assert "queries" in problem(
            planned_by_rules.post("/v1/plan/batch", json={"queries": [{"query": "a"}] * count}), 422
        )


@pytest.mark.parametrize("make", [lambda inner: {"a": inner}, lambda inner: [inner]])
def test_a_session_is_only_so_deep(planned_by_rules: TestClient, make: Callable[[Any], Any]) -> None:
    def nested(depth: int) -> dict[str, Any]:
        value: Any = 1
        for _ in range(depth - 1):
            value = make(value)
        return {"query": "a", "session": {"a": value}}

    assert planned_by_rules.post("/v1/plan", json=nested(MAX_DEPTH)).status_code == 200
    assert "deep" in problem(planned_by_rules.post("/v1/plan", json=nested(MAX_DEPTH + 1)), 422)
    bottomless = b'{"query": "a", "session": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    answer = planned_by_rules.post("/v1/plan", content=bottomless, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)


def test_a_body_is_only_so_large_also_where_its_length_is_not_told(bench: Any, serve: Serve) -> None:
    client = serve(bench.planner(heads=HEADS), limits=Limits(body_bytes=2000))
    assert client.post("/v1/plan", json={"query": "a" * 1000}).status_code == 200
    assert "2000 bytes" in problem(client.post("/v1/plan", json={"query": "a" * 2000}), 413)
    parts = iter([b'{"query": "', *[b"a" * 100] * 30, b'"}'])
    assert "2000 bytes" in problem(client.post("/v1/plan", content=parts), 413)


def test_an_unknown_endpoint_or_method_is_refused(planned_by_rules: TestClient) -> None:
    assert "/openapi.json" in problem(planned_by_rules.get("/v1/plans"), 404)
    assert planned_by_rules.get("/v1/plan").status_code == 405


# --- who may ask


def test_with_a_token_nobody_plans_without_it(bench: Any, serve: Serve) -> None:
    client = serve(bench.planner(heads=HEADS), token=TOKEN)
    known = TOKEN.get_secret_value()
    for brought in ("", "Bearer", "Bearer wrong", f"Basic {known}", f"Bearer {known}x", known):
        answer = client.post("/v1/plan", json={"query": "a"}, headers={"Authorization": brought} if brought else {})
        assert "Authorization: Bearer" in problem(answer, 401)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    for path in ("/v1/program", "/metrics", "/openapi.json"):
        assert client.get(path).status_code == 401
    for path in ("/v1/health", "/v1/ready"):
        assert client.get(path).status_code == 200
    allowed = {"Authorization": f"bearer {known}"}
    assert plan_of(client.post("/v1/plan", json={"query": "a"}, headers=allowed))


def test_a_token_and_a_length_are_checked_before_the_body_is_read(bench: Any) -> None:
    assert asked_raw(create_app(bench.planner(heads=HEADS), token=TOKEN), [], headers=[])[0] == 401
    app = create_app(bench.planner(heads=HEADS), token=TOKEN)
    brought = [(b"authorization", b"Bearer " + TOKEN.get_secret_value().encode()), (b"content-length", b"99999999")]
    assert asked_raw(app, [], headers=brought)[0] == 413


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:8000", 200), ("localhost", 200), ("LOCALHOST:1", 200), ("[::1]:8000", 200), ("[::1]", 200),
     ("evil.example", 403), ("127.0.0.1.evil.example:8000", 403), ("", 403)],
)  # fmt: skip
def test_without_a_token_only_the_own_name_is_answered(bench: Any, serve: Serve, host: str, status: int) -> None:
    client = serve(bench.planner(heads=HEADS), hosts=LOOPBACK_HOSTS)
    assert client.post("/v1/plan", json={"query": "a"}, headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    "told", ["short", "a" * 15, "with a space in it all", "ümlautümlautümlaut", "tab\there0123456789"]
)
def test_a_token_that_can_be_guessed_or_not_be_sent_is_refused_and_not_shown(told: str) -> None:
    with pytest.raises(ConfigError, match="openssl rand") as raised:
        token_of_environment({"QUERYPLAN_SERVE_TOKEN": told})
    assert told not in str(raised.value)


def test_no_token_is_none_and_a_token_is_not_shown() -> None:
    assert token_of_environment({}) is None
    assert token_of_environment({"QUERYPLAN_SERVE_TOKEN": "  "}) is None
    token = token_of_environment({"QUERYPLAN_SERVE_TOKEN": " 0123456789abcdef\n"})
    assert token is not None
    assert token.get_secret_value() == "0123456789abcdef"
    assert "0123" not in repr(token)


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
    client = serve(bench.planner(bench.lm(FACT, delay=1.0), HEADS), limits=limits)
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(client.post, "/v1/plan", json={"query": "first?"})
        until(lambda: client.get("/v1/health").json()["running"] == 1)
        began = time.monotonic()
        waiting = pool.submit(client.post, "/v1/plan", json={"query": "second?", "deadline_s": 0.3})
        until(lambda: client.get("/v1/health").json()["waiting"] == 1)
        refused = client.post("/v1/plan", json={"query": "third?"})
        assert plan_of(waiting.result()).degraded
        assert time.monotonic() - began < 0.9
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


def asked_raw(
    app: Any, messages: list[Any], headers: list[tuple[bytes, bytes]] | None = None
) -> tuple[int | None, str]:
    """Status and body of a request whose parts come one by one; after the last nothing comes for ever."""
    sent: list[Any] = []
    coming = list(messages)

    async def receive() -> Any:
        while not coming:
            await asyncio.sleep(3600)
        one = coming.pop(0)
        if isinstance(one, float):
            await asyncio.sleep(one)
            return await receive()
        return one

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask() -> None:
        async with app.router.lifespan_context(app):
            await asyncio.sleep(0.05)
            brought = [(b"host", b"localhost"), (b"content-type", b"application/json")] if headers is None else headers
            scope = {"type": "http", "method": "POST", "path": "/v1/plan", "headers": brought, "query_string": b"",
                     "http_version": "1.1", "scheme": "http", "root_path": "", "raw_path": b"/v1/plan"}  # fmt: skip
            await app(scope, receive, send)

    asyncio.run(asyncio.wait_for(ask(), 10))
    return (sent[0]["status"], sent[1]["body"].decode()) if sent else (None, "")


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
    assert "ZeroDivisionError in test_http.py:" in caplog.text
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


# --- what is told


def test_a_kept_plan_says_so_and_the_cache_is_counted(bench: Any, serve: Serve) -> None:
    planner = bench.planner(bench.lm(FACT), cache=PlanCache(10))
    client = serve(planner)
    first, second = (plan_of(client.post("/v1/plan", json={"query": "Who is Nell?"})) for _ in range(2))
    assert {decision.decided_by for decision in second.trace.decisions} == {"cache"}
    assert "plan cache: 1 of 2 answered" in second.trace.notes
    assert first.intent == second.intent
    assert client.get("/v1/health").json()["cache"] == {"asked": 2, "hits": 1, "hit_rate": 0.5}
    assert "queryplan_cache_hits_total 1" in client.get("/metrics").text


def test_metrics_are_sums_that_agree_with_each_other(bench: Any, serve: Serve) -> None:
    client = serve(bench.planner(heads=HEADS))
    for query in ("a", "b", 3):
        client.post("/v1/plan", json={"query": query})
    client.get(f"/{SECRET}")
    lines = client.get("/metrics").text.splitlines()
    numbers = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert numbers['queryplan_http_requests_total{path="/v1/plan",status="200"}'] == "2"
    assert numbers['queryplan_http_requests_total{path="/v1/plan",status="422"}'] == "1"
    assert numbers['queryplan_http_requests_total{path="(no endpoint)",status="404"}'] == "1"
    within = [
        int(n)
        for name, n in numbers.items()
        if name.startswith('queryplan_http_request_seconds_bucket{path="/v1/plan"')
    ]
    assert within == sorted(within)
    assert within[-1] == int(numbers['queryplan_http_request_seconds_count{path="/v1/plan"}']) == 3
    assert numbers["queryplan_plans_total"] == "2"
    assert SECRET not in str(lines)


def test_the_program_is_told_without_a_path(bench: Any, serve: Serve, tmp_path: Path, root: Path) -> None:
    bench.planner().save(tmp_path / "program")
    planner = QueryPlanner.load(tmp_path / "program", lm=None)
    bench.planners.append(planner)
    facts = serve(planner).get("/v1/program")
    told = facts.json()
    assert planner.manifest is not None
    assert (told["domain"], told["version"]) == ("podcast", planner.program_version)
    assert told["content_hash"] == planner.manifest.content_hash
    assert "math" in told["rejection_kinds"]
    assert str(tmp_path) not in facts.text
    assert str(root) not in facts.text


def test_of_how_it_was_compiled_only_what_can_be_no_path_is_told(bench: Any, serve: Serve) -> None:
    from queryplan.program.folder import Manifest

    planner = bench.planner()
    compiled = {"optimizer": "bootstrap", "seed": 0, "arguments": {"teacher": "/home/me/x"}}
    planner.manifest = Manifest(domain="podcast", compiled=compiled).sealed()
    told = serve(planner).get("/v1/program")
    assert told.json()["compiled"] == {"optimizer": "bootstrap", "seed": 0}
    assert "/home" not in told.text


def test_the_schema_describes_every_endpoint_and_the_plan(planned_by_rules: TestClient) -> None:
    schema = planned_by_rules.get("/openapi.json").json()
    assert set(schema["paths"]) == {
        "/v1/plan", "/v1/plan/batch", "/v1/explain", "/v1/health", "/v1/ready", "/v1/program", "/metrics",
    }  # fmt: skip
    assert set(QueryPlan.model_fields) == set(schema["components"]["schemas"]["QueryPlan"]["properties"])
    assert set(schema["paths"]["/v1/plan"]["post"]["responses"]) >= {"200", "401", "413", "422", "503"}


# --- addresses


def test_a_free_port_is_bound_and_told() -> None:
    with bound_socket("127.0.0.1", 0) as bound:
        assert address_of(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"
        assert is_loopback(bound)
        assert bound.proto == socket.IPPROTO_TCP  # or asyncio leaves Nagle's algorithm on, 40 ms an answer


def test_every_address_is_not_loopback() -> None:
    with bound_socket("0.0.0.0", 0) as bound:
        assert not is_loopback(bound)


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_loopback_of_ipv6_is_loopback() -> None:
    try:
        bound = bound_socket("::1", 0)
    except ConfigError:
        pytest.skip("this machine has no IPv6 loopback")
    with bound:
        assert is_loopback(bound)
        assert address_of(bound).startswith("http://[::1]:")


def test_a_port_that_is_taken_is_said() -> None:
    with bound_socket("127.0.0.1", 0) as bound:
        listen(bound)
        with pytest.raises(ConfigError, match="give another --port"):
            bound_socket("127.0.0.1", bound.getsockname()[1])


def test_of_two_that_bound_one_address_the_second_to_listen_is_told() -> None:
    with bound_socket("127.0.0.1", 0) as first:
        second = bound_socket("127.0.0.1", first.getsockname()[1])
        listen(first)
        with second, pytest.raises(ConfigError, match="give another --port"):
            listen(second)
