"""A domain in memory: its card and the splits of its labelled queries."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import DataError
from .card import DomainCard, domain_folder, load_card
from .rows import SPLITS, LabelledRow, read_rows


@dataclass(frozen=True)
class Domain:
    """A card and its labelled queries, read from one folder.

    Attributes:
        folder: where it was read from.
        splits: rows by split name; a split whose file is missing is not there.
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
            raise DataError(f"the domain {self.card.name} has no {split}.jsonl; label some queries first")
        return self.splits[split]

    @cached_property
    def fingerprint(self) -> str:
        """Content hash of all rows, 16 hex digits."""
        return rows_hash([row for split in SPLITS for row in self.splits.get(split, ())])


def load_domain(name_or_folder: str | Path, splits: Sequence[str] = SPLITS) -> Domain:
    """Read a shipped domain by name, or any folder of the same shape.

    Raises:
        DataError: no such domain, or a file that cannot be read: file, line and field are named. A
            label that the card does not know is refused too.
    """
    folder = domain_folder(name_or_folder)
    card = load_card(folder)
    found = {split: tuple(read_rows(path)) for split in splits if (path := folder / f"{split}.jsonl").is_file()}
    for split, rows in found.items():
        check_kinds(rows, card, f"{split}.jsonl")
    return Domain(folder, card, found)


def check_kinds(rows: Sequence[LabelledRow], card: DomainCard, where: str) -> None:
    """Refuse a ``rejection_kind`` that is none of the card's excluded topics."""
    for row in rows:
        kind = row.labels.rejection_kind
        if kind is not None and kind not in card.kinds:
            raise DataError(
                f"{where}: row {row.id}: labels.rejection_kind: {kind!r} is none of the card's: {', '.join(card.kinds)}"
            )


def rows_hash(rows: Sequence[LabelledRow]) -> str:
    """Content hash of some rows, 16 hex digits; their order does not matter."""
    lines = sorted(row.model_dump_json(exclude_defaults=True) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
