"""Reads the filters that a text states: values of the card by names and aliases, names that no source knows, dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ....data.card import DomainCard
from ...text.words import HAN, KANA
from ..dates.finding import find_dates
from ..dates.lists import enumerated

NUMBER = "<n>"
# Here a value stands between characters, not between words. The other scripts without spaces are left out: what is
# found is a mark in the frames of the sources' heads (``wish_frames.py``), which learned from texts that are read so.
_UNSPACED = re.compile(f"[{KANA}{HAN}]")
# Between these two there are Bopomofo, single letters of Korean and signs in circles.
_BESIDE = rf"{KANA}{HAN}\u3100-\u33ff"
_AT_DATE = re.compile(r"(?:\d[.,]?|\bin)\s+$", re.IGNORECASE)
_IN_DATE = re.compile(r",?\s*\d")
_WORD = re.compile(rf"[^\W{KANA}{HAN}]+")


class FilterReader:
    """Finds the filters of one card in texts."""

    def __init__(self, card: DomainCard) -> None:
        spellings: dict[str, dict[str, str]] = {}
        for source in card.sources:
            for field in source.fields:
                for value in field.values:
                    spellings.setdefault(field.name, {}).setdefault(value.casefold(), value)
        for value in card.filter_values:
            for spelling in (value.value, *value.aliases):
                spellings.setdefault(value.filter, {}).setdefault(spelling.casefold(), value.value)
        self._values = {key: (Phrases(known), known) for key, known in spellings.items()}
        # A query's values are needed to read its kinds, and again to read its filters.
        self._found = lru_cache(maxsize=64)(self._find)
        self.date_phrases = lru_cache(maxsize=64)(self._date_phrases)
        kinds = {field.name: field.kind for source in card.sources for field in source.fields}
        self.dates = tuple(name for name, kind in kinds.items() if kind == "date")
        rules = [r for r in card.source_intents if any(set(self.dates) & set(plan.filters) for plan in r.plans)]
        self._records = Phrases(cue for rule in rules for cue in rule.cues)
        self._like_dates = Phrases(spelling for spelling in _spellings(card) if find_dates(f"in {spelling}"))

    def _find(self, key: str, text: str) -> tuple[tuple[int, int, str], ...]:
        return tuple(self._values[key][0].find(text))

    def read(self, text: str) -> dict[str, tuple[str, ...]]:
        """The stated filters in the order of the card, each with its values in the order of the text."""
        found = {key: self.values(key, text) for key in self._values}
        found |= dict.fromkeys(self.dates, self.date_phrases(text))
        return {key: values for key, values in found.items() if values}

    def _date_phrases(self, text: str) -> tuple[str, ...]:
        """The dates that a text states; a name of the card (*Mei*) is one only beside a figure or behind *in*."""
        for start, end, _ in self._like_dates.find(text) if self._like_dates.any else ():
            if not (_AT_DATE.search(text, 0, start) or _IN_DATE.match(text, end)):
                text = text[:start] + "x" * (end - start) + text[end:]
        return enumerated(text, find_dates(text))

    def values(self, key: str, text: str) -> tuple[str, ...]:
        """The values of one filter that a text states, by the names that the card has for them."""
        if key not in self._values:
            return ()
        known = self._values[key][1]
        return tuple(dict.fromkeys(known[phrase] for _, _, phrase in self._found(key, text)))

    @property
    def keys(self) -> tuple[str, ...]:
        """The filters with declared values."""
        return tuple(self._values)

    def spans(self, key: str, text: str) -> list[tuple[int, int]]:
        """Where the values of one filter stand in a text."""
        if key not in self._values:
            return []
        return [(start, end) for start, end, _ in self._found(key, text)]

    def dated_records(self, text: str) -> list[tuple[int, int]]:
        """Where words for records stand that can be asked for by their dates."""
        return [(start, end) for start, end, _ in self._records.find(text)]


class Phrases:
    """Finds phrases in texts as whole words, without case; ``<n>`` in a phrase stands for a number.

    A text is read word by word, and only phrases that begin with a word of it are compared: one pattern of
    some hundred phrases takes ten times as long.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._starting: dict[str, list[str]] = {}
        forms = []
        for phrase in sorted({" ".join(p.casefold().split()) for p in phrases}, key=len, reverse=True):
            first = _WORD.match(phrase)
            if NUMBER in phrase or first is None or _UNSPACED.search(phrase):
                forms.append(phrase)
            else:
                self._starting.setdefault(first.group(), []).append(phrase)
        self.any = bool(forms or self._starting)
        self._forms = re.compile("|".join(map(_form, forms)) or r"(?!)", re.IGNORECASE)

    def find(self, text: str) -> list[tuple[int, int, str]]:
        """(start, end, phrase in lower case) of each phrase in the text, in order; none is within another."""
        folded = text.casefold()
        if len(folded) != len(text):  # places must stay the same, but "ß" would become two letters
            folded = "".join(c.casefold() if len(c.casefold()) == 1 else c for c in text)
        found = [(m.start(), m.end(), _numberless(m.group())) for m in self._forms.finditer(folded)]
        end = 0
        for match in _WORD.finditer(folded):
            start = match.start()
            for phrase in self._starting.get(match.group(), ()) if start >= end else ():
                stop = _ends(folded, start, phrase)
                if stop:
                    found.append((start, stop, phrase))
                    end = stop
                    break
        return _apart(sorted(found, key=lambda f: (f[0], -f[1])))


def _spellings(card: DomainCard) -> Iterable[str]:
    for name in card.names:
        yield from (name.name, *name.aliases)
    for value in card.filter_values:
        yield from (value.value, *value.aliases)


def _apart(found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    kept: list[tuple[int, int, str]] = []
    for one in found:
        if not kept or one[0] >= kept[-1][1]:
            kept.append(one)
    return kept


def _ends(text: str, start: int, phrase: str) -> int:
    """Where a phrase that stands here ends, with any white space between its words; 0 if it does not stand here."""
    at = start
    for number, word in enumerate(phrase.split(" ")):
        if number:
            spaces = at
            while at < len(text) and text[at].isspace():
                at += 1
            if at == spaces:
                return 0
        if not text.startswith(word, at):
            return 0
        at += len(word)
    after = text[at : at + 1]
    return 0 if after and (after == "_" or after.isalnum()) and not _UNSPACED.match(after) else at


def _form(phrase: str) -> str:
    form = re.escape(phrase).replace(re.escape(NUMBER), r"\d+").replace(r"\ ", r"\s+")
    if _UNSPACED.search(phrase):
        return form
    # Beside Chinese and Japanese characters a Latin word is whole, too.
    return rf"(?<![^\W{_BESIDE}]){form}(?![^\W{_BESIDE}])"


def _numberless(text: str) -> str:
    return " ".join(text.split())


def declared_by(card: DomainCard, key: str, value: str) -> Sequence[str]:
    """The sources that declare a value."""
    return [s.name for s in card.sources if (field := s.field(key)) is not None and value in field.values]
