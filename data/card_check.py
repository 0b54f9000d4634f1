"""Finds mistakes in a card that can be read: names with two meanings, empty words, subjects both covered and excluded.

`load_card` refuses what no planner could work with. What is found here leaves a card usable, and a compiled program
that holds it loadable; `queryplan data check` names it by its place in ``domain.toml``, counted from 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from .card import DomainCard, KnownName
from .duplicates import tokens

SHOWN = 8_000
"""Characters that a card may show of its domain, some 2,000 tokens with every question; shipped cards have 1,800."""


def card_problems(card: DomainCard) -> Iterator[str]:
    """One sentence for each mistake in a card; empty if there is none."""
    yield from _too_long(card)
    yield from _empty("", card.model_dump(exclude={"graph"}))
    yield from _names(card)
    yield from _subjects(card)
    yield from _words(card)
    for n, paradigm in enumerate(card.paradigms, 1):
        if not paradigm.modifiers and not paradigm.operators:
            yield f"paradigms {n} ({paradigm.name}): it has neither modifiers nor operators, and asks nothing"


def _too_long(card: DomainCard) -> Iterator[str]:
    """What a language model reads of the domain, if it is a book."""
    if (shown := len(card.domain_text())) > SHOWN:
        places = {"description": len(card.description)}
        places |= {f"covers {n}": len(line) for n, line in enumerate(card.covers, 1)}
        places |= {f"excluded {n}": len(topic.description) for n, topic in enumerate(card.excluded, 1)}
        longest = max(places, key=lambda place: places[place])
        told = f"description, covers and excluded have {shown:,} characters together, which a model reads with a query"
        yield f"{longest}: it has {places[longest]:,} characters; {told}: keep them under {SHOWN:,}"


def _empty(place: str, value: Any) -> Iterator[str]:
    """Texts of nothing but spaces, and empty texts in a list; a single field may be empty if that is allowed."""
    if isinstance(value, Mapping):
        for key, held in value.items():
            yield from _empty(f"{place}.{key}" if place else str(key), held)
    elif isinstance(value, list | tuple):
        for n, held in enumerate(value, 1):
            if held == "":
                yield f"{place} {n}: it is empty"
            yield from _empty(f"{place} {n}", held)
    elif isinstance(value, str) and value and not value.strip():
        yield f"{place}: it is nothing but spaces"


def _names(card: DomainCard) -> Iterator[str]:
    """Spellings that stand for two names. If a graph has both types, two nodes may have the same name."""
    homes: dict[str, list[tuple[int, KnownName]]] = defaultdict(list)
    for n, name in enumerate(card.names, 1):
        homes[_plain(name.name)].append((n, name))
    for found in homes.values():
        for (first, one), (n, other) in pairwise(found):
            if one.type == other.type:
                yield f"names {n} ({other.name}): it stands at {first} already"
            elif card.graph is None:
                yield f"names {n} ({other.name}): it is a {other.type} here and a {one.type} at {first}"
    taken: dict[str, tuple[int, KnownName]] = {}
    for n, name in enumerate(card.names, 1):
        yield from _aliases(card, n, name, homes, taken)


def _aliases(
    card: DomainCard,
    n: int,
    name: KnownName,
    homes: Mapping[str, Sequence[tuple[int, KnownName]]],
    taken: dict[str, tuple[int, KnownName]],
) -> Iterator[str]:
    own, seen = _plain(name.name), set[str]()
    for alias in filter(str.strip, name.aliases):
        place, spelled = f"names {n} ({name.name}): the alias {alias!r}", _plain(alias)
        others = [*homes.get(spelled, ()), *([taken[spelled]] if spelled in taken else [])]
        if alias == name.name:
            yield f"{place} is the name itself"
        elif alias in seen:
            yield f"{place} is given twice"
        elif spelled != own:
            for m, other in others:
                if m != n and (other.type == name.type or card.graph is None):
                    yield f"{place} is a spelling of {other.name} at {m} too"
        seen.add(alias)
        taken.setdefault(spelled, (n, name))


def _subjects(card: DomainCard) -> Iterator[str]:
    """Subjects that are given twice, or are both covered and excluded."""
    inside: dict[frozenset[str], int] = {}
    for n, line in enumerate(card.covers, 1):
        if (first := inside.setdefault(tokens(line), n)) != n and line.strip():
            yield f"covers {n} ({line}): it stands at {first} already"
    outside: dict[frozenset[str], int] = {}
    for n, topic in enumerate(card.excluded, 1):
        said = tokens(topic.description)
        covered = next(
            (inside[words] for words in (said, tokens(topic.kind.replace("_", " "))) if words in inside), None
        )
        if covered is not None:
            yield f"excluded {n} ({topic.kind}): it is what covers {covered} says"
        if (first := outside.setdefault(said, n)) != n:
            yield f"excluded {n} ({topic.kind}): its description is that of {first} too"


def _words(card: DomainCard) -> Iterator[str]:
    """Words for filter values and in synonym sets that stand for two things or are not another word."""
    meant: dict[tuple[str, str], tuple[int, str]] = {}
    for n, value in enumerate(card.filter_values, 1):
        for word in filter(str.strip, (value.value, *value.aliases)):
            first, held = meant.setdefault((value.filter, _plain(word)), (n, value.value))
            if held != value.value:
                yield f"filter_values {n} ({value.value}): {word!r} means {held} at {first} too"
    for n, words in enumerate(card.synonyms, 1):
        if len({_plain(word) for word in words.words}) < len(words.words):
            yield f"synonyms {n}: a word is given twice"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
