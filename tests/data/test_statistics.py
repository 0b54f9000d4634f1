"""Counts of a labelled set, of the rows that raise each question."""

from __future__ import annotations

from collections.abc import Callable

from queryplan.data.rows import Gold, LabelledRow
from queryplan.data.statistics import ASKED, gold_parts, label_of, set_statistics

MakeRow = Callable[..., LabelledRow]
OUT = {"is_relevant": False, "rejection_kind": "news", "intent": "out_of_scope"}


def test_a_label_is_counted_where_its_question_is_raised(make_row: MakeRow) -> None:
    first, later, out = make_row("a", "a"), make_row("b", "a", 2), make_row("c", "c", **OUT)
    assert [label_of(r, "is_follow_up") for r in (first, later, out)] == [None, "false", None]
    assert [label_of(r, "intent") for r in (first, later, out)] == ["factual", "factual", None]
    assert [label_of(r, "rejection_kind") for r in (first, later, out)] == [None, None, "news"]


def test_everything_is_counted_by_split(make_row: MakeRow) -> None:
    train = [make_row("one two", "a", row_tags=["typo"]), make_row("three", "a", 2), make_row("x", "c", **OUT)]
    counted = set_statistics({"train": train, "dev": []})
    split = counted.splits["train"]
    assert (split.rows, split.conversations, split.later_turns) == (3, 2, 1)
    assert (split.words.median, split.words.largest, split.turns.largest) == (1, 2, 2)
    assert (split.languages, split.tags, split.gold) == ({"en": 3}, {"typo": 1}, {})
    assert counted.labels["is_relevant"] == {"true": {"train": 2, "dev": 0}, "false": {"train": 1, "dev": 0}}
    assert set(counted.labels) == set(ASKED)
    assert counted.splits["dev"].words.p95 == 0


def test_only_known_labels_are_counted(make_row: MakeRow) -> None:
    assert list(set_statistics({"train": [make_row("a")]}, ["intent"]).labels) == ["intent"]


def test_parts_of_gold_are_named() -> None:
    assert gold_parts(None) == []
    assert gold_parts(Gold(answers=(), evidence=("a",))) == ["answers", "evidence"]
    assert gold_parts(Gold(expressible=False)) == ["not expressible"]
