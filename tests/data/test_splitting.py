"""Splits keep conversations whole and shares alike, and write over nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.domain import load_domain
from queryplan.data.rows import LabelledRow, read_rows
from queryplan.data.splitting import SHARES, parse_shares, split_rows, write_splits
from queryplan.errors import DataError

MakeRow = Callable[..., LabelledRow]


@pytest.fixture(scope="module")
def podcast() -> list[LabelledRow]:
    return [row for rows in load_domain("podcast").splits.values() for row in rows]


@pytest.mark.parametrize("seed", [0, 1])
def test_shares_of_rows_and_labels_are_kept(podcast: list[LabelledRow], seed: int) -> None:
    parts = split_rows(podcast, SHARES, seed)
    assert sum(len(rows) for rows in parts.values()) == len(podcast)
    for name, share in SHARES.items():
        assert len(parts[name]) / len(podcast) == pytest.approx(share, abs=0.01)
        for label in ("is_follow_up", "is_relevant", "complexity", "intent"):
            whole = Counter(getattr(r.labels, label) for r in podcast)
            here = Counter(getattr(r.labels, label) for r in parts[name])
            for value, count in whole.items():
                assert here[value] == pytest.approx(share * count, abs=max(3, 0.15 * share * count)), (name, value)


def test_no_conversation_is_cut(podcast: list[LabelledRow]) -> None:
    homes = {(row.conversation, name) for name, rows in split_rows(podcast).items() for row in rows}
    assert len(homes) == len({conversation for conversation, _ in homes})


def test_the_seed_alone_decides(podcast: list[LabelledRow]) -> None:
    assert split_rows(podcast, seed=3) == split_rows(podcast, seed=3)
    assert split_rows(podcast, seed=3) != split_rows(podcast, seed=4)
    shuffled = split_rows(podcast[::-1], seed=3)
    assert {n: {r.id for r in rows} for n, rows in shuffled.items()} == {
        n: {r.id for r in rows} for n, rows in split_rows(podcast, seed=3).items()
    }


@given(st.lists(st.integers(1, 4), min_size=3, max_size=12), st.integers(0, 5))
def test_every_split_gets_something(make_row: MakeRow, turns: list[int], seed: int) -> None:
    rows = [make_row("q", f"c{n}", t) for n, last in enumerate(turns) for t in range(1, last + 1)]
    parts = split_rows(rows, {"train": 0.8, "dev": 0.1, "test": 0.1}, seed)
    assert all(parts.values())


def test_too_few_conversations_are_refused(make_row: MakeRow) -> None:
    with pytest.raises(DataError, match="all rows are of 1 conversation, which cannot make 4 splits; label more"):
        split_rows([make_row("a"), make_row("b", turn=2)])
    with pytest.raises(DataError, match="2 conversations cannot make 4 splits; label more"):
        split_rows([make_row("a"), make_row("b", "b")])
    with pytest.raises(DataError, match="no rows to split"):
        split_rows([])


def test_shares_are_read() -> None:
    assert parse_shares("train=0.6, dev=0.4") == {"train": 0.6, "dev": 0.4}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("train", "are no shares"),
        ("train=many", "are no shares"),
        ("train=0.5,dev=nan,test=0.5", "sum to 1"),
        ("train=0.5,holdout=0.5", "there is no split holdout: the splits are train, dev"),
        ("train=0.5,dev=0.4", "sum to 1"),
        ("train=1.5,dev=-0.5", "over 0"),
        ("train=0.5,train=0.5", "one a split"),
    ],
)
def test_wrong_shares_are_explained(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        parse_shares(text)


def test_written_splits_are_read_again(tmp_path: Path, podcast: list[LabelledRow]) -> None:
    parts = split_rows(podcast)
    paths = write_splits(parts, tmp_path / "new")
    assert [path.name for path in paths] == [f"{name}.jsonl" for name in SHARES]
    assert {path.stem: tuple(read_rows(path)) for path in paths} == parts


def test_no_file_is_written_over_unasked(tmp_path: Path, make_row: MakeRow) -> None:
    (tmp_path / "dev.jsonl").write_text("mine")
    parts = {"train": (make_row("a"),), "dev": (make_row("b", "b"),)}
    with pytest.raises(DataError, match=r"has dev\.jsonl already; give another --out, or --replace"):
        write_splits(parts, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["dev.jsonl"]
    write_splits(parts, tmp_path, replace=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dev.jsonl", "train.jsonl"]
    assert read_rows(tmp_path / "dev.jsonl")[0].query == "b"


@pytest.mark.parametrize("name", ["test.jsonl", "test.csv", "train.csv", "train.jsonl.gz", "dev.parquet"])
def test_a_split_that_would_stay_beside_the_new_ones_is_refused(tmp_path: Path, make_row: MakeRow, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(DataError, match=f"has {name}, which this split does not write"):
        write_splits({"train": (make_row("a"),)}, tmp_path, replace=True)
    assert [p.name for p in tmp_path.iterdir()] == [name]
