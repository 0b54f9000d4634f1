"""Kinds that a query names only to leave them for another."""

from __future__ import annotations

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.sources.excepted_kinds import excepted_kinds, without_kinds
from queryplan.program.retrieval.sources.intents import IntentReader


@pytest.fixture(scope="module")
def reader() -> IntentReader:
    return IntentReader(load_card(domain_folder("engineering")))


def left(reader: IntentReader, query: str) -> set[str]:
    return {reader.cues.types[number] for number in excepted_kinds(query, reader.cues.spans(query))}


@pytest.mark.parametrize(
    "query",
    [
        "commits instead of tickets for cinder",
        "commits rather than the tickets",
        "show me commits, not tickets, in atlas",
        "not the tickets, just the merge requests of dovetail",
        "commits but not the bugs",
        "Commits statt Tickets in atlas",
        "des commits au lieu des tickets",
        "no tickets, only merge requests",
    ],
)
def test_a_kind_that_is_left_for_another_is_not_wanted(reader: IntentReader, query: str) -> None:
    assert left(reader, query) == {"query_issues"}
    assert "query_issues" not in {intent.type for intent in reader.read(query, None)}


@pytest.mark.parametrize(
    "query",
    [
        "tickets that are closed but not deployed",
        "commits without a ticket",
        "why is there no ticket for !90",
        "merged, not closed",
        "tickets that are not in progress",
        "commits, not just tickets",
        "is there a commit but no ticket",
        "tickets in atlas, not tickets in cinder",
    ],
)
def test_what_is_denied_of_a_record_is_no_kind(reader: IntentReader, query: str) -> None:
    assert left(reader, query) == set()


def test_where_only_what_is_left_was_wanted_what_is_named_beside_it_is() -> None:
    assert without_kinds({"issues": 0.9}, ["issues"], ["commits", "issues"], 0.6) == {"commits": 0.6}
    assert without_kinds({"issues": 0.9, "commits": 0.4}, ["issues"], [], 0.6) == {"commits": 0.4}
    assert without_kinds({"issues": 0.9}, ["issues"], ["issues"], 0.6) == {"issues": 0.9}
    assert without_kinds({"issues": 0.9}, [], ["commits"], 0.6) == {"issues": 0.9}
