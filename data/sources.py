"""Typed parts of a card about retrieval: source contracts, source intents, calendar, collection rules."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Literal

from pydantic import Field, field_validator, model_validator

from ..signatures.types import Frozen

FieldKind = Literal["value", "date", "text"]
Operator = Literal["in", "range", "contains"]


class SourceField(Frozen):
    """A filter that a source understands.

    Attributes:
        name: the filter key, plural (``projects``).
        kind: ``value`` is one of ``values``; ``date`` is a span of days; ``text`` is anything.
        values: the permitted values of a field of kind ``value``.
        operators: how a value is compared.
    """

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    kind: FieldKind
    values: tuple[str, ...] = ()
    operators: tuple[Operator, ...] = Field(default=("in",), min_length=1)

    @model_validator(mode="after")
    def _values_fit_the_kind(self) -> SourceField:
        if (self.kind == "value") != bool(self.values):
            raise ValueError(f"field {self.name!r}: values must be given exactly when kind is value")
        if len(set(self.values)) != len(self.values):
            raise ValueError(f"field {self.name!r}: a value is given twice")
        return self


class SourceLimits(Frozen):
    """The limits of one query: records returned, milliseconds, and cost units."""

    records: int = Field(default=100, ge=1)
    milliseconds: int = Field(default=2000, ge=1)
    cost: float = Field(default=1.0, ge=0)


class SourceContract(Frozen):
    """A source: what it holds, how it can be queried, at what cost, and its stand-in if it fails."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str = Field(min_length=1)
    structured: bool = True
    store: str | None = None
    fields: tuple[SourceField, ...] = ()
    limits: SourceLimits = SourceLimits()
    fallback: str | None = None

    @field_validator("fields")
    @classmethod
    def _distinct(cls, value: tuple[SourceField, ...]) -> tuple[SourceField, ...]:
        _no_name_twice("field", [field.name for field in value])
        return value

    def field(self, name: str) -> SourceField | None:
        """The field of that name, if the source has one."""
        return next((field for field in self.fields if field.name == name), None)


class PlanTemplate(Frozen):
    """One plan that an intent leads to.

    Attributes:
        description: first part of the query string.
        sources: the sources that are asked.
        filters: keys of filters that are taken from the intent.
        fixed: filters that every such plan has, which stated ones do not replace.
    """

    description: str = Field(min_length=1)
    sources: tuple[str, ...] = Field(min_length=1)
    filters: tuple[str, ...] = ()
    fixed: dict[str, tuple[str, ...]] = {}

    @model_validator(mode="after")
    def _fixed_or_taken(self) -> PlanTemplate:
        if both := sorted(set(self.filters) & set(self.fixed)):
            raise ValueError(f"filters both fixed and taken from the intent: {both}")
        return self


class SourceIntentRule(Frozen):
    """A kind of information that a query may want, and the plans that get it (priority 10 is first).

    Attributes:
        cues: words that often go with it, matched as whole words, ignoring case; ``<n>`` stands for a number. They
            decide nothing by themselves: the domain's head sees them beside the words and their meaning.
    """

    type: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str = Field(min_length=1)
    priority: int = Field(ge=1, le=10)
    plans: tuple[PlanTemplate, ...] = Field(min_length=1)
    cues: tuple[str, ...] = ()


class FilterValue(Frozen):
    """A value of a filter and the other words that people type for it."""

    filter: str = Field(min_length=1)
    value: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()


class Calendar(Frozen):
    """How relative dates are read: numbered sprints of equal length, one after the other."""

    first_sprint: int = Field(ge=0)
    first_day: date
    sprint_days: int = Field(ge=1, le=366)


class CollectionRules(Frozen):
    """When a whole collection is read rather than searched.

    Attributes:
        direct_max_items: the most items of a collection that is read whole.
        token_budget: the most tokens of its text; a token is a Chinese character or four other ones.
        stale_after_hours: older statistics count as missing, and so do those from the future.
        store: file of the domain's own collection, one item on each line; `posts.jsonl` if it is not named.
    """

    direct_max_items: int = Field(default=15, ge=0)
    token_budget: int = Field(default=4000, ge=1)
    stale_after_hours: float = Field(default=24, gt=0)
    store: str | None = None


def source_problems(
    sources: tuple[SourceContract, ...], intents: tuple[SourceIntentRule, ...], values: tuple[FilterValue, ...]
) -> Iterator[str]:
    """Contradictions between the parts of a card."""
    known = {source.name: source for source in sources}
    yield from _twice("source", [source.name for source in sources])
    yield from _twice("source intent", [intent.type for intent in intents])
    for source in sources:
        if source.fallback is not None and (source.fallback not in known or source.fallback == source.name):
            yield f"source {source.name!r} falls back on {source.fallback!r}, which is no other source"
    for intent in intents:
        for plan in intent.plans:
            yield from _plan_problems(intent.type, plan, known)
    for value in values:
        fields = [field for source in sources if (field := source.field(value.filter)) is not None]
        if not any(value.value in field.values for field in fields if field.kind == "value"):
            yield f"filter value {value.filter}:{value.value!r} is declared by no source"


def _plan_problems(intent: str, plan: PlanTemplate, known: dict[str, SourceContract]) -> Iterator[str]:
    for name in plan.sources:
        if name not in known:
            yield f"source intent {intent!r} asks {name!r}, which is no source"
            continue
        for key in (*plan.filters, *plan.fixed):
            if known[name].field(key) is None:
                yield f"source intent {intent!r} filters {name!r} by {key!r}, which it does not understand"
        for key, wanted in plan.fixed.items():
            field = known[name].field(key)
            if field is not None and field.kind == "value" and (strange := sorted(set(wanted) - set(field.values))):
                yield f"source intent {intent!r} fixes {key!r} to {strange}, which {name!r} does not know"


def _twice(what: str, names: list[str]) -> Iterator[str]:
    if again := sorted({name for name in names if names.count(name) > 1}):
        yield f"a {what} is given twice: {again}"


def _no_name_twice(what: str, names: list[str]) -> None:
    for problem in _twice(what, names):
        raise ValueError(problem)
