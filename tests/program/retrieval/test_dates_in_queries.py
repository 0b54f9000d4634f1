"""Dates of whole queries: under a negation, with two half-open ends, of hours, to come, and with ordinals in words."""

from __future__ import annotations

from datetime import date

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.dates import resolve_dates
from queryplan.program.retrieval.source_intents import IntentReader

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
    # Traps: the negation is of something else, or of a word beside the date.
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


@pytest.mark.parametrize(("query", "days"), [*DENIED, *HALF_OPEN])
def test_a_query_asks_for_the_days_that_it_means(reader: IntentReader, query: str, days: tuple[str, ...]) -> None:
    assert days_of(reader, query) == days
