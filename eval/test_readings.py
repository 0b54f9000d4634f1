"""The list of when a test set was read: a set that is read often is no longer a test."""

from __future__ import annotations

import json
import warnings
from datetime import UTC, datetime
from pathlib import Path

READINGS_FILE = "test-readings.jsonl"


def record_reading(test_file: Path, program: str, why: str) -> int:
    """Note that ``test_file`` was read, in the list beside it, and return how often that makes.

    Where the list cannot be written (an installed package, a read-only disk) a ``UserWarning``
    says so, and this reading is counted but not kept.
    """
    path = test_file.with_name(READINGS_FILE)
    before = readings(test_file)
    entry = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "program": program, "why": why}
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**entry, "file": test_file.name}, ensure_ascii=False) + "\n")
    except OSError as error:
        warnings.warn(f"this reading of {test_file.name} is not recorded: {error}", stacklevel=2)
    return before + 1


def readings(test_file: Path) -> int:
    """How many readings are on the list beside ``test_file``; 0 if there is none."""
    path = test_file.with_name(READINGS_FILE)
    if not path.is_file():
        return 0
    return sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())
