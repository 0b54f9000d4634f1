"""Requests over HTTP that are refused: wrong, too large, or not allowed; and addresses that are not free."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest
from queryplan.errors import ConfigError

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")

from fastapi.testclient import TestClient
from queryplan.program.integrations.http import LOOPBACK_HOSTS, create_app
from queryplan.program.integrations.http_server import (
    address_of,
    bound_socket,
    is_loopback,
    listen,
    token_of_environment,
)
from queryplan.program.integrations.http_types import MAX_BATCH, MAX_DEPTH, MAX_HISTORY, Limits

from .serving import HEADS, SECRET, TOKEN, TURNS, Serve, asked_raw, plan_of, problem

# --- what is refused


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "query: this field is missing"),
        ({"query": 3}, "query: expected text, not a number"),
        ({"query": "a", "limit": SECRET}, "limit: there is no such field"),
        ({"query": "a", "history": [{"role": SECRET, "content": "b"}]}, "history[0].role: must be user, assistant"),
        ({"query": "a", "history": [*TURNS, {"role": "user"}]}, "history[2].content: this field is missing"),
        ({"query": "a", "history": TURNS * MAX_HISTORY}, "history: must have at most 200 entries"),
        ({"query": "a", "session": SECRET}, "session: expected an object, not text"),
        ({"query": "a", "deadline_s": "soon"}, "deadline_s: expected a number, not text"),
        ({"query": "a", "deadline_s": "2"}, "deadline_s: expected a number, not text"),
        ({"query": "a", "deadline_s": True}, "deadline_s: expected a number, not true or false"),
        ({"query": "a", "deadline_s": "soon", "history": 4}, ", and 1 more"),
        ({"query": "a", f"what is {SECRET}?": 1}, "a field: there is no such field"),
        ({"query": "a", SECRET * 9: 1}, "a field: there is no such field"),
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
        ('{"query": "caf\xe9"}'.encode("latin-1"), "application/json"),
        (b'{"query": "a", "session": {"a": ' + b"9" * 5000 + b"}}", "application/json"),
    ],
)
def test_what_is_no_json_is_refused(planned_by_rules: TestClient, content: bytes, kind: str) -> None:
    answer = planned_by_rules.post("/v1/plan", content=content, headers={"Content-Type": kind})
    assert problem(answer, 422).startswith("the body must be a JSON object")


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
    assert problem(answer, 422)


def test_a_body_is_only_so_large_also_where_its_length_is_not_told(bench: Any, serve: Serve) -> None:
    client = serve(bench.planner(heads=HEADS), limits=Limits(body_bytes=2000))
    assert client.post("/v1/plan", json={"query": "a" * 1000}).status_code == 200
    assert "2000 bytes" in problem(client.post("/v1/plan", json={"query": "a" * 2000}), 413)
    parts = iter([b'{"query": "', *[b"a" * 100] * 30, b'"}'])
    assert "2000 bytes" in problem(client.post("/v1/plan", content=parts), 413)


def test_an_unknown_endpoint_or_method_is_refused(planned_by_rules: TestClient) -> None:
    assert "/openapi.json" in problem(planned_by_rules.get("/v1/plans"), 404)
    wrong = planned_by_rules.get("/v1/plan")
    assert problem(wrong, 405) == "this endpoint takes POST; see /openapi.json"
    assert wrong.headers["allow"] == "POST"


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
        assert client.get(path).status_code == client.head(path).status_code == 200
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
