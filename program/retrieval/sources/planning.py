"""From wanted kinds of information to prioritised plans and normalised queries for structured sources.

Rules alone: no language model, the same intents always give the same plans, and what is given is never changed. A
source's contract on the card says what it may be asked; nothing else can be asked of it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from pydantic import ValidationError

from ....data.card import DomainCard
from ....data.sources import SourceIntentRule
from ....errors import DataError, NoHypothesesError, NoIntentsError
from ....signatures.problems import problems_of
from ....signatures.types import SourceIntent, SourcePlan, SourceQuery
from ...plan import Degraded
from ..dates.clock import local_now
from .filters import RESOLVED, Asked, FilterRules, Filters

log = logging.getLogger(__name__)

MIN_CONFIDENCE = 0.3


@dataclass(frozen=True)
class SourceAudit:
    """What one run was given, what it made, and how long it took.

    Attributes:
        card: fingerprint of the card.
        now: the time that dates were resolved at, ISO.
        intents: ``type`` and confidence of each intent given.
        skipped: types of those below the threshold.
        plans: ids of the plans made.
        gaps: how many things could not be asked.
        milliseconds: wall clock; the only part that differs between equal runs.
    """

    card: str
    now: str
    intents: tuple[tuple[str, float], ...]
    skipped: tuple[str, ...]
    plans: tuple[str, ...]
    gaps: int
    milliseconds: float = field(compare=False)


@dataclass(frozen=True)
class SourcePlanning:
    """Plans by priority, one query for each source of each plan, what could not be asked, and the record of the run."""

    intents: tuple[SourceIntent, ...]
    plans: tuple[SourcePlan, ...]
    queries: tuple[SourceQuery, ...]
    gaps: tuple[Degraded, ...]
    audit: SourceAudit


@dataclass(frozen=True)
class _Draft:
    """A plan without its number."""

    description: str
    priority: int
    asked: tuple[Asked, ...]

    @property
    def asks(self) -> tuple[object, ...]:
        """A key that is equal for drafts that ask the same; these become one plan."""
        return self.description, *((one.source, *(one.filters or {}).items()) for one in self.asked)


class SourcePlanner:
    """Plans the sources of one card. Safe to share between threads."""

    def __init__(self, card: DomainCard) -> None:
        self._fingerprint = card.fingerprint
        self._filters = FilterRules(card)
        self._rules: dict[str, SourceIntentRule] = {rule.type: rule for rule in card.source_intents}
        self._generic = _generic(card, self._filters)

    def plan(self, intents: Sequence[SourceIntent], now: datetime) -> SourcePlanning:
        """Plans for every intent of at least 0.3, highest priority first, ties in the order of the intents.

        Args:
            now: resolves dates on its local day.
        """
        began = time.perf_counter()
        wanted = [intent for intent in intents if intent.confidence >= MIN_CONFIDENCE]
        drafts, gaps = list[_Draft](), list[Degraded]()
        for intent in wanted:
            made, missing = self._drafts(intent, now.date())
            drafts += made
            gaps += [*self._filters.undeclared(intent.filters), *missing]
        drafts = list({draft.asks: draft for draft in reversed(drafts)}.values())[::-1]
        drafts.sort(key=lambda draft: -draft.priority)
        plans = tuple(_plan(f"plan{n}", draft) for n, draft in enumerate(drafts))
        queries = tuple(q for plan, draft in zip(plans, drafts, strict=True) for q in _queries(plan, draft))
        audit = SourceAudit(
            card=self._fingerprint,
            now=now.isoformat(),
            intents=tuple((intent.type, intent.confidence) for intent in intents),
            skipped=tuple(intent.type for intent in intents if intent.confidence < MIN_CONFIDENCE),
            plans=tuple(plan.id for plan in plans),
            gaps=len(gaps),
            milliseconds=(time.perf_counter() - began) * 1000,
        )
        log.debug("source planning: %s", audit)
        return SourcePlanning(tuple(intents), plans, queries, tuple(dict.fromkeys(gaps)), audit)

    def _drafts(self, intent: SourceIntent, today: date) -> tuple[list[_Draft], list[Degraded]]:
        """The plans of one intent, and what of it cannot be asked."""
        rule = self._rules.get(intent.type) or self._generic
        if rule is None:
            return [], [Degraded(what=intent.type, why="the card has no such intent", instead="no source is asked")]
        drafts, gaps = [], []
        for template in rule.plans:
            asked = [self._filters.ask(source, template, intent.filters, today) for source in template.sources]
            gaps += [gap for one in asked for gap in one.gaps]
            answerable = tuple(one for one in asked if one.filters is not None)
            if answerable:
                drafts.append(_Draft(template.description, rule.priority, answerable))
        return drafts, gaps


def plan_sources(
    card: DomainCard,
    intents: Sequence[SourceIntent | Mapping[str, object]],
    hypotheses: Sequence[object],
    entities: Mapping[str, Sequence[str]] | None = None,
    now: datetime | None = None,
) -> SourcePlanning:
    """Plan sources from intents that somebody else detected.

    Args:
        intents: ``type``, ``confidence`` and, optionally, ``filters`` each.
        hypotheses: the reasoning structure; only that there is one matters.
        entities: filters of all intents that state none of that key themselves.
        now: resolves dates; the clock and zone of this machine if left out.

    Raises:
        NoIntentsError: no intents were given.
        NoHypothesesError: no hypotheses were given.
        DataError: an intent that is none, or entities that are no lists of texts; the field is named.
    """
    if not intents:
        raise NoIntentsError("there are no intents to plan for; detect them first, or use QueryPlanner.plan")
    if not hypotheses:
        raise NoHypothesesError("there are no hypotheses; build the reasoning structure first")
    shared = _listed(entities or {})
    read = [_intent(intent, shared) for intent in intents]
    return SourcePlanner(card).plan(read, now or local_now())


def _intent(given: SourceIntent | Mapping[str, object], entities: Mapping[str, tuple[str, ...]]) -> SourceIntent:
    try:
        intent = given if isinstance(given, SourceIntent) else SourceIntent.model_validate(given)
    except ValidationError as error:
        raise DataError(f"an intent cannot be read, mend {problems_of(error, 5, 'it')}") from error
    return intent.model_copy(update={"filters": {**entities, **intent.filters}})


def _listed(entities: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    read: dict[str, tuple[str, ...]] = {}
    for key, values in entities.items():
        listed = isinstance(values, Iterable) and not isinstance(values, str)
        read[key] = tuple(values) if listed else ()
        if not listed or not all(isinstance(value, str) for value in read[key]):
            raise DataError(f"the entities of {key!r} are {values!r}; give a list of texts or leave it out")
    return read


def _generic(card: DomainCard, filters: FilterRules) -> SourceIntentRule | None:
    """The rule for intents of a type that the card does not have: the last of those that search free text."""
    loose = [
        rule
        for rule in card.source_intents
        if all(not filters.sources[name].structured for plan in rule.plans for name in plan.sources)
    ]
    return min(loose, key=lambda rule: rule.priority, default=None)


def _plan(name: str, draft: _Draft) -> SourcePlan:
    return SourcePlan(
        id=name,
        description=draft.description,
        sources=tuple(asked.source for asked in draft.asked),
        filters=_united(asked.filters or {} for asked in draft.asked),
        priority=draft.priority,
    )


def _queries(plan: SourcePlan, draft: _Draft) -> Iterable[SourceQuery]:
    for name, asked in zip(query_ids(plan.id, plan.sources), draft.asked, strict=True):
        filters = asked.filters or {}
        yield SourceQuery(
            id=name,
            query_string=query_string(plan.description, filters),
            source=asked.source,
            filters=filters,
        )


def query_ids(plan: str, sources: Sequence[str]) -> list[str]:
    """The ids of a plan's queries, one a source; those after the first have the source in them."""
    return [f"{plan}_query" if number == 0 else f"{plan}_query_{name}" for number, name in enumerate(sources)]


def query_string(description: str, filters: Mapping[str, Sequence[str]]) -> str:
    """A query's text, ``DESCRIPTION FILTER:A,B …``, without resolved dates, which only the filters have."""
    stated = (f"{key}:{','.join(values)}" for key, values in filters.items() if not key.startswith(RESOLVED))
    return " ".join((description, *stated))


def _united(filters: Iterable[Mapping[str, Sequence[str]]]) -> Filters:
    found: Filters = {}
    for one in filters:
        for key, values in one.items():
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), *values)))
    return found
