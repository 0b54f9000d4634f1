"""Mapping on several cores: what one core would give, whatever becomes of the others."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from queryplan.program import processes
from queryplan.program.processes import cores, mapped

forking = pytest.mark.skipif(sys.platform != "linux" or cores() < 2, reason="needs Linux and two cores")
SCRIPT = """
import os, signal, time
from queryplan.program import processes
parent, items = os.getpid(), list(range(12))
{body}
"""


def run(body: str) -> subprocess.CompletedProcess[str]:
    """Run a script of its own, since a test run has further threads."""
    return subprocess.run([sys.executable, "-c", SCRIPT.format(body=body)], capture_output=True, text=True, timeout=60)


@forking
def test_several_processes_give_what_one_gives_in_order() -> None:
    ran = run(
        "found = processes.mapped(lambda i: (time.sleep(0.05), i * i, os.getpid())[1:], items)\n"
        "assert [square for square, _ in found] == [i * i for i in items]\n"
        "print(len({pid for _, pid in found}))"
    )
    assert (ran.stderr, int(ran.stdout) > 1) == ("", True)


@forking
@pytest.mark.parametrize(
    "ends",
    [
        "os._exit(9)",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "exec('raise ValueError(0)')",
        "time.sleep(60)",
    ],
)
def test_a_process_that_dies_goes_wrong_or_hangs_loses_nothing(ends: str) -> None:
    ran = run(
        "processes.PATIENCE = 0.5\n"
        f"work = lambda i: (time.sleep(0.02), i + 1)[1] if os.getpid() == parent else {ends}\n"
        "print(processes.mapped(work, items) == [i + 1 for i in items])"
    )
    assert (ran.stderr, ran.stdout) == ("", "True\n")


@forking
def test_an_error_is_raised_as_in_one_process() -> None:
    ran = run("processes.mapped(lambda i: (time.sleep(0.02), 1 // (5 - i))[1], items)")
    assert ran.stderr.endswith("ZeroDivisionError: integer division or modulo by zero\n")
    assert ran.returncode == 1


@forking
def test_the_environment_is_as_before() -> None:
    ran = run("before = dict(os.environ); processes.mapped(abs, items); print(before == dict(os.environ))")
    assert (ran.stderr, ran.stdout) == ("", "True\n")


def test_beside_other_threads_one_core_does_all() -> None:
    let_go = threading.Event()
    other = threading.Thread(target=let_go.wait)
    other.start()
    try:
        assert set(mapped(lambda _: os.getpid(), range(8))) == {os.getpid()}
    finally:
        let_go.set()
        other.join()


def test_one_core_or_one_item_needs_no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert mapped(lambda i: i, []) == []
    assert mapped(lambda _: os.getpid(), [1]) == [os.getpid()]
    monkeypatch.setattr(processes, "cores", lambda: 1)
    assert set(mapped(lambda _: os.getpid(), range(8))) == {os.getpid()}
