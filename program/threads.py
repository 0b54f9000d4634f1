"""Runs a function in a thread of its own that never keeps a process from ending."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_thread(function: Callable[[], T]) -> Future[T]:
    """Run a function in a daemon thread that sees this context's variables; who waits for it may stop waiting."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(function))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="queryplan-beside").start()
    return future
