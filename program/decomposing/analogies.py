"""Sub-queries by analogy: those of a labelled query that asks the same about other names.

"Where are the genes active that ibuprofen binds?" was taken apart by annotators, so the same question about aspirin
is taken apart alike. Chains of this kind have no joint to cut at. How alike two queries must be is learned by leaving
each labelled query out: only where a domain's queries resemble each other are there such patterns.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import LabelledRow
from ..heads.encoder import Encoder
from ..rewriting.words import words_of
from ..text.linker import Link, Linker
from .lexicon import denials

ENOUGH = 1 / 3
"""Share of left-out queries that patterns of some likeness and more take apart rightly, from which they are used."""
LEAST = 20
"""Such queries that must have been left out."""
LOWEST, STEP = 0.6, 0.02
"""Cosine below which two queries resemble each other by chance, however alike those are that were left out."""
_SLOT = re.compile(r"\[\[(\d+)\]\]")
_NUMBER = re.compile(r"\d+")


class Masked(NamedTuple):
    """A query as its pattern: names by their types, and what has to be alike.

    Attributes:
        text: with the type in the place of each name.
        names: as written, by type, in the order in which they are named first.
        key: the types and the numbers in it, and how often it denies; only queries with the same are compared.
    """

    text: str
    names: tuple[tuple[str, str], ...]
    key: tuple[str, ...]


class Pattern(NamedTuple):
    """How a labelled query was taken apart.

    Attributes:
        text, key: of its query.
        types: of its names.
        parts: its sub-queries, ``[[0]]`` for the first name, each with those that it needs.
    """

    text: str
    key: tuple[str, ...]
    types: tuple[str, ...]
    parts: tuple[tuple[str, tuple[int, ...]], ...]


Written = list[tuple[str, tuple[int, ...]]]
"""Sub-queries, each with the numbers of those that it needs."""


class Found(NamedTuple):
    """Sub-queries after a pattern, how surely they are right, and the pattern."""

    parts: Written
    certainty: float
    pattern: Pattern


class Analogies:
    """The patterns of a domain.

    Attributes:
        patterns: of labelled queries.
        sure: (likeness, share of left-out queries right from there on), rising; below the first nothing is said.
    """

    def __init__(self, patterns: Sequence[Pattern], sure: Sequence[tuple[float, float]], encoder: Encoder) -> None:
        self.patterns, self.sure, self._encoder = tuple(patterns), tuple(sure), encoder
        self._vectors: dict[tuple[str, ...], np.ndarray] = {}

    @cached_property
    def _by_key(self) -> dict[tuple[str, ...], list[int]]:
        places = defaultdict[tuple[str, ...], list[int]](list)
        for place, pattern in enumerate(self.patterns):
            places[pattern.key].append(place)
        return dict(places)

    def _vectors_of(self, key: tuple[str, ...]) -> np.ndarray:
        """Of the patterns of a key, made when first asked for: of all they take longer than loading a program."""
        known = self._vectors.get(key)
        if known is None:
            texts = [self.patterns[place].text for place in self._by_key[key]]
            known = self._vectors[key] = self._encoder.encode(texts)
        return known

    def find(self, query: str, linker: Linker) -> Found | None:
        """The sub-queries after the likest pattern; None where none is alike enough."""
        asked = pattern_of(query, linker)
        found = self.nearest(asked) if asked.names else None
        if found is None or found[0] < self.sure[0][0]:
            return None
        likeness, pattern = found
        certainty = max(share for level, share in self.sure if level <= likeness)
        return Found(filled(pattern, asked), certainty, pattern)

    def nearest(
        self, asked: Masked, besides: Callable[[int], bool] = lambda place: True
    ) -> tuple[float, Pattern] | None:
        """The likest pattern with its cosine, among those that ``besides`` says may be."""
        places = self._by_key.get(asked.key, [])
        allowed = [number for number, place in enumerate(places) if besides(place)]
        if not allowed:
            return None
        likeness = self._vectors_of(asked.key)[allowed] @ self._encoder.encode([asked.text])[0]
        best = int(np.argmax(likeness))
        return float(likeness[best]), self.patterns[places[allowed[best]]]

    def table(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return {"patterns": self.patterns, "sure": self.sure}


def from_table(table: dict[str, Any], encoder: Encoder) -> Analogies:
    """What ``table()`` gave."""
    patterns = [
        Pattern(text, tuple(key), tuple(types), tuple((said, tuple(needs)) for said, needs in parts))
        for text, key, types, parts in table["patterns"]
    ]
    sure = [(float(level), float(share)) for level, share in table["sure"]]
    if not sure or not all(map(_is_whole, patterns)):
        raise ValueError("patterns of queries have no likeness, or names and parts that are not theirs")
    return Analogies(patterns, sure, encoder)


def _is_whole(pattern: Pattern) -> bool:
    """Whether a pattern has a type for each slot, and its parts need others of it alone."""
    slots = (int(slot) for text, _ in pattern.parts for slot in _SLOT.findall(text))
    needs = (need for _, needed in pattern.parts for need in needed)
    of_key = sorted(pattern.types) == sorted(pattern.key[: len(pattern.types)])
    return (
        of_key and all(slot < len(pattern.types) for slot in slots) and all(0 < n <= len(pattern.parts) for n in needs)
    )


def pattern_of(query: str, linker: Linker) -> Masked:
    """A query read as a pattern."""
    mentions = linker.mentions(query)
    first = {link.name.name: link for link in reversed(mentions)}
    links = sorted(first.values(), key=lambda link: link.start)
    names = tuple((link.name.type, link.surface) for link in links)
    text = _masked(query, mentions)
    denied = ["not"] * denials(word.low for word in words_of(text))
    return Masked(text, names, (*sorted(kind for kind, _ in names), *sorted(_NUMBER.findall(text)), *denied))


def _masked(query: str, links: Iterable[Link]) -> str:
    pieces, end = list[str](), 0
    for link in links:
        pieces += [query[end : link.start], link.name.type.casefold()]
        end = link.start + len(link.surface)
    return "".join([*pieces, query[end:]])


def filled(pattern: Pattern, asked: Masked) -> Written:
    """A pattern's sub-queries with the names of another query, each in the place of one of its type, in order."""
    free = defaultdict[str, list[str]](list)
    for kind, name in asked.names:
        free[kind].append(name)
    names = [free[kind].pop(0) for kind in pattern.types]
    return [(_SLOT.sub(lambda slot: names[int(slot[1])], text), needs) for text, needs in pattern.parts]


Right = Callable[[LabelledRow, Written], bool]
"""Whether sub-queries are those that a row was labelled with."""


def learned_analogies(rows: Sequence[LabelledRow], linker: Linker, encoder: Encoder, right: Right) -> Analogies | None:
    """The patterns of decomposed rows, and how alike a query must be; None where too few would be right."""
    read = [(row, pattern_of(row.labels.standalone_query, linker)) for row in rows if row.labels.sub_queries]
    made = [(row, pattern) for row, asked in read if (pattern := _pattern(row, asked)) is not None]
    every = Analogies([pattern for _, pattern in made], (), encoder)
    conversations = [row.conversation for row, _ in made]
    tried: list[tuple[float, bool]] = []
    for row, asked in read:
        of = row.conversation
        found = every.nearest(asked, lambda place, of=of: conversations[place] != of) if asked.names else None
        if found is not None:
            tried.append((found[0], right(row, filled(found[1], asked))))
    sure = _sure(tried)
    return Analogies(every.patterns, sure, encoder) if sure else None


def _pattern(row: LabelledRow, asked: Masked) -> Pattern | None:
    """None where a name is in no sub-query, or a slot could be taken for something else."""
    texts = [one.text for one in row.labels.sub_queries]
    if not asked.names or _SLOT.search(" ".join(texts)):
        return None
    slots = {name.casefold(): number for number, (_, name) in enumerate(asked.names)}
    either = "|".join(re.escape(name) for name in sorted(slots, key=len, reverse=True))
    names = re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)
    try:
        put = [names.sub(lambda found: f"[[{slots[found[0].casefold()]}]]", text) for text in texts]
    except KeyError:  # "İ" is found for "i", and is another letter
        return None
    there = Counter(int(slot) for text in put for slot in _SLOT.findall(text))
    if len(slots) < len(asked.names) or len(there) < len(slots):
        return None
    number = {one.id: at for at, one in enumerate(row.labels.sub_queries, 1)}
    needs = [tuple(number[need] for need in one.depends_on) for one in row.labels.sub_queries]
    types = tuple(kind for kind, _ in asked.names)
    return Pattern(asked.text, asked.key, types, tuple(zip(put, needs, strict=True)))


def _sure(tried: Sequence[tuple[float, bool]]) -> list[tuple[float, float]]:
    """Levels of likeness from the lowest at which enough is right, with the share that is right from there on."""
    found: list[tuple[float, float]] = []
    for level in np.arange(LOWEST, 1.0, STEP).round(2).tolist():
        above = [good for likeness, good in tried if likeness >= level]
        share = sum(above) / len(above) if above else 0.0
        if len(above) >= LEAST and share >= ENOUGH:
            found.append((level, round(share, 3)))
    return found
