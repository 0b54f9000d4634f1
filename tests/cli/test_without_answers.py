"""Commands whose language model does not answer: one plan comes back all the same, and in time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.artifact.folder import Manifest
from queryplan.program.opening import STILL_OPENING
from queryplan.program.planner import QueryPlanner

Run = Callable[..., tuple[int, str, str]]
ONE = ("plan", "run", "explain")
QUERY = "Who is Nell?"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that rules alone decide, so that no test trains."""
    folder = tmp_path_factory.mktemp("programs") / "podcast"
    QueryPlanner(load_card(domain_folder("podcast"))).save(folder, Manifest(domain="podcast"))
    return str(folder)


def plan_in(out: str) -> Any:
    said = json.loads(out)
    return said.get("plan", said)


@pytest.mark.parametrize("command", ONE)
@pytest.mark.parametrize(
    ("status", "why"), [(401, "was refused"), (402, "no credit"), (500, "failed"), (503, "failed"), (404, "openai/m")]
)
def test_a_server_that_refuses_gets_a_degraded_plan(
    queryplan: Run, endpoint: Any, program: str, command: str, status: int, why: str
) -> None:
    endpoint.fail_after, endpoint.failure = 0, status
    args = (command, QUERY, "--program", program, "--lm", "openai/m", "--api-base", endpoint.base, "--json")
    code, out, err = queryplan(*args)
    assert code == 0
    assert any(why in gap["why"] for gap in plan_in(out)["degraded"])
    assert err.startswith("planned without the language model: ")
    assert why in err
    assert err.count("\n") == 1


def test_a_server_that_is_not_there_too(queryplan: Run, program: str) -> None:
    args = ("--program", program, "--lm", "openai/m", "--api-base", "http://127.0.0.1:9/v1")
    code, out, err = queryplan("plan", QUERY, *args)
    assert (code, "cannot be reached; start it" in err, "cannot be reached" in " ".join(out.split())) == (0, True, True)


@pytest.mark.parametrize("command", ONE)
def test_what_is_wrong_before_anybody_is_asked_is_exit_code_two(queryplan: Run, program: str, command: str) -> None:
    code, out, err = queryplan(command, QUERY, "--program", program, "--lm", "nobody-knows-this")
    assert (code, out) == (2, "")
    assert "No provider goes by the name" in err


def test_a_missing_key_is_exit_code_two(queryplan: Run, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "QUERYPLAN_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    code, out, err = queryplan("plan", QUERY, "--program", program, "--lm", "openai/gpt-4o-mini")
    assert (code, out, "needs a key; set QUERYPLAN_API_KEY" in err) == (2, "", True)


@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_file_is_not_planned_without_the_model_that_was_asked_for(
    queryplan: Run, endpoint: Any, program: str, command: str
) -> None:
    endpoint.fail_after, endpoint.failure = 0, 401
    Path("in.jsonl").write_text(json.dumps({"query": QUERY}), encoding="utf-8")
    args = ("--batch", "in.jsonl", "--out", "out.jsonl", "--program", program, "--lm", "openai/m")
    code, _, err = queryplan(command, *args, "--api-base", endpoint.base)
    assert (code, Path("out.jsonl").exists()) == (2, False)
    assert "was refused" in err


def in_a_process(command: str, endpoint: Any, program: str, deadline: int, before: float) -> Any:
    """What a command ends with, which it must do before so many seconds have passed."""
    asked = [command, QUERY, "--program", program, "--lm", "openai/m", "--api-base", endpoint.base, "--json"]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "queryplan", *asked, "--deadline", str(deadline)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    # Starting an interpreter and importing takes most of this on a busy core.
    assert time.perf_counter() - began < before
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("command", ONE)
def test_the_process_ends_soon_after_its_deadline(endpoint: Any, program: str, command: str) -> None:
    endpoint.delay = 30.0
    done = in_a_process(command, endpoint, program, deadline=4, before=endpoint.delay - 5)
    assert STILL_OPENING in {gap["why"] for gap in plan_in(done.stdout)["degraded"]}
    assert STILL_OPENING in done.stderr
    if command == "run":
        assert json.loads(done.stdout)["evidence"], "a model that hangs leaves time to search"


def test_the_process_ends_soon_after_its_deadline_with_a_request_in_flight(endpoint: Any, program: str) -> None:
    slow, answer = 30.0, endpoint._answer

    def later(body: dict[str, Any]) -> Any:
        if endpoint.requests:  # the opening is answered at once
            time.sleep(slow)
        return answer(body)

    endpoint._answer = later
    done = in_a_process("plan", endpoint, program, deadline=3, before=slow - 5)
    assert plan_in(done.stdout)["degraded"]
