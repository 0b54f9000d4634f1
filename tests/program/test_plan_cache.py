"""Keeping plans: what counts as the same query, and what is never mixed up."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from queryplan.errors import ConfigError
from queryplan.program.plan_cache import PlanCache, plan_key
from queryplan.signatures.types import Turn

FACT = {"is_relevant": 0.9, "complexity": "simple", "intent": "factual", "is_follow_up": 0.1}
SPLIT = {"needs_decomposition": {"true": 0.01, "false": 0.99}}
TURNS = [{"role": "user", "content": "What is sleep debt?"}]


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_second_time_a_plan_is_kept_costs_nothing_and_says_who_decided_first(bench: Any) -> None:
    lm, cache = bench.lm(FACT), PlanCache()
    planner = bench.planner(lm, SPLIT, cache=cache)
    first = planner.plan("Who is Nell?")
    asked = len(lm.decider.requests)
    again = planner.plan("  Who\tis  Nell? ")
    assert len(lm.decider.requests) == asked
    assert again.query == "  Who\tis  Nell? "
    assert {d.decided_by for d in again.trace.decisions} == {"cache"}
    assert "first decided by lm" in again.trace.decisions[-1].reason
    assert (again.trace.requests, again.trace.tokens, again.trace.rounds) == (0, 0, 0)
    assert again.trace.notes[-1] == "plan cache: 1 of 2 answered"
    assert cache.hit_rate == 0.5
    same = {"query", "trace"}
    assert again.model_dump(exclude=same) == first.model_dump(exclude=same)


async def _twice(planner: Any) -> Any:
    await planner.aplan("Who is Nell?")
    return await planner.aplan("Who is Nell?")


def test_asyncio_shares_the_cache(bench: Any) -> None:
    import asyncio

    planner = bench.planner(bench.lm(FACT), SPLIT, cache=PlanCache())
    assert {d.decided_by for d in asyncio.run(_twice(planner)).trace.decisions} == {"cache"}


def test_another_conversation_session_spelling_or_mode_is_planned_anew(bench: Any) -> None:
    cache = PlanCache()
    planner = bench.planner(bench.lm(FACT), SPLIT, cache=cache)
    planner.plan("Who is Nell?")
    planner.plan("Who is Nell?", TURNS)
    planner.plan("Who is Nell?", None, {"active_entity": "Nell"})
    planner.plan("who is nell?")
    planner.in_mode("best-effort").plan("Who is Nell?")
    planner.plan_graph = True
    planner.plan("Who is Nell?")
    assert cache.hits == 0


def test_programs_and_domains_that_share_a_cache_share_no_plan(bench: Any, card: Any) -> None:
    cache = PlanCache()
    bench.planner(bench.lm(FACT), SPLIT, cache=cache).plan("Who is Nell?")
    other = card.model_copy(update={"description": card.description + " More."})
    bench.planner(bench.lm(FACT), SPLIT, card=other, cache=cache).plan("Who is Nell?")
    compiled = bench.planner(bench.lm(FACT), SPLIT, cache=cache)
    compiled.stage_predictors["relevance"].signature = compiled.specs["relevance"].signature.with_instructions("New.")
    compiled.plan("Who is Nell?")
    assert (cache.hits, cache.asked) == (0, 3)


def test_what_could_not_be_done_is_not_kept(bench: Any) -> None:
    cache = PlanCache()
    planner = bench.planner(bench.lm(error=RuntimeError("away")), cache=cache)
    assert planner.plan("Who is Nell?").degraded
    planner.plan("Who is Nell?")
    assert cache.hits == 0


def test_plans_grow_old_and_the_least_used_goes_first(bench: Any, card: Any) -> None:
    clock = Clock()
    cache = PlanCache(plans=2, seconds=60, clock=clock)
    planner = bench.planner(bench.lm(FACT), SPLIT, cache=cache)
    for query in ("Who is Nell?", "Who is Yusuf?", "Who is Priya?", "Who is Nell?"):
        planner.plan(query)
    assert cache.hits == 0
    planner.plan("Who is Nell?")
    assert cache.hits == 1
    clock.now += 61
    planner.plan("Who is Nell?")
    assert cache.hits == 1


def test_a_file_outlives_the_process_and_is_bounded_alike(bench: Any, tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "kept" / "plans.sqlite"
    first = PlanCache(plans=2, seconds=60, file=file, clock=clock)
    planner = bench.planner(bench.lm(FACT), SPLIT, cache=first)
    for query in ("Who is Nell?", "Who is Yusuf?", "Who is Priya?"):
        planner.plan(query)
        clock.now += 1
    first.close()
    planner.cache = again = PlanCache(plans=2, seconds=60, file=file, clock=clock)
    assert {d.decided_by for d in planner.plan("Who is Priya?").trace.decisions} == {"cache"}
    planner.plan("Who is Nell?")
    assert (again.hits, again.asked) == (1, 2)
    clock.now += 61
    again.close()
    planner.cache = late = PlanCache(plans=2, seconds=60, file=file, clock=clock)
    planner.plan("Who is Priya?")
    assert late.hits == 0
    late.close()


def test_a_damaged_entry_is_as_none(bench: Any, tmp_path: Path) -> None:
    import sqlite3

    file = tmp_path / "plans.sqlite"
    cache = PlanCache(file=file)
    planner = bench.planner(bench.lm(FACT), SPLIT, cache=cache)
    planner.plan("Who is Nell?")
    cache.close()
    with sqlite3.connect(file) as db:
        db.execute("UPDATE plans SET plan = '{'")
    db.close()
    planner.cache = PlanCache(file=file)
    assert {d.decided_by for d in planner.plan("Who is Nell?").trace.decisions} == {"lm", "rule"}
    planner.cache.close()


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database at all, only some words" * 50)
    with pytest.raises(ConfigError, match=r"notes\.txt cannot be opened"):
        PlanCache(file=tmp_path / "notes.txt")
    with pytest.raises(ConfigError, match="room and time"):
        PlanCache(plans=0)


def test_many_threads_lose_no_count(bench: Any) -> None:
    cache = PlanCache()
    planner = bench.planner(None, None, cache=cache)
    planner.plan("hi")
    threads = [threading.Thread(target=lambda: [planner.plan("hi") for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (cache.hits, cache.asked) == (400, 401)


def test_the_key_tells_who_said_what_and_folds_what_looks_alike() -> None:
    said = (Turn(role="user", content="a"),)
    assert plan_key("ｗｈｏ", said, None, "v") == plan_key("who ", said, {}, "v")
    assert plan_key("who", said, None, "v") != plan_key("who", (Turn(role="assistant", content="a"),), None, "v")
    assert plan_key("who", (), None, "v") != plan_key("who", (), None, "w")
    assert plan_key("\ud800", (), {"x": {1}}, "v")
