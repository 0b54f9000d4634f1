"""``queryplan explain`` without a language model, and the option ``--mode``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from queryplan.cli import main
from typer.testing import CliRunner


@pytest.fixture(scope="module")
def program(heads_kept: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program folder, so that no test trains."""
    from queryplan.program.uncompiled import uncompiled_planner

    planner = uncompiled_planner("podcast", heads_kept("podcast"))
    folder = tmp_path_factory.mktemp("programs") / "podcast"
    planner.save(folder)
    return str(folder)


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main.app, [*args, "--lm", "none"])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def test_the_route_is_shown_with_its_neighbours(program: str) -> None:
    code, out, _ = run("explain", "Which book did Leilani write?", "--program", program, "--mode", "best-effort")
    assert code == 0
    assert out.startswith("Which book did Leilani write?")
    for words in ("follow_up: False – rule", "relevance: True – head", "would change it", "like (", "mode best-effort"):
        assert words in out


def test_as_json_it_is_typed(program: str, tmp_path: Path) -> None:
    history = tmp_path / "history.json"
    history.write_text('[{"role": "user", "content": "Who is Nell?"}]')
    code, out, _ = run("explain", "and why?", "--program", program, "--history", str(history), "--json")
    assert code == 0
    found = json.loads(out)
    assert [route["stage"] for route in found["routes"]] == ["follow_up", "relevance", "complexity"]
    assert found["routes"][0]["heads"]["is_follow_up"]
    assert found["routes"][0]["nearest"]


@pytest.mark.parametrize("command", ["plan", "explain"])
def test_a_mode_that_does_not_exist_is_refused_in_one_sentence(program: str, command: str) -> None:
    code, _, err = run(command, "why?", "--program", program, "--mode", "bold")
    assert code == 2
    assert "give one of off, bounded, best-effort" in err


def test_markup_in_a_query_is_shown_as_typed(program: str) -> None:
    assert "[red]why[/red]" in run("explain", "[red]why[/red] :heart:", "--program", program)[1]


@pytest.mark.parametrize("mode", ["bounded", "best-effort"])
def test_a_mode_that_was_not_compiled_is_used_and_named_in_the_version(program: str, mode: str) -> None:
    plain = json.loads(run("plan", "who is Nell?", "--program", program, "--json")[1])
    other = json.loads(run("plan", "who is Nell?", "--program", program, "--mode", mode, "--json")[1])
    assert other["program_version"] == f"{plain['program_version']}-{mode}"
    assert other["trace"]["notes"] != plain["trace"]["notes"]
    explained = json.loads(run("explain", "who is Nell?", "--program", program, "--mode", mode, "--json")[1])
    assert explained["mode"] == mode
    assert explained["plan"]["program_version"] == other["program_version"]


@pytest.mark.parametrize("command", ["plan", "explain", "run"])
def test_options_that_commands_share_are_said_alike(command: str) -> None:
    _, out, _ = run(command, "--help")
    for words in ("--domain", "--program", "--history", "--deadline", "--mode", "may heads answer"):
        assert words in out
