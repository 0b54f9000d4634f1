"""Which rows a program learned from, kept with the program."""

from __future__ import annotations

from queryplan.data.card import SHIPPED
from queryplan.data.learned import prints_of, seen_among, strange_to
from queryplan.data.rows import read_rows


def test_rows_are_known_again_whatever_their_labels_and_split_are() -> None:
    rows = read_rows(SHIPPED / "engineering" / "dev.jsonl")
    learned, new = rows[:20], rows[20:]
    prints = prints_of([*learned, *learned])
    mended = learned[0].model_copy(update={"tags": ("mended",)})
    assert seen_among([mended, *new, learned[7]], prints) == 2
    assert seen_among([learned[0].model_copy(update={"id": "another"})], prints) == 0
    assert seen_among(rows, "") == 0


def test_rows_that_a_program_has_seen_and_a_folder_does_not_have_are_counted() -> None:
    rows = read_rows(SHIPPED / "engineering" / "dev.jsonl")
    assert strange_to(rows, prints_of(rows[:20])) == 0
    assert strange_to(rows[5:], prints_of(rows[:20])) == 5
    assert strange_to((), prints_of(rows[:3])) == 3
    assert strange_to(rows, "") == 0
