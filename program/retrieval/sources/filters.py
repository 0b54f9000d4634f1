"""Turns stated filters into those that a source's contract declares, or into named gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from ....data.card import DomainCard
from ....data.sources import PlanTemplate, SourceContract, SourceField
from ...plan import Degraded
from ..dates.finding import Resolved, resolve_dates

RESOLVED = "resolved_"
"""The prefix of a key that is added for each filter of dates: ``resolved_dates`` has the days of ``dates``."""

Filters = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Asked:
    """What one source is asked.

    Attributes:
        filters: its filters in the order of the template; None if it must not be asked.
        gaps: what was stated and cannot be asked, each with its reason.
    """

    source: str
    filters: Filters | None
    gaps: tuple[Degraded, ...] = ()


class FilterRules:
    """A card's contracts, aliases and calendar, ready to be asked."""

    def __init__(self, card: DomainCard) -> None:
        self.sources: dict[str, SourceContract] = {source.name: source for source in card.sources}
        self._calendar = card.calendar
        self._aliases: dict[tuple[str, str], str] = {}
        for value in card.filter_values:
            for spelling in (value.value, *value.aliases):
                self._aliases.setdefault((value.filter, spelling.casefold()), value.value)

    def ask(self, source: str, template: PlanTemplate, stated: Mapping[str, Sequence[str]], today: date) -> Asked:
        """The filters of a plan for one source.

        A value that the source does not declare is left out, and so is a date that does not exist. If a stated filter
        has no value left, there is no plan, since dropping the filter would ask for more than was wanted.
        """
        contract, filters, gaps = self.sources[source], Filters(), list[Degraded]()
        for key in (*template.filters, *template.fixed):
            fixed = template.fixed.get(key, ())
            wanted = _texts(fixed or stated.get(key) or ())
            field = contract.field(key)
            other = [value for value in _texts(stated.get(key) or ()) if fixed and value not in fixed]
            gaps += [_gap(key, value, f"this plan always has {', '.join(fixed)}", source) for value in other]
            if not wanted or field is None:
                continue
            kept, why = self._values(field, wanted, today)
            gaps += [_gap(key, value, reason, source) for value, reason in why]
            if not kept:
                return Asked(source, None, tuple(gaps))
            filters |= kept
        return Asked(source, filters, tuple(gaps))

    def undeclared(self, stated: Mapping[str, Sequence[str]]) -> list[Degraded]:
        """What is stated for filters that no source of the card has."""
        known = {field.name for source in self.sources.values() for field in source.fields}
        strange = [key for key in stated if key.removeprefix(RESOLVED) not in known]
        why = "no source has such a filter"
        return [_gap(key, value, why) for key in strange for value in _texts(stated[key])]

    def canonical(self, key: str, value: str) -> str:
        """A value by the name that the card has for it; itself where the card has none."""
        return self._aliases.get((key, value.casefold()), value)

    def _values(self, field: SourceField, wanted: Sequence[str], today: date) -> tuple[Filters, list[tuple[str, str]]]:
        """The filters of one field, and what it does not take with the reason."""
        if field.kind == "date":
            return _dates(field.name, resolve_dates(wanted, today, self._calendar))
        if field.kind == "text":
            return {field.name: tuple(wanted)}, []
        known = [(value, self.canonical(field.name, value)) for value in wanted]
        kept = tuple(dict.fromkeys(name for _, name in known if name in field.values))
        strange = [(value, "the source does not know it") for value, name in known if name not in field.values]
        return ({field.name: kept} if kept else {}), strange


def _dates(name: str, resolved: Sequence[Resolved]) -> tuple[Filters, list[tuple[str, str]]]:
    good = {r.phrase: r.period.text() for r in resolved if r.period is not None}
    bad = [(r.phrase, r.why) for r in resolved if r.period is None]
    filters = {name: tuple(good), f"{RESOLVED}{name}": tuple(good.values())} if good else {}
    return filters, bad


def _texts(values: Iterable[object]) -> list[str]:
    """The values as trimmed texts, each once, without empty ones."""
    texts = (" ".join(value.split()) for value in values if isinstance(value, str))
    return [text for text in dict.fromkeys(texts) if text]


def _gap(key: str, value: str, why: str, source: str = "") -> Degraded:
    shown = value if len(value) <= 60 else value[:57] + "..."
    asked = f"{source} is not asked for it" if source else "no source is asked for it"
    return Degraded(what=f"{key}:{shown}", why=why, instead=asked)
