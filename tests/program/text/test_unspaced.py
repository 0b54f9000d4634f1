"""Pieces of texts that are written without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.text.unspaced import pieces_of
from queryplan.program.text.words import words_of


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("她和Takeda争论的是什么?", ["她", "和", "Takeda", "争论", "的", "是", "什么", "?"]),
        ("为什么 borealis 这么少", ["为什么", "borealis", "这么", "少"]),
        ("彼はコードを書いた", ["彼", "は", "コード", "を", "書", "い", "た"]),
        ("ใครพูดเรื่องนี้", ["ใคร", "พูดเรื่อง", "นี้"]),
    ],
)
def test_small_words_and_scripts_part_what_is_written_in_one(text: str, pieces: list[str]) -> None:
    found = [piece.text for piece in pieces_of(text)]
    assert [one for one in found if one not in ("い", "た", "いた")] == [
        one for one in pieces if one not in ("い", "た")
    ]


def test_text_with_spaces_has_its_words_as_pieces() -> None:
    assert pieces_of("did he win, or Ada?") == words_of("did he win, or Ada?")


@given(st.text(alphabet="他说了什么彼はコードใครพูด abc,.1", max_size=40))
def test_pieces_stand_where_they_say_and_leave_nothing_out(text: str) -> None:
    pieces = pieces_of(text)
    assert all(text[piece.start : piece.end] == piece.text for piece in pieces)
    assert "".join(piece.text for piece in pieces) == "".join(word.text for word in words_of(text))
