"""Counting calls, under threads and asyncio."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import dspy
import pytest
from queryplan.errors import LMError
from queryplan.program.lm.endpoint import LMHandle, LMSettings, open_lm
from queryplan.program.lm.meter import active_meters, meter
from queryplan.signatures.assess_complexity import AssessComplexity
from queryplan.signatures.detect_follow_up import DetectFollowUp


@pytest.fixture
def lm(chat_server: Any) -> LMHandle:
    handle = open_lm(LMSettings(model="openai/m", api_base=chat_server.base))
    assert handle is not None
    return handle


def decide(lm: LMHandle, signature: Any = DetectFollowUp) -> dspy.Predict:
    predictor = dspy.Predict(signature)
    predictor.lm = lm.decider  # type: ignore[assignment]
    return predictor


def test_a_decision_is_counted_with_its_tokens_and_time(lm: LMHandle) -> None:
    with meter() as m:
        decide(lm)(history="h", query="q")
    assert (m.calls, m.cached, m.failed, m.prompt_tokens, m.completion_tokens) == (1, 0, 0, 11, 1)
    assert m.milliseconds > 0


def test_each_question_of_a_request_is_one_call(lm: LMHandle) -> None:
    with meter() as m:
        decide(lm, AssessComplexity)(query="q")
    assert m.calls == 3


def test_writing_calls_are_counted_too(lm: LMHandle) -> None:
    with meter() as m:
        lm.writer("hello")
    assert m.calls == 1


def test_nothing_is_counted_outside_the_block(lm: LMHandle) -> None:
    with meter() as m:
        pass
    decide(lm)(history="h", query="q")
    assert m.calls == 0
    assert active_meters() == ()


def test_an_outer_meter_counts_what_inner_ones_count(lm: LMHandle) -> None:
    with meter() as outer:
        with meter() as inner:
            decide(lm)(history="h", query="q")
        decide(lm)(history="h", query="r")
    assert (inner.calls, outer.calls) == (1, 2)


def test_threads_of_two_meters_do_not_mix(lm: LMHandle) -> None:
    def count(times: int) -> int:
        with meter() as m:
            for i in range(times):
                decide(lm)(history="h", query=str(i))
        return m.calls

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(count, [1, 2, 3, 4])) == [1, 2, 3, 4]


def test_threads_that_carry_the_context_count_in_one_meter(lm: LMHandle) -> None:
    with meter() as m, ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(copy_context().run, decide(lm), history="h", query=str(i)) for i in range(8)]
        assert all(c.result() for c in calls)
    assert m.calls == 8


def test_workers_of_dspy_parallel_count_in_the_meter(lm: LMHandle) -> None:
    rows = [dspy.Example(history="h", query=str(i)).with_inputs("history", "query") for i in range(6)]
    with meter() as m:
        dspy.Parallel(num_threads=3, disable_progress_bar=True)([(decide(lm), row) for row in rows])
    assert m.calls == 6


def test_asyncio_tasks_count_each_in_their_own_meter(lm: LMHandle) -> None:
    async def count(times: int) -> int:
        with meter() as m:
            await asyncio.gather(*(decide(lm).acall(history="h", query=str(i)) for i in range(times)))
        return m.calls

    async def both() -> tuple[int, int]:
        return await asyncio.gather(count(2), count(3))

    assert tuple(asyncio.run(both())) == (2, 3)


def test_a_failed_request_is_counted_as_such(lm: LMHandle, chat_server: Any) -> None:
    chat_server.reply = lambda body: (400, {"error": {"message": "no"}})
    with meter() as m, pytest.raises(LMError):
        decide(lm)(history="h", query="q")
    assert (m.calls, m.failed) == (0, 1)


def test_dspy_counts_usage_as_well(lm: LMHandle) -> None:
    with dspy.track_usage() as usage:
        decide(lm)(history="h", query="q")
    assert usage.get_total_tokens()["openai/m"]["prompt_tokens"] == 11
