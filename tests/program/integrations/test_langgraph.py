"""The retrieval graph that a plan steers."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import DomainCard, domain_folder, load_card
from queryplan.program.integrations.langgraph import RetrievalState, build_graph, route_of
from queryplan.program.plan import QueryPlan, RetrievalStrategy
from queryplan.program.planner import QueryPlanner
from queryplan.program.retrieval.execute import RunSettings
from queryplan.program.retrieval.feature_flag import PlannerFlag
from queryplan.program.retrieval.results import Evidence, ids
from queryplan.program.retrieval.run_result import RunResult
from queryplan.program.retrieval.speaking import Speakers, rejection
from queryplan.program.retrieval.stores import Stores, open_stores
from queryplan.signatures.types import SourceQuery, SubQuery

pytest.importorskip("langgraph", reason="the extra `langgraph` is not installed")

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

NOTHING = RetrievalStrategy(use_rag=False, use_kg=False)
SEARCH = RetrievalStrategy(use_rag=True, use_kg=True, kg_query_type="entity_centric")


def plan_of(query: str, **more: Any) -> QueryPlan:
    made: dict[str, Any] = {
        "is_follow_up": False,
        "is_relevant": True,
        "complexity": "simple",
        "intent": "factual",
        "needs_decomposition": False,
        "retrieval_strategy": SEARCH,
    }
    return QueryPlan(query=query, standalone_query=query, **{**made, **more})


OUT = plan_of("2+2", is_relevant=False, intent="out_of_scope", rejection_kind="math", retrieval_strategy=NOTHING)
HELLO = plan_of("hello", intent="greeting", retrieval_strategy=NOTHING.model_copy(update={"direct_answer": True}))
SIMPLE = plan_of("what is the two-minute doorway?")
COMPLEX = plan_of(
    "who made the doorway and why",
    complexity="complex",
    intent="multi_part",
    needs_decomposition=True,
    sub_queries=(SubQuery(id=1, text="who made the two-minute doorway"), SubQuery(id=2, text="why the doorway")),
)
RECORDS = plan_of(
    "failed pipelines of atlas",
    source_queries=(SourceQuery(id="p_query", query_string="p", source="gitlab", filters={"statuses": ("failed",)}),),
)
WHOLE = plan_of("what did I write?", retrieval_strategy=SEARCH.model_copy(update={"retrieval_method": "direct"}))


@dataclass
class Planner:
    """Gives one plan and notes what it was asked."""

    made: QueryPlan
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    called: threading.Event = field(default_factory=threading.Event)

    def plan(self, query: str, history: Any = None, session: Any = None, deadline_s: float | None = None) -> QueryPlan:
        self.asked.append((query, history, session))
        self.called.set()
        return self.made

    async def aplan(
        self, query: str, history: Any = None, session: Any = None, deadline_s: float | None = None
    ) -> QueryPlan:
        return self.plan(query, history, session)


@pytest.fixture(scope="module")
def stores() -> Stores:
    return open_stores("podcast")


@pytest.mark.parametrize(
    ("plan", "route"),
    [(OUT, "reject"), (HELLO, "direct"), (SIMPLE, "simple_retrieval"), (COMPLEX, "complex_retrieval")],
)
def test_the_plan_decides_the_way(plan: QueryPlan, route: str, stores: Stores) -> None:
    assert route_of(plan) == route
    state = build_graph(Planner(plan), stores).invoke({"query": plan.query})
    assert state["route"] == route
    assert state["answer"]
    assert bool(state.get("evidence")) is route.endswith("retrieval")


def test_history_and_session_reach_the_planner(stores: Stores) -> None:
    planner = Planner(OUT)
    history = [{"role": "user", "content": "hi"}]
    build_graph(planner, stores).invoke({"query": "2+2", "history": history, "session": {"active_entity": "Nell"}})
    assert planner.asked == [("2+2", history, {"active_entity": "Nell"})]


@pytest.mark.parametrize("plan", [SIMPLE, COMPLEX], ids=["simple", "complex"])
def test_the_graph_can_be_awaited(plan: QueryPlan, stores: Stores) -> None:
    graph = build_graph(Planner(plan), stores)
    awaited = asyncio.run(graph.ainvoke({"query": plan.query}))
    assert awaited["answer"] == graph.invoke({"query": plan.query})["answer"]


def test_reranking_comes_between_retrieval_and_synthesis(stores: Stores) -> None:
    def backwards(plan: QueryPlan | None, evidence: Sequence[Evidence]) -> list[Evidence]:
        return list(reversed(evidence))[:2]

    speakers = Speakers(synthesise=lambda run: " ".join(item.id for item in run.evidence))
    graph = build_graph(Planner(SIMPLE), stores, rerank=backwards, settings=RunSettings(speakers=speakers))
    state = graph.invoke({"query": SIMPLE.query})
    assert len(state["evidence"]) == 2
    assert state["answer"] == " ".join(item.id for item in state["evidence"])


def test_the_synthesis_is_called_once(stores: Stores) -> None:
    calls: list[RunResult] = []

    def write(run: RunResult) -> str:
        calls.append(run)
        return "written"

    graph = build_graph(Planner(COMPLEX), stores, settings=RunSettings(speakers=Speakers(synthesise=write)))
    assert graph.invoke({"query": COMPLEX.query})["answer"] == "written"
    assert len(calls) == 1


def test_a_synthesis_that_fails_quotes_the_evidence(stores: Stores) -> None:
    def fail(run: RunResult) -> str:
        raise RuntimeError("no model")

    graph = build_graph(Planner(SIMPLE), stores, settings=RunSettings(speakers=Speakers(synthesise=fail)))
    state = graph.invoke({"query": SIMPLE.query})
    assert "transcripts" in state["answer"]
    assert state["run"].gaps[-1].what == "the synthesis"


@pytest.mark.parametrize(("domain", "plan"), [("podcast", COMPLEX), ("engineering", RECORDS), ("journal", WHOLE)])
def test_a_run_that_was_interrupted_goes_on_from_its_checkpoint(domain: str, plan: QueryPlan) -> None:
    seen: list[RunResult] = []

    def write(run: RunResult) -> str:
        seen.append(run)
        return "written"

    mine = RunSettings(speakers=Speakers(synthesise=write))
    graph = build_graph(Planner(plan), open_stores(domain), settings=mine, checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    graph.invoke({"query": plan.query}, thread, interrupt_before=["synthesise"])
    assert graph.invoke(None, thread)["answer"] == "written"
    straight = build_graph(Planner(plan), open_stores(domain)).invoke({"query": plan.query})["run"]
    assert ids(seen[0].evidence) == ids(straight.evidence) != ()
    assert seen[0].evidence[0].passage.fields.keys() == straight.evidence[0].passage.fields.keys()
    assert len(seen[0].source_answers) == len(straight.source_answers)


def test_a_turn_keeps_nothing_of_the_turn_before_it_in_the_thread(stores: Stores) -> None:
    planner = Planner(SIMPLE)
    flag = PlannerFlag(mode="on", fraction=0.5)
    graph = build_graph(planner, stores, checkpointer=InMemorySaver(), flag=flag, without_plan=lambda state: {})
    keys = {flag.mode_for(f"user-{n}"): f"user-{n}" for n in range(20)}
    thread = {"configurable": {"thread_id": "1"}}
    assert graph.invoke({"query": SIMPLE.query, "key": keys["on"]}, thread)["evidence"]
    planner.made = OUT
    rejected = graph.invoke({"query": OUT.query, "key": keys["on"]}, thread)
    assert (rejected["query_plan"], rejected["run"], len(rejected["evidence"])) == (OUT, None, 0)
    old = graph.invoke({"query": OUT.query, "key": keys["off"]}, thread)
    assert (old["query_plan"], old["run"], len(old["evidence"])) == (None, None, 0)


def test_the_graph_is_a_node_of_a_graph_with_a_checkpointer(stores: Stores) -> None:
    outer = StateGraph(RetrievalState)
    outer.add_node("rag", build_graph(Planner(SIMPLE), stores))
    outer.add_edge(START, "rag")
    outer.add_edge("rag", END)
    graph: Any = outer.compile(checkpointer=InMemorySaver())
    state = graph.invoke({"query": SIMPLE.query}, {"configurable": {"thread_id": "1"}})
    assert state["route"] == "simple_retrieval"


def test_rejections_are_ones_own_where_given(stores: Stores) -> None:
    mine = RunSettings(speakers=Speakers(reject=lambda card, plan: f"not for {card.name}"))
    assert build_graph(Planner(OUT), stores, settings=mine).invoke({"query": "2+2"})["answer"] == "not for podcast"


def test_a_rejection_that_fails_is_the_cards_and_is_logged(stores: Stores, caplog: pytest.LogCaptureFixture) -> None:
    def fail(card: DomainCard, plan: QueryPlan) -> str:
        raise ValueError("no words")

    settings = RunSettings(speakers=Speakers(reject=fail))
    answer = build_graph(Planner(OUT), stores, settings=settings).invoke({"query": "2+2"})["answer"]
    assert answer == rejection(stores.card, OUT)
    assert "the rejection: it failed (ValueError: no words)" in caplog.text


def test_with_the_flag_off_no_planner_is_called(stores: Stores) -> None:
    planner = Planner(SIMPLE)
    state = build_graph(planner, stores, flag=PlannerFlag(mode="off")).invoke({"query": "the doorway"})
    assert (state["route"], planner.asked) == ("without_plan", [])
    assert state["evidence"]
    assert state["evidence"][0].query_variant in ("as typed", "key terms", "first half", "second half")


def test_the_old_path_is_a_node_of_ones_own(stores: Stores) -> None:
    graph = build_graph(
        Planner(SIMPLE), stores, flag=PlannerFlag(), without_plan=lambda state: {"answer": f"old {state['query']}"}
    )
    assert graph.invoke({"query": "q"})["answer"] == "old q"


def test_in_the_shadow_the_old_path_answers_and_the_plan_is_reported(stores: Stores) -> None:
    planner, reported, done = Planner(SIMPLE), [], threading.Event()

    def report(plan: QueryPlan, key: str) -> None:
        reported.append((plan, key))
        done.set()

    graph = build_graph(planner, stores, flag=PlannerFlag(mode="shadow"), report=report)
    assert graph.invoke({"query": "q", "key": "user-1"})["route"] == "without_plan"
    assert done.wait(5)
    assert reported == [(SIMPLE, "user-1")]


def test_in_the_shadow_no_word_of_a_users_is_logged(stores: Stores, caplog: pytest.LogCaptureFixture) -> None:
    secret = "is Zebulon ill?"
    planner = Planner(SIMPLE.model_copy(update={"query": secret}))
    with caplog.at_level(logging.INFO, logger="queryplan"):
        build_graph(planner, stores, flag=PlannerFlag(mode="shadow")).invoke({"query": secret})
        until = time.monotonic() + 5
        while "shadow" not in caplog.text and time.monotonic() < until:
            time.sleep(0.01)
    assert "shadow" in caplog.text
    assert "Zebulon" not in caplog.text


def test_a_fraction_of_keys_takes_the_new_way(stores: Stores) -> None:
    graph = build_graph(Planner(OUT), stores, flag=PlannerFlag(mode="on", fraction=0.5))
    routes = {graph.invoke({"query": "q", "key": f"user-{n}"})["route"] for n in range(20)}
    assert routes == {"reject", "without_plan"}


def test_the_example_runs(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("langgraph_agent", root / "docs" / "examples" / "langgraph_agent.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Rules alone decide: training the heads would take this test longer than all others together.
    monkeypatch.setattr(module, "uncompiled_planner", lambda domain: QueryPlanner(load_card(domain_folder(domain))))
    monkeypatch.setattr(sys, "argv", ["langgraph_agent.py", "hello", "what is the two-minute doorway?"])
    module.main()
    said = capsys.readouterr().out
    assert "went by: direct" in said
    assert "transcripts 1[2]" in said


class Broken:
    """A planner that fails."""

    def plan(self, *given: Any, **more: Any) -> QueryPlan:
        raise ConnectionError("refused")

    async def aplan(self, *given: Any, **more: Any) -> QueryPlan:
        raise ConnectionError("refused")


def test_the_old_path_answers_where_planning_fails(stores: Stores) -> None:
    graph = build_graph(Broken(), stores)
    for state in (graph.invoke({"query": "doorway"}), asyncio.run(graph.ainvoke({"query": "doorway"}))):
        assert state["route"] == "without_plan"
        assert state["evidence"]


def failing(*given: Any) -> Any:
    raise ConnectionError("refused")


def test_a_rerank_that_fails_keeps_the_order_and_is_named(stores: Stores) -> None:
    state = build_graph(Planner(SIMPLE), stores, rerank=failing).invoke({"query": SIMPLE.query})
    assert ids(state["evidence"]) == ids(build_graph(Planner(SIMPLE), stores).invoke({"query": "q"})["evidence"])
    assert [gap.why for gap in state["run"].gaps if gap.what == "reranking"] == ["ConnectionError: refused"]


@pytest.mark.parametrize(("plan", "name"), [(OUT, "reject"), (HELLO, "answer")])
def test_a_text_that_is_not_written_is_the_cards(
    plan: QueryPlan, name: str, stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    settings = RunSettings(speakers=replace(Speakers(), **{name: failing}))
    state = build_graph(Planner(plan), stores, settings=settings).invoke({"query": plan.query})
    assert state["answer"] == build_graph(Planner(plan), stores).invoke({"query": plan.query})["answer"]
    assert "ConnectionError" in caplog.text


def test_without_a_key_the_flag_goes_by_the_query(stores: Stores) -> None:
    flag = PlannerFlag(mode="on", fraction=0.5)
    graph = build_graph(Planner(SIMPLE), stores, flag=flag)
    routes = {graph.invoke({"query": f"doorway {n}", "key": None})["route"] for n in range(12)}
    assert routes == {"simple_retrieval", "without_plan"}


KEPT = """
from langgraph.checkpoint.memory import InMemorySaver
from queryplan.program.integrations.langgraph import build_graph
from queryplan.program.plan import QueryPlan
from queryplan.program.retrieval.stores import open_stores

class Planner:
    def plan(self, *given, **more):
        return QueryPlan.model_validate_json({plan!r})

graph = build_graph(Planner(), open_stores("journal"), checkpointer=InMemorySaver())
thread, now = {{"configurable": {{"thread_id": "1"}}}}, "2025-03-31T12:00:00+02:00"
session = {{"now": now, "collection": {{"composition_count": 5, "last_stats_update": now}}}}
graph.invoke({{"query": "q", "session": session}}, thread, interrupt_before=["synthesise"])
state = graph.invoke(None, thread)
print(type(state["run"].context).__name__, type(state["run"].gaps[0]).__name__, state["answer"][:2])
"""


def test_a_checkpointer_that_takes_known_types_alone_gives_everything_back() -> None:
    code = KEPT.format(plan=WHOLE.model_dump_json())
    environment = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "ContextResult Gap ##\n", done.stderr
    assert done.stderr == ""
