"""Runs source queries on the records of a domain's own sources.

A filter keeps the records whose field has one of the values; what a source cannot filter by is never guessed.
Structured sources list every record that passes, those that share words with the question first, then the newest.
Unstructured ones are searched by words among those that pass. A record that the question names by its id comes first,
whatever the filters, since an id is exact and filters are read from words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from ....data.sources import SourceContract
from ....signatures.types import SourceQuery
from ..passages import Passage, read_records
from ..results import Hit
from ..retrievers import Bm25Retriever
from ..terms import singular
from .filters import RESOLVED

_DAYS = ("date", "merged", "closed", "day")
"""Fields that a record's days are read from if it has no field with the filter's name."""


@dataclass(frozen=True)
class SourceAnswer:
    """Records of one source query, best first.

    Attributes:
        matching: how many passed the filters, or were named by their ids.
        cut: whether the limit of the contract left some out.
    """

    query: SourceQuery
    hits: tuple[Hit, ...]
    matching: int
    cut: bool


class Source(Protocol):
    """Anything that answers the source queries of one contract."""

    @property
    def contract(self) -> SourceContract:
        """The contract that it fulfils."""
        ...

    def answer(self, query: SourceQuery, question: str) -> SourceAnswer:
        """The records that a query asks for, ordered by how well they fit ``question``."""
        ...


class RecordSource:
    """The records of one source, read from a JSONL file of the domain."""

    def __init__(self, contract: SourceContract, records: Sequence[Passage]) -> None:
        self.contract = contract
        self._records = tuple(records)
        self._words = Bm25Retriever(self._records)
        self._by_id = {record.id.casefold(): record for record in self._records}
        known = "|".join(map(re.escape, sorted(self._by_id, key=len, reverse=True)))
        self._ids = re.compile(rf"(?<!\w)(?:{known})(?!\w)") if known else None

    @classmethod
    def of(cls, contract: SourceContract, folder: Path) -> RecordSource | None:
        """The store of a contract, or None where it has none.

        Raises:
            DataError: the store cannot be read.
        """
        if contract.store is None:
            return None
        return cls(contract, read_records(folder / contract.store, contract.name))

    def answer(self, query: SourceQuery, question: str) -> SourceAnswer:
        """The records that pass the filters, in order, at most as many as the contract allows."""
        named = self._named(question)
        there = {record.id for record in named}
        rest = [record for record in self._records if record.id not in there]
        passing = [record for record in rest if passes(record, query.filters, self.contract)]
        others = self._ordered(passing, question)
        best = max((hit.score for hit in others), default=0.0)
        hits = [*(Hit(record, best + 1.0) for record in named), *others]
        most = self.contract.limits.records
        return SourceAnswer(query, tuple(hits[:most]), len(hits), len(hits) > most)

    def _named(self, question: str) -> list[Passage]:
        """The records whose ids a question has, in its order."""
        said = self._ids.findall(question.casefold()) if self._ids is not None else []
        return [self._by_id[one] for one in dict.fromkeys(said)]

    def _ordered(self, passing: Sequence[Passage], question: str) -> list[Hit]:
        allowed = {record.id for record in passing}
        said = [hit for hit in self._words.retrieve(question, len(self._records)) if hit.passage.id in allowed]
        if not self.contract.structured:
            return said
        known = {hit.passage.id for hit in said}
        rest = sorted((r for r in passing if r.id not in known), key=lambda record: record.date, reverse=True)
        return [*said, *(Hit(record, 0.0) for record in rest)]


def passes(record: Passage, filters: Mapping[str, Sequence[str]], contract: SourceContract) -> bool:
    """Whether a record has one of the values of every filter; dates are compared by their resolved days."""
    asked = {key: values for key, values in filters.items() if not _is_typed_date(key, filters, contract)}
    return all(_passes(record, key, values, contract) for key, values in asked.items())


def _is_typed_date(key: str, filters: Mapping[str, Sequence[str]], contract: SourceContract) -> bool:
    field = contract.field(key)
    return f"{RESOLVED}{key}" in filters or (field is not None and field.kind == "date")


def _passes(record: Passage, key: str, values: Sequence[str], contract: SourceContract) -> bool:
    if key.startswith(RESOLVED):
        return any(_within(day[:10], span) for day in days_of(record, key.removeprefix(RESOLVED)) for span in values)
    has = values_of(record, key)
    # Every record of a source is of the provider that the source is called after.
    has |= {contract.name.casefold()} if key == "providers" else set()
    return any(value.casefold() in has for value in values)


def days_of(record: Passage, key: str) -> list[str]:
    """The days that a filter of dates is about: of the record's field of that name, else all that it has."""
    name = _field_of(record, key)
    if name is not None and name not in _DAYS:
        return [day for day in sorted(values_of(record, key)) if day]
    days = [str(record.fields.get(name) or "") for name in _DAYS] + [record.date]
    return [day for day in days if day]


def values_of(record: Passage, key: str) -> set[str]:
    """A record's values for a filter, whose name may be singular or plural there; empty if it has no such field."""
    field = _field_of(record, key)
    value = record.fields.get(field) if field else None
    items = value if isinstance(value, list | tuple) else [value]
    return {str(item).casefold() for item in items if item is not None}


def _field_of(record: Passage, key: str) -> str | None:
    """The field of a record that a filter is about; None if it has none."""
    return next((name for name in (key, *_singular(key)) if name in record.fields), None)


@lru_cache(maxsize=64)
def _singular(key: str) -> tuple[str, ...]:
    """The possible singular names of a filter: a record may have ``status`` for ``statuses``."""
    return (singular(key), key[:-2] if key.endswith("es") else key)


def _within(day: str, span: str) -> bool:
    """Whether an ISO day lies in ``FIRST/LAST``, both included; ``..`` leaves an end open."""
    first, _, last = span.partition("/")
    return (first in ("..", "") or day >= first) and ((last or first) in ("..", "") or day <= (last or first))
