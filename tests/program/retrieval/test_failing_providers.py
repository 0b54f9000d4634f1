"""What providers and retrievers do wrong costs their own part of a search, and is named."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from queryplan.program.plan import QueryPlan
from queryplan.program.retrieval.calls import READ_MOST, Limits
from queryplan.program.retrieval.passages import Passage
from queryplan.program.retrieval.providers import LocalProvider, Variation, passage_provider
from queryplan.program.retrieval.results import Hit, SearchResult, ids
from queryplan.program.retrieval.retrievers import Bm25Retriever
from queryplan.program.retrieval.search import search_with_plan

from .searching import PASSAGES, Spy, candidate, plan_of


@pytest.fixture(scope="module")
def provider() -> LocalProvider:
    return passage_provider("talks", PASSAGES)


# -- providers


def failing(query: str) -> Any:
    raise ConnectionError("refused")


RUBBISH: list[Any] = [
    None,
    "a text",
    42,
    [None, "x", 3],
    [SearchResult(PASSAGES[0], math.nan, "spy")],
    [SearchResult(Passage("x", "  ", "spy"), 1.0, "spy")],
    [Hit(PASSAGES[0], 1.0)],
    {"results": []},
]


def test_a_provider_that_fails_costs_its_own_results(provider: LocalProvider) -> None:
    run = search_with_plan("q", [Spy(failing), provider], plan_of("q", candidate("kiln")))
    assert run.evidence[0].id == "kiln"
    assert [gap.why for gap in run.gaps] == ["ConnectionError: refused"]


@pytest.mark.parametrize("rubbish", RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_is_left_out_and_named(rubbish: Any, provider: LocalProvider) -> None:
    run = search_with_plan("q", [Spy(lambda query: rubbish), provider], plan_of("q", candidate("kiln")))
    assert run.evidence[0].id == "kiln"
    assert all(item.providers == ("talks",) for item in run.evidence)
    assert [gap.kind for gap in run.gaps] == ([] if rubbish is None else ["provider"])


def test_good_results_among_rubbish_are_used() -> None:
    spy = Spy(lambda query: [None, SearchResult(PASSAGES[1], 1.0, "spy")])
    run = search_with_plan("q", spy, plan_of("q", candidate("bees")))
    assert ids(run.evidence) == ("bees",)
    assert "1 of its results" in run.gaps[0].why


def endless() -> Iterator[Any]:
    yield SearchResult(PASSAGES[1], 1.0, "spy")
    raise ConnectionError("refused")


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (lambda query: (SearchResult(PASSAGES[1], 1.0, "spy") for _ in "a"), ("bees",)),
        (lambda query: [SearchResult(PASSAGES[1], 1.0, "spy"), OSError("the second shard is down")], ("bees",)),
        (lambda query: [SearchResult(PASSAGES[1], 1.0, "spy", [1])], ()),  # type: ignore[arg-type]
        (lambda query: [SearchResult(Passage("x", "text", None), 1.0, "spy")], ()),  # type: ignore[arg-type]
        (lambda query: endless(), ("bees",)),
    ],
)
def test_whatever_a_provider_gives_is_used_or_named(answer: Callable[[str], Any], found: tuple[str, ...]) -> None:
    run = search_with_plan("q", Spy(answer), plan_of("q", candidate("bees")))
    assert ids(run.evidence) == found
    assert found or [gap.kind for gap in run.gaps] == ["provider"]


def test_an_answer_without_an_end_is_read_to_a_limit() -> None:
    given: list[int] = []

    def on_and_on() -> Iterator[SearchResult]:
        for number in range(10 * READ_MOST):
            given.append(number)
            yield SearchResult(PASSAGES[number % 2], 1.0, "spy")

    run = search_with_plan("q", Spy(lambda query: on_and_on(), limits=Limits(timeout_s=60)), [candidate("bees")])
    assert len(given) == READ_MOST
    assert len(run.evidence) == 2
    assert [gap.why for gap in run.gaps] == ["OverflowError: only the first 20,000 of its results were read"]


def test_more_than_was_asked_for_is_left_out_in_each_channel() -> None:
    answer = [SearchResult(p, 1.0, "spy", channel) for channel in ("words", "vectors") for p in PASSAGES]
    run = search_with_plan("q", Spy(lambda query: answer, limits=Limits(results=2)), [candidate("bees")])
    assert [(ranking.channel, len(ranking.results)) for ranking in run.lists] == [("words", 2), ("vectors", 2)]


def test_an_exception_among_results_is_the_gap() -> None:
    answer = [SearchResult(PASSAGES[1], 1.0, "spy"), OSError("the second shard is down")]
    run = search_with_plan("q", Spy(lambda query: answer), plan_of("q", candidate("bees")))
    assert [(gap.why, gap.instead) for gap in run.gaps] == [
        ("OSError: the second shard is down", "its other results were used")
    ]


@pytest.mark.parametrize(
    ("variations", "asked"),
    [
        (5, ["q"]),
        (["a", "b"], ["q"]),
        ([Variation(None, "as typed"), Variation("other", "mine")], ["other"]),  # type: ignore[arg-type]
        ((v for v in [Variation("other", "mine")]), ["other"]),
        (None, ["q"]),
    ],
)
def test_variations_that_are_none_are_a_gap_and_the_query_is_asked(variations: Any, asked: list[str]) -> None:
    spy = Spy()
    spy.variations = lambda query: variations  # type: ignore[method-assign]
    run = search_with_plan("q", spy)
    assert spy.asked == asked
    assert run.evidence
    assert all(gap.what == "spy: its variations" for gap in run.gaps)


@pytest.mark.parametrize("plan", [None, plan_of("q", candidate("kiln"))], ids=["without", "with"])
@pytest.mark.parametrize(("name", "limits"), [("odd", None), (None, Limits())])
def test_a_provider_without_name_or_limits_is_not_asked(
    name: Any, limits: Any, plan: QueryPlan | None, provider: LocalProvider
) -> None:
    odd = Spy(name=name, limits=limits)
    run = search_with_plan("the kiln", {odd: 1, provider: 2}.keys() if plan else [odd, provider], plan)
    assert odd.asked == []
    assert run.evidence[0].id == "kiln"
    assert [(gap.what, gap.instead) for gap in run.gaps] == [("the provider 1, a Spy", "it was not asked")]


def test_a_provider_that_wants_to_end_the_process_fails_at_once(provider: LocalProvider) -> None:
    def leave(query: str) -> Any:
        raise SystemExit(3)

    run = search_with_plan("q", [Spy(leave), provider], plan_of("q", candidate("kiln")))
    assert [gap.why for gap in run.gaps] == ["SystemExit: 3"]


def test_a_provider_that_hangs_is_named_and_the_others_answer(provider: LocalProvider) -> None:
    over = threading.Event()
    hung = Spy(lambda query: over.wait(20), name="hung", limits=Limits(concurrency=1, timeout_s=0.05))
    run = search_with_plan("q", [hung, provider], plan_of("q", candidate("kiln"), candidate("door", "terms")))
    over.set()
    assert run.evidence
    assert [gap.what for gap in run.gaps] == ["hung: rule_based:standalone", "hung: rule_based:terms"]


def test_the_deadline_gives_what_is_there(provider: LocalProvider) -> None:
    over = threading.Event()
    hung = Spy(lambda query: over.wait(20), name="hung", limits=Limits(timeout_s=30))
    start = time.perf_counter()
    run = search_with_plan("q", [hung, provider], plan_of("q", candidate("kiln")), deadline_s=0.5)
    over.set()
    assert time.perf_counter() - start < 5
    assert run.evidence[0].id == "kiln"
    assert run.gaps[0].why == "the deadline came first"


def test_no_provider_gives_an_empty_run() -> None:
    run = search_with_plan("q", [], plan_of("q", candidate("kiln")))
    assert (run.evidence, run.queries) == ((), 0)


# -- retrievers


def test_a_retriever_that_returns_no_hits_is_a_gap() -> None:
    class Odd:
        name = "odd"

        def retrieve(self, query: str, limit: int) -> Any:
            return ["text"]

    run = search_with_plan("q", LocalProvider("talks", [Odd()]), plan_of("q", candidate("bees")))
    assert run.gaps[0].why == "TypeError: odd returned str where a Hit is expected"


@dataclass
class Failing:
    """A retriever that fails as told."""

    give: Callable[[], Any]
    name: str = "failing"

    def retrieve(self, query: str, limit: int) -> Any:
        return self.give()


async def unreachable() -> list[Hit]:
    raise ConnectionError("refused")


@pytest.mark.parametrize("give", [lambda: failing("q"), unreachable, lambda: 5, lambda: (failing("q") for _ in "a")])
def test_a_retriever_that_fails_costs_its_own_ranking_alone(give: Callable[[], Any]) -> None:
    provider = LocalProvider("talks", [Failing(give), Bm25Retriever(PASSAGES)])
    run = search_with_plan("q", provider, plan_of("q", candidate("bees")))
    assert ids(run.evidence) == ("bees",)
    assert [(gap.what, gap.instead) for gap in run.gaps] == [
        ("talks: rule_based:standalone", "its other results were used")
    ]


def test_retrievers_of_one_name_are_ranked_each_by_itself() -> None:
    provider = LocalProvider("talks", [Bm25Retriever(PASSAGES[:1]), Bm25Retriever(PASSAGES[1:])])
    run = search_with_plan("q", provider, [candidate("the kiln and all bees")])
    assert [(ranking.channel, ranking.results[0].passage.id) for ranking in run.lists] == [
        ("bm25", "kiln"),
        ("bm25 2", "bees"),
    ]
