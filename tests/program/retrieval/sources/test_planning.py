"""Plans for sources: exactly as the card's templates, contracts and calendar allow, whatever is asked."""

from __future__ import annotations

import random
from collections.abc import Sequence
from copy import deepcopy
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.card import DomainCard, domain_folder, load_card
from queryplan.data.domain import load_domain
from queryplan.errors import DataError, NoHypothesesError, NoIntentsError, SourcePlanError
from queryplan.program.retrieval.sources.planning import SourcePlanner, plan_sources, query_string
from queryplan.signatures.types import SourceIntent

NOW = datetime.fromisoformat("2025-11-13T00:20:00+09:00")
WHY = [{"id": "h0", "description": "Retrieve commit data"}]


@pytest.fixture(scope="module")
def card() -> DomainCard:
    return load_card(domain_folder("engineering"))


def intent(kind: str, confidence: float = 0.9, **filters: Sequence[str]) -> SourceIntent:
    return SourceIntent(type=kind, confidence=confidence, filters={k: tuple(v) for k, v in filters.items()})


def plan(card: DomainCard, *intents: SourceIntent) -> Any:
    return SourcePlanner(card).plan(intents, NOW)


# -- the examples of the seed ------------------------------------------------------------------------


def test_commits_become_one_plan_for_gitlab(card: DomainCard) -> None:
    found = plan(card, intent("query_commits", projects=["atlas"], dates=["this week"]))
    assert [p.model_dump() for p in found.plans] == [
        {
            "id": "plan0",
            "description": "Retrieve commit data from GitLab",
            "sources": ("gitlab",),
            "filters": {
                "projects": ("atlas",),
                "dates": ("this week",),
                "resolved_dates": ("2025-11-10/2025-11-13",),
            },
            "priority": 10,
        }
    ]
    (query,) = found.queries
    assert (query.id, query.source) == ("plan0_query", "gitlab")
    assert query.query_string == "Retrieve commit data from GitLab projects:atlas dates:this week"
    assert query.filters == found.plans[0].filters


def test_issues_take_statuses_in_the_order_in_which_they_are_given(card: DomainCard) -> None:
    found = plan(card, intent("query_issues", statuses=["open", "in-progress"]))
    assert found.queries[0].query_string == "Retrieve issue data from YouTrack statuses:open,in-progress"


def test_analytics_ask_both_sources_for_their_metrics(card: DomainCard) -> None:
    found = plan(card, intent("query_analytics"))
    assert [(p.description, p.sources, p.priority) for p in found.plans] == [
        ("Retrieve commit metrics from GitLab", ("gitlab",), 9),
        ("Retrieve issue metrics from YouTrack", ("youtrack",), 9),
    ]


def test_status_has_its_fixed_filters(card: DomainCard) -> None:
    found = plan(card, intent("query_status", dates=["yesterday"], statuses=["closed"]))
    assert [(p.filters, p.priority) for p in found.plans] == [
        ({"dates": ("last week",), "resolved_dates": ("2025-11-03/2025-11-09",)}, 8),
        ({"statuses": ("open", "in-progress")}, 8),
    ]


def test_an_intent_of_an_unknown_type_searches_the_notes_last(card: DomainCard) -> None:
    found = plan(card, intent("query_weather", projects=["atlas"]), intent("query_issues"))
    assert [(p.sources, p.priority) for p in found.plans] == [(("youtrack",), 10), (("generic",), 5)]


def test_plans_are_sorted_by_priority_and_ties_keep_their_order(card: DomainCard) -> None:
    kinds = ("query_generic", "query_status", "query_issues", "query_analytics", "query_commits")
    found = plan(card, *(intent(kind) for kind in kinds))
    assert [(p.id, p.priority) for p in found.plans] == [(f"plan{n}", p) for n, p in enumerate((10, 10, 9, 9, 8, 8, 5))]
    assert [p.sources[0] for p in found.plans[:2]] == ["youtrack", "gitlab"]
    assert [q.id for q in found.queries] == [f"plan{n}_query" for n in range(7)]


@pytest.mark.parametrize(("confidence", "plans"), [(0.0, 0), (0.29, 0), (0.3, 1), (1.0, 1)])
def test_intents_under_the_threshold_are_skipped(card: DomainCard, confidence: float, plans: int) -> None:
    found = plan(card, intent("query_commits", confidence))
    assert len(found.plans) == plans
    assert found.audit.skipped == (("query_commits",) if not plans else ())


# -- what cannot be asked ------------------------------------------------------------------------------


def test_an_alias_is_asked_by_its_name(card: DomainCard) -> None:
    found = plan(card, intent("query_issues", projects=["Portal", "borealis", "BOR"]))
    assert found.plans[0].filters == {"projects": ("borealis",)}


def test_a_value_that_the_source_does_not_know_is_left_out_and_named(card: DomainCard) -> None:
    found = plan(card, intent("query_issues", projects=["ember", "atlas"]))
    assert found.plans[0].filters == {"projects": ("atlas",)}
    assert [(g.what, g.instead) for g in found.gaps] == [("projects:ember", "youtrack is not asked for it")]


def test_a_filter_without_a_value_left_makes_no_plan(card: DomainCard) -> None:
    found = plan(card, intent("query_commits", projects=["heron"]), intent("query_issues", statuses=["merged"]))
    assert (found.plans, found.queries) == ((), ())
    assert [g.what for g in found.gaps] == ["projects:heron", "statuses:merged"]


@pytest.mark.parametrize("phrase", ["31 September", "Q5", "between 20 October and 10 October", "some day"])
def test_a_date_that_does_not_exist_is_a_gap_with_its_reason(card: DomainCard, phrase: str) -> None:
    found = plan(card, intent("query_commits", dates=[phrase]))
    assert found.plans == ()
    assert found.gaps[0].what == f"dates:{phrase}"
    assert found.gaps[0].why
    both = plan(card, intent("query_commits", dates=[phrase, "yesterday"]))
    assert both.plans[0].filters == {"dates": ("yesterday",), "resolved_dates": ("2025-11-12/2025-11-12",)}


def test_a_filter_that_no_template_takes_is_not_asked(card: DomainCard) -> None:
    found = plan(card, intent("query_analytics", statuses=["open"], providers=["stripe"], drop=["tables"]))
    assert [p.filters for p in found.plans] == [{}, {}]


def test_a_long_value_is_cut_where_it_is_named(card: DomainCard) -> None:
    gap = plan(card, intent("query_commits", projects=["x" * 500])).gaps[0]
    assert len(gap.what) < 80


def test_a_plan_for_several_sources_leaves_out_those_that_cannot_answer(card: DomainCard) -> None:
    rule = card.source_intents[0]
    both = rule.plans[0].model_copy(update={"sources": ("gitlab", "youtrack")})
    wide = card.model_copy(update={"source_intents": (rule.model_copy(update={"plans": (both,)}),)})
    found = plan(wide, intent("query_commits", projects=["atlas"]))
    assert [(q.id, q.source) for q in found.queries] == [
        ("plan0_query", "gitlab"),
        ("plan0_query_youtrack", "youtrack"),
    ]
    assert plan(wide, intent("query_commits", projects=["helpdesk"])).plans[0].sources == ("youtrack",)
    assert plan(wide, intent("query_commits", projects=["heron"])).plans == ()


def test_without_a_generic_rule_an_unknown_type_is_a_gap(card: DomainCard) -> None:
    strict = card.model_copy(update={"source_intents": card.source_intents[:2]})
    found = plan(strict, intent("query_weather"))
    assert found.plans == ()
    assert found.gaps[0].why == "the card has no such intent"


# -- the entry of the seed -----------------------------------------------------------------------------


def test_without_intents_or_hypotheses_it_says_which_is_missing(card: DomainCard) -> None:
    with pytest.raises(NoIntentsError, match="no intents"):
        plan_sources(card, [], WHY)
    with pytest.raises(NoHypothesesError, match="no hypotheses"):
        plan_sources(card, [intent("query_commits")], [])
    assert issubclass(NoIntentsError, SourcePlanError)


def test_intents_may_be_plain_and_entities_are_filters_of_all(card: DomainCard) -> None:
    given_intents = [
        {"type": "query_commits", "confidence": 0.9},
        {"type": "query_issues", "confidence": 0.8, "filters": {"projects": ["cinder"]}},
    ]
    entities = {"projects": ["atlas"], "dates": ["last week"]}
    before = deepcopy((given_intents, entities))
    found = plan_sources(card, given_intents, WHY, entities, NOW)
    assert [q.query_string for q in found.queries] == [
        "Retrieve commit data from GitLab projects:atlas dates:last week",
        "Retrieve issue data from YouTrack projects:cinder dates:last week",
    ]
    assert (given_intents, entities) == before
    assert plan_sources(card, given_intents, WHY, entities, NOW) == found


def test_an_intent_that_is_none_is_refused_with_its_field(card: DomainCard) -> None:
    with pytest.raises(DataError, match="confidence"):
        plan_sources(card, [{"type": "query_commits", "confidence": 2}], WHY)


@pytest.mark.parametrize("values", ["atlas", None, 3, [42], ["atlas", None]])
def test_entities_that_are_no_list_of_texts_are_refused_in_one_sentence(card: DomainCard, values: Any) -> None:
    with pytest.raises(DataError, match=r"^the entities of 'projects' are .*give a list of texts[^\n]*$"):
        plan_sources(card, [intent("query_commits")], WHY, {"projects": values})


def test_equal_intents_make_one_plan(card: DomainCard) -> None:
    twice = plan(card, intent("query_commits", projects=["atlas"]), intent("query_commits", 0.5, projects=["ATL"]))
    assert [(p.id, p.filters) for p in twice.plans] == [("plan0", {"projects": ("atlas",)})]
    other = plan(card, intent("query_commits", projects=["atlas"]), intent("query_commits", projects=["cinder"]))
    assert len(other.plans) == 2


def test_a_filter_that_no_source_has_is_named(card: DomainCard) -> None:
    found = plan(card, intent("query_issues", assignee=["Ravi"], projects=["atlas"], resolved_dates=["2025-01-01"]))
    assert [p.filters for p in found.plans] == [{"projects": ("atlas",)}]
    assert [(g.what, g.why) for g in found.gaps] == [("assignee:Ravi", "no source has such a filter")]


def test_a_stated_period_that_a_plan_replaces_is_named(card: DomainCard) -> None:
    found = plan(card, intent("query_status", projects=["cinder"], dates=["october"]))
    assert found.plans[0].filters["dates"] == ("last week",)
    assert [(g.what, g.why) for g in found.gaps] == [("dates:october", "this plan always has last week")]
    assert plan(card, intent("query_status", dates=["last week"])).gaps == ()


def test_without_a_time_the_clock_of_the_machine_is_used(card: DomainCard) -> None:
    found = plan_sources(card, [intent("query_commits", dates=["today"])], WHY)
    assert datetime.fromisoformat(found.audit.now).tzinfo is not None


def test_each_run_leaves_a_record(card: DomainCard) -> None:
    audit = plan(card, intent("query_commits", projects=["heron", "atlas"]), intent("query_issues", 0.1)).audit
    assert audit.card == card.fingerprint
    assert audit.now == NOW.isoformat()
    assert audit.intents == (("query_commits", 0.9), ("query_issues", 0.1))
    assert (audit.skipped, audit.plans, audit.gaps) == (("query_issues",), ("plan0",), 1)
    assert audit.milliseconds >= 0


def test_a_query_string_without_filters_is_the_description() -> None:
    assert query_string("Search team notes", {}) == "Search team notes"


# -- every row, every intent ---------------------------------------------------------------------------


def test_the_labelled_plans_come_out_of_the_labelled_intents() -> None:
    domain = load_domain("engineering", splits=("train", "dev"))
    planner = SourcePlanner(domain.card)
    for row in (*domain.rows("train"), *domain.rows("dev")):
        if row.gold is not None and row.gold.source_intents is not None:
            now = datetime.fromisoformat(row.session["now"])
            assert planner.plan(row.gold.source_intents, now).plans == row.gold.source_plans, row.id


VALUES = st.one_of(
    st.sampled_from("atlas ember helpdesk heron open merged blocked closed gitlab youtrack aws ATL portal".split()),
    st.sampled_from(["last week", "31 September", "since Monday", "Q5", "last sprint", "../..", "", "x:y,z"]),
    st.text(max_size=8),
)
FILTERS = st.dictionaries(
    st.sampled_from(["projects", "dates", "statuses", "providers", "resolved_dates", "drop", ""]),
    st.lists(VALUES, max_size=3).map(tuple),
    max_size=5,
)
KINDS = ["query_commits", "query_issues", "query_analytics", "query_status", "query_generic", "query_weather", ""]
INTENTS = st.builds(SourceIntent, type=st.sampled_from(KINDS), confidence=st.floats(0, 1), filters=FILTERS)


@settings(max_examples=200, deadline=None)
@given(st.lists(INTENTS, min_size=1, max_size=6))
def test_nothing_undeclared_is_asked_of_a_source(card: DomainCard, intents: list[SourceIntent]) -> None:
    check_declared(card, intents)


def test_nothing_undeclared_is_asked_in_ten_thousand_intents(card: DomainCard) -> None:
    draw = random.Random(7)
    words = "atlas ember helpdesk heron open merged blocked closed gitlab aws ATL portal".split()
    words += ["last week", "31 September", "Q5", "since Monday", "", "x:y", "'; --", "*"]
    keys = ["projects", "dates", "statuses", "providers", "resolved_dates", "anything"]
    planner = SourcePlanner(card)
    for _ in range(2_500):
        intents = [
            intent(draw.choice(KINDS), draw.random(), **{k: draw.sample(words, draw.randint(0, 3)) for k in keys})
            for _ in range(4)
        ]
        check_declared(card, intents, planner)


def check_declared(card: DomainCard, intents: list[SourceIntent], planner: SourcePlanner | None = None) -> None:
    """Every filter of every plan and query is one that the source declares, with values that it declares."""
    before = [i.model_dump() for i in intents]
    planner = planner or SourcePlanner(card)
    found = planner.plan(intents, NOW)
    assert [i.model_dump() for i in intents] == before
    assert planner.plan(intents, NOW) == found
    sources = {source.name: source for source in card.sources}
    for query in found.queries:
        stated = {key for key in query.filters if not key.startswith("resolved_")}
        for key in stated:
            field = sources[query.source].field(key)
            assert field is not None
            assert field.kind != "value" or set(query.filters[key]) <= set(field.values)
            if field.kind == "date":
                assert len(query.filters[key]) == len(query.filters[f"resolved_{key}"])
    assert [p.priority for p in found.plans] == sorted((p.priority for p in found.plans), reverse=True)
    assert len({q.id for q in found.queries}) == len(found.queries)
