"""Maps a function over items on several cores, with the result that one would give.

What is learned in pure Python holds the interpreter's lock, so threads gain nothing. Forked processes need no copy of
what they read, and only what they found travels through a pipe. Forking is safe in a process without further threads
alone, so elsewhere (a server, Windows, macOS, a test run) one core does all.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

MOST = 4
"""The most processes, since each holds what it found once more."""
PATIENCE = 60.0
"""How many seconds, beside the time that the work took here, a process that has not answered is waited for."""
TOKENIZERS = "TOKENIZERS_PARALLELISM"


def mapped(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """``[function(item) for item in items]``, on as many cores as there are where that is safe.

    Args:
        function: gives the same for an item whatever it was given before; only its result is kept. A result can be
            sent to another process.
        items: those that take longest should come first.
    """
    helpers = min(cores(), MOST, len(items)) - 1
    if helpers < 1 or sys.platform != "linux" or threading.active_count() > 1:
        return [function(item) for item in items]
    context, start = get_context("fork"), time.monotonic()
    taken = context.Value("i", 0)
    pipes = [context.Pipe(duplex=False) for _ in range(helpers)]
    children = [context.Process(target=_help, args=(function, items, taken, end), daemon=True) for _, end in pipes]
    try:
        with _forkable():
            for child in children:
                child.start()
        for _, end in pipes:
            end.close()  # so that a pipe whose process is gone says so
        found = _some(function, items, taken)
        deadline = PATIENCE + 2 * time.monotonic() - start
        for pipe, _ in pipes:
            with suppress(EOFError, OSError):
                if pipe.poll(max(0.0, deadline - time.monotonic())):
                    found |= pipe.recv()
    finally:
        for child in children:
            if child.pid is not None:
                child.terminate()
        for pipe, _ in pipes:
            pipe.close()
    # What a process did not give, because it went wrong or was killed, is done here: so errors are raised as in one.
    return [found[place] if place in found else function(item) for place, item in enumerate(items)]


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _some(function: Callable[[T], R], items: Sequence[T], taken: Any) -> dict[int, R]:
    """Results by place, of the items that no process has taken yet, one by one until none is left."""
    found = dict[int, R]()
    while (place := _next(taken)) < len(items):
        found[place] = function(items[place])
    return found


def _next(taken: Any) -> int:
    with taken.get_lock():
        taken.value += 1
        return taken.value - 1


def _help(function: Callable[[T], R], items: Sequence[T], taken: Any, end: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who began it ends it
    with suppress(Exception):  # ``mapped`` meets it again
        end.send(_some(function, items, taken))
    end.close()


@contextmanager
def _forkable() -> Iterator[None]:
    """Fork without warnings of threads that matrix and tokenizer libraries keep, which the new process does not use."""
    before = os.environ.get(TOKENIZERS)
    os.environ[TOKENIZERS] = "false"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        if before is None:
            del os.environ[TOKENIZERS]
        else:
            os.environ[TOKENIZERS] = before
