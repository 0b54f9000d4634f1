"""Shared by all converters of rows: options, splits, and the place that an error names."""

from __future__ import annotations

import hashlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from ...errors import DataError
from ...signatures.problems import problems_of
from ..card import DomainCard
from ..rows import SPLITS, LabelledRow
from .base import Summary
from .folder import DomainWriter, domain_writer
from .sources import Record, records, resolve

T = TypeVar("T")

SHARES = (("train", 60), ("dev", 15), ("calibrate", 10), ("test", 15))
"""Percentages of conversations for each split, for a set without splits."""


@dataclass(frozen=True)
class LeftOut:
    """Raised with the reason why a record gives no row."""

    reason: str


def by_conversation(record: Record, row: LabelledRow) -> str:
    """A split that depends on the conversation's name alone, so that adding data moves no row."""
    return draw(row.conversation, SHARES)


def draw(key: str, shares: tuple[tuple[str, int], ...]) -> str:
    """One of the names, drawn by their percentages, which add up to 100; always the same for a key."""
    place = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % 100
    for name, share in shares:
        place -= share
        if place < 0:
            return name
    raise ValueError("the shares must add up to 100")


@dataclass(frozen=True)
class RowReader:
    """One conversion: the card it writes, how a record becomes a row, and the split of the row."""

    card: DomainCard
    row: Callable[[Record], LabelledRow | LeftOut]
    split: Callable[[Record, LabelledRow], str] = by_conversation


class RowConverter(ABC):
    """A converter of a set whose records are queries; a subclass has names, notes and a ``reader``."""

    name: str
    source: str
    licence: str
    says: Mapping[str, str]
    cannot_say: Mapping[str, str]

    @abstractmethod
    def reader(self) -> RowReader:
        """How to read the set; its parameters are the options of ``convert``."""

    def convert(self, source: Path | str | None, out: Path, *, split: str | None = None, **options: Any) -> Summary:
        """Convert the rows; with ``split`` all of them go to that one.

        Raises:
            DataError: there is no such source, option or split, a record cannot be read, or none gives a row.
        """
        reader = call_with_options(self.name, self.reader, options)
        check_split(split)
        found = resolve(source, self.name)
        with domain_writer(Path(out)) as writer:
            for record in records(found):
                write_record(writer, reader, record, split)
            if not writer.rows:
                raise DataError(f"{found} gave no row of {self.name}")
            writer.card(reader.card, self)
        return Summary(self.name, Path(out), dict(writer.rows), dict(writer.left_out))


def write_record(writer: DomainWriter, reader: RowReader, record: Record, split: str | None) -> None:
    """Convert one record and write its row; an error names file and line."""
    try:
        row = reader.row(record)
        if isinstance(row, LeftOut):
            writer.left_out[row.reason] += 1
        else:
            writer.row(row, split or reader.split(record, row))
    except ValidationError as error:
        refuse(record, problems_of(error))
    except DataError as error:
        refuse(record, str(error))


def refuse(record: Record, problem: str) -> NoReturn:
    """Raise a problem with the place of its record, once.

    Raises:
        DataError: always.
    """
    place = f"{record.file}:{record.line}: "
    raise DataError(place + problem.removeprefix(place))


def check_split(split: str | None) -> None:
    """Refuse a split that ``load_domain`` would not read.

    Raises:
        DataError: there is no such split.
    """
    if split is not None and split not in SPLITS:
        raise DataError(f"there is no split {split!r}; use one of {', '.join(SPLITS)}")


def call_with_options(name: str, function: Callable[..., T], options: Mapping[str, Any]) -> T:
    """Call a function with a user's options.

    Raises:
        DataError: it does not know one of them.
    """
    known = [p for p in inspect.signature(function).parameters if p != "self"]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise DataError(f"{name} has no option {', '.join(unknown)}; it has {', '.join(['split', *known])}")
    return function(**options)
