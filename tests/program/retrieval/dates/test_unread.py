"""What a text says of when and nobody can read: said, and no filter."""

from __future__ import annotations

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.dates.unread import assumed_dates, unread_dates
from queryplan.program.retrieval.sources.intents import IntentReader


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("commits since easter", "since easter"),
        ("commits since the outage in atlas", "since the outage"),
        ("how many pipelines failed since the staging lock-out", "since the staging lock-out"),
        ("deploys during the summer holidays", "during the summer holidays"),
        ("tickets closed over thanksgiving", "thanksgiving"),
        ("tickets closed before diwali", "diwali"),
        ("who has the pager over xmas", "xmas"),
        ("what broke last summer", "summer"),
        ("was the team faster in the autumn", "autumn"),
        ("commits seit dem Ausfall", "seit dem Ausfall"),
        ("qui s'occupe des tickets pendant les congés ?", "pendant les congés"),
        ("what changed since the 2.9 release of dovetail", "since the 2.9 release"),
        ("any new tickets since Jonas left", "since Jonas left"),
        ("open tickets from easter monday", "easter monday"),
        ("commits in the last 1.5 weeks", "last 1.5 weeks"),
        ("commits in the last 10.000 days", "last 10.000 days"),
        ("commits over the past ten (10) days", "past ten (10) days"),
        ("was ist seit Ostern passiert", "seit Ostern passiert"),
    ],
)
def test_a_time_that_nobody_can_read_is_told(text: str, said: str) -> None:
    assert unread_dates(text) == (said,)


@pytest.mark.parametrize(
    "text",
    [
        "commits since monday",
        "commits since christmas",
        "tickets in the last ten days",
        "since when does cinder ask",
        "how many tickets came in since then",
        "has any release since touched it",
        "did reviewing before lunch help",
        "what is left before we can call print done",
        "who looks after the support board",
        "how long until somebody answers",
        "spring boot upgrade",
        "the last 3 commits of the day",
        "next 2 tickets, weeks and months",
        "how often did we have this in the last two months",
        "did velocity fall",
        "what has she been up to",
        "",
    ],
)
def test_what_is_read_or_says_no_time_is_not(text: str) -> None:
    assert unread_dates(text) == ()


@pytest.mark.parametrize(
    ("text", "said", "instead"),
    [
        ("tickets closed in fiscal Q3", "fiscal Q3", "it is taken for the calendar's"),
        ("commits in FY25", "FY25", "it is taken for the calendar's"),
        ("commits last fiscal quarter", "last fiscal quarter", "the sources are asked without it"),
        ("commits in the last 10 working days", "10 working days", "all days are counted"),
    ],
)
def test_what_is_read_otherwise_than_it_is_said_is_told(text: str, said: str, instead: str) -> None:
    assert [(told.said, told.instead) for told in assumed_dates(text)] == [(said, instead)]


def test_an_unread_time_is_a_gap_and_the_source_is_asked() -> None:
    reader = IntentReader(load_card(domain_folder("engineering")))
    query = "commits since the kick-off in atlas"
    (intent,) = reader.read(query, None)
    assert intent.filters == {"projects": ("atlas",)}
    assert [(gap.what, gap.why) for gap in reader.left_out(query, (intent,))] == [
        ("dates:since the kick-off", "it cannot be read as a date")
    ]
