"""Types of which a question wants no neighbour are told from names that are denied and from other denials."""

from __future__ import annotations

import pytest
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.question.asked_type import TypeWords
from queryplan.program.graph.question.denying import told_words
from queryplan.program.graph.question.lacking import lacked_type
from queryplan.program.graph.values import values_of
from queryplan.signatures.graph_steps import GraphSchema

SCHEMA = GraphSchema.model_validate(
    {
        "nodes": [{"name": "Drug"}, {"name": "SideEffect"}, {"name": "Disease"}],
        "edges": [
            {
                "name": "CAUSES",
                "source": "Drug",
                "target": "SideEffect",
                "properties": ["frequency"],
                "details": [{"name": "frequency", "kind": "enum", "values": ["rare", "common"]}],
            }
        ],
        "words": [{"element": "SideEffect", "words": "Nebenwirkung; efecto secundario; 副作用; yan etki"}],
    }
)
INDEX = NameIndex((name, name, kind) for name, kind in (("gout", "Disease"), ("nausea", "SideEffect")))
TYPES = TypeWords(SCHEMA)
TOLD = told_words(values_of(SCHEMA), TYPES)


def read(question: str) -> tuple[set[str], str] | None:
    lacked = lacked_type(question, INDEX.mentions(question), TOLD, TYPES)
    return None if lacked is None else ({SCHEMA.nodes[kind].name for kind in lacked.kinds}, lacked.said.strip())


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("gout drugs without side effects", "side"),
        ("drugs for gout with no side effects at all", "side at all"),
        ("drugs for gout that have no rare side effects", "rare side"),
        ("drugs for gout without any side effects that are rare", "side that are rare"),
        ("which gout drugs don't have any side effects?", "side"),
        ("drugs for gout lacking side effects", "side"),
        ("Mittel gegen gout ohne Nebenwirkung", ""),
        ("fármacos para gout sin efecto secundario", ""),
        ("gout の薬で副作用のないもの", ""),
    ],
)
def test_a_type_of_which_none_is_wanted_is_read(question: str, said: str) -> None:
    assert read(question) == ({"SideEffect"}, said)


@pytest.mark.parametrize(
    "question",
    [
        "drugs for gout without nausea",
        "drugs without side effects like nausea",
        "drugs for gout with side effects",
        "drugs for gout without treating the disease",
        "I have no disease. What are the drugs for gout",
        "side effects of gout drugs, not the disease",
        "gout has no disease",
        "no",
    ],
)
def test_other_denials_are_of_no_type(question: str) -> None:
    assert read(question) is None
