"""A domain's own stores, opened once in a process: texts, records of sources, graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...data.card import CARD_FILE, DomainCard, domain_folder, load_card
from ...data.element_words import WORDS_FILE
from ...data.graph_names import graph_files
from ...data.other_words import NAMES_FILE
from ..text.linker import Linker
from .candidates.candidates import CandidatePlanner
from .graph_facts import GraphStore
from .passages import COLLECTION, TRANSCRIPTS, Passage, Stamp, collection_name, read_passages, read_records, stamp_of
from .providers import LocalProvider, SearchProvider, passage_provider
from .retrievers import term_weights
from .sources.records import RecordSource, Source

if TYPE_CHECKING:
    from ..graph.executors.memory import MemoryGraph

CACHED = 8
"""Domains whose stores are kept in this process."""


@dataclass(frozen=True)
class Stores:
    """The stores that a plan is run on; any of them may be missing, or replaced by one of yours.

    Attributes:
        providers: search the query candidates, by words and by vectors.
        weight: how informative a term is in these texts.
        graph: runs graph plans.
        left_out: what in the graph's files the card's schema does not have, one sentence for each node type.
        sources: answers source queries, by name.
        collection: passages that are read as a whole if the plan says so, oldest first.
    """

    card: DomainCard
    linker: Linker
    providers: tuple[SearchProvider, ...] = ()
    weight: Callable[[str], float] | None = None
    graph: GraphStore | None = None
    left_out: tuple[str, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=lambda: MappingProxyType({}))
    collection: tuple[Passage, ...] = ()

    @cached_property
    def candidates(self) -> CandidatePlanner:
        """The planner of follow-up candidates for this card."""
        return CandidatePlanner(self.card, self.linker)


def open_stores(domain: str | Path) -> Stores:
    """Open the stores in a domain's folder; they are kept in this process until one of its files changes.

    Raises:
        DataError: there is no such domain, or a file cannot be read, which is named.
    """
    folder = domain_folder(domain).resolve()
    return _open(folder, stamp_of(_files(folder)))


@lru_cache(maxsize=CACHED)
def _open(folder: Path, stamp: Stamp) -> Stores:
    card = load_card(folder)
    texts = read_passages(folder, card.collection)
    sources = {c.name: source for c in card.sources if (source := RecordSource.of(c, folder)) is not None}
    stores = {c.name: read_records(folder / c.store, c.name) for c in card.sources if c.store is not None}
    graph = _graph(folder, card)
    everything = (*texts, *(record for records in stores.values() for record in records))
    return Stores(
        card=card,
        linker=Linker(card.names),
        providers=(*_text_providers(texts), *(passage_provider(name, records) for name, records in stores.items())),
        weight=term_weights(everything) if everything else None,
        graph=graph,
        left_out=graph.left_out if graph is not None else (),
        sources=MappingProxyType(sources),
        collection=tuple(p for p in texts if p.source == COLLECTION),
    )


def _text_providers(texts: Sequence[Passage]) -> list[LocalProvider]:
    names = dict.fromkeys(text.source for text in texts)
    return [passage_provider(name, [text for text in texts if text.source == name]) for name in names]


def _graph(folder: Path, card: DomainCard) -> MemoryGraph | None:
    if card.graph is None or not graph_files(folder)[0].is_file():
        return None
    from ..graph.executors.memory import load_graph

    return load_graph(folder, card.graph)


def _files(folder: Path) -> list[Path]:
    """Every file that would be opened, whether it exists or not."""
    told = [*(folder / name for name in (CARD_FILE, NAMES_FILE, WORDS_FILE)), *sorted((folder / "graph").glob("*"))]
    card = _card(folder, stamp_of(told))
    stores = [folder / source.store for source in card.sources if source.store is not None]
    stores.append(folder / collection_name(card.collection))
    return [*told, *sorted((folder / TRANSCRIPTS).glob("*.md")), *stores]


@lru_cache(maxsize=CACHED)
def _card(folder: Path, stamp: Stamp) -> DomainCard:
    return load_card(folder)
