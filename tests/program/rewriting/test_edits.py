"""The moves that make a follow-up stand alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.rewriting.edits import edits
from queryplan.program.rewriting.lexicon import Lexicon
from queryplan.program.text.linker import Linker

from .conftest import said

LEXICON = Lexicon(
    frozenset({"he", "his", "that", "those two"}),
    (("end", "of"), ("end", ""), ("front", "besides")),
    frozenset("what does say about and did write the of his he".split()),
)
BEFORE = said("what does Ada say about sleep?", "That Bruno knows.")


def texts(query: str, move: str, linker: Linker, shown: str = "") -> set[str]:
    return {edit.text for edit in edits(query, BEFORE, shown, LEXICON, linker) if edit.move == move}


def test_the_first_edit_leaves_the_query_as_it_was_typed(linker: Linker) -> None:
    first = edits("did he write?", BEFORE, "", LEXICON, linker)[0]
    assert (first.text, first.move, first.referent) == ("did he write?", "keep", None)


def test_what_was_said_is_put_for_a_word_that_points(linker: Linker) -> None:
    assert {"did Ada write?", "did Bruno write?"} <= texts("did he write?", "put", linker)
    assert "what of Ada's book" in texts("what of his book", "put", linker)
    assert "did Ada and Bruno" not in texts("did he", "put", linker)


def test_pairs_of_words_may_point_as_one(linker: Linker) -> None:
    assert "did Ada write" in texts("did those two write", "put", linker)


def test_what_was_said_is_added_before_closing_signs_and_at_the_front(linker: Linker) -> None:
    added = texts("what words?", "add", linker)
    assert {"what words of Ada?", "what words Ada?", "besides Ada what words?"} <= added


@pytest.mark.parametrize(
    ("query", "turned"),
    [
        ("and Chidi?", {"what does Chidi say about sleep?"}),
        ("and meditation?", {"what does Ada say about meditation?", "what does Ada say about and meditation?"}),
        ("and Zanzibar?", {"what does Zanzibar say about sleep?"}),
        ("and what of the?", set()),
    ],
)
def test_the_question_before_is_turned_to_what_is_new_and_alike(query: str, turned: set[str], linker: Linker) -> None:
    found = texts(query, "turn", linker)
    assert turned <= found
    assert not any("Ada" not in text and "sleep" not in text for text in found)
    assert not any(text.startswith("what does meditation") for text in found)
    assert bool(found) == bool(turned)


def test_nothing_that_the_query_says_is_put_into_it_again(linker: Linker) -> None:
    assert not {text for text in texts("did he and Ada write", "add", linker) if text.count("Ada") > 1}


def test_what_the_application_shows_may_be_meant(linker: Linker) -> None:
    assert "did Chidi write" in texts("did he write", "put", linker, shown="Chidi")


@pytest.mark.parametrize("query", ["", "?!"])
def test_what_has_no_words_to_edit_is_kept(query: str, linker: Linker) -> None:
    assert [edit.move for edit in edits(query, BEFORE, "", LEXICON, linker)] == ["keep"]


@pytest.mark.parametrize(
    ("query", "edited"),
    [
        ("他说了什么?", "Ada说了什么?"),
        ("彼は何を書きましたか", "Adaは何を書きましたか"),
        ("hat er das geschrieben?", "hat Ada das geschrieben?"),
    ],
)
def test_words_of_other_languages_point_as_english_ones_do(query: str, edited: str, linker: Linker) -> None:
    assert edited in texts(query, "put", linker)


def test_without_spaces_only_names_are_put(linker: Linker) -> None:
    before = said("妈妈什么时候去菜市场?", "九月二十一日。")
    assert not [edit for edit in edits("他那天买什么了", before, "", LEXICON, linker) if edit.move == "put"]


def test_two_names_are_joined_in_the_language_of_their_turn(linker: Linker) -> None:
    for before, pair in (("Ada und Bruno haben es gesagt.", "Ada und Bruno"), ("Ada说了，Bruno也说了。", "Ada和Bruno")):
        found = edits("did those two write", said(before, "?"), "", LEXICON, linker)
        assert any(edit.referent is not None and edit.referent.text == pair for edit in found)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_edited(query: str, before: str) -> None:
    found = edits(query, said(before, before), before, LEXICON, Linker(()))
    assert found[0].text == query
    assert all(edit.referent is not None for edit in found[1:])


def test_a_word_that_stands_before_what_is_turned_is_not_said_twice(linker: Linker) -> None:
    before = said("open tickets in atlas", "Three.")
    lexicon = Lexicon(frozenset(), (), frozenset("and in open".split()))
    made = {edit.text for edit in edits("and in borealis?", before, "", lexicon, linker) if edit.move == "turn"}
    assert "open tickets in borealis" in made
    assert not any("in in" in text for text in made)
