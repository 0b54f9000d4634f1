"""The list of readings of a test set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from queryplan.eval.test_readings import READINGS_FILE, readings, record_reading


def test_each_reading_is_appended_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "test.jsonl"
    assert readings(file) == 0
    assert record_reading(file, "models:/queryplan-podcast/3", "gate") == 1
    assert record_reading(file, "zero-shot", "report") == 2
    entries = [json.loads(line) for line in (tmp_path / READINGS_FILE).read_text().splitlines()]
    assert [(e["program"], e["why"]) for e in entries] == [
        ("models:/queryplan-podcast/3", "gate"),
        ("zero-shot", "report"),
    ]
    assert entries[0]["date"].endswith("+00:00")


def test_a_list_that_cannot_be_written_warns_and_still_counts(tmp_path: Path) -> None:
    (tmp_path / READINGS_FILE).mkdir()
    with pytest.warns(UserWarning, match=r"reading of test\.jsonl is not recorded"):
        assert record_reading(tmp_path / "test.jsonl", "p", "why") == 1
