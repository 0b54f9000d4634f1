"""Each wish of a query has the filters of its own clause, and of what was said before it."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.sources.intents import IntentReader
from queryplan.program.retrieval.sources.scopes import clauses, scoped_filters

WORDS = {"atlas": ("projects", "atlas"), "cinder": ("projects", "cinder"), "blocked": ("statuses", "blocked")}
WORDS |= {"today": ("dates", "today"), "monday": ("dates", "monday")}


def read(text: str) -> dict[str, tuple[str, ...]]:
    """Filters by a handful of words."""
    found: dict[str, tuple[str, ...]] = {}
    for word in re.findall(r"\w+", text):
        if word in WORDS:
            key, value = WORDS[word]
            found[key] = (*found.get(key, ()), value)
    return found


def scoped(text: str, **wishes: str) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The filters of wishes that are each named by a word of the text."""
    return scoped_filters(text, {wish: [text.index(word)] if word else [] for wish, word in wishes.items()}, read)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("one two", ["one two"]),
        ("one; two? three", ["one", "two", "three"]),
        ("velocity of atlas, and what is blocked", ["velocity of atlas", "and what is blocked"]),
        ("who did it and when was that", ["who did it", "and when was that"]),
        ("is !108 done, BOR-333 too", ["is !108 done, BOR-333 too"]),
        ("4.4 of atlas. what else", ["4.4 of atlas", "what else"]),
        ("上周的工单，有卡住的吗？", ["上周的工单", "有卡住的吗"]),
        ("?!", ["?!"]),
        ("cinder: blocked, atlas: failed", ["cinder: blocked,", "atlas: failed"]),
        ("tickets of nov 3 - nov 7, atlas: open", ["tickets of nov 3", "nov 7, atlas", "open"]),
        ("now atlas - open, ember - failed; and what", ["now atlas - open,", "ember - failed; and what"]),
        ("atlas: open today, and what is blocked", ["atlas", "open today", "and what is blocked"]),
    ],
)
def test_clauses_of_a_text(text: str, parts: list[str]) -> None:
    assert [text[a:b].strip() for a, b in clauses(text)] == parts


def test_each_wish_has_what_its_own_clause_states() -> None:
    found = scoped("commits in atlas today, and which tickets are blocked in cinder monday", c="commits", t="tickets")
    assert found["c"] == {"projects": ("atlas",), "dates": ("today",)}
    assert found["t"] == {"statuses": ("blocked",), "projects": ("cinder",), "dates": ("monday",)}


def test_a_clause_without_project_or_date_goes_on_with_those_before() -> None:
    found = scoped("bugs in atlas blocked today, and which releases came of it", b="bugs", r="releases")
    assert found["r"] == {"projects": ("atlas",), "dates": ("today",)}


def test_what_stands_before_each_colon_is_of_the_wish_behind_it() -> None:
    found = scoped("atlas: commits today; cinder: tickets blocked monday", c="commits", t="tickets")
    assert found["c"] == {"projects": ("atlas",), "dates": ("today",)}
    assert found["t"] == {"projects": ("cinder",), "statuses": ("blocked",), "dates": ("monday",)}


def test_a_question_of_yes_or_no_is_about_now() -> None:
    found = scoped("the pipeline in atlas today, and is there a ticket for it", p="pipeline", t="ticket")
    assert found["t"] == {"projects": ("atlas",)}


def test_what_is_said_before_any_wish_is_of_all() -> None:
    found = scoped("this is about atlas: commits today, and which tickets", c="commits", t="tickets")
    assert found["c"]["projects"] == found["t"]["projects"] == ("atlas",)


def test_a_wish_without_words_has_the_clauses_of_no_other() -> None:
    found = scoped("commits in atlas; anything about cinder", c="commits", g="")
    assert found["g"] == {"projects": ("cinder",)}


def test_one_wish_or_one_clause_has_everything() -> None:
    everything = {"projects": ("atlas",), "statuses": ("blocked",)}
    assert scoped("tickets in atlas, and what is blocked", t="tickets") == {"t": everything}
    both = scoped("tickets and commits blocked in atlas", t="tickets", c="commits")
    assert both["t"] == both["c"] == {"statuses": ("blocked",), "projects": ("atlas",)}


@given(st.text(max_size=60), st.lists(st.integers(0, 60), max_size=3))
def test_any_text_has_clauses_and_filters_that_it_states(text: str, at: list[int]) -> None:
    spans = clauses(text)
    assert spans
    assert all(0 <= a <= b <= len(text) for a, b in spans)
    found = scoped_filters(text, {"one": at, "two": []}, read)
    assert set(found) == {"one", "two"}


@pytest.fixture(scope="module")
def reader() -> IntentReader:
    return IntentReader(load_card(domain_folder("engineering")))


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("merged MRs, not the open ones", {"statuses": ("merged",)}),
        ("failed builds except in ember", {"statuses": ("failed",)}),
        ("tickets nobody has closed in foxglove", {"projects": ("foxglove",), "statuses": ("open",)}),
        ("ticket number please and has it been closed", {}),
        ("what Tad merged the last 3 days", {"statuses": ("merged",), "dates": ("last 3 days",)}),
        ("who merged the fix", {}),
        ("昨天合并了哪些代码", {"statuses": ("merged",), "dates": ("昨天",)}),
    ],
)
def test_exceptions_and_events_are_no_filters(
    reader: IntentReader, query: str, filters: dict[str, tuple[str, ...]]
) -> None:
    assert reader.filters(query) == filters
