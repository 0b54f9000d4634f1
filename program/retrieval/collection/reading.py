"""Reads a collection whole, where the plan says that it need not be searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ....data.sources import CollectionRules
from ...plan import Degraded, QueryPlan
from ..dates.clock import read_time, session_now
from ..passages import Passage
from ..results import Evidence, Gap
from ..run_result import RunResult
from ..search import SearchTrace
from ..stores import Stores
from .collection import ContextResult, item_of, read_everything, read_stats

VARIANT = "direct:everything"


def read_collection(
    plan: QueryPlan, stores: Stores, session: Mapping[str, Any]
) -> tuple[RunResult | None, tuple[Gap, ...]]:
    """Read everything in the collection, newest first, as evidence and as text for a language model.

    Args:
        session: ``now`` (ISO time) in its ``timezone`` and ``collection.composition_count`` say which of the texts are
            read: the newest up to that day, as many as announced; by default all of them.

    Returns:
        The result, or None if the collection is not what the statistics said and has to be searched; and everything
        that differs from the statistics.
    """
    given = session.get("collection")
    now, untold = _now(stores.collection, session)
    there = newest(stores.collection, None, now)
    held = newest(there, given, now)
    items = [item_of(passage) for passage in held]
    rules = stores.card.collection or CollectionRules()
    context, odd = read_everything(plan.standalone_query, items, given, now, rules, len(there))
    gaps = tuple(Gap(kind="plan", what=gap.what, why=gap.why, instead=gap.instead) for gap in (*untold, *odd))
    if context.retrieval_method != "direct":
        return None, gaps
    return _result(plan, held, context, gaps), gaps


def _result(plan: QueryPlan, held: Sequence[Passage], context: ContextResult, gaps: tuple[Gap, ...]) -> RunResult:
    evidence = tuple(Evidence(p, 1.0, VARIANT, (VARIANT,), (p.source,)) for p in held)
    trace = SearchTrace(planned=True, chosen={VARIANT: len(evidence)} if evidence else {})
    return RunResult(plan, "read_everything", evidence=evidence, context=context, gaps=gaps, trace=trace)


def newest(texts: Sequence[Passage], given: object, now: datetime) -> list[Passage]:
    """The texts up to the day of ``now``, newest first, as many as the statistics say, or else all."""
    day, stats = now.date().isoformat(), read_stats(given)
    there = sorted((text for text in texts if text.date[:10] <= day), key=lambda text: text.date, reverse=True)
    return there[: stats.composition_count] if stats else there


def _now(texts: Sequence[Passage], session: Mapping[str, Any]) -> tuple[datetime, list[Degraded]]:
    """The time of a session, else the end of the newest text's day, and what of the session could not be read."""
    now, gap = session_now(session)
    if session.get("now") is None:
        return _day_of(texts), [gap] if gap else []
    if gap is not None and gap.what == "session.now":
        return _day_of(texts), [gap.model_copy(update={"instead": "the day of the newest text was taken"})]
    return now, [gap] if gap else []


def _day_of(texts: Sequence[Passage]) -> datetime:
    """The end of the newest text's day, so that everything is past if no time is given."""
    latest = max((text.date[:10] for text in texts if text.date), default="9999-12-31")
    return read_time(f"{latest}T23:59:59+00:00") or datetime.max
