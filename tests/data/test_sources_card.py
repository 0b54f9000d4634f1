"""Cards with sources and collections: what contradicts itself is refused, what is shipped fits together."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, datetime
from typing import Any

import pytest
from pydantic import ValidationError
from queryplan.data.card import DomainCard, domain_folder, load_card
from queryplan.data.domain import Domain, load_domain
from queryplan.data.duplicates import near_duplicates
from queryplan.data.rows import SPLITS, LabelledRow
from queryplan.data.sources import CollectionRules, SourceContract, SourceField

CARD: dict[str, Any] = {
    "name": "bakery",
    "title": "Bread",
    "description": "A help desk about bread.",
    "covers": ["flour"],
    "excluded": [
        {"kind": "cake", "answer": "cake", "description": "cakes", "reason": "No cakes."},
        {"kind": "other", "answer": "else", "description": "the rest", "reason": "Only bread."},
    ],
}
FIELD = {"name": "states", "kind": "value", "values": ["raw", "baked"]}
OVEN = {"name": "oven", "description": "what bakes", "fields": [FIELD]}
PLAN = {"description": "Look into the oven", "sources": ["oven"], "filters": ["states"]}
WISH = {"type": "query_oven", "description": "what bakes", "priority": 10, "plans": [PLAN]}
SHIPPED = ("engineering", "journal")
LATER = {"engineering": "engineering-0300"}
"""Conversations from here on were added to show how sources are asked for, not for the shares."""


def card(**change: Any) -> DomainCard:
    return DomainCard.model_validate({**CARD, "sources": [OVEN], "source_intents": [WISH], **change})


def plan(**change: Any) -> dict[str, Any]:
    return {**WISH, "plans": [{**PLAN, **change}]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sources": [OVEN, OVEN]}, r"a source is given twice: \['oven'\]"),
        ({"sources": [{**OVEN, "fallback": "shelf"}]}, "'oven' falls back on 'shelf', which is no other source"),
        ({"sources": [{**OVEN, "fallback": "oven"}]}, "'oven' falls back on 'oven'"),
        ({"sources": [{**OVEN, "fields": [FIELD, FIELD]}]}, r"a field is given twice: \['states'\]"),
        ({"sources": [{**OVEN, "fields": [{**FIELD, "values": []}]}]}, "'states': values must be given exactly when"),
        ({"sources": [{**OVEN, "fields": [{**FIELD, "kind": "date"}]}]}, "'states': values must be given exactly when"),
        ({"sources": [{**OVEN, "fields": [{**FIELD, "values": ["a", "a"]}]}]}, "a value is given twice"),
        ({"sources": [{**OVEN, "limits": {"records": 0}}]}, r"limits\.records"),
        ({"sources": [{**OVEN, "heat": 3}]}, r"heat\s+Extra inputs"),
        ({"source_intents": [WISH, WISH]}, r"a source intent is given twice: \['query_oven'\]"),
        ({"source_intents": [{**WISH, "priority": 11}]}, "less than or equal to 10"),
        ({"source_intents": [{**WISH, "plans": []}]}, "at least 1 item"),
        ({"source_intents": [plan(sources=["shelf"])]}, "asks 'shelf', which is no source"),
        ({"source_intents": [plan(filters=["dates"])]}, "filters 'oven' by 'dates', which it does not understand"),
        ({"source_intents": [plan(filters=[], fixed={"states": ["burnt"]})]}, r"fixes 'states' to \['burnt'\]"),
        ({"source_intents": [plan(fixed={"states": ["raw"]})]}, r"both fixed and taken from the intent: \['states'\]"),
        ({"filter_values": [{"filter": "states", "value": "burnt"}]}, "states:'burnt' is declared by no source"),
        ({"calendar": {"first_sprint": 1, "first_day": "2025-01-06", "sprint_days": 0}}, r"calendar\.sprint_days"),
        ({"collection": {"token_budget": 0}}, r"collection\.token_budget"),
    ],
)
def test_what_contradicts_itself_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        card(**change)


def test_every_mistake_between_the_parts_is_named_at_once() -> None:
    with pytest.raises(ValidationError) as caught:
        card(source_intents=[plan(sources=["shelf", "oven"], filters=["dates"])])
    assert all(said in str(caught.value) for said in ("'shelf', which is no source", "'oven' by 'dates'"))


def test_a_card_with_sources_is_read() -> None:
    good = card(
        filter_values=[{"filter": "states", "value": "baked", "aliases": ["done"]}],
        calendar={"first_sprint": 1, "first_day": "2025-01-06", "sprint_days": 14},
        collection={"direct_max_items": 3},
    )
    assert good.sources[0].field("states") == SourceField(name="states", kind="value", values=("raw", "baked"))
    assert good.sources[0].field("dates") is None
    assert good.sources[0].structured
    assert good.calendar is not None
    assert good.calendar.first_day == date(2025, 1, 6)
    assert good.collection == CollectionRules(direct_max_items=3, token_budget=4000, stale_after_hours=24)


def test_the_new_fields_leave_the_fingerprint_of_a_card_without_them_alone() -> None:
    bare = DomainCard.model_validate(CARD)
    empty = DomainCard.model_validate({**CARD, "sources": [], "source_intents": [], "filter_values": []})
    assert bare.fingerprint == empty.fingerprint == "de0d4cda5cc4827f"
    assert card().fingerprint != bare.fingerprint


def test_the_contract_of_a_source_is_frozen() -> None:
    source = SourceContract.model_validate(OVEN)
    with pytest.raises(ValidationError, match="frozen"):
        source.name = "stove"  # type: ignore[misc]


def test_the_shipped_card_has_the_priorities_of_the_seed() -> None:
    shipped = load_card(domain_folder("engineering"))
    assert {i.type: (i.priority, len(i.plans)) for i in shipped.source_intents} == {
        "query_commits": (10, 1),
        "query_issues": (10, 1),
        "query_analytics": (9, 2),
        "query_status": (8, 2),
        "query_generic": (5, 1),
    }
    status = next(i for i in shipped.source_intents if i.type == "query_status")
    assert [p.fixed for p in status.plans] == [{"dates": ("last week",)}, {"statuses": ("open", "in-progress")}]
    assert all(source.fallback == "generic" for source in shipped.sources if source.structured)


@pytest.fixture(scope="module", params=SHIPPED)
def domain(request: pytest.FixtureRequest) -> Domain:
    return load_domain(request.param)


@pytest.fixture(scope="module")
def every(domain: Domain) -> list[LabelledRow]:
    return [row for split in SPLITS for row in domain.rows(split)]


def test_rows_have_the_counts_and_shares_that_were_agreed(domain: Domain, every: list[LabelledRow]) -> None:
    assert all(("other_language" in row.tags) == (row.language != "en") for row in every)
    every = [row for row in every if row.conversation < LATER.get(domain.card.name, "~")]
    total = len(every)
    assert total >= {"engineering": 250, "journal": 200}[domain.card.name]
    count = Counter(tag for row in every for tag in row.tags)
    later = sum(bool(row.history) and not row.labels.is_follow_up for row in every)
    assert sum(row.labels.is_follow_up for row in every) >= 0.25 * total
    assert later >= 0.12 * total
    assert sum(not row.labels.is_relevant for row in every) >= 0.195 * total
    assert sum(row.labels.complexity == "moderate" for row in every) >= 0.145 * total
    assert sum(row.labels.complexity == "complex" for row in every) >= 0.15 * total
    assert count["injection"] >= 10
    assert count["trap_word"] >= 15
    assert sum(row.language != "en" for row in every) >= 15


def test_no_near_duplicates_and_no_conversation_in_two_splits(domain: Domain, every: list[LabelledRow]) -> None:
    home = {row.id: split for split in SPLITS for row in domain.rows(split)}
    assert len(home) == len(every)
    homes = {(row.conversation, home[row.id]) for row in every}
    assert len(homes) == len({conversation for conversation, _ in homes})
    pairs = [(d, home[d.first.id] != home[d.second.id]) for d in near_duplicates(every, 0.6)]
    assert [(d.first.id, d.second.id) for d, across in pairs if across or d.jaccard > 0.8] == []


def test_names_stand_where_they_are_said_to(every: list[LabelledRow]) -> None:
    for row in every:
        said = " ".join(turn.content for turn in row.history).casefold()
        assert all(e in row.labels.standalone_query for e in row.labels.entities), row.id
        assert all(e.casefold() in said for e in row.labels.referenced_entities), row.id
        assert row.labels.is_follow_up == (row.labels.standalone_query != row.query), row.id
        assert datetime.fromisoformat(row.session["now"]).tzinfo is not None


def test_gold_plans_ask_nothing_that_a_source_does_not_declare() -> None:
    domain = load_domain("engineering")
    sources = {source.name: source for source in domain.card.sources}
    types = {intent.type for intent in domain.card.source_intents}
    for row in (row for split in SPLITS for row in domain.rows(split)):
        if not row.labels.is_relevant:
            assert row.gold is None
            continue
        assert row.gold is not None
        intents, plans = row.gold.source_intents, row.gold.source_plans
        assert intents is not None
        assert plans is not None
        assert {i.type for i in intents} <= types
        assert all(d in row.labels.standalone_query for i in intents for d in i.filters.get("dates", ()))
        assert [p.id for p in plans] == [f"plan{n}" for n in range(len(plans))]
        assert [p.priority for p in plans] == sorted((p.priority for p in plans), reverse=True)
        for step in plans:
            for key, values in step.filters.items():
                if key == "resolved_dates":
                    assert len(values) == len(step.filters["dates"])
                    assert all(re.fullmatch(r"(\.\.|\d{4}-\d\d-\d\d)/\d{4}-\d\d-\d\d", v) for v in values), row.id
                    continue
                for name in step.sources:
                    field = sources[name].field(key)
                    assert field is not None, row.id
                    assert field.kind != "value" or set(values) <= set(field.values), row.id


def test_only_fresh_and_small_collections_are_read_whole() -> None:
    domain = load_domain("journal")
    rules = domain.card.collection
    assert rules is not None
    methods = Counter()
    for row in (row for split in SPLITS for row in domain.rows(split)):
        assert (row.gold is not None) == row.labels.is_relevant
        if row.gold is None:
            continue
        methods[row.gold.retrieval_method] += 1
        if row.gold.retrieval_method == "direct":
            stats = row.session["collection"]
            age = datetime.fromisoformat(row.session["now"]) - datetime.fromisoformat(stats["last_stats_update"])
            assert 0 <= age.total_seconds() <= rules.stale_after_hours * 3600
            assert stats["composition_count"] <= rules.direct_max_items
    assert min(methods["direct"], methods["semantic"]) >= 40
