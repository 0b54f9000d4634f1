"""Messages that something went wrong, and queries that ask for another try."""

from __future__ import annotations

import pytest
from queryplan.program.text.failures import asks_again, is_failure


@pytest.mark.parametrize(
    "text",
    [
        "Error 502: bad gateway",
        "Sorry, something went wrong while I was searching.",
        "I cannot reach the index right now. Please try again later.",
        "Request timed out after 30 seconds",
        "Es ist ein Fehler aufgetreten.",
        "Fehler 500",
        "Une erreur est survenue, réessayez plus tard.",
        "Algo salió mal. Inténtalo de nuevo.",
        "Er is iets misgegaan.",
        "出错了，请稍后再试。",
        "エラーが発生しました。",
    ],
)
def test_a_message_that_something_went_wrong_is_told_by_its_form(text: str) -> None:
    assert is_failure(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Chiamaka plans her errors.",
        "Error is where learning begins, she says.",
        "Something went wrong with the glaze, so Leilani waited.",
        "He says one should try again after a failure.",
        "#5163 failed since key rotation locked the runner out.",
        "Error 503: " + "that is what the page said when " * 6,
    ],
)
def test_an_answer_that_speaks_of_errors_is_none(text: str) -> None:
    assert not is_failure(text)


@pytest.mark.parametrize("text", ["try again", "please retry", "ok again pls", "nochmal bitte", "réessaie", "再试一次"])
def test_a_query_may_ask_for_nothing_but_another_try(text: str) -> None:
    assert asks_again(text)


@pytest.mark.parametrize("text", ["try again with Priya", "again who is it", "what does she try again", ""])
def test_a_query_that_asks_for_more_is_none_such(text: str) -> None:
    assert not asks_again(text)
