"""Dates as people write them, resolved by hand by writers who had not seen the grammar (``eval/sets/README.md``)."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.dates.finding import find_dates, resolve_dates


@pytest.fixture(scope="module")
def phrases(root: Path) -> list[dict[str, Any]]:
    lines = (root / "eval" / "sets" / "date-phrases.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def is_right(row: dict[str, Any]) -> bool:
    calendar = load_card(domain_folder("engineering")).calendar
    (found,) = resolve_dates([row["phrase"]], datetime.fromisoformat(row["now"]).date(), calendar)
    return (found.period.text() if found.period else None) == row["days"]


def test_of_each_writers_phrases_most_are_the_days_that_were_meant(phrases: list[dict[str, Any]]) -> None:
    right: dict[str, list[bool]] = defaultdict(list)
    for row in phrases:
        right[row["writer"]].append(is_right(row))
    shares = {writer: sum(each) / len(each) for writer, each in right.items()}
    assert min(shares.values()) >= 0.85, shares
    assert sum(map(sum, right.values())) / len(phrases) >= 0.95


def test_what_is_read_is_found_in_a_question(phrases: list[dict[str, Any]]) -> None:
    """As it is or with fewer words around it, where by itself it is read."""
    rows = [row for row in phrases if row["language"] == "en" and row["days"] and is_right(row)]
    found = [find_dates(f"which tickets were closed {row['phrase']}?") for row in rows]
    assert sum(bool(each) for each in found) / len(rows) > 0.9
