"""Which kinds of information a query wants of structured sources, with the filters that it states.

The card gives cues, values and sources; a head for each kind, trained on labelled rows, weighs them together
with the words of the query and their meaning. Without heads the cues alone decide, and are said to be unsure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from ...data.card import DomainCard
from ...signatures.types import SourceIntent
from ..heads import SOURCE, Heads
from .dates import starts_with_date
from .filters import Filters
from .read_filters import NUMBER, FilterReader, Phrases, declared_by
from .scopes import scoped_filters
from .source_planning import MIN_CONFIDENCE

# A head's probability from which an intent is wanted: in two cross-validations on 509 rows of train, dev and
# calibrate 0.676 of them had exactly their intents with 0.50, 0.672 with 0.45 and 0.657 with 0.35. It is mapped to the
# confidence from which plans are made.
WANTED = 0.5
BY_CUE = 0.6
BY_NOTHING = 0.3
MAX_COUNT = 3

# English only; in other languages a status in such a question is taken for a filter.
_YES_NO = re.compile(r"^\W*(?:and |but |so |please )*(?:is|are|was|were|did|does|do|has|have|had|will|can)\b", re.I)
_THERE = re.compile(r"^\W*(?:is|are|was|were) there\b|\bany\b", re.I)
_CLAUSES = re.compile(
    r"[;?!。？；]|\.(?=\s)|, (?=and |but |or |is |are |was |did |has )"
    r"|\s(?=and (?:is|are|was|were|did|does|has|have)\b)"
)
_EXCEPT = re.compile(
    r"\b(?:not|without|except|excluding|apart from|other than|ohne|außer|sauf|sans|excepto|salvo|sin|exceto|sem|tranne"
    r"|senza|zonder|behalve|utom|bez|oprócz)"
    r"(?:\s+(?:the|in|from|of|for|one|ones|any|those|die|der|das|den|in|les|la|le|el|los|as|os))*\s+$",
    re.IGNORECASE,
)
_AFTER = "by in on at yet already now and or since because for with to from if".split()
_ENDS = re.compile(rf"^\s*(?:$|[,.;:)?!]|(?:{'|'.join(_AFTER)})\b)", re.I)
_OBJECT = re.compile(r"^\s*(?:the|a|an|this|that|these|those|it|them|[#!]\d)\b|^\s*[#!]\d|^\s*[A-Z]{2,}-\d", re.I)


class CueReader:
    """Finds the cues of a card's intents in a text, as numbers for a head."""

    def __init__(self, card: DomainCard) -> None:
        self.types = tuple(rule.type for rule in card.source_intents)
        self._kinds: dict[str, list[int]] = {}
        for number, rule in enumerate(card.source_intents):
            for cue in rule.cues:
                self._kinds.setdefault(" ".join(cue.casefold().split()), []).append(number)
        self._phrases = Phrases(cue for cue in self._kinds if NUMBER not in cue)
        self._numbered = [Phrases(cue for cue in rule.cues if NUMBER in cue) for rule in card.source_intents]
        self._filters = FilterReader(card)
        self._only = _values_of_one_source(card)

    @property
    def width(self) -> int:
        """How many numbers ``features`` gives."""
        return 3 * len(self.types) + 1

    def places(self, text: str) -> list[list[int]]:
        """Where the cues of each intent stand."""
        found = [[start for start, _, _ in phrases.find(text)] for phrases in self._numbered]
        for start, _, cue in self._phrases.find(text):
            for number in self._kinds[cue]:
                found[number].append(start)
        return found

    def features(self, text: str, places: Sequence[Sequence[int]] | None = None) -> np.ndarray:
        """Of each intent: whether it has a cue, how many, whether a value is stated that only its source knows.

        Args:
            places: of the cues, if they were found already.
        """
        counts = [min(len(found), MAX_COUNT) for found in places or self.places(text)]
        has = [float(count > 0) for count in counts]
        known = self._known({key: self._filters.values(key, text) for key in self._filters.keys})
        total = min(sum(has), MAX_COUNT) / MAX_COUNT
        return np.array([*has, *(count / MAX_COUNT for count in counts), *known, total], dtype=np.float32)

    def _known(self, filters: Mapping[str, Sequence[str]]) -> list[float]:
        stated = {(key, value) for key, values in filters.items() for value in values}
        return [float(bool(stated & self._only[kind])) for kind in self.types]


class IntentReader:
    """Reads source intents of one card from queries."""

    def __init__(self, card: DomainCard) -> None:
        self.cues = CueReader(card)
        self._filters = FilterReader(card)
        self._sources = {
            rule.type: tuple(dict.fromkeys(name for plan in rule.plans for name in plan.sources))
            for rule in card.source_intents
        }
        self._card = card

    def read(self, query: str, heads: Heads | None) -> tuple[SourceIntent, ...]:
        """Every intent that is likely enough, in the order in which the query mentions them.

        Args:
            query: stands alone.
            heads: those of a program; without heads for sources, the cues decide.
        """
        places = self.cues.places(query)
        wanted = self._wanted(query, places, heads)
        first = {kind: min(at, default=len(query)) for kind, at in zip(self.cues.types, places, strict=True)}
        order = sorted(wanted, key=lambda kind: (first[kind], -wanted[kind]))
        filters = self.filters_by_kind(query, order, dict(zip(self.cues.types, places, strict=True)))
        return tuple(
            SourceIntent(type=kind, confidence=round(wanted[kind], 3), filters=filters[kind]) for kind in order
        )

    def filters_by_kind(
        self, query: str, wanted: Sequence[str], places: Mapping[str, Sequence[int]] | None = None
    ) -> dict[str, Filters]:
        """The filters of each kind that is wanted, of the clauses in which it is wanted.

        Args:
            places: of the cues, if they were found already.
        """
        found = places or dict(zip(self.cues.types, self.cues.places(query), strict=True))
        scoped = scoped_filters(query, {kind: found.get(kind, ()) for kind in wanted}, self.filters)
        return {kind: self.filters_of(kind, filters, wanted) for kind, filters in scoped.items()}

    def _wanted(self, query: str, places: Sequence[Sequence[int]], heads: Heads | None) -> dict[str, float]:
        """Confidence of each intent that is wanted; the likeliest alone where none is likely enough."""
        said = heads.of_sources(query, self.cues.features(query, places)) if heads is not None else {}
        sure = {kind: confidence_of(said[kind]) for kind in self.cues.types if kind in said}
        if not sure:
            sure = {kind: BY_CUE for kind, found in zip(self.cues.types, places, strict=True) if found}
        wanted = {kind: value for kind, value in sure.items() if value >= MIN_CONFIDENCE}
        if wanted:
            return wanted
        likeliest = max(sure, key=lambda kind: sure[kind], default=self.cues.types[-1])
        return {likeliest: BY_NOTHING}

    def filters(self, query: str) -> Filters:
        """The filters of a text, without those that it asks about or tells as events."""
        meant = _without_exceptions(query, self._filters)
        found = self._filters.read(meant)
        if "statuses" in found:
            found["statuses"] = self._filters.values("statuses", _without_predicates(meant, self._filters))
        return {key: values for key, values in found.items() if values}

    def filters_of(self, kind: str, filters: Filters, wanted: Sequence[str]) -> Filters:
        """The filters of one intent.

        A value that its sources do not know, and those of another wanted intent do, belongs to the other.
        """
        others = {source for other in wanted if other != kind for source in self._sources[other]}
        kept = Filters()
        for key, values in filters.items():
            mine = tuple(value for value in values if not self._is_of_others(kind, key, value, others))
            if mine:
                kept[key] = mine
        return kept

    def _is_of_others(self, kind: str, key: str, value: str, others: set[str]) -> bool:
        homes = set(declared_by(self._card, key, value))
        return bool(homes) and not homes & set(self._sources[kind]) and bool(homes & others)


def confidence_of(probability: float) -> float:
    """A head's probability as a confidence: 0.5 becomes 0.3, from which plans are made; 0 and 1 stay."""
    if probability < WANTED:
        return probability * MIN_CONFIDENCE / WANTED
    return MIN_CONFIDENCE + (probability - WANTED) * (1 - MIN_CONFIDENCE) / (1 - WANTED)


def head_name(kind: str) -> str:
    """The name of the head for one kind of information."""
    return f"{SOURCE}{kind}"


def _without_exceptions(query: str, reader: FilterReader) -> str:
    """The query without values that it does not want: *not the open ones*, *except in ember*."""
    for key in reader.keys:
        for start, end in reversed(reader.spans(key, query)):
            if _EXCEPT.search(query, 0, start):
                query = query[:start] + " " * (end - start) + query[end:]
    return query


def _without_predicates(query: str, reader: FilterReader) -> str:
    """The query without statuses that are asked about ("is it fixed?") or told as events ("who fixed #12")."""
    kept = []
    for clause in _split(query):
        asks = bool(_YES_NO.match(clause)) and not _THERE.search(clause)
        for start, end in reversed(reader.spans("statuses", clause)):
            after = clause[end:]
            participle = clause[start:end].casefold().endswith("ed")
            tells = participle and _OBJECT.match(after) and not starts_with_date(after)
            if (asks and _ENDS.match(after)) or tells:
                clause = f"{clause[:start]} {after}"
        kept.append(clause)
    return "".join(kept)


def _split(query: str) -> list[str]:
    """The clauses of a query, each with the sign that ends it."""
    ends = [match.end() for match in _CLAUSES.finditer(query)]
    return [query[a:b] for a, b in zip([0, *ends], [*ends, len(query)], strict=True)]


def _values_of_one_source(card: DomainCard) -> dict[str, set[tuple[str, str]]]:
    """For each intent that asks one source alone, the values that no other structured source knows."""
    structured = {source.name for source in card.sources if source.structured}
    found: dict[str, set[tuple[str, str]]] = {}
    for rule in card.source_intents:
        asked = {name for plan in rule.plans for name in plan.sources}
        values = {
            (field.name, value)
            for source in card.sources
            if asked == {source.name}
            for field in source.fields
            for value in field.values
            if set(declared_by(card, field.name, value)) & structured == {source.name}
        }
        found[rule.type] = values
    return found
