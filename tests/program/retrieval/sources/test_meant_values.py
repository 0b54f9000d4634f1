"""Values that are said and not meant as filters."""

from __future__ import annotations

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.sources.meant_values import without_predicates
from queryplan.program.retrieval.sources.read_filters import FilterReader


@pytest.fixture(scope="module")
def reader() -> FilterReader:
    return FilterReader(load_card(domain_folder("engineering")))


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        ("is the lamp mended or not, fixed or not", ()),
        ("cinder nightly, green or not?", ()),
        ("does it have something to do with payments", ()),
        ("who got that done", ()),
        ("we get little done lately", ()),
        ("the job is running out of memory", ()),
        ("ist das Ticket noch offen?", ()),
        ("check if ATL-219 is fixed", ()),
        ("tell me whether the nightly is green", ()),
        ("weißt du ob ATL-219 geschlossen ist", ()),
        ("isn't ATL-219 fixed?", ()),
        ("DOV-31 closed yet", ()),
        ("tickets for ATL-219, is !96 merged", ()),
        ("check if there are closed tickets", ("closed",)),
        ("if you can, list what is blocked", ("blocked",)),
        ("why is ATL-214 blocked", ("blocked",)),
        ("done tickets", ("closed",)),
        ("what is done in atlas", ("closed",)),
        ("to do items", ("open",)),
        ("running pipelines", ("running",)),
        ("offene Tickets", ("open",)),
    ],
)
def test_statuses_that_are_meant(reader: FilterReader, text: str, statuses: tuple[str, ...]) -> None:
    assert reader.values("statuses", without_predicates(text, reader)) == statuses
