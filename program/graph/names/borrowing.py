"""Words and spellings that a graph without its own borrows from a shipped domain that has some of its edges.

A database of Hetionet or SPOKE has the edges of ``biomedical``, and people use the same words for these edges, and the
same spellings for its nodes, as in that domain.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

from ....data.card import DomainCard, KnownName, domain_folder, load_card, shipped_domains
from ....data.element_words import WORDS_FILE, with_words_of
from ....data.other_words import THESAURUS_FILE, read_other_words
from ....signatures.graph_steps import EdgeType, GraphSchema, NodeType

Kind = TypeVar("Kind", NodeType, EdgeType)


def with_shipped_words(schema: GraphSchema) -> GraphSchema:
    """A schema with the words and descriptions of a shipped domain that has some of its edges.

    Words and descriptions that it has itself are kept; one that shares no edge is returned unchanged.
    """
    near = _near(schema)
    return schema if near is None or near.graph is None else _described(with_words_of(schema, near.graph), near.graph)


def _described(schema: GraphSchema, other: GraphSchema) -> GraphSchema:
    nodes = {node.name: node.description for node in other.nodes}
    edges = {(edge.name, edge.source, edge.target): edge.description for edge in other.edges}
    return schema.model_copy(
        update={
            "nodes": tuple(_with(node, nodes.get(node.name, "")) for node in schema.nodes),
            "edges": tuple(_with(edge, edges.get((edge.name, edge.source, edge.target), "")) for edge in schema.edges),
        }
    )


def _with(kind: Kind, description: str) -> Kind:
    return kind if kind.description or not description else kind.model_copy(update={"description": description})


def shipped_names(schema: GraphSchema) -> tuple[KnownName, ...]:
    """Other spellings of names that nodes of this schema may have, where a shipped domain has some of its edges.

    Its card's names come first, then its thesaurus: names that its own graph does not have.
    """
    near = _near(schema)
    return () if near is None else (*near.names, *_thesaurus(near.name))


def is_shipped(schema: GraphSchema | None) -> bool:
    """Whether a schema is a shipped domain's own, whose card has all the spellings that its graph can use."""
    return schema is not None and any(card.graph == schema for card in _cards())


def _near(schema: GraphSchema) -> DomainCard | None:
    own = {(edge.name, edge.source, edge.target) for edge in schema.edges}
    return next((card for card in _cards() if own & _edges(card)), None)


def _edges(card: DomainCard) -> set[tuple[str, str, str]]:
    return set() if card.graph is None else {(edge.name, edge.source, edge.target) for edge in card.graph.edges}


@lru_cache(maxsize=1)
def _cards() -> tuple[DomainCard, ...]:
    folders = [folder for name in shipped_domains() if ((folder := domain_folder(name)) / WORDS_FILE).is_file()]
    return tuple(card for folder in folders if (card := load_card(folder)).graph is not None)


@lru_cache(maxsize=1)
def _thesaurus(domain: str) -> tuple[KnownName, ...]:
    kinds = [node.name for card in _cards() if card.name == domain and card.graph for node in card.graph.nodes]
    return tuple(
        KnownName(name=row.name, type=kind, other_words=row.words)
        for row in read_other_words(domain_folder(domain) / THESAURUS_FILE)
        for kind in ([row.type] if row.type else kinds)
    )
