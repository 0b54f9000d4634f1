"""Key terms and cleaning: names stay whole, function words go, nothing is guessed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.paradigms import CandidateRules
from queryplan.program.retrieval.candidates.keywords import MAX_TERMS, Cleaner, key_terms
from queryplan.program.text.languages import detect_language


def test_key_terms_are_names_and_content_words_in_order() -> None:
    found = key_terms("What does Ilse Brandvold say about the two-minute doorway?", ["Ilse Brandvold"])
    assert found == ("Ilse Brandvold", "two-minute", "doorway")


def test_a_name_is_kept_whole_whatever_its_words_are() -> None:
    assert key_terms("What about The Who?", ["The Who"]) == ("The Who",)


def test_repeated_terms_and_single_letters_are_left_out_and_numbers_stay() -> None:
    assert key_terms("Flow, flow and s flow in episode 9") == ("Flow", "episode", "9")


def test_possessives_lose_their_ending() -> None:
    assert key_terms("Tad's and Mei's commits") == ("Tad", "Mei", "commits")


def test_french_elisions_lose_their_article() -> None:
    assert key_terms("l'idée qu'il défend", (), "fr") == ("idée", "défend")


def test_russian_function_words_are_no_terms() -> None:
    text = "Что Аойфе говорит о горе и почему это было?"
    assert detect_language(text) == "ru"
    assert key_terms(text, (), "ru") == ("Аойфе", "горе")


def test_text_without_spaces_is_cut_at_function_words() -> None:
    assert key_terms("我对大提琴的态度是怎么变的？", (), "zh") == ("大提琴", "态度", "变")
    assert key_terms("atlas の今週のマージ", ("atlas",), "ja") == ("atlas", "今週", "マージ")


def test_numbers_of_issues_keep_their_sign() -> None:
    assert key_terms("is !101 waiting for DOV-409 or #5170") == ("!101", "waiting", "DOV-409", "#5170")


@given(st.text(max_size=200), st.lists(st.text(max_size=12), max_size=4))
def test_any_text_has_few_terms_each_once_and_the_same_again(text: str, names: list[str]) -> None:
    found = key_terms(text, names, detect_language(text))
    assert len(found) <= MAX_TERMS
    assert len({term.casefold() for term in found}) == len(found)
    assert all(term.strip() or term in names for term in found)
    assert found == key_terms(text, names, detect_language(text))


def test_noise_goes_and_replacements_come_but_names_stay() -> None:
    cleaner = Cleaner(CandidateRules(noise=("please", "quick question"), replacements={"ep": "episode"}))
    assert cleaner.clean("Quick question, please: what is ep 3?") == "what is episode 3?"
    assert cleaner.clean("please quote Ep Please", ["Ep Please"]) == "quote Ep Please"


def test_noise_is_found_as_whole_words_only() -> None:
    assert Cleaner(CandidateRules(noise=("please",))).clean("was pleased") == "was pleased"


def test_a_query_of_nothing_but_noise_stays_as_it_is() -> None:
    assert Cleaner(CandidateRules(noise=("please",))).clean("please!") == "please!"


def test_without_rules_nothing_is_changed() -> None:
    assert Cleaner(CandidateRules()).clean("  what  is  it , then?") == "  what  is  it , then?"
