"""Which rows a program learned from, kept with the program."""

from __future__ import annotations

from queryplan.data.card import SHIPPED
from queryplan.data.learned import prints_of, seen_among
from queryplan.data.rows import read_rows


def test_rows_are_known_again_whatever_their_labels_and_split_are() -> None:
    rows = read_rows(SHIPPED / "engineering" / "dev.jsonl")
    learned, new = rows[:20], rows[20:]
    prints = prints_of([*learned, *learned])
    mended = learned[0].model_copy(update={"tags": ("mended",)})
    assert seen_among([mended, *new, learned[7]], prints) == 2
    assert seen_among([learned[0].model_copy(update={"id": "another"})], prints) == 0
    assert seen_among(rows, "") == 0
