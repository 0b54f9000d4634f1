"""A card with other sources than the shipped ones, whose filters have names of their own: a library's desk."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from queryplan.data.card import load_card
from queryplan.program.plan import Degraded
from queryplan.program.retrieval.execute import execute
from queryplan.program.retrieval.sources.intents import IntentReader
from queryplan.program.retrieval.sources.planning import SourcePlanner, SourcePlanning
from queryplan.program.retrieval.sources.records import SourceAnswer
from queryplan.program.retrieval.stores import Stores, open_stores
from queryplan.signatures.types import SourceQuery

from .running import plan_of

FOLDER = Path(__file__).parent / "resources" / "library"
NOW = datetime.fromisoformat("2025-11-13T10:00:00+01:00")


@pytest.fixture(scope="module")
def library() -> Stores:
    return open_stores(FOLDER)


@pytest.fixture(scope="module")
def reader() -> IntentReader:
    return IntentReader(load_card(FOLDER))


def planned(reader: IntentReader, query: str) -> tuple[SourcePlanning, list[Degraded]]:
    """Source plans by the card's cues, and every gap."""
    intents = reader.read(query, None)
    planning = SourcePlanner(load_card(FOLDER)).plan(intents, NOW)
    return planning, [*planning.gaps, *reader.left_out(query, intents)]


@pytest.mark.parametrize(
    ("query", "records"),
    [
        ("overdue loans at the Riverside branch since october", ["L1"]),
        ("overdue loans since october", ["L1"]),
        ("overdue loans", ["L1", "L4"]),
        ("books bought from Gaylord last month", ["P1"]),
        ("books that were ordered in May 2024", ["P3"]),
        ("cancelled events in june", ["E2"]),
        ("purchases instead of loans in 2024", ["P3"]),
        ("purchases, not loans, in 2024", ["P3"]),
    ],
)
def test_records_pass_filters_of_any_name(
    reader: IntentReader, library: Stores, query: str, records: list[str]
) -> None:
    planning, _ = planned(reader, query)
    plan = plan_of(query, source_plans=planning.plans, source_queries=planning.queries)
    answers = execute(plan, library).source_answers
    assert sorted(hit.passage.id for answer in answers for hit in answer.hits) == records


def test_a_later_clause_goes_on_with_names_and_dates_of_any_filter(reader: IntentReader) -> None:
    planning, _ = planned(reader, "overdue loans at Riverside in June, and which events were cancelled")
    asked = {query.source: query.filters for query in planning.queries}
    assert asked["circulation"]["states"] == ("overdue",)
    assert asked["calendar"] == {
        "branches": ("Riverside",),
        "statuses": ("cancelled",),
        "dates": ("June",),
        "resolved_dates": ("2025-06-01/2025-06-30",),
    }


@pytest.mark.parametrize(
    ("query", "gap"),
    [
        ("events at Riverside and Hilltop next week", "branches:hilltop"),
        ("lost or overdue loans not from Central", "branches:Central"),
        ("loans that were never returned", "states:returned"),
        ("what was ordered on 31 June", "order_dates:31 June"),
        ("loans since easter", "days:since easter"),
    ],
)
def test_what_cannot_be_asked_is_a_gap_by_the_names_of_the_card(reader: IntentReader, query: str, gap: str) -> None:
    assert gap in {said.what for said in planned(reader, query)[1]}


def test_a_stand_in_says_which_filters_it_does_not_know(reader: IntentReader, library: Stores) -> None:
    class Down:
        contract = library.sources["circulation"].contract

        def answer(self, query: SourceQuery, question: str) -> SourceAnswer:
            raise ConnectionError("down")

    planning, _ = planned(reader, "overdue loans at Riverside since october")
    plan = plan_of("loans", source_plans=planning.plans, source_queries=planning.queries)
    stores = Stores(library.card, library.linker, sources={**library.sources, "circulation": Down()})
    result = execute(plan, stores)
    assert [answer.query.filters for answer in result.source_answers] == [{"branches": ("Riverside",)}]
    instead = next(gap.instead for gap in result.gaps if gap.why == "ConnectionError: down")
    assert instead == "noticeboard is asked without states:overdue and days:since october, which it does not know"
