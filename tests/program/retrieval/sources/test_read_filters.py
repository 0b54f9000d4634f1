"""Filters of a text: whole words, aliases, dates, in any script."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.sources.read_filters import FilterReader, Phrases, declared_by


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
        ("groß: ATLAS, İdle", {"projects": ("atlas",)}),
        ("openai and AWS", {"providers": ("openai", "aws")}),
        ("reopened the atlases, emerged", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_filters_are_read(reader: FilterReader, text: str, filters: dict[str, tuple[str, ...]]) -> None:
    assert reader.read(text) == filters


def test_values_come_in_the_order_of_the_text_and_once(reader: FilterReader) -> None:
    assert reader.read("cinder, atlas, CIN")["projects"] == ("cinder", "atlas")


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("what did Mei push yesterday", ("yesterday",)),
        ("commits by Mei", ()),
        ("tickets from mei", ()),
        ("reviews since Mei joined", ()),
        ("MRs of Mei-Ling since 3 mei", ("since 3 mei",)),
        ("commits vanaf mei 2025", ("vanaf mei 2025",)),
        ("tickets in mei", ("mei",)),
        ("commits in May", ("May",)),
    ],
)
def test_a_name_of_the_card_is_no_month(reader: FilterReader, text: str, dates: tuple[str, ...]) -> None:
    assert reader.read(text).get("dates", ()) == dates


def test_places_of_values_are_found(reader: FilterReader) -> None:
    assert reader.spans("statuses", "open and closed") == [(0, 4), (9, 15)]
    assert reader.spans("colours", "open") == []


def found(text: str, *phrases: str) -> list[str]:
    return [text[start:end] for start, end, _ in Phrases(phrases).find(text)]


def test_a_number_may_stand_in_a_phrase() -> None:
    assert found("is !95 a Merge  Request? x!9y", "!<n>", "merge request") == ["!95", "Merge  Request"]
    assert found("DOV-412 and DOV", "DOV-<n>") == ["DOV-412"]


def test_the_longest_phrase_is_found_and_none_within_it() -> None:
    assert found("a merge request", "merge", "request", "merge request") == ["merge request"]
    assert found("merged, merge", "merge") == ["merge"]
    assert found("合并请求和合并", "合并", "合并请求") == ["合并请求", "合并"]


def test_a_word_beside_an_unspaced_script_is_whole() -> None:
    assert found("borealisの今週", "borealis", "今週") == ["borealis", "今週"]


def test_without_phrases_nothing_is_found() -> None:
    assert found("anything") == []


@given(st.text(alphabet="ab 合并!7_", max_size=40))
def test_what_is_found_stands_there_in_order(text: str) -> None:
    spans = Phrases(["a", "a b", "合并", "!<n>", "ab"]).find(text)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert all(" ".join(text[start:end].split()) == phrase for start, end, phrase in spans)


def test_the_sources_of_a_value_are_known() -> None:
    card = load_card(domain_folder("engineering"))
    assert declared_by(card, "projects", "ember") == ["gitlab", "generic"]
    assert declared_by(card, "statuses", "merged") == ["gitlab"]
    assert declared_by(card, "projects", "heron") == []
