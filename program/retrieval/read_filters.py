"""Filters that a text states: values of the card by their names and aliases, names that no source knows, dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...data.card import DomainCard
from .dates import find_dates

# Scripts without spaces: a value stands between characters, not between words.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class FilterReader:
    """Finds the filters of one card in texts."""

    def __init__(self, card: DomainCard) -> None:
        self._values: dict[str, tuple[re.Pattern[str], dict[str, str]]] = {}
        spellings: dict[str, dict[str, str]] = {}
        for source in card.sources:
            for field in source.fields:
                for value in field.values:
                    spellings.setdefault(field.name, {}).setdefault(value.casefold(), value)
        for value in card.filter_values:
            for spelling in (value.value, *value.aliases):
                spellings.setdefault(value.filter, {}).setdefault(spelling.casefold(), value.value)
        for key, known in spellings.items():
            self._values[key] = phrases(known), known
        kinds = {field.name: field.kind for source in card.sources for field in source.fields}
        self._dates = tuple(name for name, kind in kinds.items() if kind == "date")

    def read(self, text: str) -> dict[str, tuple[str, ...]]:
        """Filters in the order of the card, values in the order of the text; those not stated are not there."""
        found = {key: _found(pattern, known, text) for key, (pattern, known) in self._values.items()}
        found |= dict.fromkeys(self._dates, find_dates(text))
        return {key: values for key, values in found.items() if values}

    def spans(self, key: str, text: str) -> list[tuple[int, int]]:
        """Where the values of one filter stand in a text."""
        if key not in self._values:
            return []
        return [match.span() for match in self._values[key][0].finditer(text)]


def phrases(known: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of some phrases as whole words, without case; ``<n>`` stands for a number."""
    forms = sorted(known, key=len, reverse=True)
    return re.compile("|".join(map(_whole, forms)) or r"(?!)", re.IGNORECASE)


def _whole(phrase: str) -> str:
    form = re.escape(phrase).replace(re.escape("<n>"), r"\d+").replace(r"\ ", r"\s+")
    if _UNSPACED.search(phrase):
        return form
    # Beside Chinese and Japanese characters a Latin word is whole, too.
    return rf"(?<![^\W\u3040-\u9fff]){form}(?![^\W\u3040-\u9fff])"


def _found(pattern: re.Pattern[str], known: dict[str, str], text: str) -> tuple[str, ...]:
    spelled = (" ".join(match.group().casefold().split()) for match in pattern.finditer(text))
    return tuple(dict.fromkeys(known[word] for word in spelled if word in known))


def declared_by(card: DomainCard, key: str, value: str) -> Sequence[str]:
    """The sources that declare a value."""
    return [s.name for s in card.sources if (field := s.field(key)) is not None and value in field.values]
