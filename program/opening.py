"""Opens a planner's language model when a query first needs it, without any plan waiting longer than its deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import partial
from threading import Lock, Thread
from typing import Any

import dspy

from ..errors import ConfigError, QueryPlanError
from .lm.endpoint import LMHandle, LMSettings, open_lm
from .lm.forked import renewed_in_child

Opener = Callable[[], LMHandle | None]
Given = LMHandle | Opener | LMSettings | str | None
"""A language model as a planner takes it: opened, a function that opens it, its settings or name, or None."""

STILL_OPENING = "the deadline passed while the language model was being opened"
CLOSED = "the language model was closed; give the planner another one"


class Model:
    """The language model of a planner. Safe to share between threads; a copy shares what is open.

    Attributes:
        lm: the open model; None if none is open.
        problem: why the model is unavailable; empty if nothing is wrong.
    """

    def __init__(self, given: Given) -> None:
        known = opener_of(given)
        self.lm = None if callable(known) else known
        self._opener = known if callable(known) else None
        self.problem = ""
        self._opening: Future[BaseException | None] | None = None
        self._owned = self._closed = False
        self._lock = Lock()
        renewed_in_child(self)

    def renew(self) -> None:
        """After a fork: the thread that was opening it is in another process, so it is opened again here."""
        self._opening, self._lock = None, Lock()

    def now(self) -> tuple[LMHandle | None, str]:
        """The model, or why there is none at the moment; empty if none was given."""
        with self._lock:
            return self.lm, self.problem or (STILL_OPENING if self._opener else "")

    def wait(self, seconds: float | None) -> None:
        """Wait for the model to open, for at most so long; after a failure only ``open`` tries again."""
        if self._opener and (opening := self._begin()) is not None:
            wait([opening], timeout=seconds)

    async def await_(self, seconds: float | None) -> None:
        """As ``wait``, for asyncio."""
        if self._opener and (opening := self._begin()) is not None:
            waiting = asyncio.wrap_future(opening)
            try:
                await asyncio.wait({waiting}, timeout=seconds)
            finally:
                waiting.cancel()

    def open(self) -> LMHandle | None:
        """Open the model, also after an earlier failure.

        Raises:
            QueryPlanError: it cannot be opened; plans are made without it from then on.
        """
        if (opening := self._begin(again=True)) is not None and (error := opening.result()) is not None:
            raise error
        return self.lm

    def _begin(self, again: bool = False) -> Future[BaseException | None] | None:
        """Begin to open it and return what to wait for; None if there is nothing to open."""
        with self._lock:
            if self._opener is None or (self.problem and not again):
                return None
            if self._opening is None:
                self._opening = future = Future()
                future.set_running_or_notify_cancel()  # who waits may stop waiting, which stops nobody else
                work = partial(self._open, self._opener, future)
                Thread(target=copy_context().run, args=(work,), name="queryplan-model", daemon=True).start()
            return self._opening

    def _open(self, opener: Opener, future: Future[BaseException | None]) -> None:
        lm, error = None, None
        try:
            lm = opener()
        except BaseException as failure:  # whatever it is, plans go on without a model and say so
            error = failure
        with self._lock:
            self._opening, unwanted = None, self._closed
            if not unwanted:
                self.lm, self.problem, self._owned = lm, _why_closed(error) if error else "", lm is not None
                self._opener = opener if error else None
        if unwanted and lm is not None:
            lm.close()
        future.set_result(error)

    def close(self) -> None:
        """Close a model that was opened here, now or once it is open; one that was given stays open."""
        with self._lock:
            mine = self.lm if self._owned else None
            if mine is not None or self._opener is not None:
                self.lm, self._opener, self.problem = None, None, CLOSED
            self._owned, self._closed = False, True
        if mine is not None:
            mine.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return Model(self.lm or self._opener)


def opener_of(given: Given) -> LMHandle | Opener | None:
    """A function that opens the model when it is first needed; an open one is returned as it is.

    Raises:
        ConfigError: it is one of DSPy's own language models, which give no label probabilities.
    """
    if isinstance(given, dspy.BaseLM):
        raise ConfigError(f"a planner opens its language model itself: give its name, {given.model!r}, or LMSettings")
    if given is None or given == "none":
        return None
    if isinstance(given, str):
        return lambda: open_lm(LMSettings(model=given))
    return (lambda: open_lm(given)) if isinstance(given, LMSettings) else given


def _why_closed(error: BaseException) -> str:
    """The message of an error of ours, else the error's type: a foreign message may contain a key or an address."""
    if isinstance(error, QueryPlanError):
        return str(error)
    return f"the language model could not be opened ({type(error).__name__})"
