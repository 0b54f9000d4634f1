"""``search_with_plan``: planned candidates exactly as planned, and the search as it was without a plan."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.program.plan import QueryPlan, RetrievalStrategy
from queryplan.program.retrieval.calls import Limits
from queryplan.program.retrieval.passages import Passage
from queryplan.program.retrieval.providers import LocalProvider, Variation, passage_provider, usual_variations
from queryplan.program.retrieval.results import Hit, ids
from queryplan.program.retrieval.retrievers import Bm25Retriever, VectorRetriever, term_weights
from queryplan.program.retrieval.search import (
    SearchSettings,
    asearch_with_plan,
    planned_candidates,
    search_with_plan,
)

from .searching import PASSAGES, TEXTS, Spy, candidate, plan_of


@pytest.fixture(scope="module")
def provider() -> LocalProvider:
    return passage_provider("talks", PASSAGES)


# -- with a plan ------------------------------------------------------------------------------------


def test_planned_candidates_are_asked_exactly_and_no_generator_is_called() -> None:
    spy = Spy()
    search_with_plan("typed", spy, plan_of("typed", candidate("kiln  Door"), candidate("the hive!", "terms")))
    assert spy.asked == ["kiln  Door", "the hive!"]
    assert spy.made == 0


def test_the_reference_provider_has_a_generator_that_a_plan_leaves_alone() -> None:
    calls: list[str] = []

    def generator(query: str) -> Sequence[Variation]:
        calls.append(query)
        return usual_variations(query)

    provider = passage_provider("talks", PASSAGES, generator)
    search_with_plan("the kiln door", provider, plan_of("the kiln door", candidate("kiln")))
    assert calls == []
    search_with_plan("the kiln door", provider)
    assert calls == ["the kiln door"]


def test_results_carry_stage_and_label(provider: LocalProvider) -> None:
    run = search_with_plan("q", provider, plan_of("q", candidate("kiln", "variation_1", "llm")))
    assert run.evidence[0].query_variant == "llm:variation_1"
    assert {r.query_variant for ranking in run.lists for r in ranking.results} == {"llm:variation_1"}
    assert {r.query for ranking in run.lists for r in ranking.results} == {"kiln"}


def test_a_plan_without_candidates_is_asked_by_its_query_and_sub_queries() -> None:
    spy = Spy()
    search_with_plan("q", spy, plan_of("the whole", subs=("first part", "second part")))
    assert spy.asked == ["the whole", "first part", "second part"]


def test_what_waits_for_an_answer_is_not_asked() -> None:
    asked = planned_candidates([candidate("who?"), candidate("what did {1} do?")])
    assert [c.query for c in asked] == ["who?"]


@pytest.mark.parametrize(
    "plan",
    [
        plan_of("hello", intent="greeting", retrieval_strategy=RetrievalStrategy(use_rag=False, use_kg=False)),
        plan_of(
            "2+2",
            candidate("2+2"),
            is_relevant=False,
            intent="out_of_scope",
            rejection_kind="math",
            retrieval_strategy=RetrievalStrategy(use_rag=False, use_kg=False),
        ),
    ],
)
def test_a_plan_that_searches_nothing_asks_nothing(plan: QueryPlan) -> None:
    spy = Spy()
    run = search_with_plan("q", spy, plan)
    assert spy.asked == []
    assert run.evidence == ()


def test_a_source_filter_names_the_providers_that_are_asked() -> None:
    one, two = Spy(name="one"), Spy(name="two")
    plan = plan_of("q", candidate("both"), candidate("mine", "m", source_filter=("two",)))
    search_with_plan("q", [one, two], plan)
    assert (one.asked, two.asked) == (["both"], ["both", "mine"])


def test_a_source_filter_that_names_nobody_is_a_gap() -> None:
    spy = Spy()
    run = search_with_plan("q", spy, plan_of("q", candidate("x", source_filter=("library",))))
    assert spy.asked == []
    assert run.gaps[0].what == "rule_based:standalone"
    assert "library" in run.gaps[0].why


def test_compression_is_for_searches_without_a_plan() -> None:
    spy = Spy()
    short = SearchSettings(compress=lambda query: query.split()[0])
    search_with_plan("long query here", spy, plan_of("q", candidate("long query here")), settings=short)
    assert spy.asked == ["long query here"]
    search_with_plan("long query here", spy, settings=short)
    assert spy.asked[1:] == ["long", "long?"]


def test_weights_of_candidates_count(provider: LocalProvider) -> None:
    heavy = plan_of("q", candidate("bees hive winter", "a", weight=0.1), candidate("night radio silence", "b"))
    assert search_with_plan("q", provider, heavy).evidence[0].id == "radio"


def test_candidates_are_asked_side_by_side_within_the_limits_of_each_provider() -> None:
    lock = threading.Lock()
    now: dict[str, int] = {"a": 0, "b": 0}
    most = dict(now)

    def slow(name: str) -> Callable[[str], list[Any]]:
        def answer(query: str) -> list[Any]:
            with lock:
                now[name] += 1
                most[name] = max(most[name], now[name])
            time.sleep(0.02)
            with lock:
                now[name] -= 1
            return []

        return answer

    spies = [Spy(slow(n), name=n, limits=Limits(concurrency=k)) for n, k in (("a", 1), ("b", 3))]
    search_with_plan("q", spies, [candidate(f"question {i}", f"c{i}") for i in range(4)])
    assert most["a"] == 1
    assert 2 <= most["b"] <= 3


# -- without a plan ---------------------------------------------------------------------------------


def test_without_a_plan_each_variation_is_asked_once_and_keeps_its_own_label() -> None:
    spy = Spy()
    run = search_with_plan("kiln", spy)
    assert spy.asked == ["kiln", "kiln?"]
    assert run.evidence[0].query_variant == "as typed"
    assert not run.trace().planned


def test_a_generator_that_fails_is_a_gap_and_the_query_is_asked_as_it_is() -> None:
    class Broken(Spy):
        def variations(self, query: str) -> Sequence[Variation]:
            raise RuntimeError("no ideas")

    spy = Broken()
    run = search_with_plan("kiln", spy)
    assert spy.asked == ["kiln"]
    assert run.gaps[0].why == "RuntimeError: no ideas"


def test_usual_variations_are_the_same_for_every_question() -> None:
    made = usual_variations("What did the potter do before she opened the kiln?")
    assert [v.label for v in made] == ["as typed", "key terms", "first half", "second half"]
    assert made[1].query == "potter opened kiln"


@pytest.mark.parametrize("query", ["", "the of", "窑", "kiln"])
def test_usual_variations_have_neither_empty_nor_repeated_queries(query: str) -> None:
    queries = [variation.query.casefold() for variation in usual_variations(query)]
    assert all(queries)
    assert len(set(queries)) == len(queries)


# -- asynchronous -----------------------------------------------------------------------------------


class AsyncRetriever:
    name = "async"

    async def retrieve(self, query: str, limit: int) -> list[Hit]:
        await asyncio.sleep(0)
        return [Hit(PASSAGES[1], 2.0)]


def test_retrievers_may_be_coroutines_and_the_call_may_be_awaited() -> None:
    provider = LocalProvider("talks", [AsyncRetriever(), Bm25Retriever(PASSAGES)])
    plan = plan_of("q", candidate("bees"))
    run = asyncio.run(asearch_with_plan("q", provider, plan))
    assert run.evidence[0].id == "bees"
    assert {ranking.channel for ranking in run.lists} == {"async", "bm25"}
    assert ids(search_with_plan("q", provider, plan).evidence) == ids(run.evidence)


# -- trace ------------------------------------------------------------------------------------------


def test_the_trace_is_logged_once_a_run(provider: LocalProvider, caplog: pytest.LogCaptureFixture) -> None:
    plan = plan_of("q", candidate("kiln"), candidate("door", "modifier_1", "paradigm"))
    with caplog.at_level(logging.INFO, logger="queryplan.retrieval"):
        run = search_with_plan("q", provider, plan)
    (line,) = [r.getMessage() for r in caplog.records if r.name == "queryplan.retrieval"]
    said = json.loads(line.removeprefix("search "))
    assert said["candidates"] == {"rule_based": 1, "paradigm": 1}
    assert said["queries"] == 2
    assert sum(said["chosen"].values()) == len(run.evidence)


def test_a_trace_counts_removed_duplicates() -> None:
    twins = [*PASSAGES, Passage("kiln again", TEXTS["kiln"], "talks")]
    run = search_with_plan("q", passage_provider("talks", twins), plan_of("q", candidate("kiln potter")))
    assert run.trace().duplicates == 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=5))
def test_any_candidates_give_a_run_and_the_same_one_again(provider: LocalProvider, queries: list[str]) -> None:
    candidates = [candidate(query, f"c{n}") for n, query in enumerate(queries)]
    first, second = (search_with_plan("q", provider, candidates) for _ in range(2))
    assert ids(first.evidence) == ids(second.evidence)
    assert not first.gaps


# -- retrievers -------------------------------------------------------------------------------------


def test_words_find_what_has_them_best_first() -> None:
    hits = Bm25Retriever(PASSAGES).retrieve("door of the kiln", 10)
    assert hits[0].passage.id == "kiln"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("query", ["", "xylophone", "!!!"])
def test_words_that_nobody_has_find_nothing(query: str) -> None:
    assert Bm25Retriever(PASSAGES).retrieve(query, 10) == []


def test_vectors_find_what_is_near_without_sharing_words() -> None:
    hits = VectorRetriever(PASSAGES).retrieve("insects making honey in a cold season", 1)
    assert hits[0].passage.id == "bees"


@pytest.mark.parametrize("retriever", [Bm25Retriever([]), VectorRetriever([])])
def test_an_empty_store_finds_nothing(retriever: Any) -> None:
    assert retriever.retrieve("kiln", 5) == []


def test_rare_terms_are_the_telling_ones() -> None:
    weight = term_weights(PASSAGES)
    assert weight("door") < weight("kiln") <= weight("unheard")


def test_the_limit_of_a_retriever_holds() -> None:
    assert len(VectorRetriever(PASSAGES).retrieve("door", 2)) == 2


def test_braces_that_a_user_typed_wait_for_nothing() -> None:
    typed = "what does {1} mean in a template"
    for plan in (plan_of(typed, candidate(typed)), plan_of(typed)):
        spy = Spy()
        assert search_with_plan(typed, spy, plan).evidence
        assert spy.asked == [typed]
    assert planned_candidates(plan_of("q", candidate("what of {1}"), subs=["who"])) == ()


def test_candidates_without_words_are_not_asked() -> None:
    spy = Spy()
    search_with_plan("q", spy, [candidate("  "), candidate("bees", "terms")])
    assert spy.asked == ["bees"]
