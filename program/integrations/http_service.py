"""Plans for many callers at once: the limit on running plans, the queue, refusals, and opening the model.

Plans are made on an event loop in a thread of its own, so that nothing a plan computes delays the server's other
answers. Requests to a language model wait there side by side.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from fastapi import HTTPException

from ...errors import QueryPlanError, UserError
from ..explaining import Explanation, explained
from ..plan import QueryPlan
from ..planner import QueryPlanner
from ..threads import in_thread
from .http_types import CacheFacts, Health, Limits, PlanRequest

logger = logging.getLogger("queryplan.http")

T = TypeVar("T")
Fatal = Callable[[QueryPlanError], None]
RETRY_S = (5.0, 60.0)
"""Seconds before opening a model is tried again: at first, and at most."""


class PlanService:
    """One planner for many requests.

    Args:
        planner: the planner, which the caller closes.
        fatal: called with an error that only a person can mend (no such model, no weights); by default the server
            continues without the model.

    Attributes:
        ready: whether the model is open, or is known to be unavailable.
        problem: why the model is unavailable; empty if it is not.
        plans, degraded_plans: number of plans made so far, and of degraded ones among them.
    """

    def __init__(self, planner: QueryPlanner, limits: Limits, fatal: Fatal | None = None) -> None:
        self.planner, self.limits = planner, limits
        self.ready, self.problem = False, ""
        self.plans = self.degraded_plans = 0
        self._fatal = fatal
        self._inside = self._running = 0
        self._seconds = 0.0
        self._started = time.monotonic()
        self._loop = _LoopThread()
        self._slots = asyncio.Semaphore(limits.running)
        self._opening: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to open the model; until that is done, requests get status 503."""
        self._loop.start()
        self._opening = asyncio.create_task(self._open())

    async def stop(self) -> None:
        """Abandon what is still running."""
        if self._opening is not None:
            self._opening.cancel()
        await asyncio.to_thread(self._loop.close)

    # -- planning ----------------------------------------------------------------------------------

    async def plan(self, request: PlanRequest) -> QueryPlan:
        """The plan of one request.

        Raises:
            HTTPException: 503, if too many plans wait or the model is not open yet.
        """
        with self._places(1):
            return await self._in_turn(request, self._plan)

    async def plan_all(self, requests: Sequence[PlanRequest]) -> tuple[QueryPlan, ...]:
        """As `plan`, for several requests in parallel."""
        with self._places(len(requests)):
            async with asyncio.TaskGroup() as group:
                made = [group.create_task(self._in_turn(request, self._plan)) for request in requests]
        return tuple(task.result() for task in made)

    async def explain(self, request: PlanRequest) -> Explanation:
        """As `plan`, with an explanation of each stage. No training row is shown."""
        with self._places(1):
            return await self._in_turn(request, self._explain)

    async def _plan(self, request: PlanRequest, left_s: float) -> QueryPlan:
        return await self.planner.aplan(request.query, request.messages, request.session, left_s)

    async def _explain(self, request: PlanRequest, left_s: float) -> Explanation:
        plan = await self._plan(request, left_s)
        return explained(self.planner, plan, request.query, request.messages, request.session)

    async def _in_turn(self, request: PlanRequest, make: Callable[[PlanRequest, float], Coroutine[Any, Any, T]]) -> T:
        """Work on a request when its turn comes, in the time that is left then.

        A request whose time runs out in the queue is planned at once: without a model that takes about a millisecond.
        """
        began = time.monotonic()
        asked = math.inf if request.deadline_s is None else max(0.0, request.deadline_s)
        deadline = min(asked, self.limits.deadline_s)
        acquired = False
        with suppress(TimeoutError):
            async with asyncio.timeout(deadline):
                acquired = await self._slots.acquire()
        self._running += acquired
        began_planning = time.monotonic()
        try:
            found = await self._loop.run(make(request, max(0.0, deadline - (began_planning - began))))
        finally:
            self._running -= acquired
            if acquired:
                self._slots.release()
        self._count(found, time.monotonic() - began_planning)
        return found

    def _count(self, found: Any, seconds: float) -> None:
        plan = found.plan if isinstance(found, Explanation) else found
        self.plans += 1
        self.degraded_plans += bool(plan.degraded)
        self._seconds += 0.1 * (seconds - self._seconds)

    @contextmanager
    def _places(self, count: int) -> Iterator[None]:
        """Reserve room for plans that run or wait."""
        most = self.limits.running + self.limits.waiting
        if count > most:
            raise HTTPException(422, f"this server takes {most} queries at a time; send fewer")
        if not self.ready:
            raise _later("the planner is still opening its language model", RETRY_S[0])
        if self._inside + count > most:
            raise _later("too many plans are waiting", self._seconds * self._inside / self.limits.running)
        self._inside += count
        try:
            yield
        finally:
            self._inside -= count

    # -- the model ---------------------------------------------------------------------------------

    async def _open(self) -> None:
        """Open the model, with retries if it does not answer; meanwhile plans are made without it."""
        wait = RETRY_S[0]
        while (error := await _raised(self.planner.warm)) is not None:
            if isinstance(error, UserError) and self._fatal is not None:
                self._fatal(error)
                return
            self.ready, self.problem = True, self.planner.lm_problem or _words(error)
            logger.warning("planning without the language model: %s", self.problem)
            if isinstance(error, UserError):
                return
            await asyncio.sleep(wait)
            wait = min(2 * wait, RETRY_S[1])
        self.ready, self.problem = True, ""
        logger.info("ready: %s, language model %s", self.planner.program_version, self.planner.lm_name)

    # -- how it is ---------------------------------------------------------------------------------

    def health(self) -> Health:
        """The server's current state."""
        planner, cache, problem = self.planner, self.planner.cache, self.problem
        status = "starting" if not self.ready else "degraded" if problem else "ready"
        return Health(
            status=status,
            ready=self.ready,
            domain=planner.card.name,
            version=planner.program_version,
            lm=planner.lm_name,
            lm_open=planner.lm_name != "none",
            degraded=(problem,) if problem else (),
            plans=self.plans,
            degraded_plans=self.degraded_plans,
            running=self._running,
            waiting=self._inside - self._running,
            uptime_s=round(time.monotonic() - self._started, 3),
            cache=CacheFacts(asked=cache.asked, hits=cache.hits, hit_rate=cache.hit_rate) if cache else None,
        )


def _words(error: Exception) -> str:
    """The message of an error of ours, else the error's type: a foreign message may contain a key or an address."""
    return str(error) if isinstance(error, QueryPlanError) else f"it does not answer ({type(error).__name__})"


def _later(why: str, seconds: float) -> HTTPException:
    wait = min(max(1, math.ceil(seconds)), 60)
    return HTTPException(503, f"{why}; ask again in {wait} s", {"Retry-After": str(wait)})


async def _raised(do: Callable[[], object]) -> Exception | None:
    """Run a call in a daemon thread, as reading prefixes may take minutes; returns what it raises, if anything."""
    try:
        await asyncio.wrap_future(in_thread(do))
    except Exception as error:
        return error
    return None


class _LoopThread:
    """An event loop in a thread."""

    def start(self) -> None:
        """Start running coroutines."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="queryplan-planning", daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine run on that loop; cancelling the wait cancels the coroutine."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def close(self, timeout_s: float = 5.0) -> None:
        """Cancel what runs, and end; a computation that takes longer is abandoned."""
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result(timeout_s)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout_s)
        if not self._loop.is_running():
            self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
