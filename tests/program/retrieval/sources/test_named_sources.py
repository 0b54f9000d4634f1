"""Sources that a query calls by their names are asked, and those that it excepts are not."""

from __future__ import annotations

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.sources.intents import IntentReader
from queryplan.program.retrieval.sources.named_sources import NamedSources

ASKED = {
    "query_commits": ("gitlab",),
    "query_issues": ("youtrack",),
    "query_analytics": ("gitlab", "youtrack"),
    "query_generic": ("generic",),
}


@pytest.fixture(scope="module")
def reader() -> IntentReader:
    return IntentReader(load_card(domain_folder("engineering")))


@pytest.fixture(scope="module")
def named(reader: IntentReader) -> NamedSources:
    return NamedSources(load_card(domain_folder("engineering")), reader.cues.values, ASKED)


@pytest.mark.parametrize(
    ("query", "wanted", "kinds"),
    [
        ("anything in youtrack or gitlab on refunds", ["issues"], ["issues", "commits"]),
        ("youtrack and notes: backups", ["generic"], ["generic", "issues"]),
        ("issues in gitlab for cinder", ["issues"], ["issues"]),
        ("numbers of gitlab and youtrack", ["analytics"], ["analytics"]),
        ("nothing from gitlab please: refunds", ["commits", "issues"], ["issues"]),
        ("nothing from gitlab please: refunds", ["commits"], ["generic"]),
        ("exclude youtrack: how many", ["analytics"], ["analytics"]),
        ("the refunds", ["commits"], ["commits"]),
    ],
)
def test_named_sources_are_asked_and_excepted_ones_are_not(
    named: NamedSources, query: str, wanted: list[str], kinds: list[str]
) -> None:
    found = named.kinds(query, {f"query_{kind}": 0.9 for kind in wanted}, 0.6)
    assert list(found) == [f"query_{kind}" for kind in kinds]


def test_the_name_of_a_source_is_no_filter_of_another_that_is_asked_beside_it(reader: IntentReader) -> None:
    filters = reader.filters_by_kind("stripe commits in gitlab and the notes", ["query_commits", "query_generic"])
    assert filters["query_commits"] == {"providers": ("stripe", "gitlab")}
    assert filters["query_generic"] == {"providers": ("stripe",)}


def test_an_excepted_source_that_is_not_asked_is_no_gap(reader: IntentReader) -> None:
    text = "tickets of atlas, but nothing from gitlab"
    issues = [intent for intent in reader.read(text, None) if intent.type == "query_issues"]
    assert reader.left_out(text, issues) == []
    asked = [intent.model_copy(update={"type": "query_analytics"}) for intent in issues]
    assert [gap.what for gap in reader.left_out(text, asked)] == ["providers:gitlab"]
