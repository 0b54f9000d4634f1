"""Validates what providers return: usable results and variations, and a sentence for each thing that is neither."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .calls import Limits, words_of
from .passages import Passage
from .providers import Variation, each_once
from .results import SearchResult


class Read(NamedTuple):
    """The usable part of an answer, and what is wrong with the rest, one sentence each."""

    good: tuple[Any, ...]
    problems: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """What is wrong, in one line; empty if nothing is."""
        return "; ".join(self.problems)


def read_results(value: object) -> Read:
    """Read the results of a search; an exception among them says why others are missing.

    Raises:
        TypeError: it is no list.
    """
    return _read(value, "results", _is_result)


def read_variations(value: object) -> Read:
    """The variations of a provider, each once.

    Raises:
        TypeError: they are no list.
    """
    made = _read(value, "variations", _is_variation)
    return Read(each_once(made.good), made.problems)


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
    listed = list(value)
    good = tuple(item for item in listed if is_one(item))
    said = dict.fromkeys(words_of(item) for item in listed if isinstance(item, Exception))
    bad = sum(not is_one(item) and not isinstance(item, Exception) for item in listed)
    return Read(good, (*said, *([f"{bad} of its {what} could not be read"] if bad else [])))


def _is_result(result: object) -> bool:
    if not isinstance(result, SearchResult) or not isinstance(result.passage, Passage):
        return False
    score, passage = result.score, result.passage
    texts = (passage.text, passage.id, passage.source, result.channel)
    number = isinstance(score, int | float) and math.isfinite(score)
    return number and all(isinstance(text, str) for text in texts) and bool(passage.text.strip())


def _is_variation(variation: object) -> bool:
    return isinstance(variation, Variation) and isinstance(variation.query, str) and isinstance(variation.label, str)
