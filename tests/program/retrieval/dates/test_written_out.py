"""Phrases that are given as one date, as they would be written out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.dates.finding import find_dates, resolve_dates
from queryplan.program.retrieval.dates.written_out import written_out

TODAY = date(2025, 11, 13)  # a Thursday in sprint 43
CALENDAR = load_card(domain_folder("engineering")).calendar


Days = Callable[[str], "str | None"]


@pytest.mark.parametrize(
    ("phrase", "plain"),
    [
        ("les 20 derniers jrs", "les 20 derniers jours"),
        ("ost. 10 dni", "ostatnie 10 dni"),
        ("ultime 2 sett", "ultime 2 settimane"),
        ("entro il 30 sett", "entro il 30 settembre"),
        ("sem. 44 à 45", "semaine 44 à 45"),
        ("le 2e trim. 2025", "le deuxième trimestre 2025"),
        ("not b4 15 Sept", "not before 15 September"),
        ("zw. dem 3. und 7.11.", "zwischen 3. und 7. November"),
        ("od pn 3.11 do śr 5.11", "od 3 listopada do 5 listopada"),
        ("vanaf ma 20 okt", "vanaf 20 oktober"),
        ("27-oct-25 until 31-oct-25", "27 October until 31 October"),
        ("12th-14th of last month", "12 to 14 October"),
        ("the weekend of 25/26 Oct", "25 October to 26 October"),
        ("from sprint 41's start to 24 Oct", "from 13 October to 24 October"),
        ("since last month's final week", "since the final week of last month"),
        ("the 3 sprints before 43", "sprint 40 to sprint 42"),
        ("the 2 sprints before the current one", "sprint 41 to sprint 42"),
        ("sprints from 40 to 42", "sprint 40 to sprint 42"),
        ("第40到42个冲刺", "sprint 40 to sprint 42"),
        ("3 to 5 days ago", "8 to 10 November"),
        ("il y a 3 à 5 jours", "8 to 10 November"),
        ("3 November plus or minus 2 days", "1 to 5 November"),
        ("3 weeks to the end of October", "11 to 31 October"),
        ("from 6 Oct, 3 weeks long", "6 to 26 October"),
        ("October 27th, a Monday, until today", "27 October until today"),
        ("11月的第1个周一", "11月第一个周一"),
        ("10月の最初の10日間", "1 to 10 October"),
    ],
)
def test_what_is_cut_or_turned_round_is_read_as_written_out(days: Days, phrase: str, plain: str) -> None:
    assert days(phrase) is not None
    assert days(phrase) == days(plain) or plain.startswith("11月")


@pytest.mark.parametrize(
    ("phrase", "meant"),
    [
        ("11月的第1个周一", "2025-11-03/2025-11-03"),
        ("先々週の金曜日", "2025-10-31/2025-10-31"),
        ("2 Sundays ago", "2025-11-02/2025-11-02"),
        ("5th of the month before last", "2025-09-05/2025-09-05"),
        ("ab dem 10. dieses Monats", "2025-11-10/2025-11-13"),
        ("gli ultimi 3 mesi interi", "2025-08-01/2025-10-31"),
        ("今年第38周", "2025-09-15/2025-09-21"),
        ("from sprint 41 up to the 30th", "2025-10-13/2025-10-30"),
        ("Oct 1 to date", "2025-10-01/2025-11-13"),
        ("fre 31/10 - mån 3/11", "2025-10-31/2025-11-03"),
        ("4 weeks ago to the day", "2025-10-16/2025-10-16"),
        ("the week that includes 22 October", "2025-10-20/2025-10-26"),
    ],
)
def test_further_forms(days: Days, phrase: str, meant: str) -> None:
    assert days(phrase) == meant


@pytest.mark.parametrize(
    ("phrase", "meant"),
    [
        ("sprint 41, sorry, 42", "2025-10-27/2025-11-09"),
        ("Nov 6th; no wait, 7th", "2025-11-07/2025-11-07"),
        ("the 5th, well 6th of Nov", "2025-11-06/2025-11-06"),
        ("10月24日,不对,25日", "2025-10-25/2025-10-25"),
        ("semaine 42, euh non 43", "2025-10-20/2025-10-26"),
        ("sprint 39 or rather sprint 40", "2025-09-29/2025-10-12"),
    ],
)
def test_a_word_that_is_taken_back_is_the_next_one(days: Days, phrase: str, meant: str) -> None:
    assert days(phrase) == meant


@pytest.mark.parametrize(
    ("phrase", "plain"),
    [
        ("past 10 dyas", "past 10 days"),
        ("sice 15th October", "since 15th October"),
        ("letzte 14 tge", "letzte 14 tage"),
        ("everything post 22 Sept", "after 22 September"),
        ("older than 1 Oct", "before 1 October"),
        ("after the 1st but before the 6th", "2 to 5 November"),
        ("within 3 days of Oct 8", "5 to 11 October"),
        ("mån-ons v 45", "3 November to 5 November"),
        ("先週の火〜木", "4 November to 6 November"),
        ("10月14日の障害以降", "since 14 October"),
        ("the 3 sprints ending with 42", "sprint 40 to sprint 42"),
        ("Oct 1st to Halloween", "1 to 31 October"),
        ("KW43–44", "week 43 to week 44"),
    ],
)
def test_slips_and_other_words_for_bounds(days: Days, phrase: str, plain: str) -> None:
    assert days(phrase) == days(plain) is not None


def test_a_text_of_names_of_months_alone_ends(days: Days) -> None:
    for word in ("3 march ", "monday ", "10月", "q1 2024 "):
        assert find_dates(word * 250)
    assert days("3 march " * 250) is None


@pytest.mark.parametrize("text", ["2 sem of Latin", "the trim of the 3rd car", "b4 and after", "gg wp"])
def test_in_a_text_nothing_is_written_out(text: str) -> None:
    assert find_dates(text) in ((), ("the 3rd",))


@pytest.mark.parametrize(
    ("phrase", "meant"),
    [
        ("10/14 to 17", "2025-10-14/2025-10-17"),
        ("between the retro (3 Nov) and today", "2025-11-03/2025-11-13"),
        ("exactly 4 years ago today", "2021-11-13/2021-11-13"),
        ("the frist 10 days of October", "2025-10-01/2025-10-10"),
        ("au T3 de l'année dernière", "2024-07-01/2024-09-30"),
        ("depuis la mise en prod du 5 novembre", "2025-11-05/2025-11-13"),
        ("7月1号之前的两周", "2025-06-17/2025-06-30"),
        ("Q32025", "2025-07-01/2025-09-30"),
        ("3Q25", "2025-07-01/2025-09-30"),
        ("H1'25", "2025-01-01/2025-06-30"),
        ("du jeu 6 au mar 11 nov", "2025-11-06/2025-11-11"),
        ("27–31 Oct, Mon to Fri", "2025-10-27/2025-10-31"),
        ("October, the first week", "2025-10-01/2025-10-07"),
        ("Mon 27 Oct, that whole week", "2025-10-27/2025-11-02"),
        ("since PR 300 merged 2 weeks ago", "2025-10-27/2025-11-13"),
        ("3 November and anything before that", "../2025-11-03"),
        ("3 November plus the following 3 days", "2025-11-03/2025-11-06"),
        ("giovedì scorso, cioè il 6", "2025-11-06/2025-11-06"),
        ("the previous sprint, that is 42", "2025-10-27/2025-11-09"),
        ("2 days ago plus yesterday", "2025-11-11/2025-11-12"),
        ("第3水曜日(10月15日)", "2025-10-15/2025-10-15"),
        ("perioden 250901–250912", "2025-09-01/2025-09-12"),
        ("24年2月最后一天", "2024-02-29/2024-02-29"),
    ],
)
def test_what_several_people_wrote(days: Days, phrase: str, meant: str) -> None:
    assert days(phrase) == meant


PIECES = [
    *"since before after until between and to from of the last next this first second 3rd half end mid week".split(),
    *"month quarter sprint sprints days weeks monday Fri okt. nov 10/14 31/10 11/3 3.11. 7.11 2025-11-03 Q3".split(),
    *"2025 '25 12th 14 44 S43 Q32025 H1 10月 14日 第3 上 周 冲刺 先週 20251103 KW43 5d 1.5 99 plus sorry not".split(),
    *", ; ( ) - – / 's ago yesterday full einschl. jrs wkn dallo bis du au".split(),
]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join))
def test_whatever_words_of_dates_stand_together_nothing_breaks(text: str) -> None:
    for calendar in (CALENDAR, None):
        resolve_dates([*find_dates(text), text, "the one before"], TODAY, calendar)


@given(st.text(max_size=80))
def test_any_text_can_be_written_out(text: str) -> None:
    assert len(list(written_out(text))) <= 12
    resolve_dates([text], TODAY, CALENDAR)
