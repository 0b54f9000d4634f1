"""The pieces of text that questions ask names and texts to have."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.graph.question.said_numbers import SaidNumbers
from queryplan.program.graph.question.said_texts import MOST_LETTERS, MOST_WORDS, Piece, said_texts
from queryplan.program.graph.question.view import Hypothesis, view_of
from queryplan.program.graph.question.words import words_of
from queryplan.program.graph.ranking.endings import DENSE, ELEMENTS, EndingParts, condition_of, conditions_of, endings
from queryplan.program.graph.ranking.schema_words import SchemaWords
from queryplan.program.graph.values import Values
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Drug", properties=("form",)), NodeType(name="Illness")),
    edges=(EdgeType(name="TREATS", source="Drug", target="Illness"),),
)
VALUES = Values()


def pieces(question: str, name: str = "", common: str = "") -> list[tuple[str, bool]]:
    """Pieces of a question, where these words are a name, and those say nothing."""
    start = question.find(name)
    spans = [(start, start + len(name))] if name else []
    says = {word.text: 0.0 if word.text in common.split() else 1.0 for word in words_of(question)}
    return [(one.text, one.marked) for one in said_texts(question, spans, says, {})]


@pytest.mark.parametrize(
    "question",
    [
        'finds with "amulet" on the label',
        "finds with “amulet” on the label",
        "Funde mit „amulet“ auf dem Etikett",
        "trouvailles avec « amulet » dessus",
        "「amulet」のある物",
        "one called 'amulet', isn't it",
        "anything `amulet`",
    ],
)
def test_what_stands_in_quotation_marks_is_a_piece(question: str) -> None:
    assert pieces(question)[0] == ("amulet", True)
    assert all(text != "amulet" for text, _ in pieces(question)[1:])


def test_parts_of_words_with_a_hyphen_are_pieces() -> None:
    assert pieces("drugs that end in -mab or begin with anti-")[:2] == [("mab", True), ("anti", True)]
    assert not any(marked for _, marked in pieces("a well-known drug - and 2-3 others"))


def test_an_apostrophe_is_no_quotation_mark() -> None:
    assert not any(marked for _, marked in pieces("Crohn's genes and Graves' genes, don't you think"))


def test_the_words_of_a_name_are_no_pieces() -> None:
    assert pieces('is "Old Mill" in it', name="Old Mill", common="is in it") == []
    assert pieces("snake near Old Mill", name="Old Mill", common="near") == [("snake", False)]


def test_other_words_are_pieces_where_they_say_much_that_nothing_explains() -> None:
    question = "rivers whose nickname has snake in it"
    says = {word.text: 0.1 for word in words_of(question)} | {"snake": 0.9, "nickname": 1.0, "rivers": 0.9}
    found = said_texts(question, [], says, {"nickname": 1.0, "rivers": 0.7})
    assert [(one.text, one.marked) for one in found] == [("snake", False)]
    assert found[0].rare == pytest.approx(0.9)


def test_a_piece_is_written_as_the_question_writes_it() -> None:
    assert pieces("café Ångström", common="cafe") == [("Ångström", False)]


@given(st.text(max_size=80))
def test_every_piece_is_in_the_question(question: str) -> None:
    found = said_texts(question, [], {word.text: 1.0 for word in words_of(question)}, {})
    assert all(one.text and one.text in question for one in found)
    assert sum(not one.marked for one in found) <= MOST_WORDS
    assert all(one.marked or len(one.text) <= MOST_LETTERS for one in found)


def test_a_piece_of_text_may_be_in_names_and_in_properties_without_listed_values() -> None:
    many = replace(VALUES, texts={("Drug", "form"): tuple(f"form {n}" for n in range(20))})
    listed = replace(VALUES, texts={("Drug", "form"): ("pill", "drops")})
    pieces = (Piece("mab", True), Piece("old", False, 0.9))

    def contained(values: Values) -> set[tuple[str, str, str]]:
        found = endings(SCHEMA, values, "Drug", ["TREATS"], "", SaidNumbers(), pieces=pieces)
        conditions = [c for e in found for c in conditions_of(e)]
        return {(c.property, c.op, str(c.value)) for c in conditions if c.op == "contains"}

    of_names = {("name", "contains", "mab"), ("name", "contains", "old")}
    assert contained(listed) == of_names
    assert contained(many) == of_names | {("form", "contains", "mab"), ("form", "contains", "old")}
    assert contained(replace(VALUES, texts={("Drug", "form"): ()})) == contained(many)


def test_what_is_contained_is_seen_as_marked_or_as_rare() -> None:
    view = view_of("drugs in -mab or old ones", Hypothesis((), ()), SchemaWords(SCHEMA, default_encoder(), {}), {})
    pieces = (Piece("mab", True), Piece("old", False, 0.75))
    found = endings(SCHEMA, VALUES, "Drug", [], "", SaidNumbers(), pieces=pieces)
    parts = EndingParts(SCHEMA, default_encoder())
    rows = {name: i for i, name in enumerate(ELEMENTS)}
    dense, elements = parts.of(found, view, SaidNumbers(), 1.0, rows, "Drug", {}, pieces)
    marked, rare = DENSE.index("piece marked"), DENSE.index("piece rare")
    for ending, numbers, element in zip(found, dense, elements, strict=True):
        condition = condition_of(ending)
        if condition is None:
            assert not numbers[marked]
            assert not numbers[rare]
        else:
            assert (numbers[marked], numbers[rare]) == {"mab": (1.0, 0.0), "old": (0.0, 0.75)}[str(condition.value)]
            assert rows["contains"] in element
            assert not numbers[DENSE.index("value said")]
