"""Mapping on several cores: what one core would give, whatever becomes of the others."""

from __future__ import annotations

import subprocess
import sys

import pytest
from queryplan.program.processes import cores, mapped

forking = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely")
SCRIPT = """
import os, signal, threading, time
from queryplan.program import processes
processes.cores = lambda: {cores}
parent, items = os.getpid(), list(range(12))
{body}
"""


def run(body: str, cores: int = 3) -> subprocess.CompletedProcess[str]:
    """Run a script of its own, since a test run has further threads; as if there were so many cores."""
    script = SCRIPT.format(body=body, cores=cores)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)


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


@forking
def test_results_of_a_process_that_dies_while_it_sends_are_made_again() -> None:
    ran = run(
        "from multiprocessing.connection import Connection\n"
        "def half(self, data):\n"
        "    os.write(self.fileno(), len(data).to_bytes(4, 'big') + data[: len(data) // 2])\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "Connection.send_bytes = half\n"
        "work = lambda i: (time.sleep(0.01), [str(os.getpid()), i])[1]; start = time.monotonic()\n"
        "found = processes.mapped(work, items)\n"
        "print(found == [[str(parent), i] for i in items], time.monotonic() - start < 20)"
    )
    assert (ran.stderr, ran.stdout) == ("", "True True\n")


@forking
def test_large_results_arrive() -> None:
    ran = run(
        "import numpy as np\n"
        "work = lambda i: (time.sleep(0.01), np.full(50_000, i))[1]\n"
        "print(sum(int(one.sum()) for one in processes.mapped(work, items)))"
    )
    assert (ran.stderr, ran.stdout) == ("", f"{50_000 * sum(range(12))}\n")


@forking
def test_results_that_cannot_be_sent_are_made_again_and_that_is_said() -> None:
    ran = run("print(processes.mapped(lambda i: (time.sleep(0.01), {i})[1], items) == [{i} for i in items])")
    assert ran.stdout == "True\n"
    assert "set is not sent between processes" in ran.stderr


@forking
def test_no_process_outlives_its_parent() -> None:
    ran = run(
        "def work(i):\n"
        "    if os.getpid() == parent: time.sleep(0.3); os.kill(parent, signal.SIGKILL)\n"
        "    os.write(1, f'{os.getpid()} '.encode()); time.sleep(0.05)\n"
        "    return 'x' * 200_000\n"
        "processes.mapped(work, items)"
    )  # which waits until nobody holds standard output any more
    assert ran.returncode == -9
    assert len(set(ran.stdout.split())) == 2


@pytest.mark.parametrize(
    ("cores", "before", "count"),
    [(1, "", 12), (3, "", 1), (3, "threading.Thread(target=time.sleep, args=(1,)).start()", 12)],
)
def test_where_forking_is_not_safe_or_needless_one_core_does_all(cores: int, before: str, count: int) -> None:
    ran = run(f"{before}\nprint({{*processes.mapped(lambda _: os.getpid(), items[:{count}])}} == {{parent}})", cores)
    assert (ran.stderr, ran.stdout) == ("", "True\n")


def test_nothing_to_do_is_done() -> None:
    assert mapped(lambda i: i, []) == []
    assert cores() >= 1
