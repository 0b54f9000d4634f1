"""A domain in memory: its card and the splits of its labelled queries."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import DataError
from .card import DomainCard, domain_folder, load_card
from .replacing import BESIDE, finish
from .rows import SPLITS, LabelledRow, read_rows

ENDINGS = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet")
"""The permitted endings of a split's file."""
OTHER_NAMES = {
    **dict.fromkeys(("training", "trained"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "development", "devel"), "dev"),
    **dict.fromkeys(("calibration", "calib"), "calibrate"),
    **dict.fromkeys(("testing", "tests"), "test"),
}
"""What others call our splits."""
EVIDENCE_FILE = "evidence.jsonl"
"""Gold of a domain's rows that is kept beside them, each line with the id of its row; it may be missing."""
TABLES = frozenset(("json", "jsonl", "jsonlines", "ndjson", "csv", "tsv", "parquet", "xls", "xlsx"))
"""Endings of files that may hold rows, also those from which none are read."""


@dataclass(frozen=True)
class Domain:
    """A domain's card and labelled queries, read from one folder.

    Attributes:
        folder: the folder it was read from.
        splits: rows by split name, without splits whose file is missing.
    """

    folder: Path
    card: DomainCard
    splits: Mapping[str, tuple[LabelledRow, ...]]

    def rows(self, split: str) -> tuple[LabelledRow, ...]:
        """The rows of a split.

        Raises:
            DataError: the domain has no such split.
        """
        if split not in self.splits:
            unread = ", ".join(misnamed_splits(self.folder).values())
            advice = f"rename what is there: {unread}" if unread else "label some queries first"
            raise DataError(f"the domain {self.card.name} has no {split}.jsonl; {advice}")
        return self.splits[split]

    @cached_property
    def fingerprint(self) -> str:
        """Content hash of all rows, 16 hex digits."""
        return rows_hash([row for split in SPLITS for row in self.splits.get(split, ())])


def load_domain(name_or_folder: str | Path, splits: Sequence[str] = SPLITS) -> Domain:
    """Read a shipped domain by name, or any folder of the same structure.

    Raises:
        DataError: there is no such domain, or a file cannot be read (file, line and field are named), or a label is not
            on the card.
    """
    folder = domain_folder(name_or_folder)
    card = load_card(folder)
    found = {split: tuple(read_rows(path)) for split, path in split_files(folder).items() if split in splits}
    for split, rows in found.items():
        check_kinds(rows, card, f"{split}.jsonl")
    return Domain(folder, card, found)


def split_files(folder: Path) -> dict[str, Path]:
    """The file of each split that a folder has, in the order of ``SPLITS``; first finishes a split that was killed.

    Raises:
        DataError: a split has two files, or another process is replacing them.
    """
    finish(folder)
    found: dict[str, Path] = {}
    for split in SPLITS:
        files = [path for ending in ENDINGS if (path := folder / f"{split}{ending}").is_file()]
        if len(files) > 1:
            raise DataError(f"{folder.name} has {' and '.join(p.name for p in files)}: keep one of them")
        if files:
            found[split] = files[0]
    return found


def misnamed_splits(folder: Path) -> dict[str, str]:
    """Files of a folder from which nothing is read though their names nearly are those of splits, with what to do."""
    found = {}
    for path in sorted(folder.iterdir()):
        stem, *endings = path.name.split(".")
        split, ending = OTHER_NAMES.get(stem.casefold(), stem.casefold()), ".".join(("", *endings))
        read = stem in SPLITS and ending in ENDINGS
        if split in SPLITS and not read and TABLES.intersection(map(str.casefold, endings)) and path.is_file():
            right = f"{split}{ending.casefold()}" if ending.casefold() in ENDINGS else f"{split}.jsonl, one row a line"
            found[path.name] = f"{path.name} is not read, but {right} would be"
    return {name: said for name, said in found.items() if not name.endswith(BESIDE)}


def check_kinds(rows: Sequence[LabelledRow], card: DomainCard, where: str) -> None:
    """Refuse a ``rejection_kind`` that is none of the card's excluded topics.

    Args:
        where: the file of the rows, for the message.

    Raises:
        DataError: a row has one.
    """
    for row in rows:
        kind = row.labels.rejection_kind
        if kind is not None and kind not in card.kinds:
            raise DataError(
                f"{where}: row {row.id}: labels.rejection_kind: {kind!r} is none of the card's: {', '.join(card.kinds)}"
            )


def rows_hash(rows: Sequence[LabelledRow]) -> str:
    """Content hash of rows, 16 hex digits, independent of their order."""
    digest = hashlib.sha256()
    separator = b""
    for line in sorted(row.model_dump_json(exclude_defaults=True).encode() for row in rows):
        digest.update(separator + line)
        separator = b"\n"
    return digest.hexdigest()[:16]
