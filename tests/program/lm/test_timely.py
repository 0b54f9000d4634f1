"""Requests end with the plan that they are for: on the wire, in retries, and in what room they leave to others."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from queryplan.errors import LMError
from queryplan.program.lm.endpoint import LMHandle
from queryplan.program.lm.timely import OUT_OF_TIME, seconds_left, until


@pytest.fixture
def hung(chat_server: Any, complete: Any) -> Iterator[threading.Event]:
    """Until it is set the server answers nobody."""
    healthy = threading.Event()

    def reply(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        healthy.wait(20)
        return 200, complete("Yes", {"Yes": -0.1, "No": -2.3, "simple": -3.0, "fact": -3.0})

    chat_server.reply = reply
    yield healthy
    healthy.set()


def test_a_request_ends_when_its_answer_would_come_too_late_and_is_not_sent_again(
    lm: LMHandle, chat_server: Any, hung: threading.Event
) -> None:
    began = time.perf_counter()
    with until(began + 0.3), pytest.raises(LMError, match=r"^the deadline passed$"):
        lm.writer("hello")
    assert time.perf_counter() - began < 2
    assert len(chat_server.requests) == 1


def test_a_gateway_that_sends_spaces_while_a_model_thinks_holds_no_thread(lm: LMHandle, chat_server: Any) -> None:
    chat_server.spaces = 100
    began = time.perf_counter()
    with until(began + 0.3), pytest.raises(LMError, match=r"^the deadline passed$"):
        lm.writer("hello")
    assert time.perf_counter() - began < 2
    chat_server.spaces = 3
    assert lm.writer("hello") == ["Yes"]


def test_nothing_is_sent_after_the_deadline(lm: LMHandle, chat_server: Any) -> None:
    with until(time.perf_counter() - 1), pytest.raises(LMError, match=r"^the deadline passed$"):
        lm.writer("hello")
    assert chat_server.requests == []
    assert seconds_left() is None
    lm.writer("hello")


def test_requests_that_hung_leave_room_for_the_next_plan(bench: Any, lm: LMHandle, hung: threading.Event) -> None:
    planner = bench.planner(lm)
    for _ in range(12):
        assert OUT_OF_TIME in {gap.why for gap in planner.plan("Who is Nell?", deadline_s=0.1).degraded}
    hung.set()
    plan = planner.plan("Who is Nell?", deadline_s=10)
    assert OUT_OF_TIME not in {gap.why for gap in plan.degraded}
    assert [d.decided_by for d in plan.trace.decisions if d.stage == "relevance"] == ["lm"]


@pytest.mark.parametrize(("asked", "seconds_of_use"), [(3600, None), (5, 1.0)])
def test_nobody_sleeps_through_a_pause_that_is_longer_than_an_answer_may_take(
    lm: LMHandle, chat_server: Any, asked: int, seconds_of_use: float | None
) -> None:
    chat_server.reply = lambda body: (429, {"error": {"message": "slow down"}})
    chat_server.headers["Retry-After"] = str(asked)
    began = time.perf_counter()
    with until(None if seconds_of_use is None else began + seconds_of_use):
        with pytest.raises(LMError, match=f"over its limits and asks for {asked} s; wait"):
            lm.writer("hello")
        with pytest.raises(LMError, match=f"over its limits and asks for {asked} s; wait"):
            asyncio.run(lm.writer.acall("hello"))
    assert time.perf_counter() - began < 1
    assert len(chat_server.requests) == 2


def test_a_short_pause_is_waited_for(lm: LMHandle, chat_server: Any, complete: Any) -> None:
    answers = [(429, {"error": {"message": "slow down"}}), (200, complete("well"))]
    chat_server.reply = lambda body: answers.pop(0)
    chat_server.headers["Retry-After"] = "0"
    assert lm.writer("hello") == ["well"]
