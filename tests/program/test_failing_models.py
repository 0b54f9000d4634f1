"""Models that are slow, dead, write rubbish or cannot be opened: there is a plan, and it says so."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from queryplan.errors import ConfigError
from queryplan.program.plan import QueryPlan

from .planning import FACT, MODERATE, TURNS, decided, same

# --- models that fail


@pytest.fixture
def both() -> Callable[..., QueryPlan]:
    """Plan with ``plan`` and ``aplan``; they must agree."""

    def run(make: Callable[[], Any], *args: Any, **kwargs: Any) -> QueryPlan:
        direct = make().plan(*args, **kwargs)
        awaited = asyncio.run(make().aplan(*args, **kwargs))
        assert same(direct) == same(awaited)
        return direct

    return run


def test_sync_and_async_give_the_same_plan(bench: Any, both: Callable[..., QueryPlan]) -> None:
    answers = {**MODERATE, "is_follow_up": 0.9}
    plan = both(lambda: bench.planner(bench.lm(answers)), "why, and who?", TURNS, {"active_entity": "Priya"})
    assert len(plan.sub_queries) == 2


def test_forward_returns_the_plan_as_a_prediction(bench: Any) -> None:
    planner = bench.planner(bench.lm(FACT))
    assert planner(query="Who is Nell?").plan.intent == "factual"
    assert asyncio.run(planner.acall(query="Who is Nell?")).plan.intent == "factual"


@pytest.mark.parametrize("where", ["sync", "async"])
def test_a_deadline_is_honoured_with_a_degraded_plan(bench: Any, where: str) -> None:
    lm = bench.lm({**MODERATE, "is_follow_up": 0.9}, delay=5.0)
    planner = bench.planner(lm)
    if where == "sync":
        plan = planner.plan("why, and who?", TURNS, deadline_s=0.2)
    else:
        plan = asyncio.run(planner.aplan("why, and who?", TURNS, deadline_s=0.2))
    assert 200 <= plan.trace.milliseconds < 1000
    assert {d.what: d.why for d in plan.degraded} == dict.fromkeys(
        ("follow_up", "relevance", "complexity"), "the deadline passed"
    )
    assert plan.retrieval_strategy.use_rag


def test_what_came_before_the_deadline_is_used(bench: Any) -> None:
    lm = bench.lm({**FACT, "is_relevant": 0.1, "rejection_kind": "news"})
    lm.writer.delay = 5.0
    plan = bench.planner(lm).plan("What happened today?", deadline_s=0.3)
    assert plan.rejection_kind == "news"
    assert plan.trace.milliseconds < 1000


def test_a_deadline_that_passed_before_it_began_asks_nothing(bench: Any) -> None:
    lm = bench.lm(FACT)
    plan = bench.planner(lm).plan("Who is Nell?", deadline_s=0)
    assert lm.decider.requests == []
    assert plan.trace.rounds == 0
    assert [d.why for d in plan.degraded] == ["the deadline passed"] * 2


def test_a_caller_who_stops_waiting_leaves_no_request_behind(bench: Any) -> None:
    lm = bench.lm(FACT, delay=5.0)
    planner = bench.planner(lm)

    async def impatient() -> int:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(planner.aplan("Who is Nell?"), 0.1)
        await asyncio.sleep(0.01)
        return len(asyncio.all_tasks())

    assert asyncio.run(impatient()) == 1
    assert lm.decider.cancelled == 2


def test_a_dead_model_is_named_and_heads_take_over(bench: Any, both: Callable[..., QueryPlan]) -> None:
    from queryplan.errors import LMError

    def make() -> Any:
        lm = bench.lm(error=LMError("the server at 127.0.0.1 does not answer; start it"))
        return bench.planner(lm, {"is_relevant": {"true": 0.9, "false": 0.1}})

    plan = both(make, "Who is Nell?", TURNS)
    assert {d.what: d.why for d in plan.degraded} == dict.fromkeys(
        ("follow_up", "relevance", "complexity"), "the server at 127.0.0.1 does not answer; start it"
    )
    assert next(d for d in plan.degraded if d.what == "relevance").instead == "a learned head decided"
    assert decided(plan)["relevance"] == "head"


def test_a_foreign_error_does_not_show_its_message(bench: Any) -> None:
    plan = bench.planner(bench.lm(error=RuntimeError("key sk-secret refused"))).plan("Who is Nell?")
    assert plan.degraded
    assert "sk-secret" not in plan.model_dump_json()
    assert "RuntimeError" in plan.degraded[0].why


def test_a_model_that_writes_rubbish_leaves_a_plan(bench: Any, both: Callable[..., QueryPlan]) -> None:
    def make() -> Any:
        return bench.planner(bench.lm({**MODERATE, "is_follow_up": 0.9}, {}))

    plan = both(make, "why, and who?", TURNS)
    assert {d.what for d in plan.degraded} == {"rewrite", "decompose"}
    assert plan.standalone_query == "why, and who?"
    assert plan.sub_queries == ()


def test_a_decider_that_answers_rubbish_leaves_a_plan(bench: Any, both: Callable[..., QueryPlan]) -> None:
    def make() -> Any:
        lm = bench.lm()
        lm.decider._answer = lambda name, question: {"nonsense": float("nan")}
        return bench.planner(lm)

    plan = both(make, "Who is Nell?")
    assert [d.what for d in plan.degraded] == ["relevance", "complexity"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConfigError("OPENAI_API_KEY is missing; set it"), "OPENAI_API_KEY is missing; set it"),
        (OSError("secret path"), "the language model could not be opened (OSError)"),
    ],
)
def test_a_model_that_cannot_be_opened_is_named_and_not_tried_again(bench: Any, error: Exception, said: str) -> None:
    tried: list[int] = []

    def opener() -> None:
        tried.append(1)
        raise error

    planner = bench.planner(opener, {"is_relevant": {"true": 0.9, "false": 0.1}})
    for _ in range(2):
        plan = planner.plan("Who is Nell?")
        assert {d.what: d.why for d in plan.degraded} == dict.fromkeys(("relevance", "complexity"), said)
    assert tried == [1]


def test_warming_a_model_that_cannot_be_opened_raises(bench: Any) -> None:
    def opener() -> None:
        raise ConfigError("no such model")

    with pytest.raises(ConfigError):
        bench.planner(opener).warm()


def test_threads_that_plan_first_open_one_model(bench: Any) -> None:
    opened: list[int] = []
    lm = bench.lm(FACT)

    def opener() -> Any:
        opened.append(1)
        threading.Event().wait(0.05)
        return lm

    planner = bench.planner(opener)
    plans: list[QueryPlan] = []
    threads = [threading.Thread(target=lambda: plans.append(planner.plan("Who is Nell?"))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == [1]
    assert len({p.model_dump_json(exclude={"trace"}) for p in plans}) == 1
    assert all(p.trace.requests == 6 for p in plans), "each plan counts its own requests"


def test_another_model_can_be_given(bench: Any) -> None:
    planner = bench.planner(bench.lm({**FACT, "is_relevant": 0.0}))
    assert not planner.plan("Who is Nell?").is_relevant
    assert planner.with_lm(bench.lm(FACT)).plan("Who is Nell?").is_relevant
    assert planner.with_lm(None).plan("Who is Nell?").degraded[0].why == "no language model was given"
