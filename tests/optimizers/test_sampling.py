"""A part of a labelled set that is like the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from queryplan.data.card import domain_folder
from queryplan.data.rows import LabelledRow, read_rows
from queryplan.eval.sampling import sample_rows

MakeRows = Callable[..., list[LabelledRow]]


@pytest.fixture(scope="module")
def train() -> list[LabelledRow]:
    return read_rows(domain_folder("podcast") / "train.jsonl")


def test_it_has_the_size_asked_for_and_says_what_it_is(train: list[LabelledRow]) -> None:
    sample = sample_rows(train, 48, 0, "train")
    assert len(sample.rows) == 48
    assert sample.name == f"48 of {len(train)} train rows, stratified, seed 0"


@pytest.mark.parametrize("n", [30, 48, 90])
def test_shares_are_near_those_of_the_whole(train: list[LabelledRow], n: int) -> None:
    rows = sample_rows(train, n, 0).rows
    for trait in (
        lambda r: r.labels.is_follow_up,
        lambda r: bool(r.history),
        lambda r: r.labels.is_relevant,
        lambda r: r.labels.complexity,
    ):
        whole, part = (Counter(map(trait, group)) for group in (train, rows))
        # Conversations are whole and have up to three later turns, so a share may be nearly that many rows off.
        assert all(abs(part[label] / n - count / len(train)) < max(0.04, 3 / n) for label, count in whole.items())


def test_every_intent_is_there(train: list[LabelledRow]) -> None:
    assert {r.labels.intent for r in sample_rows(train, 48).rows} == {r.labels.intent for r in train}


def test_conversations_are_kept_whole_where_possible(train: list[LabelledRow]) -> None:
    whole = Counter(row.conversation for row in train)
    part = Counter(row.conversation for row in sample_rows(train, 48).rows)
    assert sum(part[name] != whole[name] for name in part) <= 1


def test_rows_keep_the_order_of_the_file(train: list[LabelledRow]) -> None:
    order = {row.id: i for i, row in enumerate(train)}
    places = [order[row.id] for row in sample_rows(train, 48).rows]
    assert places == sorted(places)


def test_the_same_seed_gives_the_same_and_another_another(train: list[LabelledRow]) -> None:
    one, again, other = (sample_rows(train, 48, seed).rows for seed in (0, 0, 1))
    assert one == again != other


def test_asking_for_all_or_more_gives_all(make_rows: MakeRows) -> None:
    rows = make_rows(6)
    assert sample_rows(rows, 10, 0, "dev").name == "all 6 dev rows"
    assert sample_rows(rows, 6).rows == tuple(rows)


def test_a_conversation_longer_than_the_sample_is_split(make_rows: MakeRows) -> None:
    rows = [row.model_copy(update={"conversation": "one"}) for row in make_rows(8)]
    assert len(sample_rows(rows, 3).rows) == 3
