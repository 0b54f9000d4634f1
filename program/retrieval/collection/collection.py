"""Decides whether to read a collection whole or to search it, from its statistics, before anything is fetched.

A small collection is read whole, since then nothing can be missed. Statistics that are missing, unreadable, stale or
from the future decide for searching, which is always possible.
"""

from __future__ import annotations

import json
import logging
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from ....data.sources import CollectionRules
from ....signatures.types import Frozen, RetrievalMethod
from ...plan import Degraded
from ..dates.clock import read_time
from ..passages import Passage, Stamp, read_collection_file, stamp_of
from .markdown import format_items, text_of

log = logging.getLogger(__name__)

_HAN = re.compile(r"[\u3400-\u9fff]")
CHARACTERS_A_TOKEN = 4
# How far ahead an update may be before it counts as from the future, for clocks of two machines that differ.
SKEW = timedelta(0)

Item = Mapping[str, Any]


class CollectionStats(Frozen):
    """What is known of a collection without reading it; given in ``session["collection"]``.

    Attributes:
        composition_count: number of items in it.
        conversation_count: number of its owner's conversations.
        total_message_count: number of messages in those.
        last_stats_update: ISO time of the count.
        token_count: tokens of the whole text, if the application knows.
    """

    composition_count: int = Field(ge=0, strict=True)
    conversation_count: int = Field(default=0, ge=0, strict=True)
    total_message_count: int = Field(default=0, ge=0, strict=True)
    last_stats_update: str | datetime | None = None
    token_count: int | None = Field(default=None, ge=0, strict=True)


class ContextResult(Frozen):
    """The context found for a question, ready to be shown to a language model.

    Attributes:
        results: the items as they are.
        source: ``graph`` for the user's own data, ``web`` for the world's.
        confidence: between 0 and 1; reading everything is certain.
        coverage: share of the collection that is in ``results``; 1.0 is all of it.
        total_available: number of items in the collection.
        formatted_context: ``results`` as Markdown, or as JSON if that failed; None if nothing was formatted.
    """

    question: str
    results: tuple[dict[str, Any], ...] = ()
    source: Literal["graph", "web"] = "graph"
    retrieval_method: RetrievalMethod = "semantic"
    confidence: float = Field(default=0.0, ge=0, le=1)
    coverage: float = Field(default=0.0, ge=0, le=1)
    total_available: int = Field(default=0, ge=0)
    formatted_context: str | None = None


class Choice(Frozen):
    """Whether to read everything or to search, and why; ``gap`` if the given statistics could not be used."""

    method: RetrievalMethod
    why: str
    gap: Degraded | None = None


Measure = Callable[[CollectionStats, date], int | None]
"""A function to the tokens of a collection as of a day; None if unknown."""


def choose_method(given: object, now: datetime, rules: CollectionRules, measure: Measure | None = None) -> Choice:
    """Decide whether a collection is read whole.

    Args:
        given: ``session["collection"]``: statistics, a mapping of them, or None.
        now: the current time of whoever asks, from which the age of the statistics is counted.
        measure: gives the tokens of the text if the statistics do not.
    """
    if given is None:
        return Choice(method="semantic", why="there are no statistics of the collection")
    stats = read_stats(given)
    if stats is None:
        why = "the statistics of the collection cannot be read"
        return Choice(method="semantic", why=why, gap=_gap(why))
    if (why := _unusable(stats, now, rules)) is not None:
        told = stats.last_stats_update is not None and read_time(stats.last_stats_update) is None
        return Choice(method="semantic", why=why, gap=_gap(why) if told else None)
    if stats.composition_count > rules.direct_max_items:
        return Choice(method="semantic", why=f"more than {rules.direct_max_items} items")
    tokens = stats.token_count
    if tokens is None and measure is not None:
        tokens = measure(stats, now.date())
    if tokens is None:
        return Choice(method="direct", why="few items, of unknown length")
    if tokens > rules.token_budget:
        return Choice(method="semantic", why=f"more than {rules.token_budget} tokens")
    return Choice(method="direct", why=f"at most {rules.direct_max_items} items and {rules.token_budget} tokens")


def read_stats(given: object) -> CollectionStats | None:
    """Statistics, or None if a count is missing, negative or not a number."""
    if isinstance(given, CollectionStats):
        return given
    if not isinstance(given, Mapping):
        return None
    try:
        return CollectionStats.model_validate({k: v for k, v in given.items() if k in CollectionStats.model_fields})
    except ValidationError:
        return None


def _unusable(stats: CollectionStats, now: datetime, rules: CollectionRules) -> str | None:
    """Why statistics are not used, or None."""
    if stats.last_stats_update is None:
        return "the statistics do not say when they were made"
    updated = read_time(stats.last_stats_update)
    if updated is None:
        return "the time at which the statistics were made cannot be read"
    age = _aware(now, updated) - _aware(updated, now)
    if age < -SKEW:
        return "the statistics are from the future"
    if age > timedelta(hours=rules.stale_after_hours):
        return f"the statistics are older than {rules.stale_after_hours:g} hours"
    return None


def _aware(time: datetime, other: datetime) -> datetime:
    """A time that can be compared with another: without a zone it takes the other's."""
    return time if time.tzinfo is not None else time.replace(tzinfo=other.tzinfo or UTC)


def token_count(text: str) -> int:
    """An estimate of the tokens of a text: one for each Chinese character or four others, rounded up."""
    han = len(_HAN.findall(text))
    return han + math.ceil((len(text) - han) / CHARACTERS_A_TOKEN)


def read_everything(
    question: str,
    items: Sequence[Item],
    given: object,
    now: datetime,
    rules: CollectionRules,
    available: int | None = None,
) -> tuple[ContextResult, tuple[Degraded, ...]]:
    """The whole collection as context, or an empty result for searching if it is not what the statistics said.

    Args:
        items: the items fetched, in any order.
        given: the statistics by which reading everything was chosen.
        available: number of items that the collection has now; by default those fetched.

    Returns:
        The result, and everything that differs from the statistics.
    """
    stats = read_stats(given)
    stated = stats.composition_count if stats else len(items)
    tokens = sum(token_count(text_of(item)) for item in items)
    if len(items) > rules.direct_max_items or tokens > rules.token_budget:
        why = f"it has {len(items)} items and {tokens} tokens, though {stated} items were announced"
        gap = Degraded(what="collection", why=why, instead="it is searched")
        return ContextResult(question=question, total_available=len(items)), (gap,)
    there = max(len(items), available or 0)
    total = max(stated, there)
    gaps = []
    if stated != there:
        why = f"{stated} items were announced and {there} are there"
        read = f"the newest {len(items)} were read" if there > len(items) else "those that are there were read"
        gaps.append(Degraded(what="collection", why=why, instead=read))
    formatted, problem = formatted_context(items, question, total)
    if problem is not None:
        gaps.append(Degraded(what="formatting", why=problem, instead="the items are given as JSON"))
    result = ContextResult(
        question=question,
        results=tuple(dict(item) for item in items),
        retrieval_method="direct",
        confidence=len(items) / total if total else 1.0,
        coverage=len(items) / total if total else 1.0,
        total_available=total,
        formatted_context=formatted,
    )
    return result, tuple(gaps)


def formatted_context(items: Sequence[Item], question: str, total: int | None = None) -> tuple[str, str | None]:
    """Items as Markdown without a problem, or as JSON with what went wrong in formatting them."""
    try:
        return format_items(items, question, total), None
    except Exception as error:  # whatever an item holds, the language model gets what is there
        log.warning("a collection could not be formatted (%s)", type(error).__name__)
        return json.dumps(list(items), ensure_ascii=False, default=_shown), f"an item was odd ({type(error).__name__})"


def _shown(value: object) -> str:
    """A value as text, or the name of its type if it cannot be shown."""
    try:
        return str(value)
    except Exception:  # it may be anybody's
        return type(value).__name__


def _gap(why: str) -> Degraded:
    return Degraded(what="session.collection", why=why, instead="the collection is searched")


class ItemStore:
    """A domain's own collection: items with a date, and how long their texts are.

    Attributes:
        items: newest first.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = sorted(items, key=lambda item: str(item.get("date", "")), reverse=True)
        oldest_first = self.items[::-1]
        self._days = [str(item.get("date", ""))[:10] for item in oldest_first]
        lengths = (token_count(text_of(item)) for item in oldest_first)
        self._sums = [0, *accumulate(lengths)]

    def newest(self, count: int, day: date) -> list[Item]:
        """The newest ``count`` items up to a day, or fewer, newest first."""
        until = bisect_right(self._days, day.isoformat())
        return self.items[len(self.items) - until :][:count]

    def tokens(self, stats: CollectionStats, day: date) -> int:
        """Tokens of the newest items up to a day, for as many items as the statistics say."""
        until = bisect_right(self._days, day.isoformat())
        return self._sums[until] - self._sums[max(0, until - stats.composition_count)]


def item_of(passage: Passage) -> dict[str, Any]:
    """The item of a collection that a passage was made from."""
    titled = {"title": passage.title} if passage.title else {}
    return {"id": passage.id, "date": passage.date, **titled, **dict(passage.fields), "text": passage.text}


def open_items(path: Path) -> ItemStore:
    """The items of a collection as a run reads them, counted once in a process until the file changes.

    Raises:
        DataError: the file cannot be read, or a line is no record of a text.
    """
    return _items(path, stamp_of([path]))


@lru_cache(maxsize=8)
def _items(path: Path, stamp: Stamp) -> ItemStore:
    return ItemStore([item_of(passage) for passage in read_collection_file(path)])
