"""Maps a function over items on several cores, with the result that one would give.

What is learned in pure Python holds the interpreter's lock, so threads gain nothing. Forked processes need no copy of
what they read, and only what they found travels through a pipe, unpickled (``wire.py``). Forking is safe where there
are no further threads. So elsewhere (beside a server's threads, on Windows and macOS) one core does all.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import current_process, get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from .wire import packed, unpacked

T = TypeVar("T")
R = TypeVar("R")

LOG = logging.getLogger("queryplan.processes")
MOST = 4
"""The most processes, since each holds what it found once more."""
MOST_ITEMS = 1000
"""The most items: their numbers wait in a pipe, which is sure to hold 4 kB."""
PATIENCE = 60.0
"""How many seconds, beside the time that the work took here, a process that has not answered is waited for."""
TOKENIZERS = "TOKENIZERS_PARALLELISM"
NUMBER = 4


def mapped(function: Callable[[T], R], items: Sequence[T], kinds: Sequence[type] = ()) -> list[R]:
    """``[function(item) for item in items]``, on as many cores as there are where that is safe.

    What a process does not give, because it went wrong, was killed or hangs, is done here. So an error of ``function``
    is raised here, too.

    Args:
        function: gives the same for an item whatever it was given before; only its result is kept.
        items: those that take longest should come first.
        kinds: the dataclasses that its results consist of, beside what ``wire.packed`` knows.
    """
    helpers = min(cores(), MOST, len(items)) - 1
    alone = sys.platform != "linux" or threading.active_count() > 1 or current_process().daemon
    if helpers < 1 or alone or len(items) > MOST_ITEMS:
        return [function(item) for item in items]
    found, start, children = dict[int, R](), time.monotonic(), list[_Child]()
    with _numbers(len(items)) as numbers:
        try:
            with _forkable(), suppress(OSError):  # with fewer processes than wanted, or none, it takes longer
                for _ in range(helpers):
                    children.append(_Child(lambda: _some(function, items, numbers), children, kinds))
            while (place := _next(numbers)) is not None:
                found[place] = function(items[place])
            deadline = time.monotonic() + PATIENCE + (time.monotonic() - start)
            for child in children:
                found |= child.answer(deadline)
        finally:
            for child in children:
                child.end()
    return [found[place] if place in found else function(item) for place, item in enumerate(items)]


def cores() -> int:
    """The number of cores that this process may use; a container's quota of their time is not seen."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Child:
    """A forked process that sends what ``work`` gives.

    Only it has the writing end of its pipe, so that the pipe closes with it; and of no pipe it has the reading end, so
    that sending fails once nobody is left to read.

    Raises:
        OSError: there can be no further process.
    """

    def __init__(self, work: Callable[[], dict[int, Any]], before: Sequence[_Child], kinds: Sequence[type]) -> None:
        context = get_context("fork")
        self._kinds = kinds
        self.pipe, end = context.Pipe(duplex=False)
        others = [self.pipe, *(child.pipe for child in before)]
        self._process = context.Process(target=_send, args=(work, end, others, kinds), daemon=True)
        try:
            self._process.start()
        except OSError:
            self.pipe.close()
            raise
        finally:
            end.close()

    def answer(self, deadline: float) -> dict[int, Any]:
        """Its results by place; none if it gives none by then (``time.monotonic``)."""
        try:
            if not self.pipe.poll(max(0.0, deadline - time.monotonic())):
                return {}
            return unpacked(self.pipe.recv_bytes(), self._kinds)
        except Exception as error:  # it was killed, or what it sent cannot be read
            LOG.debug("a process gave nothing (%r); its share is done again", error)
            return {}

    def end(self) -> None:
        """End it, whatever it does."""
        self.pipe.close()
        self._process.terminate()
        self._process.join(1)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _send(
    work: Callable[[], dict[int, Any]], end: Connection, others: Sequence[Connection], kinds: Sequence[type]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who began it ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for pipe in others:
        pipe.close()
    try:
        end.send_bytes(packed(work(), kinds))
    except TypeError as error:  # a mistake of ours that costs time and nothing else
        LOG.warning("a process could not send what it found, which is done again: %s", error)
    except OSError as error:  # nobody reads any more
        LOG.debug("a process could not send what it found: %r", error)


def _some(function: Callable[[T], R], items: Sequence[T], numbers: int) -> dict[int, R]:
    """In a forked process: results by place, up to the first item that goes wrong, or until its parent is gone."""
    found, parent = dict[int, R](), os.getppid()
    while os.getppid() == parent and (place := _next(numbers)) is not None:
        try:
            found[place] = function(items[place])
        except Exception as error:
            LOG.debug("an item went wrong: %r", error)  # it is done again where the error can be raised
            break
    return found


@contextmanager
def _numbers(count: int) -> Iterator[int]:
    """The reading end of a pipe with the numbers from 0 on, each of which one process alone can take."""
    reading, writing = os.pipe()
    try:
        os.write(writing, b"".join(number.to_bytes(NUMBER, "little") for number in range(count)))
        os.close(writing)
        yield reading
    finally:
        os.close(reading)


def _next(numbers: int) -> int | None:
    """The next number that nobody took; None if there is none."""
    taken = os.read(numbers, NUMBER)
    return int.from_bytes(taken, "little") if taken else None


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
