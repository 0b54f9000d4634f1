"""What a graph without words of its own borrows from a shipped domain that has some of its edges."""

from __future__ import annotations

from collections import Counter

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.data.element_words import UNSAYABLE
from queryplan.data.other_words import THESAURUS_FILE, each_word, read_other_words
from queryplan.program.graph.names.borrowing import is_shipped, shipped_names, with_shipped_words
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.question.words import fold
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType

KINDS = (NodeType(name="Compound"), NodeType(name="Disease"), NodeType(name="Comet"))
EDGES = (
    EdgeType(name="TREATS_CtD", source="Compound", target="Disease"),
    EdgeType(name="NAMED_AFTER", source="Comet", target="Disease"),
)
NEAR = GraphSchema(nodes=KINDS, edges=EDGES)
FAR = GraphSchema(nodes=KINDS, edges=EDGES[1:])
GRAPH = (("d1", "Crohn's disease", "Disease"), ("d2", "kidney cancer", "Disease"), ("c1", "Naloxone", "Compound"))


def test_a_schema_with_edges_of_a_shipped_domain_gets_its_words() -> None:
    worded = with_shipped_words(NEAR)
    found = {(line.element, line.side) for line in worded.words}
    assert found == {("Compound", ""), ("Disease", ""), ("TREATS_CtD", "in"), ("TREATS_CtD", "out"), (UNSAYABLE, "")}
    assert with_shipped_words(FAR) is FAR


def test_what_a_schema_does_not_describe_is_described_as_in_the_shipped_domain() -> None:
    said = NEAR.model_copy(update={"nodes": (NodeType(name="Compound", description="a pill"), *KINDS[1:])})
    described = with_shipped_words(said)
    assert [bool(node.description) for node in described.nodes] == [True, True, False]
    assert described.nodes[0].description == "a pill"
    assert [bool(edge.description) for edge in described.edges] == [True, False]


@pytest.mark.parametrize(
    ("question", "text", "name"),
    [
        ("was hilft gegen Morbus Crohn", "Morbus Crohn", "Crohn's disease"),
        ("drugs for hypernephroma", "hypernephroma", "kidney cancer"),
        ("what is Narcan given for", "Narcan", "Naloxone"),
    ],
)
def test_names_of_a_graph_are_found_as_a_shipped_domain_spells_them(question: str, text: str, name: str) -> None:
    """The first is a name that the shipped graph has too, the others are in its thesaurus alone."""
    found = {m.text: m.readings for m in NameIndex(GRAPH, shipped_names(NEAR)).mentions(question)}
    assert [(r.name, r.how) for r in found[text]] == [(name, "alias")]
    assert text not in {m.text for m in NameIndex(GRAPH).mentions(question)}


def test_a_schema_with_no_edge_of_a_shipped_domain_borrows_nothing() -> None:
    assert shipped_names(FAR) == ()


def test_the_shipped_graph_needs_no_names_but_those_of_its_card() -> None:
    card = load_card(domain_folder("biomedical"))
    assert is_shipped(card.graph)
    assert not is_shipped(NEAR)
    assert not is_shipped(None)


def test_the_thesaurus_has_names_that_the_card_has_not_each_once() -> None:
    folder = domain_folder("biomedical")
    rows, card = read_other_words(folder / THESAURUS_FILE), load_card(folder)
    assert card.graph is not None
    assert max(Counter((row.name, row.type) for row in rows).values()) == 1
    assert not {row.name.casefold() for row in rows} & {name.name.casefold() for name in card.names}
    kinds = {node.name for node in card.graph.nodes}
    assert {row.type for row in rows if row.type} <= kinds
    for row in rows:
        words = [fold(word) for word in each_word(row.words)]
        assert all(words)
        assert fold(row.name) not in words
