"""Which language a text is in, by function words, letters and script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.function_words import languages_with_function_words
from queryplan.program.text.function_words import ENGLISH, ENGLISH_WORDS, function_words
from queryplan.program.text.languages import UNKNOWN, detect_language, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What does Ilse say about sleep?", "en"),
        ("Was ist in Sprint 43 liegen geblieben?", "de"),
        ("quels tickets sont bloqués chez atlas ?", "fr"),
        ("qué MRs se fusionaron en dovetail", "es"),
        ("o que diz a decisão sobre o BOR-333?", "pt"),
        ("vad hände i atlas och dovetail", "sv"),
        ("jak stoi projekt dovetail i co jest z nim", "pl"),
        ("hoe gaat het met de sprint", "nl"),
        ("对比一下第三季度的合并请求数量", "zh"),
        ("borealisの今週のマージ済みMRは？", "ja"),
        ("무엇을 배웠나요", "ko"),
        ("как дела", "ru"),
        ("які ліки від мігрені?", "uk"),
        ("hangi ilaçlar bulantı yapar", "tr"),
        ("apa obat untuk asma", "id"),
        ("které příznaky mají lupus i malárie?", "cs"),
        ("ποιος το είπε", "el"),
        ("failed pipelines", "und"),
        ("Ravi's commits", "und"),
        ("don't show merged MRs", "en"),
        ("l'équipe de Ravi n'a rien fusionné", "fr"),
        ("", "und"),
        ("!96 ... 42", "und"),
    ],
)
def test_the_language_is_seen_by_script_and_function_words(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_a_word_of_two_languages_says_nothing() -> None:
    assert detect_language("in") == "und"


def test_one_word_tells_a_short_text_and_not_a_long_one_with_english_in_it() -> None:
    assert language_of("und _guest_?") == "de"
    assert language_of("the word und is a joint in german texts") == ENGLISH


@pytest.mark.parametrize("text", ["Какие гены связаны с псориазом?", "jakie leki wchodzą w skład grupy inhibitorów?"])
def test_letters_and_less_usual_words_tell_where_usual_words_do_not(text: str) -> None:
    assert language_of(text.lower()) in ("ru", "pl")


def test_english_with_a_foreign_name_is_english() -> None:
    assert language_of("what did gonçalo say about the são bento plan?") == ENGLISH
    assert language_of("summarise łukasz's view of sleep for me") == ENGLISH


@given(st.text(max_size=80))
def test_every_text_has_a_language_or_none(text: str) -> None:
    assert detect_language(text) in (*languages_with_function_words(), ENGLISH, UNKNOWN)


@pytest.mark.parametrize(
    ("language", "idle", "telling"),
    [
        ("en", "what the about", "sleep compare week"),
        ("de", "was welchen über schon", "vergleiche woche"),
        ("fr", "quelles les j", "semaine"),
        ("tr", "ve hangi ne", "hafta"),
        ("pl", "się jakie", "tydzień"),
    ],
)
def test_function_words_say_nothing_of_what_is_sought(language: str, idle: str, telling: str) -> None:
    assert set(idle.split()) <= function_words(language)
    assert not set(telling.split()) & function_words(language)


def test_a_language_without_a_file_leaves_out_the_words_of_english() -> None:
    assert function_words("cy") == function_words(UNKNOWN) == ENGLISH_WORDS
