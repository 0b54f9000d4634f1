"""Calls that hang, fail and are late."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from queryplan.errors import ConfigError
from queryplan.program.retrieval.calls import Call, Deadline, Limits, awaited, in_thread, run_calls


class Store:
    """Something to be asked."""


def call(run: Callable[[], Any], store: object | None = None, **limits: Any) -> Call[Any]:
    return Call(store or Store(), Limits(**limits), run)


@pytest.fixture
def hang() -> Any:
    """A function that hangs until the test is over."""
    over = threading.Event()
    yield lambda: over.wait(20)
    over.set()


def test_answers_come_in_the_order_of_the_calls() -> None:
    def slow() -> str:
        time.sleep(0.03)
        return "slow"

    outcomes = run_calls([call(slow), call(lambda: "fast")], Deadline())
    assert [outcome.value for outcome in outcomes] == ["slow", "fast"]
    assert outcomes[0].milliseconds >= 25


def test_no_calls_give_no_outcomes() -> None:
    assert run_calls([], Deadline()) == []


def test_what_a_call_raises_is_its_error_in_one_line() -> None:
    def fail() -> None:
        raise ValueError("broken\nsecond line")

    failed, fine = run_calls([call(fail), call(lambda: 1)], Deadline())
    assert (failed.value, failed.error) == (None, "ValueError: broken")
    assert (fine.value, fine.error) == (1, "")


def test_a_call_that_hangs_costs_its_timeout_only(hang: Callable[[], Any]) -> None:
    start = time.perf_counter()
    hung, fine = run_calls([call(hang, timeout_s=0.05), call(lambda: "here")], Deadline())
    assert time.perf_counter() - start < 2
    assert hung.error == "no answer within 0.05 s"
    assert fine.value == "here"


def test_calls_behind_one_that_hangs_are_given_up_and_say_so(hang: Callable[[], Any]) -> None:
    store = Store()
    limits = {"concurrency": 1, "timeout_s": 0.05}
    outcomes = run_calls([call(hang, store, **limits), call(lambda: 1, store, **limits)], Deadline())
    assert outcomes[1].error == "not asked: earlier calls have not come back"


def test_a_store_that_still_hangs_from_the_last_time_is_given_up_without_a_deadline(hang: Callable[[], Any]) -> None:
    store = Store()
    limits = {"concurrency": 1, "timeout_s": 0.05}
    run_calls([call(hang, store, **limits)], Deadline())
    (outcome,) = run_calls([call(lambda: 1, store, **limits)], Deadline())
    assert outcome.error.startswith("not asked")


def test_the_deadline_ends_everything(hang: Callable[[], Any]) -> None:
    start = time.perf_counter()
    (outcome,) = run_calls([call(hang, timeout_s=30)], Deadline(0.05))
    assert time.perf_counter() - start < 2
    assert outcome.error == "the deadline came first"


def test_after_the_deadline_nothing_is_asked() -> None:
    asked: list[int] = []
    (outcome,) = run_calls([call(lambda: asked.append(1))], Deadline(0.0))
    assert outcome.error == "the deadline came first"
    time.sleep(0.02)
    assert not asked


def test_no_more_calls_are_in_flight_than_a_store_allows() -> None:
    store, lock = Store(), threading.Lock()
    now, most = 0, 0

    def work() -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.005)
        with lock:
            now -= 1

    calls = [call(work, store, concurrency=2) for _ in range(8)]
    threads = [threading.Thread(target=run_calls, args=(calls, Deadline())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2


def test_a_store_that_cannot_be_hashed_may_be_asked() -> None:
    (outcome,) = run_calls([call(lambda: 5, store=[])], Deadline())
    assert outcome.value == 5


def test_an_awaitable_is_awaited_without_a_loop() -> None:
    async def answer() -> str:
        await asyncio.sleep(0)
        return "awaited"

    (outcome,) = run_calls([call(answer)], Deadline())
    assert outcome.value == "awaited"


def test_an_awaitable_runs_on_the_loop_of_the_caller() -> None:
    async def where() -> Any:
        return asyncio.get_running_loop()

    async def main() -> tuple[Any, Any]:
        (outcome,) = await awaited(lambda: run_calls([call(where)], Deadline()))
        return outcome.value, asyncio.get_running_loop()

    found, loop = asyncio.run(main())
    assert found is loop


def test_the_loop_goes_on_while_a_run_blocks() -> None:
    async def main() -> list[str]:
        said: list[str] = []

        async def tick() -> None:
            said.append("tick")

        blocking = asyncio.ensure_future(awaited(lambda: time.sleep(0.03)))
        await tick()
        await blocking
        return said

    assert asyncio.run(main()) == ["tick"]


def test_a_thread_gives_back_what_its_function_raises() -> None:
    def fail() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        in_thread(fail).result(timeout=5)


def test_a_deadline_counts_down() -> None:
    deadline = Deadline(10)
    assert 9 < deadline.left() <= 10
    assert not deadline.over()
    assert Deadline().left() == float("inf")
    assert Deadline(-1).over()


@pytest.mark.parametrize(
    "wrong", [{"concurrency": 0}, {"timeout_s": -1.0}, {"timeout_s": float("nan")}, {"results": 0}]
)
def test_limits_under_which_nothing_can_be_asked_are_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match=f"must be above zero: give another {next(iter(wrong))}"):
        Limits(**wrong)


def test_what_comes_back_is_read_in_the_call_and_its_errors_are_the_calls() -> None:
    (read, failed) = run_calls(
        [Call(Store(), Limits(), lambda: "7", int), Call(Store(), Limits(), lambda: "x", int)], Deadline()
    )
    assert read.value == 7
    assert failed.error.startswith("ValueError: ")
