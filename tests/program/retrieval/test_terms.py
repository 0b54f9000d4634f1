"""Terms of an index: words, and characters and pairs where words have no spaces between them."""

from __future__ import annotations

import pytest
from queryplan.program.retrieval.candidates.keywords import key_terms
from queryplan.program.retrieval.collection.markdown import preview
from queryplan.program.retrieval.terms import terms

UNSPACED = ["睡眠の話", "การนอนหลับ", "ການນອນຫຼັບ", "အိပ်စက်ခြင်း", "ការគេង"]
"""Of sleep, in Japanese, Thai, Lao, Burmese and Khmer."""


@pytest.mark.parametrize("text", UNSPACED)
def test_what_is_written_without_spaces_gives_characters_and_pairs(text: str) -> None:
    found = terms(f"sleep {text}")
    assert found[0] == "sleep"
    assert {text[:1], text[1:2]} <= set(found)
    assert text not in found
    assert set(terms(text)) & set(terms(f"x{text[:2]}"))  # a part of it is found in another text


@pytest.mark.parametrize("text", UNSPACED[1:])
def test_a_key_term_keeps_the_vowel_signs_of_a_run(text: str) -> None:
    assert key_terms(f"Priya {text}?") == ("Priya", text)


def test_a_chinese_run_is_cut_at_its_function_words() -> None:
    assert key_terms("睡眠的问题", (), "zh") == ("睡眠", "问题")


def test_a_preview_cuts_no_vowel_sign_off() -> None:
    assert preview("words " + "ที่นี่" * 40, 60) == "words…"
    assert preview("words " + "睡眠" * 40, 60) == "words " + ("睡眠" * 40)[:53] + "…"
