"""Calls to stores that may hang, fail or return rubbish: in parallel, within limits, until a deadline.

Every call runs in a daemon thread, because a call that hangs can be abandoned but not ended, and an
abandoned thread must not keep the process from ending. A call that hangs keeps its place among those
that a store allows at once, so that no more are ever in flight than it allows.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import queue
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ...errors import ConfigError
from ..lm.forked import renewed_in_child
from ..threads import in_thread

T = TypeVar("T")

READ_MOST = 20_000
"""The most that is read of an answer that comes piece by piece: one that does not end must not fill the memory."""

_LOOP: contextvars.ContextVar[asyncio.AbstractEventLoop | None] = contextvars.ContextVar("queryplan_loop", default=None)


@dataclass(frozen=True)
class Limits:
    """Limits of a store: calls in flight, seconds a call may take, results requested at once.

    Raises:
        ConfigError: one of them is not above zero.
    """

    concurrency: int = 4
    timeout_s: float = 5.0
    results: int = 50

    def __post_init__(self) -> None:
        if wrong := [name for name, value in vars(self).items() if not value > 0]:
            raise ConfigError(f"the limits of a store must be above zero: give another {' and '.join(wrong)}")


def at_least(settings: object, **least: float) -> None:
    """Refuse settings that are below what means anything.

    Raises:
        ConfigError: one of them is; every such one is named.
    """
    if wrong := [f"{name} at least {most:g}" for name, most in least.items() if not getattr(settings, name) >= most]:
        raise ConfigError(f"{type(settings).__name__} must have {' and '.join(wrong)}")


class Deadline:
    """A deadline for a run; None is no deadline."""

    def __init__(self, seconds: float | None = None) -> None:
        self.started = time.perf_counter()
        self._end = None if seconds is None else self.started + max(0.0, seconds)

    def left(self) -> float:
        """Seconds left, 0 after the deadline, infinite without one."""
        return float("inf") if self._end is None else max(0.0, self._end - time.perf_counter())

    def over(self) -> bool:
        """Whether the deadline has passed."""
        return self.left() <= 0

    def elapsed_ms(self) -> float:
        """Milliseconds since the beginning."""
        return (time.perf_counter() - self.started) * 1000


@dataclass(frozen=True)
class Call(Generic[T]):
    """A function without arguments, and the store that it asks; it may return an awaitable.

    ``read`` turns the answer into the value, within the same time limit; what it raises counts as raised by the call.
    """

    store: object
    limits: Limits
    run: Callable[[], Any]
    read: Callable[[Any], T] = lambda value: value


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """A call's value, or why there is none."""

    value: T | None = None
    error: str = ""
    milliseconds: float = 0.0


@dataclass
class _Batch:
    """Calls in progress: when each started, what came back, and when a store last did something."""

    calls: Sequence[Call[Any]]
    back: queue.Queue[tuple[int, Outcome[Any]]] = field(default_factory=queue.Queue)
    started: dict[int, float] = field(default_factory=dict)
    returned: set[int] = field(default_factory=set)
    done: dict[int, Outcome[Any]] = field(default_factory=dict)
    begun: float = field(default_factory=time.perf_counter)
    abandoned: bool = False

    def work(self, waiting: queue.SimpleQueue[int], slots: threading.Semaphore, deadline: Deadline) -> None:
        """The work of one thread: one waiting call after the other, each in a slot of its store."""
        while self._place(slots, deadline):
            try:
                index = waiting.get_nowait()
                self.started[index] = time.perf_counter()
                self.back.put((index, _timed(self.calls[index])))
            except queue.Empty:
                return
            finally:
                slots.release()

    def _place(self, slots: threading.Semaphore, deadline: Deadline) -> bool:
        """Wait for a slot; False once nothing waits for this batch any more."""
        while not self.abandoned and not deadline.over():
            if slots.acquire(timeout=min(_PATIENCE, deadline.left())):
                return True
        return False

    def collect(self, deadline: Deadline) -> None:
        """Take answers until all are there, have hung, or the deadline has come."""
        while not deadline.over():
            self._give_up_hung()
            if len(self.done) == len(self.calls):
                break
            try:
                index, outcome = self.back.get(timeout=self._patience(deadline))
                self.returned.add(index)
                self.done.setdefault(index, outcome)
            except queue.Empty:
                continue
        self.abandoned = True

    def _give_up_hung(self) -> None:
        now, started = time.perf_counter(), dict(self.started)
        for index, start in started.items():
            limit = self.calls[index].limits.timeout_s
            if index not in self.returned and now - start >= limit:
                self.done.setdefault(index, Outcome(error=f"no answer within {limit:g} s", milliseconds=limit * 1000))
        for index, call in enumerate(self.calls):
            if index not in started and index not in self.done and now - self._moved(call, started) >= _wait(call):
                self.done[index] = Outcome(error="not asked: earlier calls have not come back")

    def _moved(self, call: Call[Any], started: dict[int, float]) -> float:
        """When a call of the same store last began."""
        return max([self.begun, *(t for i, t in started.items() if self.calls[i].store is call.store)])

    def _patience(self, deadline: Deadline) -> float:
        """Seconds until a call may have to be abandoned; short enough to notice a call that starts late."""
        now = time.perf_counter()
        running = [i for i in list(self.started) if i not in self.done]
        ends = [self.started[i] + self.calls[i].limits.timeout_s - now for i in running]
        return max(0.001, min([_PATIENCE, deadline.left(), *ends]))


_PATIENCE = 0.25


def _wait(call: Call[Any]) -> float:
    """Seconds after which a store that starts no call is abandoned: its slowest call would have returned."""
    return call.limits.timeout_s


class _Slots:
    """How many threads may call each store at once, over all batches."""

    def __init__(self) -> None:
        self.renew()
        renewed_in_child(self)

    def renew(self) -> None:
        """After a fork: the threads that had a slot are in another process."""
        self._of: weakref.WeakKeyDictionary[Any, threading.Semaphore] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, store: object, concurrency: int) -> threading.Semaphore:
        """The slots of a store."""
        fresh = threading.Semaphore(max(1, concurrency))
        try:
            with self._lock:
                return self._of.setdefault(store, fresh)
        except TypeError:  # not hashable or not weakly referable: its limit holds within one batch
            return fresh


_SLOTS = _Slots()


def run_calls(calls: Sequence[Call[T]], deadline: Deadline) -> list[Outcome[T]]:
    """Run calls in parallel and return an outcome for each, in order; never raises what a call raises.

    One store's calls run in at most ``limits.concurrency`` threads; calls of an earlier batch that have not returned
    count.
    """
    batch = _Batch(calls)
    for mine in _by_store(calls):
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for index in mine:
            waiting.put(index)
        call = calls[mine[0]]
        slots = _SLOTS.of(call.store, call.limits.concurrency)
        for _ in range(min(len(mine), max(1, call.limits.concurrency))):
            in_thread(lambda waiting=waiting, slots=slots: batch.work(waiting, slots, deadline))
    batch.collect(deadline)
    late = Outcome[T](error="the deadline came first")
    return [batch.done.get(i, late) for i in range(len(calls))]


async def awaited(function: Callable[[], T]) -> T:
    """Await a blocking function; awaitables that its calls return run on the caller's event loop."""
    token = _LOOP.set(asyncio.get_running_loop())
    try:
        return await asyncio.wrap_future(in_thread(function))
    finally:
        _LOOP.reset(token)


def _timed(call: Call[T]) -> Outcome[T]:
    start = time.perf_counter()
    try:
        value = call.read(_finished(call.run()))
    except BaseException as error:  # whatever a store raises is its gap, not ours; it may ask the process to end
        return Outcome(error=words_of(error), milliseconds=(time.perf_counter() - start) * 1000)
    return Outcome(value, milliseconds=(time.perf_counter() - start) * 1000)


def _finished(value: Any) -> Any:
    """A value, or the result of an awaitable, on the caller's event loop if there is one."""
    if not inspect.isawaitable(value):
        return value
    loop = _LOOP.get()
    if loop is not None and loop.is_running():
        return asyncio.run_coroutine_threadsafe(_await(value), loop).result()
    return asyncio.run(_await(value))


async def _await(value: Awaitable[T]) -> T:
    return await value


def words_of(error: BaseException) -> str:
    """The type of an error and its first line, without addresses or whole pages."""
    first = str(error).strip().split("\n", 1)[0][:200]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _by_store(calls: Sequence[Call[Any]]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for index, call in enumerate(calls):
        groups.setdefault(id(call.store), []).append(index)
    return list(groups.values())
