"""A planner that was used before a process forked plans in the child as in its parent."""

from __future__ import annotations

import os
import select
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.program.lm.endpoint import LMHandle
from queryplan.program.lm.journal import CallJournal
from queryplan.program.plan_cache import PlanCache
from queryplan.program.retrieval.calls import _SLOTS
from queryplan.program.retrieval.candidates.stages import VariationCache

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


def waited_for(path: Path) -> bool:
    """Whether a file is there within five seconds."""
    until = time.monotonic() + 5
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.01)
    return path.exists()


def test_a_cache_that_another_thread_is_using_at_the_fork_does_not_hang(bench: Any, tmp_path: Path) -> None:
    busy, slow = threading.Event(), threading.local()

    def clock() -> float:
        if getattr(slow, "here", False):
            busy.set()
            time.sleep(0.5)
        return 1000.0

    cache = PlanCache(file=tmp_path / "plans.sqlite", clock=clock)
    planner = bench.planner(cache=cache)
    planner.plan("hi")

    def use() -> None:
        slow.here = True
        cache.get("no such key", "hi", 0.0)

    thread = threading.Thread(target=use)
    thread.start()
    assert busy.wait(5)
    assert in_child(lambda: planner.plan("hi").trace.decisions[0].decided_by) == "cache"
    thread.join()
    assert planner.plan("hi").trace.decisions[0].decided_by == "cache"
    cache.close()


def test_variations_and_stores_that_other_threads_hold_at_the_fork_do_not_hang() -> None:
    class Store:
        """Has calls."""

    variations, store = VariationCache(), Store()
    slots = _SLOTS.of(store, 1)
    with variations._lock, _SLOTS._lock, slots:  # as if another thread held them
        said = in_child(lambda: f"{variations.get('a query', '')} {_SLOTS.of(store, 1).acquire(timeout=1)}")
    assert said == "None True"


def test_a_journal_that_another_thread_is_using_at_the_fork_does_not_hang(tmp_path: Path) -> None:
    journal = CallJournal(tmp_path / "calls.sqlite")
    busy = threading.Event()

    def use() -> None:
        with journal._lock:
            busy.set()
            time.sleep(0.5)

    thread = threading.Thread(target=use)
    thread.start()
    assert busy.wait(5)
    assert in_child(lambda: str(len(journal))) == "0"
    thread.join()
    journal.put("k", {}, 1)
    assert len(journal) == 1
    journal.close()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list open files so")
def test_no_file_of_sqlite_is_open_in_a_child_before_it_opens_it_itself(bench: Any, tmp_path: Path) -> None:
    cache, journal = PlanCache(file=tmp_path / "plans.sqlite"), CallJournal(tmp_path / "calls.sqlite")
    planner = bench.planner(cache=cache)
    planner.plan("hi")
    journal.put("k", {}, 1)

    def opened() -> str:
        links = (link for link in Path("/proc/self/fd").iterdir() if link.is_symlink())
        return ", ".join(sorted({Path(os.readlink(link)).name for link in links if ".sqlite" in os.readlink(link)}))

    def used() -> str:
        cache.get("no such key", "hi", 0.0)
        return f"{opened()}; {len(journal)}; {opened()}"

    assert opened() == "calls.sqlite, calls.sqlite-shm, calls.sqlite-wal, plans.sqlite"
    assert in_child(opened) == ""
    assert in_child(used) == "plans.sqlite; 1; calls.sqlite, calls.sqlite-shm, calls.sqlite-wal, plans.sqlite"
    cache.close()
    journal.close()


def test_what_a_child_records_outlives_the_parents_journal(tmp_path: Path) -> None:
    """A child that shares its parent's connection, or its locks, writes into a file that the parent removes."""
    journal = CallJournal(tmp_path / "calls.sqlite")
    journal.put("parent", {}, 1)
    read, closed = tmp_path / "read", tmp_path / "closed"

    def close_in_between() -> None:
        if waited_for(read):
            journal.get("parent")
            journal.close()
            closed.touch()

    def record() -> str:
        found = journal.get("parent")
        read.touch()
        assert waited_for(closed)
        journal.put("child", {}, 1)
        return "found" if found else "missing"

    thread = threading.Thread(target=close_in_between)
    thread.start()
    assert in_child(record) == "found"
    thread.join()
    with CallJournal(tmp_path / "calls.sqlite") as again:
        assert again.get("child") is not None


def test_a_closed_journal_and_a_closed_cache_stay_closed_in_a_child(tmp_path: Path) -> None:
    journal, cache = CallJournal(tmp_path / "calls.sqlite"), PlanCache(file=tmp_path / "plans.sqlite")
    journal.close()
    cache.close()

    def used() -> str:
        with pytest.raises(Exception, match=r"calls\.sqlite is closed"):
            journal.get("k")
        return str(cache.get("k", "hi", 0.0))

    assert in_child(used) == "None"
