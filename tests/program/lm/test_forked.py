"""A planner that was used before a process forked plans in the child as in its parent."""

from __future__ import annotations

import os
import select
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from queryplan.program.lm.endpoint import LMHandle

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def in_child(work: Callable[[], str]) -> str:
    """What a forked process makes of some work; "nothing" where it does not end."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, which is the point
        child = os.fork()
    if child == 0:
        try:
            os.write(writing, work().encode())
        finally:
            os._exit(0)
    os.close(writing)
    ready = select.select([reading], [], [], 10)[0]
    said = os.read(reading, 1000).decode() if ready else "nothing"
    os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(reading)
    return said


def test_a_forked_planner_asks_its_model_over_connections_of_its_own(
    bench: Any, lm: LMHandle, chat_server: Any
) -> None:
    planner = bench.planner(lm)

    def who_decided() -> str:
        return planner.plan("Who is Nell?").trace.decision("relevance").decided_by

    assert who_decided() == "lm"
    before = set(chat_server.ports)
    assert in_child(who_decided) == "lm"
    ports = set(chat_server.ports) - before
    assert ports
    asked = len(chat_server.ports)
    assert who_decided() == "lm"
    assert not ports & set(chat_server.ports[asked:]), "the parent goes on with its own"
    assert before & set(chat_server.ports[asked:])


def test_a_model_that_was_being_opened_is_opened_by_the_child(bench: Any) -> None:
    begun, may_end = threading.Event(), threading.Event()
    opened = bench.lm({"is_relevant": 0.9, "complexity": "simple", "intent": "factual", "needs_decomposition": 0.1})

    def opener() -> Any:
        if not begun.is_set():
            begun.set()
            may_end.wait(20)
        return opened

    planner = bench.planner(opener)
    planner.plan("Who is Nell?", deadline_s=0.05)
    assert begun.wait(5)
    assert in_child(lambda: planner.plan("Who is Nell?").trace.decision("relevance").decided_by) == "lm"
    may_end.set()
