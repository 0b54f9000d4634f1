"""A killed split leaves all of the old files or all of the new ones to whoever reads next."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data import replacing
from queryplan.data.loading import parse_splits
from queryplan.data.locks import alone_at
from queryplan.data.replacing import MARKER, finish, replace_all
from queryplan.data.rows import LabelledRow
from queryplan.data.splitting import write_splits
from queryplan.errors import DataError

MakeRow = Callable[..., LabelledRow]
SPLITS = ("train", "dev", "calibrate", "test")
STEPS = [*(("replace", n) for n in range(1, 6)), ("fsync", 1), ("fsync", 4), ("fsync", 5), ("unlink", 1)]
"""Four splits and a marker are put on the disk and into their places, then the marker goes."""


class Killed(BaseException):
    """The process ends here."""


def killed_at(monkeypatch: pytest.MonkeyPatch, what: str, nth: int) -> None:
    """Let the process die before the ``nth`` call of a function of the system, so that it does nothing any more."""
    counts = {"replace": 0, "fsync": 0, "unlink": 0}
    dead = False

    def dies(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*args: Any, **known: Any) -> Any:
            nonlocal dead
            counts[name] += 1
            dead = dead or (name, counts[name]) == (what, nth)
            if dead:
                raise Killed
            return real(*args, **known)

        return call

    for name in counts:
        monkeypatch.setattr(os, name, dies(name))


def parts_of(make_row: MakeRow, kind: str) -> dict[str, tuple[LabelledRow, ...]]:
    return {name: tuple(make_row(f"{kind} {name} {n}", f"{kind}-{name}-{n}") for n in range(3)) for name in SPLITS}


def read_back(folder: Path) -> dict[str, tuple[LabelledRow, ...]]:
    return {name: tuple(part.all_right()) for name, part in parse_splits(folder).items()}


@pytest.mark.parametrize(("what", "nth"), STEPS)
def test_a_split_killed_at_any_step_is_old_or_new(
    tmp_path: Path, make_row: MakeRow, monkeypatch: pytest.MonkeyPatch, what: str, nth: int
) -> None:
    old, new = parts_of(make_row, "old"), parts_of(make_row, "new")
    write_splits(old, tmp_path)
    with monkeypatch.context() as patched:
        killed_at(patched, what, nth)
        with pytest.raises(Killed):
            write_splits(new, tmp_path, replace=True)
    marked = (tmp_path / MARKER).exists()
    assert read_back(tmp_path) == (new if marked else old)
    assert marked is ((what, nth) in [("unlink", 1), *(("replace", n) for n in range(2, 6))])
    assert not (tmp_path / MARKER).exists()
    write_splits(old, tmp_path, replace=True)  # and the next one goes through
    assert read_back(tmp_path) == old
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{name}.jsonl" for name in SPLITS)


def test_a_disk_that_refuses_leaves_what_was_there(
    tmp_path: Path, make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = parts_of(make_row, "old")
    write_splits(old, tmp_path)

    def full(path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(replacing, "_on_disk", full)
    with pytest.raises(OSError, match="No space"):
        write_splits(parts_of(make_row, "new"), tmp_path, replace=True)
    assert read_back(tmp_path) == old
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{name}.jsonl" for name in SPLITS)


def test_a_folder_that_cannot_be_finished_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / MARKER).write_text('{"files": ["train.jsonl"]}')
    (tmp_path / "train.jsonl.unfinished").write_text("new")

    def refuse(*args: Any) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", refuse)
        with pytest.raises(DataError, match=r"Permission denied.*make it writable and run the same again"):
            finish(tmp_path)
    finish(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["train.jsonl"]


@pytest.mark.parametrize("said", ["", "[]", "{", '{"files": 3}'])
def test_a_marker_that_is_none_of_ours_is_named(tmp_path: Path, said: str) -> None:
    (tmp_path / MARKER).write_text(said)
    with pytest.raises(DataError, match="remove it to go on"):
        finish(tmp_path)


def test_a_marker_names_files_of_its_folder_alone(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "mine.unfinished").write_text("other")
    (inner / MARKER).write_text('{"files": ["../mine"]}')
    finish(inner)
    assert (tmp_path / "mine").read_text() == "mine"


def test_two_at_one_folder_are_not_let_in(tmp_path: Path) -> None:
    def other(path: Path) -> None:
        with pytest.raises(DataError, match=r"is being written by another process: .* another folder"):
            replace_all(tmp_path, {}, lambda: None)
        path.write_text("")

    replace_all(tmp_path, {"train.jsonl": other}, lambda: None)
    with alone_at(tmp_path / MARKER):
        finish(tmp_path)  # without a marker there is nothing to wait for
    assert [path.name for path in tmp_path.iterdir()] == ["train.jsonl"]
