"""Date words that are written as one."""

from __future__ import annotations

from datetime import date

import pytest
from queryplan.program.retrieval.dates.finding import find_dates, resolve_dates

TODAY = date(2025, 11, 26)


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("am Montagmorgen", "am Montag"),
        ("letzten Freitagnachmittag", "letzten Freitag"),
        ("op maandagochtend", "op maandag"),
        ("i fredagskväll", "i fredags"),
        ("die erste Oktoberwoche", "die erste Woche im Oktober"),
        ("in der letzten Septemberwoche", "letzte Woche im September"),
        ("seit der Augustmitte", "seit Mitte August"),
        ("zweite Oktoberhälfte", "zweite Hälfte Oktober"),
        ("am Dezemberanfang", "Anfang Dezember"),
    ],
)
def test_a_word_of_two_means_what_they_mean_apart(text: str, apart: str) -> None:
    (found,), (said,) = (resolve_dates(find_dates(one), TODAY) for one in (text, apart))
    assert found.period is not None
    assert found.period == said.period


@pytest.mark.parametrize("text", ["Sonntagsausflug", "montagabends", "on Mondays", "sonntags", "Novembernebel"])
def test_other_words_with_a_day_in_them_are_no_dates(text: str) -> None:
    assert find_dates(text) == ()
