"""A chosen edit reads as a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from queryplan.data.card import KnownName
from queryplan.program.rewriting.edits import choices
from queryplan.program.rewriting.lexicon import Lexicon
from queryplan.program.rewriting.moves import Turning
from queryplan.program.rewriting.rewriter import Rewriter
from queryplan.program.rewriting.wording import named_in
from queryplan.program.text.linker import Linker
from queryplan.signatures.types import Turn

from .conftest import said

LEXICON = Lexicon(
    frozenset({"he", "his", "that", "first", "first one", "it"}),
    (("front", ""), ("end", "of the"), ("end", "of")),
    frozenset("what does say about and did write the of his he who why when that help in is open one".split()),
)
ASKED = "what does Ada say about sleep?", "That Bruno knows."


def worded(query: str, move: str, linker: Linker, before: Sequence[str] = ASKED) -> set[str | None]:
    _, groups = choices(query, said(*before), "", LEXICON, linker)
    every = [(one, referent) for moves, of in groups for one in moves if one.name == move for referent in of]
    parts = [(one, referent, one.part(referent)) for one, referent in every]
    return {one.worded(way, who) for one, who, part in parts if part is not None for way, _ in one.ways(part)}


def test_what_nothing_joins_to_the_query_is_its_heading(linker: Linker) -> None:
    found = worded("why?", "add", linker)
    assert {"Ada: why?", "why of Ada?"} <= found
    assert "Ada why?" not in found


def test_no_article_stands_before_a_name(linker: Linker) -> None:
    assert not any("the Ada" in str(text) for text in worded("why?", "add", linker))
    assert "did Ada write" in worded("did the first write", "put", linker)


def test_both_words_that_point_are_replaced(linker: Linker) -> None:
    assert "did Ada write" in worded("did the first one write", "put", linker)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("when was his harbour built", "when was Ada's harbour built"),
        ("who saw that harbour", "who saw Ada's harbour"),
        ("did that help", "did Ada help"),
        ("did that prevent it", "did Ada prevent it"),
        ("that strikes me", "Ada strikes me"),
    ],
)
def test_a_name_owns_what_follows_a_word_that_would(query: str, text: str, linker: Linker) -> None:
    assert text in worded(query, "put", linker)


def test_a_capital_that_only_began_a_sentence_is_small_within_another() -> None:
    roads = Linker([KnownName(name="salt roads", type="Concept"), KnownName(name="Ada", type="Guest")])
    found = worded("did it help", "put", roads, ("who sells?", "Salt roads help. Ada does."))
    assert {"did salt roads help", "did Ada help"} <= found


@pytest.mark.parametrize(
    ("query", "before", "text"),
    [
        ("and Chidi?", "what does Ada say about sleep?", "what does Chidi say about sleep?"),
        ("y Chidi?", "what does Ada say about sleep?", "what does Chidi say about sleep?"),
        ("and the Zanzibar?", "who wrote the Meander?", "who wrote the Zanzibar?"),
    ],
)
def test_what_joins_a_query_to_the_conversation_is_not_part_of_what_is_new(
    query: str, before: str, text: str, linker: Linker
) -> None:
    found = worded(query, "turn", linker, (before, "No."))
    assert text in found
    assert not any(" and " in str(one) or "the the" in str(one) for one in found)


@pytest.mark.parametrize("query", ["no, I meant Chidi", "sorry, Chidi"])
def test_of_a_correction_only_the_name_is_new(query: str, linker: Linker) -> None:
    found = worded(query, "turn", linker, ("what does Ada say about sleep?", "No."))
    assert "what does Chidi say about sleep?" in found
    assert not found & {f"what does {before} Chidi say about sleep?" for before in ("meant", "I meant", "sorry,")}


@pytest.mark.parametrize("new", ["not Chidi", "Ada or rather Chidi", "it never came to me before Chidi", "Chidi now"])
def test_what_denies_a_name_or_is_more_than_a_correction_stays(new: str, linker: Linker) -> None:
    moves = [one for of, _ in choices(f"and {new}?", said(*ASKED), "", LEXICON, linker).groups for one in of]
    turning = moves[-1]
    assert isinstance(turning, Turning)
    assert turning._name_alone(new) == new


def test_what_asks_by_itself_is_not_put_into_another_question(linker: Linker) -> None:
    before = ("what does Ada say about sleep?", "Bruno knows.")
    assert worded("why Chidi?", "turn", linker, before) >= {None}
    rewriter = Rewriter(LEXICON, {"turn": 9.0, "turn cut 0": 9.0, "add front": 5.0})
    assert rewriter.rewrite("why Chidi?", said(*before), "", linker).move == "add"


@pytest.mark.parametrize("query", ["and Chidi 2?", "about sleep?"])
def test_the_question_before_is_not_turned_without_a_figure_or_to_what_it_has(query: str, linker: Linker) -> None:
    found = worded(query, "turn", linker, ("what does Ada say about sleep?", "No."))
    assert all(one is None or "2" in one for one in found)


def test_a_name_is_not_turned_to_what_begins_as_no_name_does(linker: Linker) -> None:
    found = worded("and in German?", "turn", linker, ("what does Ada say about sleep?", "No."))
    assert found <= {None, "what does German say about sleep?"}
    assert None in found


def test_a_piece_of_a_sentence_is_not_put_for_a_word_that_points(linker: Linker) -> None:
    found = worded("who saw it", "put", linker, ("who sells green wool?", "Ada does sell wool in Oslo and Bergen-1."))
    assert {"who saw Ada", "who saw Oslo"} <= found
    torn = {"wool", "green wool", "does sell wool", "and Bergen-1"}
    assert not found & {f"who saw {one}" for one in torn}


def test_a_number_keeps_the_mark_that_it_was_written_with(linker: Linker) -> None:
    turns = (Turn(role="user", content="what is !90 about?"), Turn(role="assistant", content="Maps."))
    rewriter = Rewriter(LEXICON, {"put for it": 5.0, "put figures": 5.0})
    found = rewriter.rewrite("who saw it?", turns, "", linker)
    assert (found.text, found.referent) == ("who saw !90?", "!90")


def test_a_name_within_a_code_is_all_of_the_code() -> None:
    assert named_in("BOR-212 and Ada's BOR", ("BOR", "Ada")) == ("BOR", "Ada")
    assert named_in("BOR-212 of Ada", ("BOR", "Ada")) == ("BOR-212", "Ada")


@pytest.mark.parametrize(
    "query", ["did that help anyone else", "is the other one open", "write it of the other first one"]
)
def test_nothing_is_put_for_what_says_that_it_is_another(query: str, linker: Linker) -> None:
    assert not any(text and ("Ada else" in text or "other Ada" in text) for text in worded(query, "put", linker))


@pytest.mark.parametrize(("query", "name"), [("which of it is open", False), ("the book of it is open", True)])
def test_a_choice_is_made_of_several(query: str, name: bool, linker: Linker) -> None:
    before = "what do Ada and Bruno say about sleep?", "That it passes."
    found = worded(query, "put", linker, before)
    assert (query.replace("it", "Ada") in found) == name
    assert query.replace("it", "Ada and Bruno") in found


@pytest.mark.parametrize("answer", ["Both do.", "Ten do.", "You said so.", "What Ada said.", "Nicht mehr."])
def test_a_word_that_only_began_a_sentence_is_no_heading(answer: str, linker: Linker) -> None:
    before, word = ("what does Ada say about sleep?", answer), answer.split()[0].strip(".")
    assert f"{word}: why Chidi?" not in worded("why Chidi?", "add", linker, before)
    assert f"did {word} help?" not in worded("did that help?", "put", linker, before)


def test_a_question_before_is_no_heading_and_its_asking_word_is_not_replaced() -> None:
    dutch = Linker([KnownName(name="Ada", type="Guest")])
    before = "Wanneer begon Ada?", "Toen."
    assert not any(text and "Wanneer begon" in text for text in worded("waarom?", "add", dutch, before))
    assert None in worded("Bruno?", "turn", dutch, before)
    assert "Bruno begon Ada?" not in worded("Bruno?", "turn", dutch, before)
