"""Words and their places."""

from __future__ import annotations

import pytest
from queryplan.program.text.words import between, is_unspaced, words_of


def test_words_keep_apostrophes_and_hyphens_and_know_where_they_stand() -> None:
    text = "Don't well-known A.B, ok?"
    words = words_of(text)
    assert [word.text for word in words] == ["Don't", "well-known", "A.B", ",", "ok", "?"]
    assert all(text[word.start : word.end] == word.text for word in words)
    assert [word.spoken for word in words] == [True, True, True, False, True, False]
    assert between(text, words, 1, 3) == "well-known A.B"


@pytest.mark.parametrize(
    ("text", "unspaced"),
    [
        ("und sie?", False),
        ("а он?", False),
        ("그녀는?", False),
        ("他呢？", True),
        ("それは?", True),
        ("แล้วเขาล่ะ", True),
        ("ແລ້ວລາວເດ", True),
        ("သူကော", True),
        ("ចុះគាត់វិញ", True),
    ],
)
def test_scripts_without_spaces_are_known(text: str, unspaced: bool) -> None:
    assert is_unspaced(text) is unspaced
