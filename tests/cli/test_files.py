"""Files that a command is given: what cannot be read or written is one sentence, exit code 2, before any work."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from queryplan.cli.files import check_file, check_folder, check_tracking, read_json
from queryplan.errors import ConfigError, DataError, UserError

Run = Callable[..., tuple[int, str, str]]
DEEP = "[" * 100_000


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a folder, a text, nested JSON and a line of queries in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("mine\n")
    (tmp_path / "deep.json").write_text(DEEP)
    (tmp_path / "in.jsonl").write_text('{"id": "a", "query": "hi"}\n')
    return tmp_path


# Reading


def test_json_is_read(here: Path) -> None:
    (here / "list.json").write_text("[1]", encoding="utf-8")
    assert read_json(here / "list.json", "a list") == [1]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing", "No such file or directory"),
        ("folder", "Is a directory"),
        ("text", "Expecting value"),
        ("deep.json", "it is nested too deeply"),
    ],
)
def test_what_is_no_json_is_named_with_the_reason(here: Path, name: str, why: str) -> None:
    with pytest.raises(DataError, match=f"{name} (is not|cannot be read as) a list: {why}"):
        read_json(Path(name), "a list")


@pytest.mark.parametrize(
    "args",
    [
        ("plan", "q", "--domain", "podcast", "--history", "deep.json"),
        ("explain", "q", "--domain", "podcast", "--history", "deep.json"),
        ("run", "q", "--domain", "podcast", "--session", "deep.json"),
        ("plan", "q", "--domain", "d" * 5000),
        ("plan", "q", "--program", "p" * 5000),
    ],
)
def test_what_no_machine_can_read_is_one_short_sentence(here: Path, queryplan: Run, args: tuple[str, ...]) -> None:
    code, out, err = queryplan(*args)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert len(err) < 300


def test_a_batch_with_a_line_nested_too_deeply_is_refused_by_file_and_line(here: Path) -> None:
    from queryplan.program.batch import each_row

    (here / "rows.jsonl").write_text('{"id": "a", "query": "hi"}\n' + DEEP)
    with pytest.raises(DataError, match=r"rows\.jsonl:2: not JSON"):
        each_row(here / "rows.jsonl", here / "out.jsonl", lambda row: {"plan": row}, "v1")
    with pytest.raises(DataError, match=r"deep\.json:1: this is no"):
        each_row(here / "in.jsonl", _with_line_end(here / "deep.json"), lambda row: {"plan": row}, "v1")


def _with_line_end(path: Path) -> Path:
    path.write_text(path.read_text() + "\n")
    return path


# Writing


@pytest.mark.parametrize("name", ["new.json", "text", "folder/new.json", "not/there/yet/new.json"])
def test_a_file_that_can_be_written_passes_and_is_not_made(here: Path, name: str) -> None:
    before = sorted(here.rglob("*"))
    check_file("--out", Path(name))
    check_file("--out", None)
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize("name", ["new", "folder", "not/there/yet"])
def test_a_folder_that_can_be_made_passes_and_is_not_made(here: Path, name: str) -> None:
    before = sorted(here.rglob("*"))
    check_folder("--out", Path(name))
    check_folder("--out", None)
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize(
    ("check", "name", "why"),
    [
        (check_file, "folder", "--out folder is a folder: give the name of a file"),
        (check_file, "text/new", "--out text/new cannot be made: .*text is a file"),
        (check_folder, "text", "--out text is a file: give the name of a folder"),
        (check_folder, "text/a/b", "--out text/a/b cannot be made: .*text is a file"),
    ],
)
def test_a_place_that_cannot_be_is_refused(here: Path, check: Callable[..., None], name: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        check("--out", Path(name))


def test_what_may_not_be_written_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # whoever runs the tests may write anywhere
    with pytest.raises(UserError, match="--out text may not be written"):
        check_file("--out", Path("text"))
    for check in (check_file, check_folder):
        with pytest.raises(UserError, match="folder may not be written to"):
            check("--out", Path("folder/new"))


def test_of_a_folder_that_is_there_what_is_above_need_not_be_writable(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name == "folder")  # as of a mounted volume
    check_folder("--out", Path("folder"))
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "folder")
    with pytest.raises(UserError, match="--out folder may not be written to"):
        check_folder("--out", Path("folder"))


@pytest.mark.parametrize(
    ("flag", "args"),
    [
        ("--out", ("plan", "--domain", "nowhere", "--batch", "in.jsonl", "--out", "folder")),
        ("--out", ("run", "--domain", "nowhere", "--batch", "in.jsonl", "--out", "text/new")),
        ("--out", ("evaluate", "zero-shot", "--domain", "nowhere", "--out", "text")),
        ("--out", ("evaluate", "zero-shot", "--domain", "nowhere", "--out", "text/new.json")),
        ("--html", ("evaluate", "zero-shot", "--domain", "nowhere", "--html", "folder")),
        ("--html", ("compare", "nothing", "--html", "folder")),
        ("--picture", ("compile", "nowhere", "--picture", "folder")),
        ("--out", ("compile", "nowhere", "--out", "text")),
        ("--junit", ("promote", "3", "--junit", "folder")),
        ("--markdown", ("promote", "3", "--markdown", "text/new")),
        ("--picture", ("data", "check", "nowhere", "--picture", "folder")),
        ("--out", ("data", "split", "nowhere", "--out", "text")),
        ("--out", ("new-domain", "mine", "--covers", "x", "--out", "text/new")),
        ("--export", ("graph", "check", "plan.json", "--domain", "nowhere", "--export", "folder")),
        ("--picture", ("graph", "run", "q", "--domain", "nowhere", "--picture", "text/new.svg")),
        ("--out", ("graph", "run", "--batch", "in.jsonl", "--domain", "nowhere", "--out", "folder")),
    ],
)
def test_a_command_refuses_where_it_cannot_write_before_it_begins(
    here: Path, queryplan: Run, flag: str, args: tuple[str, ...]
) -> None:
    code, out, err = queryplan(*args)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {flag} ")
    assert err.count("\n") == 1
    assert (here / "text").read_text() == "mine\n"


def test_a_picture_and_an_export_go_into_folders_that_are_made(here: Path, queryplan: Run) -> None:
    (here / "plan.json").write_text(
        '{"steps": [{"kind": "anchor", "store_as": "d", "node": {"name": "asthma", "type": "Disease"}}]}'
    )
    code, _, err = queryplan("graph", "check", "plan.json", "--domain", "biomedical", "--export", "a/b/spoke.json")
    assert (code, err) == (0, "")
    assert (here / "a" / "b" / "spoke.json").is_file()


# Numbers


@pytest.mark.parametrize("seconds", ["-1", "nan", "soon"])
@pytest.mark.parametrize("command", ["plan", "run", "explain"])
def test_a_deadline_is_no_less_than_nothing(here: Path, queryplan: Run, command: str, seconds: str) -> None:
    code, out, err = queryplan(command, "q", "--domain", "podcast", "--deadline", seconds)
    assert (code, out) == (2, "")
    assert "--deadline" in err


# Where results are tracked


def test_an_address_that_mlflow_cannot_use_is_refused_before_the_work(here: Path) -> None:
    with pytest.raises(ConfigError, match="MLflow at nonsense://x cannot be used"):
        check_tracking("nonsense://x", named=False)
    with pytest.raises(UserError, match="folder is a folder"):
        check_tracking("sqlite:///folder", named=False)
    check_tracking("sqlite:///new/mlflow.db", named=True)
    assert not (here / "new").exists()


def test_where_nobody_answers_is_refused_if_this_command_named_it_and_told_else(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigError, match="Connection refused"):
        check_tracking("http://127.0.0.1:9", named=True)
    check_tracking("http://127.0.0.1:9", named=False)
    assert "Connection refused" in capsys.readouterr().err


def test_a_wrong_tracking_address_ends_an_evaluation_before_it_begins(queryplan: Run, here: Path) -> None:
    code, _, err = queryplan("evaluate", "nowhere", "--tracking-uri", "http://127.0.0.1:9")
    assert code == 2
    assert "MLflow at http://127.0.0.1:9 cannot be used" in " ".join(err.split())
