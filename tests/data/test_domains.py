"""The shipped biomedical, engineering and journal rows: counts and shares, splits, duplicates, gold that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import pytest
from queryplan.data.checking import folder_of, open_set
from queryplan.data.domain import Domain, load_domain
from queryplan.data.duplicates import near_duplicates
from queryplan.data.guide import contradictions
from queryplan.data.rows import SPLITS, LabelledRow
from queryplan.eval.graph.gold_plans import check_gold_plans

Test = Callable[[LabelledRow], bool]

ROWS = {"biomedical": 300, "engineering": 250, "journal": 200}
"""How many rows each domain has at least."""
SHARES: dict[str, tuple[Test, float]] = {
    "follow-ups": (lambda r: r.labels.is_follow_up, 0.30),
    "later turns that are none": (lambda r: bool(r.history) and not r.labels.is_follow_up, 0.15),
    "out of domain": (lambda r: not r.labels.is_relevant, 0.20),
    "moderate": (lambda r: r.labels.complexity == "moderate", 0.15),
    "complex": (lambda r: r.labels.complexity == "complex", 0.15),
    "noisy": (lambda r: bool({"typo", "shouting", "fragment", "other_language"} & set(r.tags)), 0.08),
}
LATER = {"biomedical": "biomedical-0500", "engineering": "engineering-0300", "journal": "journal-1000"}
"""Conversations from here on were added to learn from; the shares are those of the first written ones."""
INJECTIONS = 10

every_domain = pytest.mark.parametrize("name", ROWS)


@cache
def domain(name: str) -> Domain:
    return load_domain(name)


@cache
def every(name: str) -> tuple[LabelledRow, ...]:
    return tuple(row for split in SPLITS for row in domain(name).rows(split))


def first_written(name: str, rows: Iterable[LabelledRow]) -> tuple[LabelledRow, ...]:
    return tuple(row for row in rows if name not in LATER or row.conversation < LATER[name])


def share(fits: Test, rows: tuple[LabelledRow, ...]) -> float:
    return sum(map(fits, rows)) / len(rows)


def asks_something(row: LabelledRow) -> bool:
    return row.labels.is_relevant and row.labels.intent != "greeting"


@every_domain
def test_there_are_enough_rows(name: str) -> None:
    assert len(every(name)) >= ROWS[name]


@every_domain
@pytest.mark.parametrize("what", SHARES)
def test_shares_of_all_rows(name: str, what: str) -> None:
    fits, least = SHARES[what]
    assert share(fits, first_written(name, every(name))) >= least


@every_domain
def test_half_of_the_rows_out_of_domain_are_close_to_it(name: str) -> None:
    outside = tuple(row for row in every(name) if not row.labels.is_relevant)
    assert share(lambda r: "close_negative" in r.tags, outside) >= 0.5


@every_domain
def test_every_kind_of_rejection_occurs(name: str) -> None:
    assert {row.labels.rejection_kind for row in every(name)} - {None} == set(domain(name).card.kinds)


@every_domain
def test_an_instruction_to_the_planner_does_not_decide(name: str) -> None:
    told = [row.labels.is_relevant for row in every(name) if "injection" in row.tags]
    assert len(told) >= INJECTIONS
    assert 0.2 < sum(told) / len(told) < 0.8


@every_domain
def test_every_split_has_something_of_everything(name: str) -> None:
    for split in SPLITS:
        rows = first_written(name, domain(name).rows(split))
        for what, (fits, least) in SHARES.items():
            assert share(fits, rows) >= 0.6 * least, (split, what)


@every_domain
def test_no_conversation_is_in_two_splits_and_no_id_occurs_twice(name: str) -> None:
    homes = {(row.conversation, split) for split in SPLITS for row in domain(name).rows(split)}
    assert len(homes) == len({conversation for conversation, _ in homes})
    assert len({row.id for row in every(name)}) == len(every(name))


@every_domain
def test_no_two_rows_of_a_split_are_near_duplicates(name: str) -> None:
    for split in SPLITS:
        found = near_duplicates(domain(name).rows(split), 0.8)
        assert [(d.first.id, d.second.id) for d in found] == [], split


@every_domain
def test_no_row_is_nearly_one_of_another_split(name: str) -> None:
    home = {row.id: split for split in SPLITS for row in domain(name).rows(split)}
    found = near_duplicates(every(name), 0.6)
    assert [(d.first.id, d.second.id) for d in found if home[d.first.id] != home[d.second.id]] == []


@every_domain
def test_no_long_question_is_in_two_splits(name: str) -> None:
    seen: dict[str, set[str]] = {}
    for split in SPLITS:
        for row in domain(name).rows(split):
            seen.setdefault(" ".join(row.labels.standalone_query.casefold().split()), set()).add(split)
    assert sum(len(splits) > 1 and len(asked.split()) >= 4 for asked, splits in seen.items()) == 0


@every_domain
def test_no_row_contradicts_the_guide(name: str) -> None:
    assert [(row.id, said) for row in every(name) for said in contradictions(row)] == []


@every_domain
def test_a_conversation_goes_on_where_it_was(name: str) -> None:
    before: dict[str, LabelledRow] = {}
    for row in sorted(every(name), key=lambda r: (r.conversation, r.turn)):
        roles = [turn.role for turn in row.history]
        assert roles == ["user", "assistant"] * (row.turn - 1), row.id
        if earlier := before.get(row.conversation):
            shared = len(earlier.history)
            assert row.history[:shared] == earlier.history, row.id
            assert row.history[shared].content == earlier.query, row.id
        before[row.conversation] = row


@every_domain
def test_other_languages_are_tagged(name: str) -> None:
    assert [row.id for row in every(name) if row.language != "en" and "other_language" not in row.tags] == []


@every_domain
def test_rows_out_of_domain_have_no_gold(name: str) -> None:
    assert [row.id for row in every(name) if not row.labels.is_relevant and row.gold is not None] == []


@every_domain
def test_every_gold_plan_gives_its_answers_or_asks_what_a_source_declares(name: str) -> None:
    result = check_gold_plans(open_set(name), folder_of(name))
    assert result.findings == ()
    assert result.run == sum(row.gold is not None and row.gold.graph_plan is not None for row in every(name))


def test_a_biomedical_question_has_a_plan_or_cannot_be_expressed() -> None:
    gold = [row.gold for row in every("biomedical") if row.gold is not None]
    planned = [g for g in gold if g.graph_plan is not None]
    assert all((g.graph_plan is None) == (not g.expressible) for g in gold)
    assert all(g.answers is not None for g in planned)
    assert len(planned) >= 240
    assert sum(g.answers == () for g in planned) >= 15, "honestly empty"
    assert sum(not g.expressible for g in gold) >= 20


def test_every_engineering_question_has_source_intents_and_a_clock() -> None:
    rows = every("engineering")
    assert [r.id for r in rows if "now" not in r.session] == []
    assert [r.id for r in rows if r.labels.is_relevant and (r.gold is None or r.gold.source_plans is None)] == []
    assert [r.id for r in rows if asks_something(r) and not (r.gold and r.gold.source_intents)] == []


def test_engineering_intents_and_sources_are_those_of_the_card() -> None:
    card = domain("engineering").card
    gold = [row.gold for row in every("engineering") if row.gold is not None]
    assert {i.type for g in gold for i in g.source_intents or ()} == {i.type for i in card.source_intents}
    assert {s for g in gold for p in g.source_plans or () for s in p.sources} == {s.name for s in card.sources}


def test_resolved_dates_stand_beside_the_dates_in_their_order() -> None:
    plans = [p for row in every("engineering") if row.gold for p in row.gold.source_plans or ()]
    for plan in plans:
        assert len(plan.filters.get("dates", ())) == len(plan.filters.get("resolved_dates", ()))


def test_every_journal_question_says_whether_to_read_everything() -> None:
    rows = every("journal")
    assert all(r.gold and r.gold.retrieval_method for r in rows if r.labels.is_relevant)
    rows = first_written("journal", rows)
    methods = [r.gold.retrieval_method if r.gold else None for r in rows if r.labels.is_relevant]
    assert set(methods) == {"direct", "semantic"}
    assert min(methods.count("direct"), methods.count("semantic")) >= 0.25 * len(methods)


def test_a_third_of_the_journal_is_in_chinese() -> None:
    assert share(lambda r: r.language == "zh", first_written("journal", every("journal"))) >= 1 / 3
