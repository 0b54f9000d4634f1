"""Validates what stores return: usable results, variations and records, and a sentence for each thing that is none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sized
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from ...signatures.types import SourceQuery
from .calls import READ_MOST, Limits, words_of
from .passages import Passage
from .providers import Variation, each_once
from .results import Hit, SearchResult
from .sources.records import SourceAnswer


class Read(NamedTuple):
    """The usable part of an answer, and what is wrong with the rest, one sentence each."""

    good: tuple[Any, ...]
    problems: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """What is wrong, in one line; empty if nothing is."""
        return "; ".join(self.problems)


def read_results(value: object, most: int = READ_MOST) -> Read:
    """Read the results of a search, the first ``most`` of each channel; an exception among them says why others miss.

    Raises:
        TypeError: it is no list.
    """
    read = _read(value, "results", _is_result)
    seen: Counter[str] = Counter()
    return Read(tuple(result for result in read.good if _counted(seen, result.channel) <= most), read.problems)


def _counted(seen: Counter[str], channel: str) -> int:
    """The place of the next result of a channel, from 1."""
    seen[channel] += 1
    return seen[channel]


def read_answers(value: object) -> Read:
    """The answers to a sub-query; a text alone is one answer, and a blank one is none.

    Raises:
        TypeError: they are no list.
    """
    read = _read([value] if isinstance(value, str) else value, "answers", _is_text)
    return Read(tuple(answer for answer in read.good if answer.strip()), read.problems)


def read_variations(value: object) -> Read:
    """The variations of a provider, each once.

    Raises:
        TypeError: they are no list.
    """
    made = _read(value, "variations", _is_variation)
    return Read(each_once(made.good), made.problems)


class ReadAnswer(NamedTuple):
    """The records of a source that can be used, and what is wrong with the rest; empty if nothing is."""

    answer: SourceAnswer
    why: str = ""


def read_answer(value: object, query: SourceQuery, most: int) -> ReadAnswer:
    """The answer of a source to a query, of its records those that can be used, at most as many as its contract gives.

    Raises:
        TypeError: it is no answer, or its records are no list.
    """
    if not isinstance(value, SourceAnswer) or value.hits is None:
        raise TypeError(f"{type(value).__name__} came where a SourceAnswer with records is expected")
    read = _read(value.hits, "records", _is_hit)
    hits, matching = read.good[:most], value.matching
    there = matching if isinstance(matching, int) and matching >= len(hits) else len(read.good)
    return ReadAnswer(replace(value, query=query, hits=hits, matching=there, cut=there > len(hits)), read.why)


def unfit(provider: object) -> str:
    """Why a provider cannot be searched; empty if it can."""
    try:
        name, limits = provider.name, provider.limits  # type: ignore[attr-defined]
    except Exception as error:  # they may be properties of anybody's
        return words_of(error)
    if not isinstance(name, str):
        return f"its name is {type(name).__name__}, and has to be a text"
    return "" if isinstance(limits, Limits) else f"its limits are {type(limits).__name__}, and have to be Limits"


def _read(value: object, what: str, is_one: Any) -> Read:
    if value is None:
        return Read(())
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise TypeError(f"{type(value).__name__} came where a list of {what} is expected")
    listed = _listed(value, what)
    good = tuple(item for item in listed if is_one(item))
    said = dict.fromkeys(words_of(item) for item in listed if isinstance(item, Exception))
    bad = sum(not is_one(item) and not isinstance(item, Exception) for item in listed)
    return Read(good, (*said, *([f"{bad} of its {what} could not be read"] if bad else [])))


def _listed(value: Iterable[Any], what: str) -> list[Any]:
    """The parts of an answer: of one without a length at most ``READ_MOST``, and what came before a failure."""
    listed: list[Any] = []
    try:
        listed.extend(value if isinstance(value, Sized) else islice(value, READ_MOST))
    except Exception as error:
        listed.append(error)
    if len(listed) >= READ_MOST and not isinstance(value, Sized):
        listed.append(OverflowError(f"only the first {READ_MOST:,} of its {what} were read"))
    return listed


def _is_text(answer: object) -> bool:
    return isinstance(answer, str)


def _is_result(result: object) -> bool:
    return isinstance(result, SearchResult) and isinstance(result.channel, str) and _is_found(result)


def _is_hit(hit: object) -> bool:
    return isinstance(hit, Hit) and _is_found(hit)


def _is_found(found: Hit | SearchResult) -> bool:
    """Whether it has a passage with a text, and a number for a score."""
    if not isinstance(passage := found.passage, Passage):
        return False
    texts = (passage.text, passage.id, passage.source)
    number = isinstance(found.score, int | float) and math.isfinite(found.score)
    return number and all(isinstance(text, str) for text in texts) and bool(passage.text.strip())


def _is_variation(variation: object) -> bool:
    return isinstance(variation, Variation) and isinstance(variation.query, str) and isinstance(variation.label, str)
