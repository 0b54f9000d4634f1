"""The function words of other languages in English: which language a text is in, and what is put for its words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.fingerprints import text_fingerprint
from queryplan.data.function_words import FOLDER, languages_with_function_words, read_function_words
from queryplan.errors import DataError
from queryplan.program.text.function_words import ENGLISH
from queryplan.program.text.in_english import VERSION, in_english
from queryplan.program.text.languages import MOST_CHARACTERS, language_of

LANGUAGES = languages_with_function_words()


@pytest.mark.parametrize(
    ("text", "language", "english"),
    [
        ("wer hat das gesagt, und warum?", "de", "who has the said, and why?"),
        ("qu'est-ce que l'homme dit ?", "fr", "what the homme says ?"),
        ("¿por qué no lo hizo?", "es", "¿why not it did?"),
        ("quem é o dono?", "pt", "who is the dono?"),
        ("kto to powiedział?", "pl", "who said?"),
        ("谁提到了海岸？", "zh", "who mentioned 海岸？"),
        ("いつ変わりましたか", "ja", "when changed か"),
        ("왜 그렇게 말했어", "ko", "why so said"),
    ],
)
def test_function_words_are_said_in_english(text: str, language: str, english: str) -> None:
    assert language_of(text) == language
    assert in_english(text, language) == english


@pytest.mark.parametrize(
    "text",
    [
        "who said that, and why?",
        "what does _guest_ say about die hard",
        "wat is teh diffrence",
        "total in 10 min",
        "hi",
        "ok thx",
        "vs code",
        "",
        "?!",
        "12 + 5",
        "x",
    ],
)
def test_english_stays_as_it_is(text: str) -> None:
    assert language_of(text) == ENGLISH
    assert in_english(text, ENGLISH) == text


def test_masked_names_are_neither_read_nor_changed() -> None:
    assert in_english("l'_guest_ et _guest_", "fr") == "the _guest_ and _guest_"
    assert language_of("_und_ _der_ _was_") == ENGLISH


def test_phrases_come_before_their_words_and_do_not_cross_signs() -> None:
    assert in_english("wie viele?", "de") == "how many?"
    assert in_english("wie? viele?", "de") == "how? many?"


def test_a_language_without_a_file_is_left_as_it_is() -> None:
    assert in_english("beth yw hyn", "cy") == "beth yw hyn"


@given(st.text(max_size=60), st.sampled_from((*LANGUAGES, "en", "cy")))
def test_any_text_can_be_read(text: str, language: str) -> None:
    small = text.lower()
    assert language_of(small) in (*LANGUAGES, ENGLISH)
    assert isinstance(in_english(small, language), str)


def test_what_is_beyond_the_limit_is_kept() -> None:
    text = "wer " * MOST_CHARACTERS
    read = in_english(text, "de")
    assert read.startswith("who who ")
    assert read.endswith("wer wer ")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_file_has_the_same_lines_and_each_surface_once(language: str) -> None:
    lines = list(read_function_words(language))
    assert [english for english, _ in lines] == [english for english, _ in read_function_words("de")]
    typed = Counter(text for _, surfaces in lines for text in surfaces)
    assert [text for text, count in typed.items() if count > 1] == []
    assert [text for text in typed if text != text.lower() or text != text.strip() or not text] == []


def test_another_way_to_read_languages_has_another_version() -> None:
    """Whoever changes a file, or how languages are told, raises ``VERSION`` and puts the new hash here."""
    typed = [text for language in LANGUAGES for _, line in read_function_words(language) for text in line]
    read = [(FOLDER / f"{language}.tsv").read_text(encoding="utf-8") for language in LANGUAGES]
    assert (VERSION, text_fingerprint(*read, *map(language_of, typed))) == ("2", "1e266039efbfb289")


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "xx.tsv").write_text("who\n")
    for language in ("xx", "yy"):
        with pytest.raises(DataError, match="install it again"):
            list(read_function_words(language, tmp_path))
    assert FOLDER.is_dir()
