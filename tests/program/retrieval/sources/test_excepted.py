"""Values and dates that a query excepts are never asked for, and are said to be left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.sources.excepted import denies_anything, excepted, exception_gaps, without_exceptions
from queryplan.program.retrieval.sources.read_filters import FilterReader


@pytest.fixture(scope="module")
def reader() -> FilterReader:
    return FilterReader(load_card(domain_folder("engineering")))


@pytest.mark.parametrize(
    "text",
    [
        "tickets without those in atlas",
        "everything but not in ember",
        "MRs ohne atlas",
        "tickets that aren't closed",
        "tickets that aren’t closed",
        "tickets that havent been closed",
        "pipelines which don't fail",
        "don't show me the merged ones, no merged ones",
        "MRs never merged",
        "tickets neither blocked nor closed",
        "anything but closed tickets",
        "tickets from all projects but atlas",
        "tickets outside of atlas",
        "apart from atlas and cinder, which projects are there",
        "except atlas, cinder and ember",
        "non-closed tickets",
        "tickets with status != closed",
        "no closed tickets please",
        "tickets that nobody closed",
        "which tickets failed to close",
        "tickets that fail to be closed",
        "tickets that nobody managed to close",
        "tickets that could not manage to get closed",
        "tickets unrelated to stripe",
        "commits not from yesterday",
        "commits except last week's",
        "any day but monday",
        "deploys outside november",
        "Tickets, die nicht geschlossen sind",
        "alle Tickets außer den geschlossenen",
        "tous les tickets sauf ceux d'atlas",
        "tickets no cerrados",
        "tickets que no son de atlas",
        "tickets, no los de cinder",
        "incidencias pero no en atlas",
        "tickets mas não os do atlas",
        "ticket ma non quelli di cinder",
        "tickets que não estão fechados",
        "ticket non chiusi",
        "除了 atlas 的工单",
        "atlas以外のチケット",
        "クローズされていないチケット",
    ],
)
def test_what_is_excepted_is_no_value_and_is_said(reader: FilterReader, text: str) -> None:
    assert reader.read(without_exceptions(text, reader)) == {}
    assert exception_gaps(text, reader)


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("not only the open tickets", {"statuses": ("open",)}),
        ("what is not working in atlas", {"projects": ("atlas",)}),
        ("why isn't atlas deployed", {"projects": ("atlas",)}),
        ("isn't cinder blocked", {"projects": ("cinder",), "statuses": ("blocked",)}),
        ("tickets no cinder", {"projects": ("cinder",)}),
        ("os tickets abertos no atlas", {"projects": ("atlas",), "statuses": ("open",)}),
        ("nobody in atlas", {"projects": ("atlas",)}),
        ("what did we not do in atlas last week", {"projects": ("atlas",), "dates": ("last week",)}),
        ("are there no open tickets in atlas", {"projects": ("atlas",), "statuses": ("open",)}),
        ("is there nothing in atlas yet", {"projects": ("atlas",)}),
        ("MRs not reviewed in atlas", {"projects": ("atlas",)}),
        ("I don't know what is blocked in cinder", {"projects": ("cinder",), "statuses": ("blocked",)}),
        ("no, in atlas", {"projects": ("atlas",)}),
        ("nicht nur atlas", {"projects": ("atlas",)}),
        ("不知道 atlas 的工单", {"projects": ("atlas",)}),
        ("有没有已关闭的工单", {"statuses": ("closed",)}),
        ("tickets not closed", {"statuses": ("open",)}),
        ("not before monday", {"dates": ("not before monday",)}),
        ("skip atlas, cinder tickets please", {"projects": ("cinder",)}),
        ("merged MRs, not the open ones", {"statuses": ("merged",)}),
        ("this week except today", {"dates": ("this week",)}),
        ("tickets closed or not in atlas", {"projects": ("atlas",), "statuses": ("closed",)}),
        ("did it pass or not last week", {"dates": ("last week",)}),
    ],
)
def test_what_is_wanted_beside_a_negation_stays(
    reader: FilterReader, text: str, filters: dict[str, tuple[str, ...]]
) -> None:
    assert reader.read(without_exceptions(text, reader)) == filters


def test_an_exception_that_another_value_implies_is_no_gap(reader: FilterReader) -> None:
    assert exception_gaps("merged MRs, not the failed ones", reader) == []
    assert [gap.what for gap in exception_gaps("this week except today", reader)] == ["dates:today"]
    assert [gap.what for gap in exception_gaps("tickets that aren't closed", reader)] == ["statuses:closed"]


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        ("open tickets that are not open", "statuses:open"),
        ("commits from last week but not last week", "dates:last week"),
        ("everything failing but not in ember, ember is known", "projects:ember"),
    ],
)
def test_what_is_wanted_and_excepted_is_said_to_contradict(reader: FilterReader, text: str, gap: str) -> None:
    assert [(said.what, said.why) for said in exception_gaps(text, reader)] == [
        (gap, "the query excepts it, and asks for it as well")
    ]


@pytest.mark.parametrize(
    "text", ["ratio of failed to passed pipelines", "pipelines that failed to deploy", "failed and closed"]
)
def test_failed_is_a_status_where_it_denies_no_other(reader: FilterReader, text: str) -> None:
    assert "failed" in reader.read(without_exceptions(text, reader))["statuses"]
    assert exception_gaps(text, reader) == []


@given(
    st.lists(st.sampled_from("not but all atlas cinder and , closed today isn't 不 以外 \n".split(" ")), max_size=12)
)
def test_exceptions_of_any_text_stand_in_it(reader: FilterReader, words: list[str]) -> None:
    text = " ".join(words)
    places = excepted(text, reader)
    assert all(0 <= start < end <= len(text) for start, end, *_ in places)
    assert len(without_exceptions(text, reader)) == len(text)


@pytest.mark.parametrize(
    "verb", ["isnt", "isn't", "isn’t", "won't", "cannot", "no longer", "kein", "n'est pas", "以外", "ない"]
)
def test_what_may_deny_is_seen_at_a_glance(verb: str) -> None:
    assert denies_anything(f"was {verb} closed")


def test_most_queries_deny_nothing() -> None:
    assert not denies_anything("what did Ilse say about november rain, and who noted it")
