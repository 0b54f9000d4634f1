"""Requests to predictors: one request and its reply, and sending a round of them with a deadline."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal

import dspy
from dspy.utils.exceptions import AdapterParseError

from ..errors import ConfigError, LMError
from ..signatures.types import Stage
from .lm.decider import unanswered
from .lm.endpoint import LMHandle
from .lm.forked import renewed_in_child
from .lm.meter import meter
from .lm.timely import OUT_OF_TIME, until

Sent = Stage | Literal["vary"]
"""The purpose of a request: a stage of planning, or other wordings of the query, which decide nothing."""
MAX_IN_FLIGHT = 16
PLANNING = 0.6
"""The share of a deadline that planning may take, so that time is left to search even if a model hangs."""


@dataclass(frozen=True)
class Ask:
    """A request: a stage's predictor and its inputs. ``problem`` says what was wrong before and makes it a repair."""

    stage: Sent
    predictor: dspy.Predict
    inputs: dict[str, Any]
    decides: bool
    problem: str | None = None


@dataclass(frozen=True)
class Reply:
    """The reply to a request: a prediction, or why there is none or a part is missing, and what it cost."""

    prediction: dspy.Prediction | None
    error: str | None = None
    milliseconds: float = 0.0
    calls: int = 0
    tokens: int = 0
    completion_tokens: int = 0


@dataclass
class Clock:
    """The time left for one plan; unlimited without a deadline.

    Raises:
        ConfigError: the deadline is not a number of seconds.
    """

    deadline_s: float | None
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        given = self.deadline_s
        if given is not None and not (isinstance(given, Real) and math.isfinite(given)):
            raise ConfigError(f"a deadline is a number of seconds, or None where there is none, not {given!r}")

    @property
    def ends(self) -> float | None:
        """The deadline as a moment of ``time.perf_counter()``; None without one."""
        return None if self.deadline_s is None else self.started + self.deadline_s

    def left(self) -> float | None:
        """Seconds left, at least zero; None without a deadline."""
        if self.ends is None:
            return None
        return min(max(0.0, self.ends - time.perf_counter()), threading.TIMEOUT_MAX)

    def elapsed_ms(self) -> float:
        """Milliseconds since the plan began."""
        return (time.perf_counter() - self.started) * 1000


class Threads:
    """The threads that send requests, made when first needed; a copy or a fork has its own."""

    def __init__(self) -> None:
        self.renew()
        renewed_in_child(self)

    def renew(self) -> None:
        """Drop all threads."""
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    @property
    def pool(self) -> ThreadPoolExecutor:
        """The thread pool; after ``close`` a new one."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(MAX_IN_FLIGHT, thread_name_prefix="queryplan")
            return self._pool

    def close(self) -> None:
        """Stop sending; requests in flight are abandoned."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def __deepcopy__(self, memo: dict[int, Any]) -> Threads:
        return Threads()


@contextmanager
def own_threads() -> Iterator[ThreadPoolExecutor]:
    """Threads for one round; late requests are abandoned with them."""
    threads = Threads()
    try:
        yield threads.pool
    finally:
        threads.close()


def send_round(asks: Sequence[Ask], lm: LMHandle, clock: Clock, pool: ThreadPoolExecutor) -> dict[Sent, Reply]:
    """Send requests together; those not answered at the deadline are abandoned and reported as such.

    A request that still waits for its turn then is never sent; one that was sent ends at about that time.
    """
    if clock.left() == 0:
        return {ask.stage: Reply(None, OUT_OF_TIME) for ask in asks}
    began = time.perf_counter()
    futures: dict[Sent, Future[Reply]] = {
        ask.stage: pool.submit(copy_context().run, _send_one, ask, lm, clock) for ask in asks
    }
    wait(futures.values(), timeout=clock.left())
    milliseconds = (time.perf_counter() - began) * 1000
    return {stage: _taken(future, milliseconds) for stage, future in futures.items()}


def _taken(future: Future[Reply], milliseconds: float) -> Reply:
    if not future.done():
        sent = not future.cancel()
        return Reply(None, OUT_OF_TIME, milliseconds, calls=int(sent))
    return future.result()


async def asend_round(asks: Sequence[Ask], lm: LMHandle, clock: Clock) -> dict[Sent, Reply]:
    """As ``send_round``, without threads."""
    if clock.left() == 0:
        return {ask.stage: Reply(None, OUT_OF_TIME) for ask in asks}
    began = time.perf_counter()
    tasks: dict[Sent, asyncio.Future[Reply]] = {
        ask.stage: asyncio.ensure_future(_asend_one(ask, lm, clock)) for ask in asks
    }
    try:
        await asyncio.wait(tasks.values(), timeout=clock.left())
        late = Reply(None, OUT_OF_TIME, (time.perf_counter() - began) * 1000, calls=1)
        return {stage: task.result() if task.done() else late for stage, task in tasks.items()}
    finally:  # also when the caller gives up waiting
        for task in tasks.values():
            task.cancel()


def _send_one(ask: Ask, lm: LMHandle, clock: Clock) -> Reply:
    began = time.perf_counter()
    with meter() as cost, dspy.context(adapter=lm.adapter), until(clock.ends), unanswered() as missed:
        try:
            prediction, error = _without(ask.predictor(**_arguments(ask, lm)), missed)
        except Exception as failure:  # whatever a model or a network does, the plan goes on without it
            prediction, error = None, OUT_OF_TIME if clock.left() == 0 else _explain(failure)
    return _reply(prediction, error, began, cost)


async def _asend_one(ask: Ask, lm: LMHandle, clock: Clock) -> Reply:
    began = time.perf_counter()
    with meter() as cost, dspy.context(adapter=lm.adapter), until(clock.ends), unanswered() as missed:
        try:
            prediction, error = _without(await ask.predictor.acall(**_arguments(ask, lm)), missed)
        except Exception as failure:  # whatever a model or a network does, the plan goes on without it
            prediction, error = None, _explain(failure)
    return _reply(prediction, error, began, cost)


def _without(prediction: dspy.Prediction, missed: Mapping[str, str]) -> tuple[dspy.Prediction, str | None]:
    """A prediction without its unanswered outputs, and why they are missing."""
    if not missed:
        return prediction, None
    known = {name: prediction[name] for name in prediction.keys() if name not in missed}  # noqa: SIM118
    return dspy.Prediction(**known), next(iter(missed.values()))


def _arguments(ask: Ask, lm: LMHandle) -> dict[str, Any]:
    arguments = {**ask.inputs, "lm": lm.decider if ask.decides else lm.writer}
    if ask.problem is not None:
        problem = dspy.InputField(desc="what was wrong with your last answer; give a better one")
        signature: Any = ask.predictor.signature
        arguments["signature"] = signature.append("problem", problem, str)
        arguments["problem"] = ask.problem
    return arguments


def _reply(prediction: dspy.Prediction | None, error: str | None, began: float, cost: Any) -> Reply:
    milliseconds = (time.perf_counter() - began) * 1000
    tokens = cost.prompt_tokens + cost.completion_tokens
    return Reply(prediction, error, milliseconds, cost.calls + cost.failed, tokens, cost.completion_tokens)


def _explain(failure: Exception) -> str:
    """One line without prompt, key or address: the message of an error of ours, else the error's type."""
    if isinstance(failure, LMError):
        return str(failure)
    if isinstance(failure, AdapterParseError):
        return "the language model answered in another form than it was asked for"
    return f"the language model's answer could not be used ({type(failure).__name__})"
