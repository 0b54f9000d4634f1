"""Deadlines for requests to a language model: how long an answer is of use, and a transport that waits no longer."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from dspy._vendor.lm15.transports import ReadTimeout, StdlibTransport

from .forked import renewed_in_child

OUT_OF_TIME = "the deadline passed"
_until: ContextVar[float | None] = ContextVar("queryplan_until", default=None)


@contextmanager
def until(moment: float | None) -> Iterator[None]:
    """Set until when, in ``time.perf_counter()``, requests in this block are of use; None is for ever.

    An asyncio task is cancelled instead; a thread cannot be.
    """
    token = _until.set(moment)
    try:
        yield
    finally:
        _until.reset(token)


def seconds_left() -> float | None:
    """Seconds for which an answer is still of use, negative if it is too late; None is for ever."""
    moment = _until.get()
    return None if moment is None else moment - time.perf_counter()


class TimelyTransport(StdlibTransport):
    """A transport that waits for the next byte up to its timeout, but no longer than the answer is of use."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        renewed_in_child(self)

    def renew(self) -> None:
        """Leave the connections to the process that opened them."""
        self._pool = self.copy()._pool

    def stream(self, request: Any) -> Any:
        """The response to ``request``."""
        if (left := seconds_left()) is not None:
            least = max(left, 0.001)  # zero would mean the time that was set when it was opened
            request = replace(
                request,
                connect_timeout=min(request.connect_timeout or self._connect_timeout, least),
                read_timeout=min(request.read_timeout or self._read_timeout, least),
                write_timeout=min(request.write_timeout or self._write_timeout, least),
            )
        response: Any = super().stream(request)
        response._chunks = _while_of_use(response._chunks)
        return response


def _while_of_use(chunks: Generator[bytes]) -> Iterator[bytes]:
    """A body until its deadline: gateways send spaces while a model thinks, and each is a next byte."""
    with closing(chunks):
        for chunk in chunks:
            yield chunk
            if (left := seconds_left()) is not None and left <= 0:
                raise ReadTimeout(OUT_OF_TIME)
