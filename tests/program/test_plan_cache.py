"""Keeping plans: what counts as the same query, and what is never mixed up."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.errors import ConfigError
from queryplan.program.context import clean_input
from queryplan.program.plan import NO_MODEL
from queryplan.program.plan_cache import PlanCache, plan_key
from queryplan.program.planner import QueryPlanner
from queryplan.program.retrieval.candidates.candidates import CandidateConfig
from queryplan.program.settle import Combination
from queryplan.program.stages import REWRITTEN, SPLIT
from queryplan.program.written import NO_CUT, NO_EDIT
from queryplan.signatures.types import Turn

FACT = {"is_relevant": 0.9, "complexity": "simple", "intent": "factual", "is_follow_up": 0.1}
WHOLE = {"needs_decomposition": {"true": 0.01, "false": 0.99}}
TURNS = [{"role": "user", "content": "What is sleep debt?"}]


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_second_time_a_plan_is_kept_costs_nothing_and_says_who_decided_first(bench: Any) -> None:
    lm, cache = bench.lm(FACT), PlanCache()
    planner = bench.planner(lm, WHOLE, cache=cache)
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

    planner = bench.planner(bench.lm(FACT), WHOLE, cache=PlanCache())
    assert {d.decided_by for d in asyncio.run(_twice(planner)).trace.decisions} == {"cache"}


def test_another_conversation_session_spelling_or_mode_is_planned_anew(bench: Any) -> None:
    cache = PlanCache()
    planner = bench.planner(bench.lm(FACT), WHOLE, cache=cache)
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
    bench.planner(bench.lm(FACT), WHOLE, cache=cache).plan("Who is Nell?")
    other = card.model_copy(update={"description": card.description + " More."})
    bench.planner(bench.lm(FACT), WHOLE, card=other, cache=cache).plan("Who is Nell?")
    compiled = bench.planner(bench.lm(FACT), WHOLE, cache=cache)
    compiled.stage_predictors["relevance"].signature = compiled.specs["relevance"].signature.with_instructions("New.")
    compiled.plan("Who is Nell?")
    assert (cache.hits, cache.asked) == (0, 3)


@pytest.mark.parametrize("session", [{"timezone": "Asia/Tokyo"}, {"now": None}, {"now": "soon"}, {}])
def test_no_plan_of_yesterday_is_kept_for_the_one_who_asks_today(bench: Any, session: dict[str, Any]) -> None:
    zone = ZoneInfo("Asia/Tokyo") if "timezone" in session else UTC
    before = datetime(2026, 3, 10, 23, 50, tzinfo=zone).astimezone(UTC)
    times = iter([before, before + timedelta(minutes=20)])
    card = load_card(domain_folder("engineering"))
    planner = bench.planner(card=card, cache=PlanCache(), now=lambda: next(times))
    keys = {planner._key(clean_input("merged today?", (), session, card.history), None) for _ in range(2)}
    assert len(keys) == 2


def test_planners_with_other_settings_of_candidates_or_other_notes_share_no_plan(bench: Any) -> None:
    cache = PlanCache()
    for more in ({}, {"candidates": CandidateConfig(max_candidates=1)}, {"notes": ("another",)}):
        bench.planner(bench.lm(FACT), WHOLE, cache=cache, **more).plan("Who is Nell?")
    assert (cache.hits, cache.asked) == (0, 3)


def test_a_session_that_cannot_be_written_down_is_planned_each_time(bench: Any) -> None:
    planner = bench.planner(bench.lm(FACT), WHOLE, cache=PlanCache())
    deep: list[Any] = []
    deep.append(deep)
    for session in ({1: "a", "b": 2}, {"a": {1: 2, "b": 3}}, {("a",): 1}, {"deep": deep}):
        for _ in range(2):
            assert planner.plan("Who is Nell?", None, session).trace.decisions[0].decided_by == "rule"


def test_what_was_left_out_of_a_conversation_is_said_though_its_plan_is_kept(bench: Any) -> None:
    planner = bench.planner(bench.lm(FACT), WHOLE, cache=PlanCache())
    for _ in range(2):
        assert not planner.plan("Who is Nell?", TURNS).degraded
    lacking = planner.plan("Who is Nell?", [{"role": "bot", "content": "Be brief."}, *TURNS])
    assert [gap.what for gap in lacking.degraded] == ["history"]
    assert planner.cache.hits == 1


def test_what_could_not_be_done_is_not_kept(bench: Any) -> None:
    cache = PlanCache()
    planner = bench.planner(bench.lm(error=RuntimeError("away")), cache=cache)
    assert planner.plan("Who is Nell?").degraded
    planner.plan("Who is Nell?")
    assert cache.hits == 0


def test_what_is_never_done_without_a_model_is_kept(card: Any, trained: Any) -> None:
    planner = QueryPlanner(card, heads=trained, cache=PlanCache())
    made, again = (planner.plan("compare what Ilse and Takeda say about sleep and about work") for _ in range(2))
    assert {note.why for note in made.degraded} == {NO_MODEL}
    assert (again.degraded, again.sub_queries) == (made.degraded, made.sub_queries)
    assert planner.cache is not None
    assert planner.cache.hits == 1


@pytest.mark.parametrize(
    ("query", "session", "lacking"),
    [
        ("what did Priya say last week?", None, "date:last week"),
        ("Who is Nell?", {"actve_entity": "Nell"}, "session"),
        ("Who is Nell?", {"paradigm": "nonsense"}, "session.paradigm"),
        ("1) what is sleep? 2) who is Nell? 3) what is REM? 4) who is Priya? 5) what is jazz?", None, "decompose"),
    ],
)
def test_what_no_model_could_change_is_kept_with_what_it_lacks(
    bench: Any, query: str, session: dict[str, Any] | None, lacking: str
) -> None:
    planner = bench.planner(bench.lm({**FACT, "needs_decomposition": 0.9 * query.startswith("1)")}), cache=PlanCache())
    made, again = (planner.plan(query, None, session) for _ in range(2))
    assert lacking in {gap.what for gap in made.degraded}
    assert (again.degraded, planner.cache.hits) == (made.degraded, 1)


@pytest.mark.parametrize(
    ("query", "said", "why"),
    [
        ("compare everything", None, NO_CUT),
        ("why is that?", [*TURNS, {"role": "assistant", "content": "Much."}], NO_EDIT),
    ],
)
def test_what_heads_alone_cannot_write_is_kept_as_it_is(
    card: Any, trained: Any, monkeypatch: pytest.MonkeyPatch, query: str, said: Any, why: str
) -> None:
    monkeypatch.setattr("queryplan.program.written.written_by_head", lambda *given: None)
    planner = QueryPlanner(card, heads=trained, cache=PlanCache())
    alone = Combination(lm_weight=0, head_weight=1, bias={})
    planner.combinations.update({SPLIT: alone, REWRITTEN: alone})
    made, again = (planner.plan(query, said) for _ in range(2))
    assert why in {gap.why for gap in made.degraded}
    assert {d.decided_by for d in again.trace.decisions} == {"cache"}


@pytest.mark.parametrize("has_graph", [True, False])
def test_a_program_that_plans_no_graph_steps_has_none_the_next_time(bench: Any, card: Any, has_graph: bool) -> None:
    card = card if has_graph else card.model_copy(update={"graph": None})
    planner = bench.planner(None, None, card=card, cache=PlanCache())
    planner.plan_graph = True
    made, again = (planner.plan("Who is Nell?") for _ in range(2))
    assert "graph" in {gap.what for gap in made.degraded}
    assert {d.decided_by for d in again.trace.decisions} == {"cache"}


def test_a_plan_that_a_deadline_cut_short_is_made_again(bench: Any) -> None:
    planner = bench.planner(bench.lm(FACT), WHOLE, cache=PlanCache())
    assert planner.plan("Who is Nell?", deadline_s=0).degraded
    assert not planner.plan("Who is Nell?").degraded
    assert planner.cache.hits == 0


def test_a_plan_with_gaps_is_kept_for_its_day_alone(bench: Any) -> None:
    day = [10]
    card, cache = load_card(domain_folder("engineering")), PlanCache()
    planner = bench.planner(card=card, cache=cache, now=lambda: datetime(2026, 3, day[0], tzinfo=UTC))
    hits = list[int]()
    for day[0] in (10, 10, 11):
        made = planner.plan("issues that aren't closed since yesterday")
        hits.append(cache.hits)
    assert any(gap.why != NO_MODEL for gap in made.degraded)
    assert hits == [0, 1, 1]


def test_plans_grow_old_and_the_least_used_goes_first(bench: Any, card: Any) -> None:
    clock = Clock()
    cache = PlanCache(plans=2, seconds=60, clock=clock)
    planner = bench.planner(bench.lm(FACT), WHOLE, cache=cache)
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
    planner = bench.planner(bench.lm(FACT), WHOLE, cache=first)
    for query in ("Who is Nell?", "Who is Yusuf?", "Who is Priya?"):
        planner.plan(query)
        clock.now += 1
    first.close()
    planner.cache = again = PlanCache(plans=2, seconds=60, file=file, clock=clock)
    assert {d.decided_by for d in planner.plan("Who is Priya?").trace.decisions} == {"cache"}
    planner.plan("Who is Nell?")
    assert (again.hits, again.asked) == (1, 2)
    clock.now += 56
    again.close()
    planner.cache = kept = PlanCache(plans=2, seconds=60, file=file, clock=clock)
    planner.plan("Who is Priya?")
    clock.now += 10
    planner.plan("Who is Priya?")
    assert (kept.hits, kept.asked) == (1, 2), "a plan is as old as when it was made, whoever read it since"
    clock.now += 61
    kept.close()
    planner.cache = late = PlanCache(plans=2, seconds=60, file=file, clock=clock)
    planner.plan("Who is Priya?")
    assert late.hits == 0
    late.close()


@pytest.mark.parametrize("damage", ["plan = '{'", "plan = x'00'", "made = 'yesterday'"])
def test_a_damaged_entry_is_as_none(bench: Any, tmp_path: Path, damage: str) -> None:
    file = tmp_path / "plans.sqlite"
    cache = PlanCache(file=file)
    planner = bench.planner(bench.lm(FACT), WHOLE, cache=cache)
    planner.plan("Who is Nell?")
    cache.close()
    with sqlite3.connect(file) as db:
        db.execute(f"UPDATE plans SET {damage}")
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


@pytest.mark.parametrize("table", ["plans (id INTEGER, plan TEXT)", "runs (id INTEGER)"])
def test_a_database_of_somebody_elses_is_refused_and_left_as_it_is(tmp_path: Path, table: str) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"CREATE TABLE {table}")
    before = file.read_bytes()
    with pytest.raises(ConfigError, match="something else than plans"):
        PlanCache(file=file)
    assert file.read_bytes() == before


def test_a_file_that_another_process_holds_costs_no_plan_its_time(bench: Any, tmp_path: Path) -> None:
    cache = PlanCache(file=str(tmp_path / "plans.sqlite"))
    planner = bench.planner(bench.lm(FACT), WHOLE, cache=cache)
    with closing(sqlite3.connect(tmp_path / "plans.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        began = time.perf_counter()
        planner.plan("Who is Nell?")
        assert time.perf_counter() - began < 1
    planner.plan("Who is Yusuf?")
    cache.close()
    planner.cache = again = PlanCache(file=tmp_path / "plans.sqlite")
    planner.plan("Who is Yusuf?")
    assert again.hits == 1
    again.close()


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
    assert plan_key("caf\u00e9", said, None, "v") == plan_key("cafe\u0301 ", said, {}, "v")
    assert plan_key("what is 2⁵", said, None, "v") != plan_key("what is 25", said, {}, "v")
    assert plan_key("who", said, None, "v") != plan_key("who", (Turn(role="assistant", content="a"),), None, "v")
    assert plan_key("who", (), None, "v") != plan_key("who", (), None, "w")
    assert plan_key("\ud800", (), {"x": {1}}, "v")
