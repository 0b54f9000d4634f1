"""Sources that a query names: *search youtrack and gitlab*, *nothing from gitlab*.

A source's name is also a value of a filter that says where a record comes from. If several sources are named, or if no
wanted kind asks a structured source, a name adds the kind of information that asks this source alone. (*Issues in
gitlab* adds none: it wants issues.) Where the name is excluded, the kind that asks this source alone is not wanted. Of
32 queries that name their sources, 19 lacked one of them without this, and 7 with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ....data.card import DomainCard
from .excepted import excepted, without_exceptions
from .read_filters import FilterReader


class NamedSources:
    """Finds the structured sources of a card that a text names."""

    def __init__(self, card: DomainCard, reader: FilterReader, asked: Mapping[str, Sequence[str]]) -> None:
        """Prepare for one card.

        Args:
            asked: the sources that each kind of information asks.
        """
        self.names = frozenset(source.name for source in card.sources if source.structured)
        self._reader = reader
        self._asked = asked
        self._unstructured = [kind for kind, sources in asked.items() if not self.names & set(sources)]
        self._kinds: dict[str, str] = {}
        for kind, sources in asked.items():
            if len(sources) == 1:
                self._kinds.setdefault(sources[0], kind)

    def kinds(self, query: str, wanted: Mapping[str, float], confidence: float) -> dict[str, float]:
        """The wanted kinds, with those of sources that are named and without those of excluded sources.

        Args:
            wanted: the confidence of each wanted kind.
            confidence: that of a kind that is added.
        """
        named = self._named(without_exceptions(query, self._reader))
        asked = {source for kind in wanted for source in self._asked[kind]} & self.names
        added = [self._kinds[source] for source in named - asked if source in self._kinds]
        kinds = {**wanted, **dict.fromkeys(added, confidence)} if len(named) > 1 or not asked else dict(wanted)
        unwanted = self._named(" ".join(query[start:end] for start, end, *_ in excepted(query, self._reader))) - named
        left = {kind: sure for kind, sure in kinds.items() if not unwanted.issuperset(self._asked[kind])}
        return left or dict.fromkeys(self._unstructured[-1:], confidence) or kinds

    def is_left_alone(self, name: str, wanted: Iterable[str]) -> bool:
        """Whether a name is that of a source which none of these kinds asks."""
        sources = self._named(name)
        return bool(sources) and not sources & {source for kind in wanted for source in self._asked[kind]}

    def _named(self, text: str) -> frozenset[str]:
        return self.names & {value for key in self._reader.keys for value in self._reader.values(key, text)}
