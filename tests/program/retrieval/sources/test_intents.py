"""Kinds of information read from a text: by heads where there are some, by cues where there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from queryplan.data.card import DomainCard, domain_folder, load_card
from queryplan.program.heads.heads import HeadAnswer
from queryplan.program.retrieval.sources.intents import (
    WANTED,
    CueReader,
    IntentReader,
    confidence_of,
    head_name,
)


class Said:
    """Heads that say what they are told."""

    def __init__(self, **probabilities: float) -> None:
        self.probabilities = {f"query_{kind}": p for kind, p in probabilities.items()}
        self.seen: list[np.ndarray] = []

    def of_sources(self, query: str, cues: np.ndarray, frame: Sequence[str]) -> dict[str, HeadAnswer]:
        self.seen.append(cues)
        return {kind: HeadAnswer("true", {"true": p, "false": 1 - p}) for kind, p in self.probabilities.items()}


@pytest.fixture(scope="module")
def card() -> DomainCard:
    return load_card(domain_folder("engineering"))


@pytest.fixture(scope="module")
def reader(card: DomainCard) -> IntentReader:
    return IntentReader(card)


def read(reader: IntentReader, query: str, heads: Any = None) -> list[tuple[str, dict[str, tuple[str, ...]]]]:
    return [(i.type.removeprefix("query_"), i.filters) for i in reader.read(query, heads)]


def test_heads_decide_and_filters_are_attached(reader: IntentReader) -> None:
    heads = Said(commits=0.9, issues=0.1, analytics=0.1, status=0.1, generic=0.1)
    assert read(reader, "failed pipelines in atlas last week", heads) == [
        ("commits", {"projects": ("atlas",), "statuses": ("failed",), "dates": ("last week",)})
    ]
    assert heads.seen[0].shape == (reader.cues.width,)


def test_intents_come_in_the_order_in_which_they_are_mentioned(reader: IntentReader) -> None:
    heads = Said(commits=0.6, issues=0.6, analytics=0, status=0, generic=0.9)
    asked = "tickets, merge requests and what the notes say"
    assert [kind for kind, _ in read(reader, asked, heads)] == ["issues", "commits", "generic"]


def test_the_likeliest_is_wanted_where_none_is_likely(reader: IntentReader) -> None:
    found = reader.read("hmm", Said(commits=0.2, issues=0.3, analytics=0.1, status=0.1, generic=0.1))  # type: ignore[arg-type]
    assert [(i.type, i.confidence) for i in found] == [("query_issues", 0.3)]


def test_without_heads_cues_decide_and_are_unsure(reader: IntentReader) -> None:
    found = reader.read("tickets and commits", None)
    assert [(i.type, i.confidence) for i in found] == [("query_issues", 0.6), ("query_commits", 0.6)]


def test_without_heads_and_cues_the_last_kind_is_searched(reader: IntentReader) -> None:
    assert [i.type for i in reader.read("hm", None)] == ["query_generic"]


def test_a_value_belongs_to_the_intent_whose_source_knows_it(reader: IntentReader) -> None:
    heads = Said(commits=0.9, issues=0.9, analytics=0, status=0, generic=0)
    assert read(reader, "what failed, and which ticket of helpdesk", heads) == [
        ("issues", {"projects": ("helpdesk",)}),
        ("commits", {"statuses": ("failed",)}),
    ]


def test_a_value_that_nobody_else_knows_stays_to_be_named_as_a_gap(reader: IntentReader) -> None:
    heads = Said(commits=0.9, issues=0.1, analytics=0, status=0, generic=0)
    assert read(reader, "commits of helpdesk", heads) == [("commits", {"projects": ("helpdesk",)})]


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        ("which tickets are blocked", ("blocked",)),
        ("are there open tickets", ("open",)),
        ("is the login bug fixed?", ()),
        ("was the header in borealis fixed by now", ()),
        ("did any closed ticket come back", ("closed",)),
        ("WHICH COMMIT FIXED #5170", ()),
        ("who closed the ticket", ()),
        ("merged merge requests", ("merged",)),
        ("what blocks the goals", ("blocked",)),
        ("Is DOV-1 merged, and what is blocked?", ("blocked",)),
    ],
)
def test_a_status_that_is_asked_about_or_told_is_no_filter(
    reader: IntentReader, text: str, statuses: tuple[str, ...]
) -> None:
    assert reader.filters(text).get("statuses", ()) == statuses


def test_probabilities_become_confidences_that_keep_their_order() -> None:
    assert [round(confidence_of(p), 6) for p in (0.0, WANTED, 1.0)] == [0.0, 0.3, 1.0]
    values = [confidence_of(p / 100) for p in range(101)]
    assert values == sorted(values)


def test_cues_are_numbers_between_nought_and_one(card: DomainCard) -> None:
    cues = CueReader(card)
    seen = cues.features("how many merged MRs, tickets, tickets, tickets, tickets and bugs of ember")
    assert seen.shape == (cues.width,) == (16,)
    assert 0 <= seen.min() <= seen.max() <= 1
    by_kind = dict(zip(cues.types, seen[10:15], strict=True))
    assert by_kind["query_commits"] == 1.0  # merged and ember are gitlab's alone
    assert by_kind["query_issues"] == by_kind["query_generic"] == 0.0
    assert not cues.features("").any()


def test_head_names_say_that_they_are_of_sources() -> None:
    assert head_name("query_commits") == "source.query_commits"


def test_the_number_of_a_ticket_is_no_project_of_code_that_is_wanted_beside_it(reader: IntentReader) -> None:
    heads = Said(commits=0.9, issues=0.9, analytics=0, status=0, generic=0)
    assert read(reader, "ATL-12 and the MR for it", heads) == [("issues", {"projects": ("atlas",)}), ("commits", {})]
    alone = Said(commits=0.9, issues=0, analytics=0, status=0, generic=0)
    assert read(reader, "the MR for ATL-12", alone) == [("commits", {"projects": ("atlas",)})]


def test_the_number_of_a_ticket_whose_project_has_no_code_filters_no_code(reader: IntentReader) -> None:
    heads = Said(commits=0.9, issues=0, analytics=0, status=0, generic=0)
    assert read(reader, "what was changed because of HLP-12", heads) == [("commits", {})]
    assert read(reader, "commits of helpdesk for HLP-12", heads) == [("commits", {"projects": ("helpdesk",)})]
