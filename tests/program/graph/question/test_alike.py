"""Values of properties that a question says in other words."""

from __future__ import annotations

import pytest
from queryplan.program.graph.question.alike import ALIKE, FEW, ValueWords, is_said
from queryplan.program.graph.question.view import Hypothesis, View, view_of
from queryplan.program.graph.ranking.schema_words import SchemaWords
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import GraphSchema, NodeType

SCHEMA = GraphSchema(nodes=(NodeType(name="Boat"),))
WORDS = ValueWords(
    [("wood", "steel"), ("settled", "nasal spray"), tuple(f"name {i}" for i in range(FEW + 1))], default_encoder()
)


def seen(question: str, common: dict[str, float] | None = None) -> View:
    return view_of(question, Hypothesis((), ()), SchemaWords(SCHEMA, default_encoder(), {}), common or {})


def unsaid(question: str, common: dict[str, float] | None = None) -> set[str]:
    return set(WORDS.unsaid(seen(question, common), question))


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("wooden boats", {"wood"}),
        ("those that ended in a settlement", {"settled"}),
        ("wood", set()),
        ("woods", set()),
        ("drops for the nose", set()),
        ("spray", set()),
        ("", set()),
        ("name", set()),
    ],
)
def test_a_value_is_said_by_words_like_each_of_its_own(question: str, values: set[str]) -> None:
    assert unsaid(question) == values


def test_common_words_are_like_nothing() -> None:
    assert unsaid("wooden boats", {"wooden": 0.2}) == set()


def test_how_like_each_word_is_to_a_value() -> None:
    near = WORDS.by_word(seen("some wooden boats"), "wood")
    assert near[1] >= ALIKE
    assert near[[0, 2]].tolist() == [0, 0]
    assert WORDS.by_word(seen("some boats"), "never heard of").tolist() == [0, 0]
    assert WORDS.by_word(seen(""), "wood").tolist() == []


def test_without_values_nothing_is_alike() -> None:
    assert ValueWords([], default_encoder()).unsaid(seen("wooden boats"), "wooden boats") == {}


def test_a_value_is_said_in_either_number() -> None:
    assert is_said("Wood", " the wood of it ")
    assert is_said("virus", " viruss ")
    assert not is_said("wood", " wooden ")
    assert not is_said("?", " ? ")
