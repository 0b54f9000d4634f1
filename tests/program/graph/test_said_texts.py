"""The pieces of text that questions ask names and texts to have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.graph.said_texts import MOST_LETTERS, MOST_WORDS, said_texts
from queryplan.program.graph.words import words_of


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
