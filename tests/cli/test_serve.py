"""``queryplan serve``: a process of its own, what it refuses to do, and how it ends."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from queryplan.cli.logging_plans import logging_service
from queryplan.data.card import domain_folder, load_card
from queryplan.errors import DataError, UserError
from queryplan.program.plan import QueryPlan
from queryplan.program.planner import QueryPlanner

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")

Run = Callable[..., tuple[int, str, str]]
SECRET = "zanzibarsecret"
TOKEN = "0123456789abcdef0123"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of rules alone."""
    folder = tmp_path_factory.mktemp("programs") / "podcast"
    planner = QueryPlanner(load_card(domain_folder("podcast")))
    planner.save(folder)
    planner.close()
    return folder


# --- what is refused


def test_other_addresses_are_refused_without_a_token(queryplan: Run, program: Path) -> None:
    code, out, err = queryplan("serve", program, "--host", "0.0.0.0", "--port", 0)
    assert (code, out) == (2, "")
    assert err.startswith("error: whoever reaches 0.0.0.0 could plan")
    assert "QUERYPLAN_SERVE_TOKEN" in err
    assert "--no-token" in err


def test_a_token_that_can_be_guessed_is_refused(queryplan: Run, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERYPLAN_SERVE_TOKEN", "hunter2")
    code, _, err = queryplan("serve", program)
    assert code == 2
    assert "QUERYPLAN_SERVE_TOKEN" in err
    assert "hunter2" not in err


@pytest.mark.parametrize(
    ("given", "said"),
    [((), "say which domain"), (("nowhere",), "nowhere"), (("--host", "256.0.0.1"), "--host")],
)
def test_what_cannot_be_served_is_a_sentence(queryplan: Run, given: tuple[str, ...], said: str) -> None:
    code, out, err = queryplan("serve", "--port", 0, *given)
    assert code in (2, 3)
    assert out == ""
    assert err.startswith("error: ")
    assert said in err


def test_without_the_extra_it_is_said_what_to_install(queryplan: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    for module in [name for name in sys.modules if name.startswith("queryplan.program.integrations.http")]:
        monkeypatch.delitem(sys.modules, module)
    code, out, err = queryplan("serve", "--domain", "podcast")
    assert (code, out) == (2, "")
    assert err == "error: serving needs the extra: pip install 'queryplan[serve]'\n"


def test_the_log_of_the_environment_is_kept_meanwhile(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner = QueryPlanner.load(program, lm=None)
    with logging_service(planner, None, text=False):
        assert planner.log is None
    monkeypatch.setenv("QUERYPLAN_PLAN_LOG", str(tmp_path / "plans.jsonl"))
    with logging_service(planner, None, text=False):
        planner.plan(SECRET)
    assert planner.log is None
    assert SECRET not in (tmp_path / "plans.jsonl").read_text()
    with pytest.raises(UserError, match="--log-text needs --log"), logging_service(planner, None, text=True):
        pass
    monkeypatch.setenv("QUERYPLAN_PLAN_LOG", str(tmp_path))
    with pytest.raises(DataError, match="QUERYPLAN_PLAN_LOG"), logging_service(planner, None, text=False):
        pass
    planner.close()


def test_the_garbage_collector_leaves_what_is_loaded_alone_while_it_serves(
    queryplan: Run, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen: list[int] = []
    monkeypatch.setattr(
        "queryplan.program.integrations.http_server.serve", lambda *args, **more: frozen.append(gc.get_freeze_count())
    )
    before = gc.get_freeze_count()
    assert queryplan("serve", program, "--port", 0)[0] == 0
    assert frozen[0] > before
    assert gc.get_freeze_count() == 0


# --- a process


@contextmanager
def serving(tmp_path: Path, *args: object, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its address, once it listens."""
    seed = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}\nfrom queryplan.cli.main import main\nmain()"
    errors = (tmp_path / "errors.txt").open("w")
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", seed, "serve", *map(str, args), "--port", "0"],
        stdout=subprocess.PIPE, stderr=errors, text=True, cwd=tmp_path, env={**os.environ, **variables},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+:\d+", line)
        assert found, (tmp_path / "errors.txt").read_text()
        yield process, found[0]
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        errors.close()


def until_ready(address: str, headers: dict[str, str] | None = None) -> None:
    end = time.monotonic() + 60
    while httpx.get(f"{address}/v1/ready", headers=headers).status_code != 200:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_a_process_finishes_what_is_running_when_it_is_told_to_stop(
    program: Path, tmp_path: Path, endpoint: Any
) -> None:
    lm = ("--lm", "openai/m", "--api-base", endpoint.base)
    with serving(tmp_path, program, *lm, QUERYPLAN_API_KEY="k" * 20) as (process, address):
        until_ready(address)
        health = httpx.get(f"{address}/v1/health").json()
        assert (health["status"], health["lm_open"]) == ("ready", True)
        sent = {"query": SECRET, "history": [{"role": "user", "content": SECRET}]}
        plan = QueryPlan.model_validate_json(httpx.post(f"{address}/v1/plan", json=sent).text)
        assert plan.trace.requests > 0
        answers: list[httpx.Response] = []
        endpoint.delay = 1.0
        running = threading.Thread(
            target=lambda: answers.append(httpx.post(f"{address}/v1/plan", json={"query": "b?"}, timeout=30))
        )
        running.start()
        while httpx.get(f"{address}/v1/health").json()["running"] == 0:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        running.join(30)
        assert QueryPlan.model_validate_json(answers[0].text).degraded == ()
        assert process.wait(30) == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{address}/v1/health")
    said = (tmp_path / "errors.txt").read_text()
    assert "POST /v1/plan 200" in said
    assert said.rstrip().endswith("stopped")
    assert SECRET not in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_a_process_with_a_token_serves_other_addresses_and_never_shows_it(program: Path, tmp_path: Path) -> None:
    args = (program, "--lm", "none", "--host", "0.0.0.0")
    with serving(tmp_path, *args, QUERYPLAN_SERVE_TOKEN=TOKEN) as (process, address):
        address = address.replace("0.0.0.0", "127.0.0.1")
        until_ready(address)
        assert httpx.post(f"{address}/v1/plan", json={"query": "a"}).status_code == 401
        allowed = {"Authorization": f"Bearer {TOKEN}"}
        assert httpx.post(f"{address}/v1/plan", json={"query": "a"}, headers=allowed).status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert TOKEN not in (tmp_path / "errors.txt").read_text()


@pytest.mark.slow
def test_a_model_that_is_named_wrongly_ends_the_process_with_a_sentence(program: Path, tmp_path: Path) -> None:
    with serving(tmp_path, program, "--lm", "local:7b") as (process, _):
        assert process.wait(60) == 2
    said = (tmp_path / "errors.txt").read_text()
    assert "error: " in said
    assert "Traceback" not in said
