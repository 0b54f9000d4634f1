"""Search providers: what is searched, within which limits, and what each asks when there is no plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from ..text.languages import detect_language
from .calls import READ_MOST, Limits
from .candidates.keywords import key_terms
from .passages import Passage
from .results import SearchResult
from .retrievers import Bm25Retriever, Retriever, VectorRetriever


@dataclass(frozen=True)
class Variation:
    """One query that a provider makes by itself; its results carry ``label``."""

    query: str
    label: str


Generator = Callable[[str], Sequence[Variation]]
Answer = Sequence[SearchResult | Exception]
"""Results; an exception among them says why others are missing, and becomes a gap."""


class SearchProvider(Protocol):
    """Anything that can be searched. ``search`` gets the planned candidates one by one, as they are."""

    @property
    def name(self) -> str:
        """The name by which a candidate's ``source_filter`` refers to it."""
        ...

    @property
    def limits(self) -> Limits:
        """How many calls it takes at once, and how long one may last."""
        ...

    def variations(self, query: str) -> Sequence[Variation]:
        """Its own variations of a query; called only if there is no plan."""
        ...

    def search(self, query: str, limit: int) -> Answer | Awaitable[Answer]:
        """At most ``limit`` results for each channel, best first. It may be a coroutine function."""
        ...


def usual_variations(query: str) -> tuple[Variation, ...]:
    """Fixed variations of every query: as typed, its key terms, and each half of them.

    A search without a plan uses them, and plans are compared with them.
    """
    words = key_terms(query, (), detect_language(query))
    middle = (len(words) + 1) // 2
    made = (
        Variation(query, "as typed"),
        Variation(" ".join(words), "key terms"),
        Variation(" ".join(words[:middle]), "first half"),
        Variation(" ".join(words[middle:]), "second half"),
    )
    return each_once(made)


def each_once(variations: Iterable[Variation]) -> tuple[Variation, ...]:
    """The variations that have a query, without duplicates, in order."""
    found: dict[str, Variation] = {}
    for variation in variations:
        if variation.query.strip():
            found.setdefault(variation.query.casefold(), variation)
    return tuple(found.values())


class LocalProvider:
    """Searches with retrievers in this process, each its own channel; the reference provider."""

    def __init__(
        self,
        name: str,
        retrievers: Sequence[Retriever],
        generator: Generator = usual_variations,
        limits: Limits | None = None,
    ) -> None:
        self.name = name
        # One thread: in one process more of them only wait for each other.
        self.limits = limits or Limits(concurrency=1)
        self._retrievers = tuple(retrievers)
        self._generator = generator

    def variations(self, query: str) -> Sequence[Variation]:
        """The generator's variations of a query."""
        return self._generator(query)

    def search(self, query: str, limit: int) -> Answer | Awaitable[Answer]:
        """Every retriever's ranking; a coroutine if one is asynchronous. One that fails costs only its own ranking."""
        asked = zip(_channels(self._retrievers), self._retrievers, strict=True)
        answers = [(channel, _asked(retriever, query, limit)) for channel, retriever in asked]
        if any(isinstance(answer, Awaitable) for _, answer in answers):
            return self._await(answers)
        return self._results(answers)

    async def _await(self, answers: Sequence[tuple[str, Any]]) -> Answer:
        return self._results([(channel, await _got(a) if isinstance(a, Awaitable) else a) for channel, a in answers])

    def _results(self, answers: Sequence[tuple[str, Any]]) -> Answer:
        return [self._result(hit, channel) for channel, hits in answers for hit in _listed(hits, channel)]

    def _result(self, hit: object, channel: str) -> SearchResult | Exception:
        if isinstance(hit, Exception):
            return hit
        passage, score = getattr(hit, "passage", None), getattr(hit, "score", 0.0)
        if not isinstance(passage, Passage):
            return TypeError(f"{channel} returned {type(hit).__name__} where a Hit is expected")
        return SearchResult(passage, score, self.name, channel)


def _channels(retrievers: Sequence[Retriever]) -> tuple[str, ...]:
    """A channel for each retriever, as each is ranked by itself: its name, with a number where others have it too."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    for retriever in retrievers:
        seen[retriever.name] += 1
        found.append(retriever.name if seen[retriever.name] == 1 else f"{retriever.name} {seen[retriever.name]}")
    return tuple(found)


def _asked(retriever: Retriever, query: str, limit: int) -> Any:
    """A retriever's hits, or why there are none."""
    try:
        return retriever.retrieve(query, limit)
    except Exception as error:
        return [error]


async def _got(answer: Awaitable[Any]) -> Any:
    try:
        return await answer
    except Exception as error:
        return [error]


def _listed(hits: Any, channel: str) -> Sequence[object]:
    if isinstance(hits, str | bytes | Mapping) or not isinstance(hits, Iterable):
        return [TypeError(f"{channel} returned {type(hits).__name__} where a list of Hits is expected")]
    found: list[object] = []
    try:
        found.extend(islice(hits, READ_MOST))
    except Exception as error:  # what came before it is kept
        found.append(error)
    return found


def passage_provider(name: str, passages: Sequence[Passage], generator: Generator = usual_variations) -> LocalProvider:
    """The reference provider: passages in memory, searched by words and by vectors."""
    return LocalProvider(name, (Bm25Retriever(passages), VectorRetriever(passages)), generator)
