"""Functions of the user's that fail, hang or give something else cost their own part of a run, and are named."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from queryplan.program.plan import QueryPlan, RetrievalStrategy
from queryplan.program.retrieval.execute import RunSettings, execute
from queryplan.program.retrieval.providers import passage_provider
from queryplan.program.retrieval.run_result import RunResult
from queryplan.program.retrieval.search import SearchSettings, search_with_plan
from queryplan.program.retrieval.speaking import Speakers
from queryplan.program.retrieval.stores import Stores, open_stores

from .running import plan_of as with_subs
from .searching import PASSAGES, Spy, candidate, plan_of

NOTHING = RetrievalStrategy(use_rag=False, use_kg=False)


def failing(*given: Any) -> Any:
    raise ConnectionError("refused")


@pytest.fixture(scope="module")
def stores() -> Stores:
    return replace(open_stores("podcast"), providers=(passage_provider("talks", PASSAGES),), graph=None)


# -- the relevance filter, and the function that shortens a query


def test_a_relevance_filter_that_fails_keeps_every_passage() -> None:
    settings = SearchSettings(relevance=failing)
    run = search_with_plan("q", passage_provider("talks", PASSAGES), plan_of("q", candidate("kiln")), settings=settings)
    assert run.evidence[0].id == "kiln"
    assert [(gap.what, gap.why) for gap in run.gaps] == [("the relevance filter", "ConnectionError: refused")]
    assert run.rank().gaps == run.gaps  # said once, however often the lists are ranked


@pytest.mark.parametrize("compress", [failing, lambda query: None, lambda query: "  "])
def test_a_query_that_cannot_be_shortened_is_asked_as_it_is(compress: Callable[[str], Any]) -> None:
    spy = Spy()
    run = search_with_plan("long query", spy, settings=SearchSettings(compress=compress))
    assert spy.asked[0] == "long query"
    assert [gap.what for gap in run.gaps] == ["shortening the query"]


# -- the answerer

CHAIN = with_subs("what did the winner say", ("who won", ()), ("what did {1} say", (1,)))


def chain(stores: Stores, answerer: Any, deadline_s: float | None = None) -> tuple[list[str], RunResult]:
    """What was asked, and the result, of two sub-queries of which the second waits."""
    spy = Spy()
    settings = RunSettings(answerer=answerer)
    plan = CHAIN.model_copy(update={"candidates": (candidate("who won", "sub_query_1"),)})
    result = execute(plan, replace(stores, providers=(spy,)), settings=settings, deadline_s=deadline_s)
    return spy.asked, result


async def awaited(question: str, evidence: Any) -> list[str]:
    return ["Ada Finch"]


@pytest.mark.parametrize("answerer", [awaited, lambda q, e: "Ada Finch", lambda q, e: (a for a in ["Ada Finch"])])
def test_an_answer_may_be_awaited_one_text_or_given_one_by_one(answerer: Any, stores: Stores) -> None:
    asked, result = chain(stores, answerer)
    assert "what did Ada Finch say" in asked
    assert result.sub_answers[0].answers == ("Ada Finch",)


@pytest.mark.parametrize(
    "answerer", [failing, lambda q, e: None, lambda q, e: ["", " "], lambda q, e: [None, {"a": 1}]]
)
def test_what_is_no_answer_is_not_searched_for(answerer: Any, stores: Stores) -> None:
    asked, result = chain(stores, answerer)
    assert "what did won say" in asked
    assert not any("None" in query or "{" in query or "  " in query for query in asked)
    assert result.sub_answers[0].answers == ()
    assert [gap.what for gap in result.gaps if gap.kind == "dependency"] == ["who won"]


def test_an_answerer_that_hangs_ends_with_the_deadline(stores: Stores) -> None:
    over, start = threading.Event(), time.perf_counter()
    _, result = chain(stores, lambda q, e: over.wait(20), deadline_s=0.3)
    over.set()
    assert time.perf_counter() - start < 5
    assert "the answerer failed (the deadline came first)" in [gap.why for gap in result.gaps]


# -- rejection, direct answer, synthesis


def greeting() -> QueryPlan:
    strategy = NOTHING.model_copy(update={"direct_answer": True})
    return plan_of("hello", intent="greeting", retrieval_strategy=strategy)


def rejection() -> QueryPlan:
    more: dict[str, Any] = {"is_relevant": False, "intent": "out_of_scope", "rejection_reason": "Not here."}
    return plan_of("2+2", retrieval_strategy=NOTHING, **more)


@pytest.mark.parametrize("write", [failing, lambda *given: None, lambda *given: 3])
@pytest.mark.parametrize(
    ("name", "plan", "begins"),
    [("reject", rejection(), "Not here."), ("answer", greeting(), "The Slow Lantern"), ("synthesise", None, "“")],
)
def test_a_text_that_is_not_written_is_the_default(
    write: Any, name: str, plan: QueryPlan | None, begins: str, stores: Stores
) -> None:
    settings = RunSettings(speakers=replace(Speakers(), **{name: write}))
    result = execute(plan or plan_of("kiln", candidate("kiln")), stores, settings=settings)
    assert result.text.startswith(begins)
    assert [gap.kind for gap in result.gaps if gap.kind != "coverage"] == ["plan"]
