"""Files on this disk: written whole or not at all, and found where a user keeps them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from queryplan.data.disk import user_cache, write_whole
from queryplan.data.lines import numbered_lines


def test_a_file_is_written_whole_with_its_folder_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.json"
    for content in (b"one", b"two"):
        write_whole(path, content)
        assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_what_was_there_stays_where_the_disk_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.json"
    write_whole(path, b"old")

    def refuse(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(path, b"new")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_cache_of_a_user_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERYPLAN_CACHE", str(tmp_path))
    assert user_cache("models") == tmp_path / "models"
    monkeypatch.delenv("QUERYPLAN_CACHE")
    assert user_cache("models") == Path.home() / ".cache" / "queryplan" / "models"


def test_only_a_line_feed_ends_a_line_and_blank_ones_are_left_out() -> None:
    assert list(numbered_lines('{"a": "x\u2028y"}\n\n \nlast')) == [(1, '{"a": "x\u2028y"}'), (4, "last")]
