"""Statuses of what a record is about are no filters."""

from __future__ import annotations

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.sources.intents import IntentReader
from queryplan.program.retrieval.sources.planning import plan_sources


@pytest.fixture(scope="module")
def reader() -> IntentReader:
    return IntentReader(load_card(domain_folder("engineering")))


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        ("tickets about failed logins", ()),
        ("bugs with blocked users in cinder", ()),
        ("MRs for the close button", ()),
        ("tickets about the to do list", ()),
        ("notes about failed pipelines", ("failed",)),
        ("what about the open ones", ("open",)),
        ("what about open customer tickets", ("open",)),
        ("for failed runs in ember", ("failed",)),
        ("tickets with open MRs", ("open",)),
        ("the closed tickets for atlas", ("closed",)),
        ("tickets on hold in cinder", ("blocked",)),
    ],
)
def test_a_status_of_what_a_record_is_about_is_no_filter(
    reader: IntentReader, text: str, statuses: tuple[str, ...]
) -> None:
    assert reader.filters(text).get("statuses", ()) == statuses


@pytest.mark.parametrize("text", ["broken scanner tickets", "red banner bug", "bugs where invoices fail to send"])
def test_a_status_that_no_source_has_is_left_out_and_named_where_it_is_of_no_record(
    reader: IntentReader, text: str
) -> None:
    filters = reader.filters_by_kind(text, ["query_issues"])
    assert filters == {"query_issues": {}}
    intents = [intent for intent in reader.read(text, None) if intent.type == "query_issues"]
    assert [gap.what for gap in reader.left_out(text, intents)] == ["statuses:failed"]


@pytest.mark.parametrize("text", ["merged tickets in dovetail", "tickets that were merged", "tickets sont fusionnés"])
def test_a_status_of_a_record_that_no_source_has_makes_no_plan(reader: IntentReader, text: str) -> None:
    filters = reader.filters_by_kind(text, ["query_issues"])["query_issues"]
    assert filters["statuses"] == ("merged",)
    card = load_card(domain_folder("engineering"))
    assert plan_sources(card, [{"type": "query_issues", "confidence": 1, "filters": filters}], ["any"]).plans == ()
    assert reader.left_out(text, reader.read(text, None)) == []


def test_a_status_that_one_of_the_sources_has_is_asked_of_it(reader: IntentReader) -> None:
    text = "failed nightly pipelines and tickets about it"
    filters = reader.filters_by_kind(text, ["query_commits", "query_issues"])
    assert filters == {"query_commits": {"statuses": ("failed",)}, "query_issues": {}}


@pytest.mark.parametrize(
    ("text", "issues", "commits"),
    [
        ("open tickets and all commits in atlas", ("open",), ()),
        ("merged MRs and open tickets", ("open",), ("merged",)),
        ("tickets fixed but not yet released", ("closed",), ()),
        ("open tickets and MRs", ("open",), ("open",)),
        ("tickets and MRs that are open", ("open",), ("open",)),
        ("closed last week: tickets, and all MRs", ("closed",), ("closed",)),
    ],
)
def test_a_status_that_is_said_of_one_record_is_no_filter_of_another(
    reader: IntentReader, text: str, issues: tuple[str, ...], commits: tuple[str, ...]
) -> None:
    found = reader.filters_by_kind(text, ["query_issues", "query_commits"])
    assert found["query_issues"].get("statuses", ()) == issues
    assert found["query_commits"].get("statuses", ()) == commits
