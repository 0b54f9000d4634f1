"""Statistics of a labelled set: rows, conversations, lengths, and how often each label has which value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..signatures.types import Frozen
from .rows import Gold, LabelledRow

Splits = Mapping[str, Sequence[LabelledRow]]
Counts = dict[str, int]

ASKED: Mapping[str, Callable[[LabelledRow], bool]] = {
    "is_follow_up": lambda row: bool(row.history),
    "is_relevant": lambda row: True,
    "rejection_kind": lambda row: not row.labels.is_relevant,
    "complexity": lambda row: row.labels.is_relevant,
    "intent": lambda row: row.labels.is_relevant,
    "needs_decomposition": lambda row: row.labels.is_relevant,
}
"""The labels that are chosen from a list, with the rows to which each applies."""


def label_of(row: LabelledRow, label: str) -> str | None:
    """The value of a label as text; None if it does not apply to the row."""
    if not ASKED[label](row):
        return None
    value = getattr(row.labels, label)
    return str(value).lower() if isinstance(value, bool) else str(value)


class Spread(Frozen):
    """The median, the 95th percentile and the maximum of counts; zeros if there are none."""

    median: float
    p95: float
    largest: int


class SplitStatistics(Frozen):
    """Statistics of one split.

    Attributes:
        later_turns: number of rows with a history.
        words: words of the query, as ``str.split`` counts them.
        characters: characters of the query.
        turns: rows of each conversation.
        gold: number of rows that have each part of ``gold``.
    """

    rows: int
    conversations: int
    later_turns: int
    words: Spread
    characters: Spread
    turns: Spread
    languages: Counts
    tags: Counts
    gold: Counts


class SetStatistics(Frozen):
    """Each split, and how often each label has which value there.

    Attributes:
        labels: counts by label, value and split, over the rows to which the label applies.
    """

    splits: dict[str, SplitStatistics]
    labels: dict[str, dict[str, Counts]]


def set_statistics(splits: Splits, known: Sequence[str] = tuple(ASKED)) -> SetStatistics:
    """Compute the statistics of all splits.

    Args:
        known: the labels that the set has; others have only a placeholder and are not counted.
    """
    return SetStatistics(
        splits={name: split_statistics(rows) for name, rows in splits.items()},
        labels={label: label_counts(splits, label) for label in ASKED if label in known},
    )


def split_statistics(rows: Sequence[LabelledRow]) -> SplitStatistics:
    """Compute the statistics of one split."""
    conversations = Counter(row.conversation for row in rows)
    return SplitStatistics(
        rows=len(rows),
        conversations=len(conversations),
        later_turns=sum(bool(row.history) for row in rows),
        words=_spread([len(row.query.split()) for row in rows]),
        characters=_spread([len(row.query) for row in rows]),
        turns=_spread(list(conversations.values())),
        languages=_sorted(Counter(row.language for row in rows)),
        tags=_sorted(Counter(tag for row in rows for tag in row.tags)),
        gold=_sorted(Counter(part for row in rows for part in gold_parts(row.gold))),
    )


def label_counts(splits: Splits, label: str) -> dict[str, Counts]:
    """Counts of a label's values, by value and split; the most frequent value first."""
    pairs = Counter((label_of(row, label), name) for name, rows in splits.items() for row in rows)
    totals = Counter({value: 0 for value, _ in pairs})
    for (value, _), count in pairs.items():
        totals[value] += count
    order = sorted((v for v in totals if v is not None), key=lambda v: (-totals[v], v))
    return {value: {name: pairs[value, name] for name in splits} for value in order}


def gold_parts(gold: Gold | None) -> list[str]:
    """Names of the parts that are labelled."""
    if gold is None:
        return []
    parts = [name for name in Gold.model_fields if name != "expressible" and getattr(gold, name) is not None]
    return parts if gold.expressible else [*parts, "not expressible"]


def _spread(numbers: Sequence[int]) -> Spread:
    if not numbers:
        return Spread(median=0, p95=0, largest=0)
    median, p95 = np.quantile(numbers, [0.5, 0.95])
    return Spread(median=float(median), p95=float(p95), largest=max(numbers))


def _sorted(counts: Counter[str]) -> Counts:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
