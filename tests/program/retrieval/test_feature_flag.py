"""The planner behind a flag."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from queryplan.program.plan import QueryPlan, RetrievalStrategy
from queryplan.program.retrieval.feature_flag import Flagged, PlannerFlag, log_shadow, shadow, share_of

PLAN = QueryPlan(
    query="q",
    standalone_query="q",
    is_follow_up=False,
    is_relevant=True,
    complexity="simple",
    intent="factual",
    needs_decomposition=False,
    retrieval_strategy=RetrievalStrategy(use_rag=True, use_kg=False),
)


def flagged(flag: PlannerFlag, plan: Callable[[str], QueryPlan] = lambda query: PLAN, **more: Any) -> Flagged[str]:
    return Flagged(flag, old=lambda query: f"old {query}", plan=plan, new=lambda query, plan: f"new {query}", **more)


def refuse(query: str) -> QueryPlan:
    raise AssertionError("the planner was called")


def fail(query: str) -> QueryPlan:
    raise ConnectionError("no model")


def test_off_leaves_the_old_path_untouched() -> None:
    assert flagged(PlannerFlag(), refuse).answer("q", "user") == "old q"


def test_on_acts_on_plans() -> None:
    assert flagged(PlannerFlag(mode="on")).answer("q", "user") == "new q"


def test_a_plan_that_fails_leaves_the_old_path(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="queryplan.shadow"):
        assert flagged(PlannerFlag(mode="on"), fail).answer("q", "user") == "old q"
    assert "ConnectionError" in caplog.text


def test_the_shadow_plans_and_reports_while_the_old_path_answers() -> None:
    reported: list[tuple[str, str]] = []
    done = threading.Event()

    def report(plan: QueryPlan, key: str) -> None:
        reported.append((plan.query, key))
        done.set()

    answer = flagged(PlannerFlag(mode="shadow"), report=report).answer("q", "user")
    assert answer == "old q"
    assert done.wait(5)
    assert reported == [("q", "user")]


def test_the_shadow_does_not_delay_the_answer() -> None:
    over = threading.Event()

    def slow(query: str) -> QueryPlan:
        over.wait(20)
        return PLAN

    start = time.perf_counter()
    assert flagged(PlannerFlag(mode="shadow"), slow).answer("q", "user") == "old q"
    assert time.perf_counter() - start < 5
    over.set()


@pytest.mark.parametrize("plan", [lambda: fail("q"), lambda: PLAN])
def test_what_fails_in_the_shadow_is_logged_only(plan: Any, caplog: pytest.LogCaptureFixture) -> None:
    def report(plan: QueryPlan, key: str) -> None:
        raise OSError("disk")

    with caplog.at_level(logging.WARNING, logger="queryplan.shadow"):
        shadow(plan, "user", report).result(timeout=5)
    assert "a shadow plan failed" in caplog.text


def test_a_shadow_plan_is_logged_as_json(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="queryplan.shadow"):
        log_shadow(PLAN, "user-17")
        log_shadow(PLAN, "user-17")
        log_shadow(PLAN, "user-18")
    said, again, other = (json.loads(message.removeprefix("shadow ")) for message in caplog.messages)
    assert (said["complexity"], said["strategy"]["use_rag"]) == ("simple", True)
    assert said["key"] == again["key"] != other["key"], "plans of one key can be told"


def test_no_word_of_a_users_is_logged_unless_text_is_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    secret = "is Zebulon ill?"
    plan = PLAN.model_copy(update={"query": secret, "standalone_query": secret})
    with caplog.at_level(logging.DEBUG):
        assert flagged(PlannerFlag(mode="shadow"), lambda query: plan).answer(secret, key=secret)
        until = time.monotonic() + 5
        while not caplog.records and time.monotonic() < until:
            time.sleep(0.01)
        assert "shadow" in caplog.text
        assert "Zebulon" not in caplog.text
        log_shadow(plan, secret, text=True)
    said = json.loads(caplog.messages[-1].removeprefix("shadow "))
    assert (said["query"], said["key"]) == (secret, secret)


def test_a_fraction_takes_that_share_of_keys() -> None:
    flag = PlannerFlag(mode="on", fraction=0.2)
    taken = sum(flag.mode_for(f"user-{n}") == "on" for n in range(5000))
    assert 0.17 < taken / 5000 < 0.23


@pytest.mark.parametrize(("fraction", "expected"), [(0.0, "off"), (1.0, "on")])
def test_no_fraction_takes_nobody_and_all_of_it_everybody(fraction: float, expected: str) -> None:
    flag = PlannerFlag(mode="on", fraction=fraction)
    assert {flag.mode_for(f"user-{n}") for n in range(200)} == {expected}


@given(st.text(), st.floats(0, 1), st.floats(0, 1))
def test_who_is_in_stays_in_when_the_fraction_grows(key: str, one: float, other: float) -> None:
    smaller, larger = sorted((one, other))
    if PlannerFlag(mode="on", fraction=smaller).mode_for(key) == "on":
        assert PlannerFlag(mode="on", fraction=larger).mode_for(key) == "on"


def test_the_share_of_a_key_never_changes() -> None:
    # Written down: another number would move users between the paths with a new version.
    assert share_of("user-17", "queryplan") == pytest.approx(SHARE, abs=1e-9)


def test_another_salt_takes_other_keys() -> None:
    one, other = (PlannerFlag(mode="on", fraction=0.5, salt=s) for s in ("a", "b"))
    keys = [f"user-{n}" for n in range(100)]
    assert [one.mode_for(k) for k in keys] != [other.mode_for(k) for k in keys]


@pytest.mark.parametrize("wrong", [{"mode": "sometimes"}, {"fraction": 1.5}, {"fraction": -0.1}])
def test_a_flag_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PlannerFlag(**wrong)


SHARE = 0.7057415244049364
