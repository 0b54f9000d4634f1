"""Folding texts into words, and reading identifiers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from queryplan.program.graph.question.words import fold, folded_words, name_words, spelled_out, words_of


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Sjögren  Syndrome", "sjogren syndrome"),
        ("IL-6, TNF-α!", "il 6 tnf α"),
        ("Crohn's", "crohn s"),
        ("ﬁve", "five"),
        ("", ""),
        ("…?!", ""),
        ("ハンチントン病", "ハ ン チ ン ト ン 病"),
        ("伊马替尼ABL1", "伊 马 替 尼 abl1"),
        ("हिन्दी", "हिनदी"),
        ("खाँसी", "खासी"),
        ("खास", "खास"),
        ("รักษา", "ร ก ษ า"),
    ],
)
def test_case_marks_and_punctuation_do_not_count(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
@example("㋀ x㋀ ㍍")
def test_words_stand_where_they_say_in_order_and_overlap_in_one_sign_at_most(text: str) -> None:
    words = words_of(text)
    assert all(0 <= word.start < word.end <= len(text) for word in words)
    assert all(a.end <= b.start or (a.end - 1 == b.start and b.end == a.end) for a, b in pairwise(words))
    assert all(word.text and not word.text.isspace() for word in words)


@given(st.text())
def test_words_without_their_places_are_the_same_words(text: str) -> None:
    assert folded_words(text) == [word.text for word in words_of(text)]


@pytest.mark.parametrize("text", ["ヿ", "ｱｲ", "㍍"])
def test_letters_of_scripts_without_spaces_stand_alone_however_they_are_written(text: str) -> None:
    assert fold(fold(text)) == fold(text) == " ".join(word.text for word in words_of(text))
    assert " " in fold(text)


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("PARTICIPATES_GpPW", ("participates",)),
        ("TREATS_CtD", ("treats",)),
        ("SideEffect", ("side", "effect")),
        ("depends_on", ("depends", "on")),
        ("flowsThrough", ("flows", "through")),
        ("HAS_IMDB_RATING", ("has", "imdb", "rating")),
        ("CtD", ("ct", "d")),
        ("approved_year", ("approved", "year")),
    ],
)
def test_identifiers_are_read_as_words_without_their_shorthand(name: str, words: tuple[str, ...]) -> None:
    assert name_words(name) == words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("which don't", ["which", "don", "not"]),
        ("it isn’t, is it", ["it", "isn", "not", "is", "it"]),
        ("T cells don", ["t", "cells", "don"]),
        ("van 't huis", ["van", "t", "huis"]),
        ("", []),
    ],
)
def test_a_contracted_not_is_spelled_out(question: str, words: list[str]) -> None:
    assert spelled_out(folded_words(question)) == words
