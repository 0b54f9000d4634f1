"""Dates of whole queries: under a negation, with two half-open ends, of hours, to come, and with ordinals in words."""

from __future__ import annotations

from datetime import date

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.dates.finding import resolve_dates
from queryplan.program.retrieval.sources.intents import IntentReader

CARD = load_card(domain_folder("engineering"))
TODAY = date(2026, 6, 3)
"""A Wednesday, unlike that of the writers' phrases."""
GAP = "gap"


@pytest.fixture(scope="module")
def reader() -> IntentReader:
    return IntentReader(CARD)


def days_of(reader: IntentReader, query: str) -> tuple[str, ...]:
    """The days that a query asks for, and ``GAP`` where it is said that a date was not asked."""
    found = resolve_dates(reader.filters(query).get("dates", ()), TODAY, CARD.calendar)
    left = reader.left_out(query, ())
    said = any(each.period is None for each in found) or any(gap.what.startswith("dates:") for gap in left)
    return (*(each.period.text() for each in found if each.period is not None), *([GAP] if said else []))


DENIED = [
    # What has not been touched since then says nothing of when it was made: no filter, and it is said.
    ("issues not touched since April", (GAP,)),
    ("tickets no one has commented on since last week", (GAP,)),
    ("tickets that have not been updated since 4 May", (GAP,)),
    ("issues without any activity since Monday", (GAP,)),
    ("Tickets, an denen seit April niemand gearbeitet hat", (GAP,)),
    ("Tickets, die seit letzter Woche nicht aktualisiert wurden", (GAP,)),
    ("tickets que nadie ha tocado desde abril", (GAP,)),
    ("les tickets que personne n'a touchés depuis avril", (GAP,)),
    ("tickets che nessuno ha toccato da aprile", (GAP,)),
    ("tickets die sinds april niet zijn bijgewerkt", (GAP,)),
    ("tickets que ninguém mexeu desde abril", (GAP,)),
    ("zgłoszenia nieruszane przez nikogo od kwietnia", (GAP,)),
    ("ärenden som ingen har rört sedan april", (GAP,)),
    ("自四月以来没有更新的工单", (GAP,)),
    ("4月以降更新されていないチケット", (GAP,)),
    ("tickets not created before 3 March 2026", (GAP,)),
    ("tickets we did not touch last week", (GAP,)),
    ("issues nobody updated between 3 and 10 May", (GAP,)),
    ("tickets, die letzte Woche niemand angefasst hat", (GAP,)),
    ("commits no antes del 3 de mayo", (GAP,)),
    ("tickets no la semana pasada", (GAP,)),
    ("коммиты не за прошлую неделю", (GAP,)),
    ("commity nie z zeszłego tygodnia", (GAP,)),
    # Traps: the negation is of something else, or of a word beside the date.
    ("issues nobody has started in this sprint", ("2026-05-25/2026-06-03",)),
    ("the pipelines that did not fail yesterday", ("2026-06-02/2026-06-02",)),
    ("didn't we have an incident last week?", ("2026-05-25/2026-05-31",)),
    ("tickets no atlas desde abril", ("2026-04-01/2026-06-03",)),
    ("tickets not closed since April", ("2026-04-01/2026-06-03",)),
    ("not only commits since April", ("2026-04-01/2026-06-03",)),
    ("why were the pipelines not green since Monday", ("2026-06-01/2026-06-03",)),
    ("commits since Monday, no drafts please", ("2026-06-01/2026-06-03",)),
    ("nicht nur Commits seit Montag", ("2026-06-01/2026-06-03",)),
    ("I do not remember, which issues were opened since April", ("2026-04-01/2026-06-03",)),
    ("issues not before 4 May", ("2026-05-04/2026-06-03",)),
]
HALF_OPEN = [
    ("commits from Monday on until yesterday", ("2026-06-01/2026-06-02",)),
    ("commits since Monday until yesterday", ("2026-06-01/2026-06-02",)),
    ("commits until yesterday, since 28 May", ("2026-05-28/2026-06-02",)),
    ("Commits seit dem 28. Mai bis gestern", ("2026-05-28/2026-06-02",)),
    ("commits depuis le 28 mai jusqu'à hier", ("2026-05-28/2026-06-02",)),
    ("commits desde el 28 de mayo hasta ayer", ("2026-05-28/2026-06-02",)),
    ("commits desde 28 de maio até ontem", ("2026-05-28/2026-06-02",)),
    ("commits sinds 28 mei tot gisteren", ("2026-05-28/2026-06-02",)),
    ("commits sedan 28 maj fram till igår", ("2026-05-28/2026-06-02",)),
    ("从5月28日到昨天的提交", ("2026-05-28/2026-06-02",)),
    ("5月28日から昨日までのコミット", ("2026-05-28/2026-06-02",)),
    ("issues after 10 May before 20 May", ("2026-05-11/2026-05-19",)),
    ("issues before 20 May and after 10 May", ("2026-05-11/2026-05-19",)),
    ("commits since yesterday until last Friday", (GAP,)),
    # Traps: alternatives, and dates of two clauses.
    ("commits since yesterday or until 20 May", ("2026-06-02/2026-06-03", "../2026-05-20")),
    ("commits since Monday, and issues until 20 May", ("2026-06-01/2026-06-03", "../2026-05-20")),
    ("commits since 28 May and since Monday", ("2026-05-28/2026-06-03", "2026-06-01/2026-06-03")),
    ("Commits seit gestern oder bis zum 20. Mai", ("2026-06-02/2026-06-03", "../2026-05-20")),
]
HOURS_AND_AHEAD = [
    ("pipelines that failed within the last hour", ("2026-06-03/2026-06-03",)),
    ("pipelines that failed in the past 2 hours", ("2026-06-02/2026-06-03",)),
    ("Pipelines der letzten Stunde", ("2026-06-03/2026-06-03",)),
    ("pipelines that failed in the last half hour", ("2026-06-03/2026-06-03",)),
    ("pipelines that failed in the last 90 minutes", ("2026-06-02/2026-06-03",)),
    ("Pipelines der letzten 20 Minuten", ("2026-06-02/2026-06-03",)),
    ("commits des 45 dernières minutes", ("2026-06-02/2026-06-03",)),
    ("last minute fixes in atlas", ()),
    ("the call is in ten minutes, which tickets are open", ()),
    ("tickets on the minutes of the meeting", ()),
    ("pipelines de la dernière heure", ("2026-06-03/2026-06-03",)),
    ("issues due in 10 days", ("2026-06-13/2026-06-13",)),
    ("Tickets, die in 10 Tagen fällig sind", ("2026-06-13/2026-06-13",)),
    ("tickets qui expirent dans 10 jours", ("2026-06-13/2026-06-13",)),
    ("incidencias que vencen dentro de 10 días", ("2026-06-13/2026-06-13",)),
    ("commits in the last 88888888 days", (GAP,)),
    ("Commits der letzten 5000000 Tage", (GAP,)),
    ("commits in the last -5 weeks", (GAP,)),
    ("commits yesterday at 09:15", ("2026-06-02/2026-06-02",)),
    ("commits at 09:15 yesterday", ("2026-06-02/2026-06-02",)),
    # Traps: what takes so long, what is counted, a build of the night.
    ("how many issues were fixed in 10 days", ()),
    ("tickets we closed in 3 days", ()),
    ("six March releases", ("2026-03-01/2026-03-31",)),
    ("why does the build take an hour", ()),
    ("what does the morning pipeline do", ()),
    ("error 5000000 in atlas", ()),
]
ORDINALS = [
    ("commits from Tuesday the second of June", ("2026-06-02/2026-06-02",)),
    ("commits on May the eleventh", ("2026-05-11/2026-05-11",)),
    ("commits on the twenty-first of May", ("2026-05-21/2026-05-21",)),
    ("Commits vom elften Mai", ("2026-05-11/2026-05-11",)),
    ("Commits am siebten Mai", ("2026-05-07/2026-05-07",)),
    ("commits du premier juin", ("2026-06-01/2026-06-01",)),
    ("commits del once de mayo", ("2026-05-11/2026-05-11",)),
    ("commit del tre maggio", ("2026-05-03/2026-05-03",)),
    ("commits van elf april", ("2026-04-11/2026-04-11",)),
    ("commits den sjunde maj", ("2026-05-07/2026-05-07",)),
    ("commity z siódmego maja", ("2026-05-07/2026-05-07",)),
    ("commits do dia sete de maio", ("2026-05-07/2026-05-07",)),
    ("commits on the seventh of last month", ("2026-05-07/2026-05-07",)),
    # Traps: an ordinal of something else beside a month.
    ("the third ticket of May", ("2026-05-01/2026-05-31",)),
    ("three commits in May", ("2026-05-01/2026-05-31",)),
]


@pytest.mark.parametrize(("query", "days"), [*DENIED, *HALF_OPEN, *HOURS_AND_AHEAD, *ORDINALS])
def test_a_query_asks_for_the_days_that_it_means(reader: IntentReader, query: str, days: tuple[str, ...]) -> None:
    assert days_of(reader, query) == days


@pytest.mark.parametrize(
    "last",
    [
        *("thirty-first of October", "October the thirty first", "einunddreißigster Oktober", "trente et un octobre"),
        *("treinta y uno de octubre", "trinta e um de outubro", "trentuno ottobre", "eenendertig oktober"),
        *("trettioförsta oktober", "trzydziestego pierwszego października", "тридцать первого октября"),
    ],
)
def test_every_day_of_a_month_can_be_said_in_words(last: str) -> None:
    """The last word of each table is the 31st: none is missing."""
    (found,) = resolve_dates([last], TODAY, CARD.calendar)
    assert found.period is not None
    assert found.period.text() == "2025-10-31/2025-10-31"


def test_a_weekday_says_whether_the_day_to_come_is_meant() -> None:
    phrases = ("Friday the fifth of June", "Thursday the fifth of June", "Sunday the fifth of June")
    days = [found.period.text() if found.period else None for found in resolve_dates(phrases, TODAY)]
    assert days == ["2026-06-05/2026-06-05", "2025-06-05/2025-06-05", "2025-06-05/2025-06-05"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        # Either figure may be the month: a gap, and no wider question.
        ("commits on 3/4", (GAP,)),
        ("commits since 3/4 in atlas", (GAP,)),
        ("tickets due by 3/4", (GAP,)),
        ("3/4 of the tickets in atlas", ()),
        ("since 3/4 of the tickets are blocked", ()),
        ("is 3/4 of it done", ()),
        ("build 3/4 failed", ()),
        ("merge requests between 3/4 and 14/4", ("2026-04-03/2026-04-14",)),
        ("commits since 14/4", ("2026-04-14/2026-06-03",)),
        # A day that its weekday tells apart.
        ("commits on friday the 13th", ("2026-03-13/2026-03-13",)),
        ("commits on friday the 5th", ("2026-06-05/2026-06-05",)),
        ("commits on wednesday the 3rd", ("2026-06-03/2026-06-03",)),
        # A unit that is a letter.
        ("commits last 10 d", ("2026-05-24/2026-06-03",)),
        ("commits of the past 48 h", ("2026-06-01/2026-06-03",)),
        ("commits du 10 d'octobre", ("2025-10-10/2025-10-10",)),
    ],
)
def test_figures_in_queries(reader: IntentReader, query: str, found: tuple[str, ...]) -> None:
    assert days_of(reader, query) == found
