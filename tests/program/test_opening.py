"""When a planner's model is opened, who waits for that and how long, and who closes it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from copy import copy, deepcopy
from typing import Any

import dspy
import pytest
from queryplan.errors import ConfigError
from queryplan.program.asking import Ask, Clock, send_round
from queryplan.program.asking import Threads as Senders
from queryplan.program.opening import CLOSED, STILL_OPENING, Model

FACT = {"is_relevant": 0.9, "complexity": "simple", "intent": "factual", "needs_decomposition": 0.1}


class Slow:
    """Opens a model only once it is released."""

    def __init__(self, lm: Any) -> None:
        self.lm, self.released, self.asked = lm, threading.Event(), 0

    def __call__(self) -> Any:
        self.asked += 1
        self.released.wait(5)
        return self.lm


@pytest.fixture
def slow(bench: Any) -> Iterator[Slow]:
    opener = Slow(bench.lm(FACT))
    yield opener
    opener.released.set()


class Closable:
    """A model that counts how often it is closed."""

    fingerprint = "closable"

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def reasons(plan: Any) -> set[str]:
    return {gap.why for gap in plan.degraded}


def test_a_plan_waits_for_the_opening_no_longer_than_its_deadline(bench: Any, slow: Slow) -> None:
    planner = bench.planner(slow, {"is_relevant": {"true": 0.9, "false": 0.1}})
    began = time.perf_counter()
    assert reasons(planner.plan("Who is Nell?", deadline_s=0.1)) == {STILL_OPENING}
    assert time.perf_counter() - began < 1
    slow.released.set()
    assert not planner.plan("Who is Nell?").degraded
    assert slow.asked == 1


def test_the_event_loop_goes_on_while_a_model_is_opened(bench: Any, slow: Slow) -> None:
    planner = bench.planner(slow)

    async def ticks() -> int:
        planning, count = asyncio.ensure_future(planner.aplan("Who is Nell?", deadline_s=0.3)), 0
        while not planning.done():
            await asyncio.sleep(0.01)
            count += 1
        assert reasons(await planning) == {STILL_OPENING}
        return count

    assert asyncio.run(ticks()) > 5


def test_who_stops_waiting_stops_the_opening_for_nobody(bench: Any, slow: Slow) -> None:
    planner = bench.planner(slow)

    async def impatient() -> Any:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(planner.aplan("Who is Nell?"), 0.05)
        slow.released.set()
        return await planner.aplan("Who is Nell?")

    assert not asyncio.run(impatient()).degraded


def test_only_a_model_that_was_opened_here_is_closed_here() -> None:
    given, opened = Closable(), Closable()
    for model in (Model(given), Model(lambda: opened)):  # type: ignore[arg-type, return-value]
        assert model.open() is not None
        deepcopy(model).close()
        assert (given.closed, opened.closed) == (0, 0)
        model.close()
        model.close()
    assert (given.closed, opened.closed) == (0, 1)


def test_copies_share_one_opening() -> None:
    opened = list[Closable]()

    def opener() -> Any:
        opened.append(Closable())
        return opened[-1]

    model = Model(opener)
    copies = [deepcopy(model) for _ in range(3)]
    assert len({id(one.open()) for one in (*copies, model)}) == len(opened) == 1
    assert deepcopy(copies[0]).lm is opened[0]
    copies[0].close()
    assert (copies[0].now(), copies[1].lm, opened[0].closed) == ((None, CLOSED), opened[0], 0)
    model.close()
    assert ([one.now() for one in copies], opened[0].closed) == ([(None, CLOSED)] * 3, 1)


def test_a_copy_closes_the_model_of_one_that_is_gone() -> None:
    opened = Closable()
    model = Model(lambda: opened)  # type: ignore[arg-type, return-value]
    left = deepcopy(model)
    assert left.open() is opened
    del model
    left.close()
    assert opened.closed == 1


def test_a_model_that_is_left_stays_open_for_copies_which_then_close_it() -> None:
    opened = Closable()
    model = Model(lambda: opened)  # type: ignore[arg-type, return-value]
    other = deepcopy(model)
    model.open()
    model.leave()
    assert (other.lm, opened.closed) == (opened, 0)
    other.close()
    assert opened.closed == 1


def test_another_model_closes_the_one_before_if_it_was_opened_here(bench: Any) -> None:
    opened, given = Closable(), Closable()
    planner = bench.planner(lambda: opened)
    planner._model.open()
    planner.with_lm(given)
    planner.with_lm(None)
    assert (opened.closed, given.closed, planner.has_lm) == (1, 0, False)


def test_dspys_optimizers_open_one_model_for_all_their_copies(bench: Any) -> None:
    opened = list[Any]()
    planner = bench.planner(lambda: opened.append(1) or bench.lm(FACT))
    copies = [copy(planner), planner.deepcopy(), planner.reset_copy()]
    for one in (*copies, planner):
        assert not one.plan("Who is Nell?").degraded
        assert one.has_lm
    assert len(opened) == 1
    for one in copies:
        one.close()
    assert not planner.plan("Who is Nell?").degraded


def test_a_model_that_is_closed_while_it_is_opened_is_closed_when_it_is_open() -> None:
    lm = Closable()
    slow = Slow(lm)
    model = Model(slow)
    model.wait(0.01)
    model.close()
    slow.released.set()
    for _ in range(100):
        if lm.closed:
            break
        time.sleep(0.01)
    assert (lm.closed, model.now()) == (1, (None, CLOSED))


def test_there_is_a_plan_after_closing_too(bench: Any) -> None:
    lm = bench.lm(FACT)
    planner = bench.planner(lambda: lm)
    assert not planner.plan("Who is Nell?").degraded
    planner.close()
    assert reasons(planner.plan("Who is Nell?")) == {CLOSED}
    given = bench.planner(lm)
    given.deepcopy().close()
    given.close()
    assert not given.plan("Who is Nell?").degraded


def test_the_model_is_set_by_what_dspy_calls_it_too_but_not_to_one_without_probabilities(bench: Any) -> None:
    planner = bench.planner()
    planner.set_lm(bench.lm(FACT))
    assert not planner.plan("Who is Nell?").degraded
    with pytest.raises(ConfigError, match="give its name, 'openai/x'"):
        planner.set_lm(dspy.LM("openai/x", api_key="k"))


@pytest.mark.parametrize("deadline", [float("inf"), float("nan"), "2", [1]])
def test_a_deadline_that_is_no_number_of_seconds_is_refused(bench: Any, deadline: Any) -> None:
    with pytest.raises(ConfigError, match="a deadline is a number of seconds"):
        bench.planner().plan("Who is Nell?", deadline_s=deadline)
    assert Clock(1e12).left() == threading.TIMEOUT_MAX


def test_requests_that_wait_for_their_turn_at_the_deadline_are_not_sent(bench: Any) -> None:
    lm, senders, released, sent = bench.lm(), Senders(), threading.Event(), []

    def ask(stage: Any) -> Ask:
        return Ask(stage, lambda **_: (sent.append(stage), released.wait(5)), {}, True)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("queryplan.program.asking.MAX_IN_FLIGHT", 1)
        replies = send_round([ask("follow_up"), ask("rewrite")], lm, Clock(0.1), senders.pool)
        assert {stage: reply.calls for stage, reply in replies.items()} == {"follow_up": 1, "rewrite": 0}
        released.set()
        send_round([ask("relevance")], lm, Clock(None), senders.pool)
    assert sent == ["follow_up", "relevance"]
    senders.close()
