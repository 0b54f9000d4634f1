"""Plans over HTTP: the same plans, typed, and what is told of the server."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from queryplan.program.explaining import Explanation
from queryplan.program.plan import QueryPlan
from queryplan.program.plan_cache import PlanCache
from queryplan.program.planner import QueryPlanner

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")

from fastapi.testclient import TestClient
from queryplan.program.integrations.http_types import MAX_BATCH

from .serving import FACT, HEADS, SECRET, TURNS, Serve, plan_of, problem, untimed

# --- plans


@pytest.mark.parametrize("given", [{}, {"history": TURNS, "session": {"active_entity": "Rosalind"}}])
def test_a_plan_over_http_is_the_planners_own(bench: Any, serve: Serve, given: dict[str, Any]) -> None:
    planner = bench.planner(bench.lm({**FACT, "is_follow_up": 0.9}))
    asked = {"query": "what did she say about that?", **given}
    assert untimed(plan_of(serve(planner).post("/v1/plan", json=asked))) == untimed(planner.plan(**asked))


@pytest.mark.parametrize("path", ["/v1/plan", "/v1/explain"])
def test_what_a_system_says_is_taken_and_left_out_as_by_the_planner(bench: Any, serve: Serve, path: str) -> None:
    planner = bench.planner(heads=HEADS)
    history = [{"role": "system", "content": "Be brief."}, *TURNS, {"role": "tool", "content": "{}"}]
    answer = serve(planner).post(path, json={"query": "and why?", "history": history}).json()
    plan = QueryPlan.model_validate(answer.get("plan", answer))
    assert untimed(plan) == untimed(planner.plan("and why?", history))
    assert "history" not in {gap.what for gap in plan.degraded}
    assert "Be brief" not in plan.conversation_context


def test_a_history_is_taken_as_chat_interfaces_keep_it(bench: Any, serve: Serve) -> None:
    planner = bench.planner(heads=HEADS)
    parts = [{"type": "text", "text": "What is sleep debt?"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    calls = [{"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]
    history = [
        {"role": "user", "content": parts, "name": "ada"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "{}", "tool_call_id": "c"},
        TURNS[1],
    ]
    asked = {"query": "and why?", "history": history, "session": None}
    assert untimed(plan_of(serve(planner).post("/v1/plan", json=asked))) == untimed(planner.plan("and why?", history))
    assert plan_of(serve(planner).post("/v1/plan", json={"query": "why?", "history": None})).previous_topics == ()


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
    from queryplan.program.artifact.folder import Manifest

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
