"""How many passages a run gives: more for a complex question, whose answer is in several places."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from queryplan.errors import ConfigError
from queryplan.program.plan import QueryCandidate, QueryPlan, RetrievalStrategy
from queryplan.program.retrieval.execute import Budget, RunSettings, execute
from queryplan.program.retrieval.search import SearchSettings
from queryplan.program.retrieval.stores import Stores, open_stores

QUERY = "what was said about sleep, and what about work"


@pytest.fixture(scope="module")
def podcast() -> Stores:
    return open_stores("podcast")


def plan_of(complex_: bool) -> QueryPlan:
    return QueryPlan(
        query=QUERY,
        standalone_query=QUERY,
        is_follow_up=False,
        is_relevant=True,
        complexity="complex" if complex_ else "simple",
        intent="multi_part" if complex_ else "factual",
        needs_decomposition=False,
        candidates=(QueryCandidate(query=QUERY, stage="rule_based", label="standalone"),),
        retrieval_strategy=RetrievalStrategy(use_rag=True, use_kg=False, iterative=complex_),
    )


@pytest.mark.parametrize(("complex_", "passages"), [(False, 10), (True, 20)])
def test_a_complex_question_is_given_twice_as_many(podcast: Stores, complex_: bool, passages: int) -> None:
    assert len(execute(plan_of(complex_), podcast).evidence) == passages


@pytest.mark.parametrize("complex_", [False, True])
def test_whoever_wants_the_same_for_all_says_so(podcast: Stores, complex_: bool) -> None:
    settings = RunSettings(search=SearchSettings(limit=4), complex_times=1)
    assert len(execute(plan_of(complex_), podcast, settings=settings).evidence) == 4


def test_more_of_them_leave_the_first_as_they_are_where_nothing_is_followed_up(podcast: Stores) -> None:
    settings = RunSettings(search=SearchSettings(limit=5))
    few = execute(plan_of(False), podcast, settings=settings).evidence
    many = execute(plan_of(True), podcast, settings=settings).evidence
    assert len(many) == 2 * len(few) == 10
    assert {item.passage.id for item in few} & {item.passage.id for item in many}


def test_all_else_of_the_settings_stays() -> None:
    settings = RunSettings(search=SearchSettings(limit=3, depth=7), complex_times=3)
    assert settings.search_for(plan_of(False)) == settings.search
    assert settings.search_for(plan_of(True)) == SearchSettings(limit=9, depth=7)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SearchSettings(limit=0, depth=-1), "SearchSettings must have limit at least 1 and depth at least 1"),
        (lambda: SearchSettings(rank_constant=-1), "rank_constant at least 0"),
        (lambda: SearchSettings(near_duplicate=0), "near_duplicate must be above zero"),
        (lambda: SearchSettings(near_duplicate=float("nan")), "near_duplicate must be above zero"),
        (lambda: Budget(rounds=-1), "Budget must have rounds at least 0"),
        (lambda: Budget(queries=-1), "queries at least 0"),
        (lambda: Budget(weight=float("nan")), "weight at least 0"),
        (lambda: RunSettings(complex_times=0), "complex_times at least 1"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        make()
