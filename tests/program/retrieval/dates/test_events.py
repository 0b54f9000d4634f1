"""Events and figures that say of records when, and are no date: said where a word for records stands close before."""

from __future__ import annotations

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.dates.events import unread_of_records
from queryplan.program.retrieval.sources.intents import IntentReader


@pytest.fixture(scope="module")
def reader() -> IntentReader:
    return IntentReader(load_card(domain_folder("engineering")))


def said(reader: IntentReader, text: str) -> list[str]:
    return [gap.what.partition(":")[2] for gap in reader.left_out(text, ()) if gap.what.startswith("dates:")]


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("tickets closed until the audit", "until the audit"),
        ("issues resolved after the launch party", "after the launch party"),
        ("MRs merged shortly before the big rewrite of atlas", "before the big rewrite"),
        ("which commits came in right after the demo?", "after the demo"),
        ("pipelines leading up to the release day", "leading up to the release day"),
        ("Tickets vor der Messe", "vor der Messe"),
        ("alle Pipelines bis zur Abnahme", "bis zur Abnahme"),
        ("bugs signalés après la mise à jour", "après la mise à jour"),
        ("commits avant l'incident sur atlas", "avant l'incident"),
        ("tickets cerrados antes de la auditoría", "antes de la auditoría"),
        ("bugs até o lançamento", "até o lançamento"),
        ("ticket chiusi prima dell'incidente", "prima dell'incidente"),
        ("bugs gemeld na de storing", "na de storing"),
        ("commits före releasen", "före releasen"),
        ("zgłoszenia przed wydaniem", "przed wydaniem"),
        ("commits of 4/11 in atlas", "4/11"),
        ("the 4/11 deploy of cinder", "4/11"),
        ("pipelines 4/11?", "4/11"),
    ],
)
def test_what_says_of_records_when_and_is_no_date_is_told(reader: IntentReader, text: str, unread: str) -> None:
    assert said(reader, text) == [unread]


@pytest.mark.parametrize(
    "text",
    [
        "two questions before the holidays. which tickets are open",
        "i have two minutes before the call, which tickets are open",
        "Vor dem Lenkungskreis: welche Tickets sind blockiert?",
        "a ticket question before the meeting: is ATL-219 closed",
        "what is left before the team can call it done",
        "tickets open until the fix is merged",
        "who of the commit looks after the board",
        "how long until the release",
        "the commit before the last one",
        "decisions on reviewing before the lunch",
        "commits before the end of sprint 42",
        "tickets nach dem Status sortiert",
        "share of 3/4 in the tickets",
        "3/4 of the tickets",
        "tickets 3/4 done",
        "commits since 4/11",
        "quels commits ont été fusionnés",
        "qu'est-ce qui a été fusionné",
    ],
)
def test_what_bounds_no_search_or_is_told_elsewhere_is_not(reader: IntentReader, text: str) -> None:
    assert [each for each in said(reader, text) if each != "since 4/11"] == []


def test_nothing_is_told_without_records() -> None:
    assert unread_of_records("tickets closed before the audit", []) == ()
    assert unread_of_records("what is closed before the audit", [(0, 7)]) == ()
