"""Commands on a disk that takes no more: the file is named, there is advice, and nothing is left half."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.artifact.folder import Manifest
from queryplan.program.planner import QueryPlanner

Run = Callable[..., tuple[int, str, str]]
ADVICE = "; free some space, or write to another disk, and run the same again\n"
NEW = ("--covers", "what the house keeps on its shelves", "--covers", "who lent it and when")


@contextmanager
def full(size: int = 0) -> Iterator[None]:
    """No file may grow beyond so many bytes meanwhile."""
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, kept[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept)


@pytest.mark.parametrize("size", [0, 5000])
@pytest.mark.parametrize("there", [False, True])
def test_a_domain_is_begun_whole_or_not_at_all(queryplan: Run, size: int, there: bool) -> None:
    if there:
        Path("shed").mkdir()
    with full(size):
        code, out, err = queryplan("new-domain", "shed", *NEW)
    assert (code, out, err) == (1, "", f"error: File too large: shed{ADVICE}")
    assert Path("shed").exists() is there
    assert not list(Path("shed").glob("*"))
    assert queryplan("new-domain", "shed", *NEW)[0] == 0


def test_a_split_is_named(queryplan: Run) -> None:
    queryplan("new-domain", "shed", *NEW)
    with full():
        code, out, err = queryplan("data", "split", "shed/train.jsonl", "--out", "parts")
    assert (code, out, err) == (1, "", f"error: File too large: parts{ADVICE}")
    assert not list(Path("parts").glob("*"))


def test_a_batch_names_its_file_and_goes_on_later(queryplan: Run, tmp_path: Path) -> None:
    QueryPlanner(load_card(domain_folder("podcast"))).save(tmp_path / "program", Manifest(domain="podcast"))
    Path("in.jsonl").write_text("".join(json.dumps({"id": i, "query": "Who is Nell?"}) + "\n" for i in range(3)))
    args = ("plan", "--batch", "in.jsonl", "--out", "out.jsonl", "--program", tmp_path / "program", "--lm", "none")
    assert queryplan(*args)[0] == 0
    whole = Path("out.jsonl").read_text()
    Path("out.jsonl").unlink()
    with full(len(whole) // 2):
        code, _, err = queryplan(*args)
    assert code == 1
    assert err.endswith(f"error: File too large: out.jsonl{ADVICE}")
    assert queryplan(*args)[0] == 0
    assert len(Path("out.jsonl").read_text().splitlines()) == 3
