"""Accuracy of source plans and read-or-search decisions (exact match), with intervals and cheap rivals.

The caller has to record a reading of a test split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path

from threadpoolctl import threadpool_limits

from ...data.card import SHIPPED, DomainCard
from ...data.rows import LabelledRow
from ...errors import DataError
from ...program.heads.encoder import default_encoder
from ...program.heads.fit_head import FOLDS, folds_of
from ...program.heads.heads import Heads
from ...program.heads.lending import lent_rows
from ...program.heads.training import features_from, train_source_heads
from ...program.retrieval.collection.collection import choose_method, open_items
from ...program.retrieval.sources.intents import IntentReader
from ...program.retrieval.sources.planning import MIN_CONFIDENCE, SourcePlanner
from ...signatures.types import Frozen, SourceIntent, SourcePlan
from ..statistics import Estimate, clustered_interval

Plans = tuple[SourcePlan, ...]


class SourceScores(Frozen):
    """Shares of rows whose source plans (or, for ``intents``, kinds of information) equal gold's exactly.

    Attributes:
        from_gold_intents: plans made from the labelled kinds and filters.
        from_text: plans made from the standalone form; as in the planner, a greeting wants nothing.
        intents: the kinds of information wanted that are read from the text, with a confidence of at least 0.3.
        filters: plans made from the labelled kinds, with filters read from the text.
        one_intent: rival: the most frequent kind for every query, with filters read from the text.
        by_cue: rival: every kind that has a cue in the text, without heads.
    """

    from_gold_intents: Estimate
    from_text: Estimate
    intents: Estimate
    filters: Estimate
    one_intent: Estimate
    by_cue: Estimate


class CollectionScores(Frozen):
    """Share of rows in which the choice between reading everything and searching is gold's.

    Attributes:
        right: choosing by the card's rules.
        always_search: rival: always search.
        count_alone: rival: choosing by the number of items alone, whatever their age and length.
    """

    right: Estimate
    always_search: Estimate
    count_alone: Estimate


class _Judge:
    """Compares what is planned for a row with its gold."""

    def __init__(self, card: DomainCard) -> None:
        self.reader = IntentReader(card)
        self.planner = SourcePlanner(card)

    def exact(self, row: LabelledRow, intents: Sequence[SourceIntent]) -> bool:
        return self.planner.plan(intents, _now(row)).plans == _gold(row)[1]

    def read(self, row: LabelledRow, heads: Heads | None) -> tuple[SourceIntent, ...]:
        return () if row.labels.intent == "greeting" else self.reader.read(row.labels.standalone_query, heads)

    def with_read_filters(self, row: LabelledRow, intents: Sequence[SourceIntent]) -> list[SourceIntent]:
        """These intents, with the filters that are read from the text instead of their own."""
        found = self.reader.filters_by_kind(row.labels.standalone_query, [intent.type for intent in intents])
        return [i.model_copy(update={"filters": found[i.type]}) for i in intents]


def measure_sources(rows: Sequence[LabelledRow], card: DomainCard, heads: Heads | None) -> SourceScores:
    """Scores of a program's heads on rows that they were not trained on.

    Raises:
        DataError: no row says which source plans are right.
    """
    return _scores(_labelled(rows), card, lambda row: heads)


def cross_validate_sources(rows: Sequence[LabelledRow], card: DomainCard, seed: int = 0) -> SourceScores:
    """Cross-validated scores: each row is scored by heads trained on the other folds; folds keep conversations whole.

    Raises:
        DataError: no row says which source plans are right.
    """
    used = _labelled(rows)
    folds = folds_of([row.conversation for row in used], seed)
    trained = [_heads([r for r, fold in zip(used, folds, strict=True) if fold != n], card) for n in range(FOLDS)]
    by_row = {row.id: trained[fold] for row, fold in zip(used, folds, strict=True)}
    return _scores(used, card, lambda row: by_row[row.id])


def _heads(rows: Sequence[LabelledRow], card: DomainCard) -> Heads:
    with threadpool_limits(1):
        features = features_from(rows, card, default_encoder(), lent_rows(rows, card))
        found = train_source_heads(rows, card, features)
    return Heads({name: head for name, head in found.items() if head is not None}, features)


def _scores(
    rows: Sequence[LabelledRow], card: DomainCard, heads_of: Callable[[LabelledRow], Heads | None]
) -> SourceScores:
    judge = _Judge(card)
    read = [judge.read(row, heads_of(row)) for row in rows]
    usual = Counter(kind for row in rows for kind in _kinds(_gold(row)[0])).most_common(1)[0][0]
    one = (SourceIntent(type=usual, confidence=1.0),)
    of = _estimator(rows)
    return SourceScores(
        from_gold_intents=of([judge.exact(row, _gold(row)[0]) for row in rows]),
        from_text=of([judge.exact(row, found) for row, found in zip(rows, read, strict=True)]),
        intents=of([_kinds(found) == _kinds(_gold(r)[0]) for r, found in zip(rows, read, strict=True)]),
        filters=of([judge.exact(row, judge.with_read_filters(row, _gold(row)[0])) for row in rows]),
        one_intent=of([judge.exact(row, judge.with_read_filters(row, one)) for row in rows]),
        by_cue=of([judge.exact(row, judge.read(row, None)) for row in rows]),
    )


def measure_collection(rows: Sequence[LabelledRow], card: DomainCard, folder: Path | None = None) -> CollectionScores:
    """Scores of the card's rules for choosing between reading a collection and searching it.

    Args:
        folder: the domain's folder, with the collection that the rows are about; not needed for a shipped domain.

    Raises:
        DataError: the card has no rules for a collection, its file cannot be read, or no row is labelled.
    """
    rules = card.collection
    used = [row for row in rows if row.gold is not None and row.gold.retrieval_method is not None]
    if rules is None or not used:
        raise DataError(f"{card.name} has no labelled choice between reading and searching; label retrieval_method")
    items = open_items((folder or SHIPPED / card.name) / rules.store) if rules.store else None
    measure = items.tokens if items is not None else None
    gold = [row.gold.retrieval_method if row.gold else None for row in used]
    chosen = [choose_method(row.session.get("collection"), _now(row), rules, measure).method for row in used]
    few = [_count(row) is not None and (_count(row) or 0) <= rules.direct_max_items for row in used]
    of = _estimator(used)
    return CollectionScores(
        right=of([a == b for a, b in zip(chosen, gold, strict=True)]),
        always_search=of([method == "semantic" for method in gold]),
        count_alone=of([(method == "direct") == small for method, small in zip(gold, few, strict=True)]),
    )


def _count(row: LabelledRow) -> int | None:
    return (row.session.get("collection") or {}).get("composition_count")


def _labelled(rows: Iterable[LabelledRow]) -> list[LabelledRow]:
    used = [r for r in rows if r.gold and r.gold.source_intents is not None and r.gold.source_plans is not None]
    if not used:
        raise DataError("no row has gold.source_intents and gold.source_plans; label some first")
    return used


def _gold(row: LabelledRow) -> tuple[tuple[SourceIntent, ...], Plans]:
    assert row.gold is not None, "only labelled rows are measured"
    return row.gold.source_intents or (), row.gold.source_plans or ()


def _kinds(intents: Iterable[SourceIntent]) -> frozenset[str]:
    return frozenset(intent.type for intent in intents if intent.confidence >= MIN_CONFIDENCE)


def _now(row: LabelledRow) -> datetime:
    """The time of a row's session. Raises DataError if it has none."""
    try:
        return datetime.fromisoformat(row.session["now"])
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"row {row.id} has no ISO time in session.now") from error


def _estimator(rows: Sequence[LabelledRow]) -> Callable[[Sequence[bool]], Estimate]:
    clusters = [row.conversation for row in rows]
    return lambda right: clustered_interval(list(right), clusters)
