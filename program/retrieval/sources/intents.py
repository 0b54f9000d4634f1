"""Which kinds of information a query wants of structured sources, with the filters that it states.

The card gives cues, values and sources; a head for each kind, trained on labelled rows, weighs them together with the
words of the query and their meaning. Without heads the cues alone decide, and are marked as unsure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ....data.card import DomainCard
from ....signatures.types import SourceIntent
from ...heads.heads import SOURCE, Heads
from ...plan import Degraded
from ..dates.unread import assumed_dates, unread_dates
from .excepted import exception_gaps, without_exceptions
from .excepted_kinds import excepted_kinds, without_kinds
from .filters import Filters
from .kind_choice import choose_kinds
from .matter import STATUSES, said_of, without_matter
from .meant_values import without_predicates
from .named_sources import NamedSources
from .planning import MIN_CONFIDENCE
from .read_filters import NUMBER, FilterReader, Phrases, declared_by
from .scopes import Carried, scoped_filters
from .unknown_names import UnknownNames
from .wish_frames import CueSpan, FrameReader, kinds_at

# A head's probability from which an intent is wanted. In two cross-validations on 509 rows of train, dev and calibrate
# the intents were exactly right for 0.676 with 0.50, 0.672 with 0.45 and 0.657 with 0.35. ``confidence_of`` maps it to
# the confidence from which plans are made.
WANTED = 0.5
BY_CUE = 0.6
BY_NOTHING = 0.3
MAX_COUNT = 3


class CueReader:
    """Finds the cues of a card's intents in a text, and makes features for heads of them."""

    def __init__(self, card: DomainCard) -> None:
        self.types = tuple(rule.type for rule in card.source_intents)
        self._kinds: dict[str, list[int]] = {}
        for number, rule in enumerate(card.source_intents):
            for cue in rule.cues:
                self._kinds.setdefault(" ".join(cue.casefold().split()), []).append(number)
        self._phrases = Phrases(cue for cue in self._kinds if NUMBER not in cue)
        numbered = ([cue for cue in rule.cues if NUMBER in cue] for rule in card.source_intents)
        self._numbered = {kind: Phrases(cues) for kind, cues in enumerate(numbered) if cues}
        self.values = FilterReader(card)
        self._frames = FrameReader(card, self.values)
        self._only = _values_of_one_source(card)
        self._spans = lru_cache(maxsize=64)(self._find)  # of the query and its clauses, which are read again

    @property
    def width(self) -> int:
        """The length of what ``features`` returns."""
        return 3 * len(self.types) + 1

    def spans(self, text: str) -> list[CueSpan]:
        """Where cues stand, each with the numbers of the intents that have it."""
        return list(self._spans(text))

    def _find(self, text: str) -> tuple[CueSpan, ...]:
        return *self._records(text), *((a, b, self._kinds[cue]) for a, b, cue in self._phrases.find(text))

    def _records(self, text: str) -> Iterator[CueSpan]:
        for kind, phrases in self._numbered.items():
            yield from ((start, end, (kind,)) for start, end, _ in phrases.find(text))

    def places(self, text: str) -> list[list[int]]:
        """Where the cues of each intent begin."""
        return kinds_at(self.spans(text), len(self.types))

    def records(self, text: str) -> list[tuple[int, int, str]]:
        """Where numbers of records stand (*ATL-219*), and the intent that asks for such records."""
        return [(start, end, self.types[kind]) for start, end, (kind, *_) in self._records(text)]

    def has_records(self, kind: str) -> bool:
        """Whether an intent asks for records that have numbers."""
        return self.types.index(kind) in self._numbered

    def frame(self, text: str, spans: Sequence[CueSpan] | None = None) -> tuple[str, ...]:
        """The query with its cues, values, dates and names as marks (``wish_frames.py``), for a head.

        Args:
            spans: those of the cues, if they were found already.
        """
        return self._frames.frame(text, self.spans(text) if spans is None else spans)

    def features(self, text: str, places: Sequence[Sequence[int]] | None = None) -> np.ndarray:
        """Features of the cues, shape (width,), 0 to 1.

        For each intent they say whether it has a cue, how many, and whether a value is stated that only its source
        knows; the last one is the number of intents with a cue.

        Args:
            places: where each intent's cues begin, if they were found already.
        """
        counts = [min(len(found), MAX_COUNT) for found in places or self.places(text)]
        has = [float(count > 0) for count in counts]
        known = self._known({key: self.values.values(key, text) for key in self.values.keys})
        total = min(sum(has), MAX_COUNT) / MAX_COUNT
        return np.array([*has, *(count / MAX_COUNT for count in counts), *known, total], dtype=np.float32)

    def _known(self, filters: Mapping[str, Sequence[str]]) -> list[float]:
        stated = {(key, value) for key, values in filters.items() for value in values}
        return [float(bool(stated & self._only[kind])) for kind in self.types]


class IntentReader:
    """Reads source intents of one card from queries."""

    def __init__(self, card: DomainCard) -> None:
        self.cues = CueReader(card)
        self._filters = self.cues.values
        self._unknown = UnknownNames(card)
        self._carried = Carried((self._unknown.key,) if self._unknown.key else (), self._filters.dates)
        self._sources = {
            rule.type: tuple(dict.fromkeys(name for plan in rule.plans for name in plan.sources))
            for rule in card.source_intents
        }
        self._named = NamedSources(card, self._filters, self._sources)
        self._card = card
        self._with_statuses = {
            rule.type for rule in card.source_intents if any(STATUSES in plan.filters for plan in rule.plans)
        }

    def read(self, query: str, heads: Heads | None) -> tuple[SourceIntent, ...]:
        """Every intent that is likely enough, in the order in which the query mentions them.

        Args:
            query: a standalone query.
            heads: those of a program; without heads for sources, the cues decide.
        """
        spans = self.cues.spans(query)
        places = kinds_at(spans, len(self.cues.types))
        wanted = self._meant(query, spans, places, self._wanted(query, spans, places, heads))
        first = {kind: min(at, default=len(query)) for kind, at in zip(self.cues.types, places, strict=True)}
        order = sorted(wanted, key=lambda kind: (first[kind], -wanted[kind]))
        filters = self.filters_by_kind(query, order, dict(zip(self.cues.types, places, strict=True)))
        return tuple(
            SourceIntent(type=kind, confidence=round(wanted[kind], 3), filters=filters[kind]) for kind in order
        )

    def _meant(
        self, query: str, spans: Sequence[CueSpan], places: Sequence[Sequence[int]], wanted: dict[str, float]
    ) -> dict[str, float]:
        """The wanted kinds, with those of sources that are named and without those that the query excludes."""
        named = [kind for kind, found in zip(self.cues.types, places, strict=True) if found]
        unwanted = [self.cues.types[number] for number in excepted_kinds(query, spans)]
        return self._named.kinds(query, without_kinds(wanted, unwanted, named, BY_CUE), BY_CUE)

    def filters_by_kind(
        self, query: str, wanted: Sequence[str], places: Mapping[str, Sequence[int]] | None = None
    ) -> dict[str, Filters]:
        """The filters of each wanted kind, from the clauses in which it is wanted.

        Args:
            places: where each kind's cues begin, if they were found already.
        """
        found = places or dict(zip(self.cues.types, self.cues.places(query), strict=True))
        wishes = {kind: found.get(kind, ()) for kind in wanted}
        scoped = scoped_filters(query, wishes, self.filters, self._carried)
        keyed = self._keyed(query)
        return {
            kind: self.filters_of(kind, self._without_keys_of_others(kind, filters, keyed, wanted), wanted)
            for kind, filters in self._without_statuses_of_others(query, scoped).items()
        }

    def _without_statuses_of_others(self, query: str, scoped: Mapping[str, Filters]) -> dict[str, Filters]:
        """The filters without statuses that describe another kind's records, or none and no source of the kind has."""
        said, kept = self._said_of(query), dict[str, Filters]()
        for kind, filters in scoped.items():
            others = (scoped.keys() & self._with_statuses) - {kind}
            left = tuple(v for v in filters.get(STATUSES, ()) if self._is_said_of(kind, v, said.get(v, ()), others))
            kept[kind] = {key: left if key == STATUSES else values for key, values in filters.items()}
        return kept

    def _is_said_of(self, kind: str, status: str, said: Sequence[frozenset[str]], others: Iterable[str]) -> bool:
        if said and not any(said):
            return bool(set(declared_by(self._card, STATUSES, status)) & set(self._sources[kind]))
        if not said or kind not in self._with_statuses:  # such as a count: "how many open tickets are there"
            return True
        return not all(said) or any(kind in kinds or not kinds & set(others) for kinds in said)

    def _said_of(self, query: str) -> dict[str, list[frozenset[str]]]:
        """For each occurrence of a status, the kinds that it describes, of those that are asked for by status."""
        found = said_of(query, self._filters, self.cues.spans(query))
        named = {status: [{self.cues.types[n] for n in kinds} for kinds in said] for status, said in found.items()}
        return {status: [frozenset(kinds & self._with_statuses) for kinds in said] for status, said in named.items()}

    def _keyed(self, query: str) -> dict[tuple[str, str], str]:
        """Values that occur only inside numbers of records (*ATL-219*), with the kind of these records."""
        records = self.cues.records(query)
        found: dict[tuple[str, str], str] = {}
        for key in self._filters.keys if records else ():
            of_value: dict[str, list[str | None]] = {}
            for start, end in self._filters.spans(key, query):
                kind = next((kind for a, b, kind in records if a <= start and end <= b), None)
                for value in self._filters.values(key, query[start:end]):
                    of_value.setdefault(value, []).append(kind)
            found |= {(key, value): kinds[0] for value, kinds in of_value.items() if kinds[0] and None not in kinds}
        return found

    def _without_keys_of_others(
        self, kind: str, filters: Filters, keyed: Mapping[tuple[str, str], str], wanted: Sequence[str]
    ) -> Filters:
        """The filters without values that only identify a record of another kind.

        The project in a ticket's number is no filter of the code that mends the ticket, if tickets are wanted, too, or
        if the project has no code. It is a filter of counts and notes about the ticket.
        """
        kept = Filters()
        for key, values in filters.items():
            mine = [v for v in values if not self._is_key_of_other(kind, key, v, keyed.get((key, v)), wanted)]
            if mine:
                kept[key] = tuple(mine)
        return kept

    def _is_key_of_other(self, kind: str, key: str, value: str, owner: str | None, wanted: Sequence[str]) -> bool:
        if owner is None or owner == kind:
            return False
        if owner in wanted and self.cues.has_records(kind):
            return True
        return not set(declared_by(self._card, key, value)) & set(self._sources[kind])

    def _wanted(
        self, query: str, spans: Sequence[CueSpan], places: Sequence[Sequence[int]], heads: Heads | None
    ) -> dict[str, float]:
        """The confidence of each wanted intent; if none is likely enough, the likeliest alone."""
        said, chosen = dict[str, float](), None
        if heads is not None:
            cues, frame = self.cues.features(query, places), self.cues.frame(query, spans)
            said, chosen = choose_kinds(heads.of_sources(query, cues, frame))
        if chosen:
            return {kind: confidence_of(max(said[kind], WANTED)) for kind in chosen}
        sure = {kind: confidence_of(said[kind]) for kind in self.cues.types if kind in said}
        if not sure:
            sure = {kind: BY_CUE for kind, found in zip(self.cues.types, places, strict=True) if found}
        wanted = {kind: value for kind, value in sure.items() if value >= MIN_CONFIDENCE}
        if wanted:
            return wanted
        likeliest = max(sure, key=lambda kind: sure[kind], default=self.cues.types[-1])
        return {likeliest: BY_NOTHING}

    def filters(self, query: str) -> Filters:
        """The filters that a text states, without those that it excludes, asks about or tells as events."""
        meant = without_matter(without_exceptions(query, self._filters), self._filters, self._records(query))
        found = self._filters.read(meant)
        if STATUSES in found:
            found[STATUSES] = self._filters.values(STATUSES, without_predicates(meant, self._filters))
        key = str(self._unknown.key)
        if strange := self._unknown.find(meant, self._filters.spans(key, meant), self._records(meant)):
            found[key] = (*found.get(key, ()), *strange)
        return {key: values for key, values in found.items() if values}

    def left_out(self, query: str, intents: Sequence[SourceIntent]) -> list[Degraded]:
        """The gaps for what a query says of its filters and no source is asked for.

        Args:
            intents: those that were read from the query.
        """
        meant = without_exceptions(query, self._filters)
        known = self._filters.spans(str(self._unknown.key), meant)
        names = self._unknown.perhaps(meant, self._ends(meant), known, self._records(meant))
        gaps = [_left_out(str(self._unknown.key), name, "if it is a name, no source knows it") for name in names]
        gaps += [_left_out(STATUSES, value, "no source that is asked has it") for value in self._loose(query, intents)]
        gaps += self._date_gaps(meant)
        kinds = [intent.type for intent in intents]
        excepted = exception_gaps(without_predicates(query, self._filters), self._filters)
        return [*(g for g in excepted if not self._named.is_left_alone(g.what.split(":", 1)[1], kinds)), *gaps]

    def _date_gaps(self, meant: str) -> list[Degraded]:
        """The gaps for times that a query states and that are not read, or not exactly as stated."""
        if not self._filters.dates:
            return []
        key, why = self._filters.dates[0], "it cannot be read as a date"
        taken = [Degraded(what=f"{key}:{d.said}", why=d.why, instead=d.instead) for d in assumed_dates(meant)]
        return [*(_left_out(key, said, why) for said in unread_dates(meant, self._records(meant))), *taken]

    def _loose(self, query: str, intents: Sequence[SourceIntent]) -> list[str]:
        """Statuses that were left out of all intents, because no source that is asked for statuses has them."""
        asked = {intent.type for intent in intents} & self._with_statuses
        taken = {value for intent in intents for value in intent.filters.get(STATUSES, ())}
        loose = {status for status, said in self._said_of(query).items() if not any(said)} - taken
        return [value for value in self.filters(query).get(STATUSES, ()) if asked and value in loose]

    def _records(self, text: str) -> list[tuple[int, int]]:
        """Where words for records stand."""
        return [(start, end) for start, end, _ in self.cues.spans(text)]

    def _ends(self, text: str) -> Iterator[int]:
        """Where cues and values end."""
        yield from (end for _, end, _ in self.cues.spans(text))
        yield from (end for key in self._filters.keys for _, end in self._filters.spans(key, text))

    def filters_of(self, kind: str, filters: Filters, wanted: Sequence[str]) -> Filters:
        """The filters of one intent.

        A value belongs to another wanted intent if only that one's sources know it, or if it is the name of a source
        that the other one asks.
        """
        others = {source for other in wanted if other != kind for source in self._sources[other]}
        kept = Filters()
        for key, values in filters.items():
            mine = tuple(value for value in values if not self._is_of_others(kind, key, value, others))
            if mine:
                kept[key] = mine
        return kept

    def _is_of_others(self, kind: str, key: str, value: str, others: set[str]) -> bool:
        if value in others & self._named.names and value not in self._sources[kind]:
            return True
        homes = set(declared_by(self._card, key, value))
        return bool(homes) and not homes & set(self._sources[kind]) and bool(homes & others)


def confidence_of(probability: float) -> float:
    """A head's probability mapped to a confidence: 0.5 to 0.3, from which plans are made, and 0 and 1 to themselves."""
    if probability < WANTED:
        return probability * MIN_CONFIDENCE / WANTED
    return MIN_CONFIDENCE + (probability - WANTED) * (1 - MIN_CONFIDENCE) / (1 - WANTED)


def _left_out(key: str, value: str, why: str) -> Degraded:
    return Degraded(what=f"{key}:{value}", why=why, instead="the sources are asked without it")


def head_name(kind: str) -> str:
    """The name of the head for one kind of information."""
    return f"{SOURCE}{kind}"


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
