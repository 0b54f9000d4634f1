"""Sub-queries by analogy: those of a labelled query that asks the same about other names.

Annotators took "where are the genes active that ibuprofen binds?" apart, so the same question about aspirin is taken
apart in the same way. Such chains have no joint to cut at. How similar two queries must be is learned by leaving each
labelled query out; only domains whose queries resemble each other have such patterns.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, overload

import numpy as np

from ...data.rows import LabelledRow
from ..heads.encoder import Encoder
from ..text.asking_words import denials
from ..text.linker import Link, Linker
from ..text.words import words_of

ENOUGH = 1 / 3
"""Share of left-out queries that patterns of some likeness and more take apart rightly, from which they are used."""
LEAST = 20
"""Such queries that must have been left out."""
LOWEST, STEP = 0.6, 0.02
"""The lowest cosine from which patterns are ever used, since below it queries are alike by chance; and the step in
which cosines are tried."""
_SLOT = re.compile(r"\[\[(\d+)\]\]")
_BETWEEN = "\x1f"
"""Stands between the items of a pattern in a program's file."""
_NUMBER = re.compile(r"\d+")


class Masked(NamedTuple):
    """A query read as a pattern.

    Attributes:
        text: the query with the type in the place of each name.
        names: the names as written, by type, in the order of their first mention.
        key: its types of names, its numbers, and how often it negates; only queries with the same key are compared.
    """

    text: str
    names: tuple[tuple[str, str], ...]
    key: tuple[str, ...]


class Pattern(NamedTuple):
    """How a labelled query was taken apart.

    Attributes:
        text, key: those of its query, see ``Masked``.
        types: the types of its names.
        parts: its sub-queries, with ``[[0]]`` for the first name and so on, each with the numbers of those it needs.
    """

    text: str
    key: tuple[str, ...]
    types: tuple[str, ...]
    parts: tuple[tuple[str, tuple[int, ...]], ...]


class Patterns(Sequence[Pattern]):
    """Patterns, held as one list of texts for each of their fields, as in a program's file.

    A pattern is put together when it is asked for. To make thousands of tuples took half of the time of loading a
    program, most of it in the garbage collector.

    Args:
        columns: for each name in ``COLUMNS`` a list, with an item for each pattern.

    Raises:
        ValueError: the lists are not equally long, or a pattern is not whole.
        KeyError, TypeError, AttributeError: it has another form.
    """

    COLUMNS = ("texts", "keys", "types", "parts", "needs")

    def __init__(self, columns: Mapping[str, Sequence[str]]) -> None:
        self.columns = {name: columns[name] for name in self.COLUMNS}
        if not all(_is_whole(*fields) for fields in zip(*self.columns.values(), strict=True)):
            raise ValueError("patterns of queries have names and parts that are not theirs")

    @classmethod
    def of(cls, patterns: Sequence[Pattern]) -> Patterns:
        """These patterns."""
        return cls(
            {
                "texts": [one.text for one in patterns],
                "keys": [joined(one.key) for one in patterns],
                "types": [joined(one.types) for one in patterns],
                "parts": [joined(text for text, _ in one.parts) for one in patterns],
                "needs": [joined(" ".join(map(str, needs)) for _, needs in one.parts) for one in patterns],
            }
        )

    def __len__(self) -> int:
        return len(self.columns["texts"])

    @overload
    def __getitem__(self, place: int) -> Pattern: ...

    @overload
    def __getitem__(self, place: slice) -> list[Pattern]: ...

    def __getitem__(self, place: int | slice) -> Pattern | list[Pattern]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        text, key, types, parts, needs = (column[place] for column in self.columns.values())
        return Pattern(text, _items(key), _items(types), tuple(zip(_items(parts), _numbers(needs), strict=True)))


def joined(items: Iterable[str]) -> str:
    """The items of a field as one text."""
    return _BETWEEN.join(items)


def _items(text: str) -> tuple[str, ...]:
    return tuple(text.split(_BETWEEN)) if text else ()


@lru_cache(maxsize=64)  # nearly all patterns need the same numbers
def _numbers(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(map(int, needs.split())) for needs in text.split(_BETWEEN))


def _is_whole(text: str, key: str, types: str, parts: str, needs: str) -> bool:
    """Whether a pattern is consistent: it has a type for each slot, and its parts need only parts of its own."""
    kinds, count = _items(types), parts.count(_BETWEEN) + 1
    slots = _SLOT.findall(parts)
    return (
        sorted(kinds) == sorted(_items(key)[: len(kinds)])
        and (not slots or max(map(int, slots)) < len(kinds))
        and _needs_own(needs, count)
    )


@lru_cache(maxsize=64)
def _needs_own(needs: str, count: int) -> bool:
    needed = _numbers(needs)
    return len(needed) == count and all(0 < number <= count for numbers in needed for number in numbers)


Written = list[tuple[str, tuple[int, ...]]]
"""Sub-queries, each with the numbers of those whose answers it needs."""


class Found(NamedTuple):
    """Sub-queries made after a pattern, the probability that they are right, and the pattern."""

    parts: Written
    certainty: float
    pattern: Pattern


class Analogies:
    """The patterns of a domain.

    Attributes:
        patterns: those of the domain's labelled queries.
        sure: pairs of a cosine and the share of left-out queries that are right from that cosine on, ascending; no
            pattern is used below the first.
    """

    def __init__(self, patterns: Patterns, sure: Sequence[tuple[float, float]], encoder: Encoder) -> None:
        self.patterns, self.sure, self._encoder = patterns, tuple(sure), encoder
        self._vectors: dict[str, np.ndarray] = {}

    @cached_property
    def _by_key(self) -> dict[str, list[int]]:
        places = defaultdict[str, list[int]](list)
        for place, key in enumerate(self.patterns.columns["keys"]):
            places[key].append(place)
        return dict(places)

    def _vectors_of(self, key: str) -> np.ndarray:
        """The vectors of the patterns of a key, made at first use: all of them take longer than loading a program."""
        known = self._vectors.get(key)
        if known is None:
            texts = [self.patterns.columns["texts"][place] for place in self._by_key[key]]
            known = self._vectors[key] = self._encoder.encode(texts)
        return known

    def find(self, query: str, linker: Linker) -> Found | None:
        """The sub-queries after the most similar pattern; None if none is similar enough."""
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
        """The most similar pattern with its cosine, among those whose places ``besides`` accepts; None if none is."""
        places = self._by_key.get(key := joined(asked.key), [])
        allowed = [number for number, place in enumerate(places) if besides(place)]
        if not allowed:
            return None
        likeness = self._vectors_of(key)[allowed] @ self._encoder.encode([asked.text])[0]
        best = int(np.argmax(likeness))
        return float(likeness[best]), self.patterns[places[allowed[best]]]

    def table(self) -> dict[str, Any]:
        """Everything as a table for JSON."""
        return {**self.patterns.columns, "sure": self.sure}


def from_table(table: dict[str, Any], encoder: Encoder) -> Analogies:
    """The analogies from the table of ``table()``.

    Raises:
        ValueError: the table is incomplete, as that of a program that was altered.
        KeyError, TypeError, AttributeError: it has another form.
    """
    listed = table.get("patterns")  # an older program has each pattern as a list
    patterns = Patterns(table) if listed is None else Patterns.of([_from_list(*one) for one in listed])
    sure = [(float(level), float(share)) for level, share in table["sure"]]
    if not sure:
        raise ValueError("patterns of queries have no likeness")
    return Analogies(patterns, sure, encoder)


def _from_list(text: str, key: Sequence[str], types: Sequence[str], parts: Sequence[Any]) -> Pattern:
    return Pattern(text, tuple(key), tuple(types), tuple((said, tuple(needs)) for said, needs in parts))


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
    """A pattern's sub-queries with the names of another query, in order, each in a slot of its type."""
    free = defaultdict[str, list[str]](list)
    for kind, name in asked.names:
        free[kind].append(name)
    names = [free[kind].pop(0) for kind in pattern.types]
    return [(_SLOT.sub(lambda slot: names[int(slot[1])], text), needs) for text, needs in pattern.parts]


Right = Callable[[LabelledRow, Written], bool]
"""Whether sub-queries are those that a row was labelled with."""


def learned_analogies(rows: Sequence[LabelledRow], linker: Linker, encoder: Encoder, right: Right) -> Analogies | None:
    """The patterns of decomposed rows, with how similar a query must be; None if too few left-out ones are right."""
    read = [(row, pattern_of(row.labels.standalone_query, linker)) for row in rows if row.labels.sub_queries]
    made = [(row, pattern) for row, asked in read if (pattern := _pattern(row, asked)) is not None]
    every = Analogies(Patterns.of([pattern for _, pattern in made]), (), encoder)
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
    """The pattern of a row; None if a name is in no sub-query, or what is written could be taken for something else."""
    texts = [one.text for one in row.labels.sub_queries]
    if not asked.names or _SLOT.search(" ".join(texts)) or _BETWEEN in "".join([asked.text, *asked.key, *texts]):
        return None
    slots = {name.casefold(): number for number, (_, name) in enumerate(asked.names)}
    either = "|".join(re.escape(name) for name in sorted(slots, key=len, reverse=True))
    names = re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)
    try:
        put = [names.sub(lambda found: f"[[{slots[found[0].casefold()]}]]", text) for text in texts]
    except KeyError:  # a name may be found in other letters than it was written in: "İ" for "i"
        return None
    there = Counter(int(slot) for text in put for slot in _SLOT.findall(text))
    if len(slots) < len(asked.names) or len(there) < len(slots):
        return None
    number = {one.id: at for at, one in enumerate(row.labels.sub_queries, 1)}
    needs = [tuple(number[need] for need in one.depends_on) for one in row.labels.sub_queries]
    types = tuple(kind for kind, _ in asked.names)
    return Pattern(asked.text, asked.key, types, tuple(zip(put, needs, strict=True)))


def _sure(tried: Sequence[tuple[float, bool]]) -> list[tuple[float, float]]:
    """Cosines from the lowest at which enough is right, each with the share that is right from there on."""
    found: list[tuple[float, float]] = []
    for level in np.arange(LOWEST, 1.0, STEP).round(2).tolist():
        above = [good for likeness, good in tried if likeness >= level]
        share = sum(above) / len(above) if above else 0.0
        if len(above) >= LEAST and share >= ENOUGH:
            found.append((level, round(share, 3)))
    return found
