"""Typed parts of a card about query candidates: paradigms, other words, and which kinds are worth their cost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Formatter

from pydantic import Field, field_validator

from ..signatures.types import Frozen

PLACES = ("query", "terms", "entity")
"""The placeholders of an operator: the whole query, its key terms, a name in it."""


class Paradigm(Frozen):
    """A named way of looking at a question, and the query candidates it adds.

    Attributes:
        modifiers: words that are added to the key terms, one candidate each, the best first.
        operators: templates with ``{query}``, ``{terms}`` or ``{entity}``, such as ``"{entity}" {terms}``;
            one with ``{entity}`` is used for each name of the query.
        sources: the sources its candidates are for; empty means all.
        weight: the weight of its candidates beside those of other stages.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str = Field(min_length=1)
    language: str = Field(default="en", pattern=r"^[a-z]{2,3}$")
    modifiers: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    weight: float = Field(default=1.0, gt=0)

    @field_validator("operators")
    @classmethod
    def _known_places(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for template in value:
            places = {place for _, place, _, _ in Formatter().parse(template) if place is not None}
            if not places or places - set(PLACES):
                raise ValueError(f"operator {template!r} must name some of {', '.join(PLACES)} in braces, nothing else")
        return value


class SynonymSet(Frozen):
    """Words of one language that may stand for each other."""

    language: str = Field(default="en", pattern=r"^[a-z]{2,3}$")
    words: tuple[str, ...] = Field(min_length=2)


class CandidateRules(Frozen):
    """Which kinds of query candidates a domain uses, and how a query is cleaned before.

    Attributes:
        kinds: labels of candidates that are kept (``terms``, ``entity``, ``modifier``, …); None keeps all. The
            standalone query is always kept. What adds no recall on the domain's evidence belongs left out.
        noise: phrases that say nothing about what is sought.
        replacements: what is replaced by what; matched on whole words, ignoring case.
    """

    kinds: tuple[str, ...] | None = None
    noise: tuple[str, ...] = ()
    replacements: dict[str, str] = {}

    @field_validator("noise")
    @classmethod
    def _words(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if bad := [phrase for phrase in value if not re.search(r"\w", phrase)]:
            raise ValueError(f"noise must have words: {bad}")
        return value


def paradigm_problems(paradigms: tuple[Paradigm, ...], default: str | None, sources: tuple[str, ...]) -> Iterator[str]:
    """The mistakes in a card's paradigms."""
    names = [paradigm.name for paradigm in paradigms]
    if again := sorted({name for name in names if names.count(name) > 1}):
        yield f"a paradigm is given twice: {again}"
    if default is not None and default not in names:
        yield f"default_paradigm {default!r} is none of the paradigms"
    for paradigm in paradigms:
        if sources and (strange := sorted(set(paradigm.sources) - set(sources))):
            yield f"paradigm {paradigm.name!r} prefers {strange}, which are no sources"
