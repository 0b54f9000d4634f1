"""The shipped podcast rows: counts and shares, splits, duplicates, labels that fit their texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest
from queryplan.data.domain import Domain, load_domain
from queryplan.data.duplicates import near_duplicates
from queryplan.data.rows import SPLITS, LabelledRow

Test = Callable[[LabelledRow], bool]


@pytest.fixture(scope="module")
def podcast() -> Domain:
    return load_domain("podcast")


@pytest.fixture(scope="module")
def every(podcast: Domain) -> list[LabelledRow]:
    return [row for split in SPLITS for row in podcast.rows(split)]


def noisy(row: LabelledRow) -> bool:
    return bool({"typo", "shouting", "fragment", "other_language"} & set(row.tags))


SHARES: dict[str, tuple[Test, float]] = {
    "follow-ups": (lambda r: r.labels.is_follow_up, 0.30),
    "later turns that are none": (lambda r: bool(r.history) and not r.labels.is_follow_up, 0.15),
    "out of domain": (lambda r: not r.labels.is_relevant, 0.20),
    "moderate": (lambda r: r.labels.complexity == "moderate", 0.15),
    "complex": (lambda r: r.labels.complexity == "complex", 0.15),
    "noisy": (noisy, 0.08),
}
COUNTS: dict[str, tuple[Test, int]] = {
    "rows": (lambda r: True, 890),
    "close to the domain but out of it": (lambda r: not r.labels.is_relevant and "close_negative" in r.tags, 50),
    "in domain with a word that a filter trips on": (lambda r: r.labels.is_relevant and "trap_word" in r.tags, 50),
    "instructions to the planner": (lambda r: "injection" in r.tags, 25),
}


@pytest.mark.parametrize("name", SHARES)
def test_shares_of_all_rows(every: list[LabelledRow], name: str) -> None:
    fits, least = SHARES[name]
    assert sum(map(fits, every)) / len(every) >= least


@pytest.mark.parametrize("name", COUNTS)
def test_counts_over_all_rows(every: list[LabelledRow], name: str) -> None:
    fits, least = COUNTS[name]
    assert sum(map(fits, every)) >= least


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_has_something_of_everything(podcast: Domain, split: str) -> None:
    rows = podcast.rows(split)
    for name, (fits, least) in SHARES.items():
        assert sum(map(fits, rows)) / len(rows) >= 0.75 * least, name
    assert len({r.labels.intent for r in rows}) == 9
    assert len({r.labels.rejection_kind for r in rows} - {None}) >= 7, "of eight kinds"


def test_the_splits_have_the_sizes_that_were_agreed(podcast: Domain) -> None:
    assert {split: len(podcast.rows(split)) for split in ("dev", "test")} == {"dev": 130, "test": 160}
    assert len(podcast.rows("train")) >= 1500
    sizes = Counter(row.conversation for row in podcast.rows("calibrate"))
    assert len(sizes) >= 200
    assert sum(n <= 2 for n in sizes.values()) > len(sizes) / 2


def test_no_conversation_is_in_two_splits_and_no_id_occurs_twice(podcast: Domain, every: list[LabelledRow]) -> None:
    homes = {(row.conversation, split) for split in SPLITS for row in podcast.rows(split)}
    assert len(homes) == len({conversation for conversation, _ in homes})
    assert len({row.id for row in every}) == len(every)


def test_no_two_rows_of_a_split_are_near_duplicates(podcast: Domain) -> None:
    for split in SPLITS:
        assert [(d.first.id, d.second.id) for d in near_duplicates(podcast.rows(split), 0.8)] == []


def test_no_row_is_nearly_one_of_another_split(podcast: Domain, every: list[LabelledRow]) -> None:
    home = {row.id: split for split in SPLITS for row in podcast.rows(split)}
    found = near_duplicates(every, 0.6)
    assert [(d.first.id, d.second.id) for d in found if home[d.first.id] != home[d.second.id]] == []


def test_no_query_is_in_two_splits(podcast: Domain) -> None:
    seen: dict[str, set[str]] = {}
    for split in SPLITS:
        for row in podcast.rows(split):
            seen.setdefault(" ".join(row.labels.standalone_query.casefold().split()), set()).add(split)
    long = {q: s for q, s in seen.items() if len(s) > 1 and len(q.split()) >= 4}
    assert len(long) == 0


def test_entities_stand_in_the_standalone_query(every: list[LabelledRow]) -> None:
    assert [r.id for r in every for e in r.labels.entities if e not in r.labels.standalone_query] == []


def test_referenced_entities_stand_in_the_history(every: list[LabelledRow]) -> None:
    said = {r.id: " ".join(t.content for t in r.history).casefold() for r in every}
    assert [r.id for r in every for e in r.labels.referenced_entities if e.casefold() not in said[r.id]] == []


def test_a_follow_up_is_rewritten(every: list[LabelledRow]) -> None:
    assert [r.id for r in every if r.labels.is_follow_up and r.labels.standalone_query == r.query] == []


def test_references_in_sub_queries_are_their_dependencies(every: list[LabelledRow]) -> None:
    for row in every:
        for part in row.labels.sub_queries:
            assert {int(n) for n in re.findall(r"\{(\d+)\}", part.text)} <= set(part.depends_on), row.id


def test_simple_queries_need_one_retrieval_at_most(every: list[LabelledRow]) -> None:
    assert [r.id for r in every if r.labels.complexity == "simple" and r.labels.needs_decomposition] == []
    assert [r.id for r in every if r.labels.intent == "greeting" and r.labels.complexity != "simple"] == []


def test_history_is_user_and_assistant_in_turn_and_ends_with_an_answer(every: list[LabelledRow]) -> None:
    for row in every:
        roles = [turn.role for turn in row.history]
        assert roles == ["user", "assistant"] * (len(roles) // 2), row.id
        assert row.turn == len(roles) // 2 + 1, row.id


def test_a_conversation_goes_on_where_it_was(every: list[LabelledRow]) -> None:
    before: dict[str, LabelledRow] = {}
    for row in sorted(every, key=lambda r: (r.conversation, r.turn)):
        earlier = before.get(row.conversation)
        if earlier is not None:
            shared = len(earlier.history)
            assert row.history[:shared] == earlier.history, row.id
            assert row.history[shared].content == earlier.query, row.id
        before[row.conversation] = row


def test_answers_are_one_to_four_real_sentences(every: list[LabelledRow]) -> None:
    answers = {turn.content for row in every for turn in row.history if turn.role == "assistant"}
    counts = Counter(len([s for s in re.split(r"(?<=[.!?。！？])\s*", a) if s.strip()]) for a in answers)
    assert sum(counts[n] for n in (1, 2, 3, 4)) / len(answers) > 0.95
    assert (counts[2] + counts[3]) / len(answers) > 0.35


def test_other_languages_are_tagged(every: list[LabelledRow]) -> None:
    assert [r.id for r in every if (r.language != "en") != ("other_language" in r.tags)] == []


def test_an_instruction_to_the_planner_does_not_decide(every: list[LabelledRow]) -> None:
    told = [r.labels.is_relevant for r in every if "injection" in r.tags]
    assert 0.25 < sum(told) / len(told) < 0.75
