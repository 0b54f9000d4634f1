"""The picture of a set is a picture, the same every time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from queryplan.data.drawing import draw_set
from queryplan.data.rows import LabelledRow
from queryplan.data.statistics import set_statistics
from queryplan.errors import DataError

BARS = {"intent": {"majority": 0.4, "TF-IDF": 0.5}}


@pytest.mark.parametrize(("ending", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_the_same_set_gives_the_same_file(
    tmp_path: Path, make_row: Callable[..., LabelledRow], ending: str, begins: bytes
) -> None:
    counted = set_statistics({"train": [make_row("a"), make_row("b", "b", intent="greeting")], "dev": []})
    paths = [tmp_path / f"{name}{ending}" for name in "ab"]
    for path in paths:
        draw_set(counted, BARS, "mine", path)
    assert paths[0].read_bytes().startswith(begins)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_an_empty_set_has_a_picture_too(tmp_path: Path) -> None:
    draw_set(set_statistics({}), {}, "nothing", tmp_path / "a.png")
    assert (tmp_path / "a.png").is_file()


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"ends in \.png or \.svg"):
        draw_set(set_statistics({}), {}, "x", tmp_path / "a.gif")
