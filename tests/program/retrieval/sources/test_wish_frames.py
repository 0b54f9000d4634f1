"""A query as a frame: its cues, values, dates and names as marks between its other words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.sources.intents import CueReader
from queryplan.program.retrieval.sources.wish_frames import MAX_CHARACTERS, kinds_at


@pytest.fixture(scope="module")
def cues() -> CueReader:
    return CueReader(load_card(domain_folder("engineering")))


def frame(cues: CueReader, text: str) -> str:
    return " ".join(cues.frame(text))


def test_the_same_wish_of_other_things_has_the_same_frame(cues: CueReader) -> None:
    assert frame(cues, "commits in atlas last week") == frame(cues, "Branches in the infra repo on Monday").replace(
        "the ", ""
    ).replace("on ", "")


def test_words_between_marks_stay_in_small_letters(cues: CueReader) -> None:
    assert frame(cues, "Did Ravi like the zebra?") == "@did «Person» like the zebra ?"


def test_words_that_ask_are_the_same_in_every_language(cues: CueReader) -> None:
    assert frame(cues, "Warum?") == frame(cues, "pourquoi?") == frame(cues, "dlaczego?") == "@why ?"


def test_words_that_ask_within_a_mark_stand_before_it(cues: CueReader) -> None:
    number = cues.types.index("query_generic")
    assert frame(cues, "who is") == f"@who @is «{number}»"


def test_the_number_of_a_record_has_a_mark_of_its_own(cues: CueReader) -> None:
    issues = cues.types.index("query_issues")
    assert frame(cues, "ATL-219") == f"«{issues}#»«projects»" or frame(cues, "ATL-219") == f"«{issues}#»"
    assert frame(cues, "ticket") == f"«{issues}»"


def test_a_date_is_one_mark_whatever_is_in_it(cues: CueReader) -> None:
    assert frame(cues, "between sprint 40 and sprint 42") == "«dates»"


def test_a_value_that_is_a_cue_has_both_marks(cues: CueReader) -> None:
    assert frame(cues, "merged") == "«0»«statuses»"


def test_a_cue_of_two_kinds_has_both_numbers(cues: CueReader) -> None:
    kinds = {name: number for number, name in enumerate(cues.types)}
    spans = [(0, 4, (kinds["query_status"], kinds["query_commits"]))]
    assert cues.frame("news", spans) == ("«0,3»",)


@given(st.text(max_size=80))
@settings(deadline=None, max_examples=100)
def test_any_text_has_a_frame(cues: CueReader, text: str) -> None:
    assert all(cues.frame(text))
    assert cues.frame(text) == cues.frame(text)


def test_long_texts_are_cut(cues: CueReader) -> None:
    assert len(cues.frame("word " * 10_000)) <= MAX_CHARACTERS


def test_places_are_told_by_kind() -> None:
    assert kinds_at([(3, 5, (0, 1)), (9, 11, (1,))], 3) == [[3], [3, 9], []]
