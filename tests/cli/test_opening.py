"""Which model a command asks, at which address, and what it does when that model does not answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.cli.opening import open_planner
from queryplan.cli.settings import Settings
from queryplan.data.card import domain_folder, load_card
from queryplan.errors import ConfigError
from queryplan.program.artifact.folder import Manifest
from queryplan.program.lm.endpoint import LMSettings
from queryplan.program.opening import OWN_ADDRESS
from queryplan.program.planner import QueryPlanner

Run = Callable[..., tuple[int, str, str]]
Saved = Callable[..., Path]


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Saved:
    """Saves a program of rules alone, as if compiled with a model."""
    monkeypatch.setenv("QUERYPLAN_API_KEY", "sk-secret-of-the-test")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")

    def save(lm: str, own_address: bool = False) -> Path:
        compiled = {OWN_ADDRESS: True} if own_address else {}
        manifest = Manifest(domain="podcast", lm=lm, compiled=compiled)
        QueryPlanner(load_card(domain_folder("podcast"))).save(tmp_path / "program", manifest)
        return tmp_path / "program"

    return save


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[LMSettings]:
    """The settings of every model that was opened."""
    opened: list[LMSettings] = []

    def open_lm(settings: LMSettings) -> Any:
        opened.append(settings)
        raise ConfigError("nobody answers in a test")

    monkeypatch.setattr("queryplan.program.opening.open_lm", open_lm)
    return opened


@pytest.mark.parametrize("own_address", [False, True])
def test_an_address_alone_is_that_of_the_programs_own_model(
    saved: Saved, asked: list[LMSettings], own_address: bool
) -> None:
    settings = Settings(api_base="http://127.0.0.1:9/v1", timeout=7)
    with open_planner(None, str(saved("openai/private", own_address)), settings, model="later") as planner:
        planner.plan("who is Priya?")
    assert [(one.model, one.api_base, one.timeout_s) for one in asked] == [
        ("openai/private", "http://127.0.0.1:9/v1", 7.0)
    ]


def test_a_model_with_an_address_of_its_own_is_asked_nowhere_else(saved: Saved, asked: list[LMSettings]) -> None:
    program = saved("openai/private", own_address=True)
    with open_planner(None, str(program), Settings(), model="later") as planner:
        plan = planner.plan("who is Priya?")
    planner = QueryPlanner.load(program)
    with pytest.raises(ConfigError, match="openai/private at an address of its own"):
        planner.warm()
    assert asked == []
    assert any("--api-base" in gap.why for gap in plan.degraded)


def test_the_environment_may_say_the_address(
    saved: Saved, asked: list[LMSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUERYPLAN_API_BASE", "http://127.0.0.1:9/v1")
    QueryPlanner.load(saved("openai/private", own_address=True)).plan("who is Priya?")
    assert [(one.model, one.api_base) for one in asked] == [("openai/private", "http://127.0.0.1:9/v1")]


def test_another_model_needs_no_address(saved: Saved, asked: list[LMSettings]) -> None:
    program = str(saved("openai/private", own_address=True))
    with open_planner(None, program, Settings(lm="openai/public"), model="later") as planner:
        planner.plan("who is Priya?")
    with open_planner(None, program, Settings(lm="none")) as planner:
        assert not planner.has_lm
    assert [(one.model, one.api_base) for one in asked] == [("openai/public", None)]


def test_a_batch_ends_with_exit_code_two_where_the_programs_own_model_does_not_answer(
    queryplan: Run, saved: Saved, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"query": "who is Priya?"}\n')
    program = saved("openai/private", own_address=True)
    code, out, err = queryplan(
        "plan", "--batch", str(rows), "--out", str(tmp_path / "plans.jsonl"), "--program", str(program)
    )
    assert (code, out) == (2, "")
    assert "--api-base" in err
    assert not (tmp_path / "plans.jsonl").exists()


def test_one_query_is_planned_and_ends_with_exit_code_two_where_the_own_model_cannot_be_asked(
    queryplan: Run, saved: Saved
) -> None:
    code, _, err = queryplan("plan", "who is Priya?", "--program", str(saved("openai/private", own_address=True)))
    assert code == 2
    assert "openai/private at an address of its own" in err
