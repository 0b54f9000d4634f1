"""Filters of a text: whole words, aliases, dates, in any script."""

from __future__ import annotations

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.read_filters import FilterReader, declared_by, phrases


@pytest.fixture(scope="module")
def reader() -> FilterReader:
    return FilterReader(load_card(domain_folder("engineering")))


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        (
            "failed pipelines in atlas last week",
            {"projects": ("atlas",), "statuses": ("failed",), "dates": ("last week",)},
        ),
        ("is the Routing Engine or DOV-412 stuck", {"projects": ("atlas", "dovetail"), "statuses": ("blocked",)}),
        ("customer  portal", {"projects": ("borealis",)}),
        ("borealisの今週のマージ済みMR", {"projects": ("borealis",), "statuses": ("merged",), "dates": ("今週",)}),
        ("openai and AWS", {"providers": ("openai", "aws")}),
        ("reopened the atlases, unmerged", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_filters_are_read(reader: FilterReader, text: str, filters: dict[str, tuple[str, ...]]) -> None:
    assert reader.read(text) == filters


def test_values_come_in_the_order_of_the_text_and_once(reader: FilterReader) -> None:
    assert reader.read("cinder, atlas, CIN")["projects"] == ("cinder", "atlas")


def test_places_of_values_are_found(reader: FilterReader) -> None:
    assert reader.spans("statuses", "open and closed") == [(0, 4), (9, 15)]
    assert reader.spans("colours", "open") == []


def test_a_number_may_stand_in_a_phrase() -> None:
    found = phrases(["!<n>", "merge request"])
    assert [m.group() for m in found.finditer("is !95 a Merge  Request? x!9y")] == ["!95", "Merge  Request"]
    assert phrases([]).search("anything") is None


def test_the_sources_of_a_value_are_known() -> None:
    card = load_card(domain_folder("engineering"))
    assert declared_by(card, "projects", "ember") == ["gitlab", "generic"]
    assert declared_by(card, "statuses", "merged") == ["gitlab"]
    assert declared_by(card, "projects", "heron") == []
