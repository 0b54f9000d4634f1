"""The record of each reading of a test set: a set that is read often is no longer a test."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ..data.domain import Domain, rows_hash, split_files
from ..data.fingerprints import text_fingerprint
from ..data.learned import seen_among
from ..data.locks import wait_for
from ..data.rows import SPLITS, LabelledRow
from ..program.planner import QueryPlanner
from .resume import code_fingerprint

READINGS_FILE = "test-readings.jsonl"

_USED = {"train": "from which programs of that domain learn: on new queries they are less right than here."}
_CHOSEN = (
    "by which programs of that domain are chosen or bounded where they ask a model: on new queries such a program is "
    "less right than here."
)


def record_reading(test_file: Path, program: str, why: str, measured: str = "") -> int:
    """Record that ``test_file`` was read, in the list beside it, and return the number of this reading.

    If the list cannot be written (an installed package, a read-only disk), a ``UserWarning`` says so, and this reading
    is counted but not kept.

    Args:
        measured: what was measured, see `measured_on`. Each such measurement is on the list once: one that was stopped
            and continues, or is shown again, reveals nothing new.
    """
    path = test_file.with_name(READINGS_FILE)
    entry = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "program": program, "why": why}
    entry |= {"file": test_file.name} | ({"measured": measured} if measured else {})
    try:
        with path.open("a+b") as file:
            wait_for(file)
            file.seek(0)
            lines = _lines(file.read())
            if measured and (known := [n for n, line in enumerate(lines, 1) if _measured(line) == measured]):
                return known[0]
            file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
            return len(lines) + 1
    except OSError as error:
        warnings.warn(f"this reading of {test_file.name} is not recorded: {error}", stacklevel=2)
    return readings(test_file) + 1


def told_reading(test_file: Path, program: str, why: str, measured: str) -> str:
    """As `record_reading`, but returns a sentence."""
    count = record_reading(test_file, program, why, measured)
    if count < (there := readings(test_file)):
        return f"{test_file.name} was read with this program before (reading {count} of {there})."
    return f"This was reading {count} of {test_file.name}."


def readings(test_file: Path) -> int:
    """How many readings are on the list beside ``test_file``; 0 if there is none."""
    path = test_file.with_name(READINGS_FILE)
    return len(_lines(path.read_bytes())) if path.is_file() else 0


def measured_on(program: str, lm: str, rows: Sequence[LabelledRow], graph: bool = False) -> str:
    """The name of a measurement: the same for the same program, language model, rows and code of this package.

    Args:
        graph: whether graph steps are planned, too; a compiled program has one version with and without.
    """
    # Without graph steps nothing is added, so that readings that are on record keep their names.
    return text_fingerprint(program, lm, rows_hash(rows), code_fingerprint(), *(("graph",) if graph else ()))


def file_of_test(folder: Path) -> Path:
    """The file with the test split in a domain's folder, whatever its ending."""
    return split_files(folder).get("test", folder / "test.jsonl")


def read_of_test(rows: Sequence[LabelledRow], data: Path | None, domain: Domain | None) -> Path | None:
    """The file of the test set that these rows belong to; None if they belong to none.

    Args:
        data: the file they were read from; None for the domain's own test split.
        domain: the domain whose test rows may have been copied into ``data``; None if it is missing.
    """
    if data is not None and data.name.split(".")[0] == "test":
        return data
    if domain is not None and (data is None or shared(rows, domain.splits.get("test", ()))):
        return file_of_test(domain.folder)
    return None


def seen_before(rows: Sequence[LabelledRow], domain: Domain) -> list[str]:
    """A sentence for each split but ``test`` that has some of these rows: they tell little about new queries."""
    counts = {split: shared(rows, domain.splits.get(split, ())) for split in SPLITS if split != "test"}
    return [
        f"{count} of these {len(rows)} rows are in {split} of {domain.card.name}, {_USED.get(split, _CHOSEN)}"
        for split, count in counts.items()
        if count
    ]


def seen_by(planner: QueryPlanner, rows: Sequence[LabelledRow], domain: Domain | None) -> int:
    """The number of these rows that a program learned from.

    Args:
        domain: the domain whose ``train`` an older program, which does not say, is assumed to have learned from; None
            if it is missing.
    """
    if planner.learned:
        return seen_among(rows, planner.learned)
    return shared(rows, domain.splits.get("train", ())) if domain is not None and planner.heads is not None else 0


def shared(rows: Sequence[LabelledRow], others: Sequence[LabelledRow]) -> int:
    """The number of ``rows`` that are among the others: the same query and id, whatever the labels."""
    known = {(row.id, row.query) for row in others}
    return sum((row.id, row.query) in known for row in rows)


def _lines(content: bytes) -> list[bytes]:
    """Not by `str.splitlines`: a word on why may hold U+2028, which ends no line of JSON."""
    return [line for line in content.split(b"\n") if line.strip()]


def _measured(line: bytes) -> str:
    try:
        entry = json.loads(line)
    except ValueError:  # a line that was cut off still counts as a reading
        return ""
    return str(entry.get("measured", "")) if isinstance(entry, dict) else ""
