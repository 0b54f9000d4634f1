"""A LangGraph graph whose route a ``QueryPlan`` decides. Needs the extra ``langgraph``.

::

    plan ─┬─ not ours ──────► reject ──────────────────────────────► END
          ├─ greeting ──────► direct ──────────────────────────────► END
          ├─ one search ────► simple_retrieval ──┐
          ├─ several ───────► complex_retrieval ─┴► rerank ► synthesise ► END
          └─ planner failed ► without_plan ────────────────────────► END

With a flag that is off (or for keys that its fraction leaves out) the first edge leads to ``without_plan``, the path
that was there before, and no planner is called.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Protocol, TypedDict, TypeVar

from ...errors import ConfigError
from ..plan import QueryPlan
from ..retrieval.calls import words_of
from ..retrieval.execute import Budget, RunSettings, aexecute, execute
from ..retrieval.feature_flag import PlannerFlag, Report, log_shadow, shadow
from ..retrieval.results import Evidence, Gap, Hit
from ..retrieval.run_result import RunResult
from ..retrieval.search import search_with_plan
from ..retrieval.speaking import Spoken, answered, quoted, rejected, spoken
from ..retrieval.stores import Stores

LOG = logging.getLogger("queryplan.langgraph")
NOTHING: Mapping[str, Any] = MappingProxyType({"query_plan": None, "run": None, "evidence": ()})
"""The initial state of a turn, which replaces what the turn before left."""

Found = TypeVar("Found", Evidence, Hit)
Rerank = Callable[[QueryPlan | None, Sequence[Evidence]], Sequence[Evidence]]


class Planner(Protocol):
    """Makes plans, as a ``QueryPlanner`` does."""

    def plan(self, query: str, history: Any = None, session: Any = None, deadline_s: float | None = None) -> QueryPlan:
        """The plan of a query."""
        ...

    async def aplan(
        self, query: str, history: Any = None, session: Any = None, deadline_s: float | None = None
    ) -> QueryPlan:
        """The same, awaited."""
        ...


class RetrievalState(TypedDict):
    """The state that is passed from node to node.

    ``query``, ``history``, ``session`` and ``key`` (of the flag; by default the query) are inputs; ``query_plan``,
    ``run``, ``evidence``, ``route`` and ``answer`` are outputs. A checkpointer can store each of them. What a turn does
    not make is empty, so that nothing of the turn before remains.
    """

    query: str
    history: Sequence[Mapping[str, Any]]
    session: Mapping[str, Any]
    key: str
    route: str
    query_plan: QueryPlan | None
    run: RunResult | None
    evidence: Sequence[Evidence]
    answer: str


def keep_order(plan: QueryPlan | None, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """The default of ``rerank``: keep the fused order that the retrieval nodes made."""
    return evidence


def build_graph(
    planner: Planner,
    stores: Stores,
    *,
    settings: RunSettings | None = None,
    rerank: Rerank = keep_order,
    flag: PlannerFlag | None = None,
    report: Report = log_shadow,
    without_plan: Callable[[RetrievalState], Mapping[str, Any]] | None = None,
    checkpointer: Any = None,
) -> Any:
    """Build and compile the graph; ``invoke`` and ``ainvoke`` take a `RetrievalState`.

    Args:
        settings: how plans are run; its speakers write the rejection, the direct answer and the synthesis.
        rerank: reorders the evidence, or removes some.
        flag: for whom the planner is used; by default everybody.
        report: is called with the plans made in the shadow of the old path; by default they are logged without
            what users typed.
        without_plan: the old path as a node; by default a search with the providers' own variations.
        checkpointer: LangGraph's; keeps the state of each thread, so that a run can be interrupted and resumed.

    Raises:
        ConfigError: the extra ``langgraph`` is not installed.
    """
    try:
        from langchain_core.runnables import RunnableLambda
        from langgraph.graph import END, START, StateGraph
    except ImportError as error:
        raise ConfigError("the graph needs the extra: pip install 'queryplan[langgraph]'") from error

    on = flag or PlannerFlag(mode="on")
    nodes = _Nodes(planner, stores, settings or RunSettings(), rerank, on, report, without_plan)
    graph = StateGraph(RetrievalState)
    graph.add_node("plan", RunnableLambda(nodes.plan, nodes.aplan))
    graph.add_node("simple_retrieval", RunnableLambda(nodes.simple_retrieval, nodes.asimple_retrieval))
    graph.add_node("complex_retrieval", RunnableLambda(nodes.complex_retrieval, nodes.acomplex_retrieval))
    for name in ("reject", "direct", "rerank", "synthesise", "without_plan"):
        graph.add_node(name, getattr(nodes, f"{name}_node"))
    graph.add_conditional_edges(START, nodes.enter, ["plan", "without_plan"])
    graph.add_conditional_edges("plan", nodes.route, [*ROUTES, "without_plan"])
    for name in ("simple_retrieval", "complex_retrieval"):
        graph.add_edge(name, "rerank")
    graph.add_edge("rerank", "synthesise")
    for name in ("reject", "direct", "synthesise", "without_plan"):
        graph.add_edge(name, END)
    return graph.compile(checkpointer=checkpointer)


ROUTES = ("reject", "direct", "simple_retrieval", "complex_retrieval")


def route_of(plan: QueryPlan) -> str:
    """The node that a plan leads to: complex for several searches, simple for one."""
    if not plan.is_relevant:
        return "reject"
    if plan.retrieval_strategy.direct_answer:
        return "direct"
    several = plan.complexity != "simple" or plan.sub_queries or plan.retrieval_strategy.iterative
    return "complex_retrieval" if several else "simple_retrieval"


@dataclass(frozen=True)
class _Nodes:
    planner: Planner
    stores: Stores
    settings: RunSettings
    reranker: Rerank
    flag: PlannerFlag
    report: Report
    old: Callable[[RetrievalState], Mapping[str, Any]] | None

    def enter(self, state: RetrievalState) -> str:
        """The entry: with a plan, or the old path, beside which a shadow plan may be made."""
        key = state["query"] if state.get("key") is None else state["key"]
        mode = self.flag.mode_for(key)
        if mode == "shadow":
            shadow(lambda: self.planner.plan(*_asked(state)), key, self.report)
        return "plan" if mode == "on" else "without_plan"

    def plan(self, state: RetrievalState) -> dict[str, Any]:
        """Node ``plan``."""
        try:
            return {**NOTHING, "query_plan": self.planner.plan(*_asked(state))}
        except Exception as error:
            return _unplanned(error)

    async def aplan(self, state: RetrievalState) -> dict[str, Any]:
        """Node ``plan``, awaited."""
        try:
            return {**NOTHING, "query_plan": await self.planner.aplan(*_asked(state))}
        except Exception as error:
            return _unplanned(error)

    def route(self, state: RetrievalState) -> str:
        """The node that the plan leads to; the old path if there is none."""
        plan = state["query_plan"]
        return "without_plan" if plan is None else route_of(plan)

    def simple_retrieval(self, state: RetrievalState) -> dict[str, Any]:
        """Node ``simple_retrieval``: one batch of searches."""
        return _found(execute(_plan(state), self.stores, session=state.get("session"), settings=self._once()))

    async def asimple_retrieval(self, state: RetrievalState) -> dict[str, Any]:
        """Node ``simple_retrieval``, awaited."""
        plan, session = _plan(state), state.get("session")
        return _found(await aexecute(plan, self.stores, session=session, settings=self._once()))

    def complex_retrieval(self, state: RetrievalState) -> dict[str, Any]:
        """Node ``complex_retrieval``: sub-queries, the graph, sources, and what is missing asked again."""
        return _found(execute(_plan(state), self.stores, session=state.get("session"), settings=self._silent()))

    async def acomplex_retrieval(self, state: RetrievalState) -> dict[str, Any]:
        """Node ``complex_retrieval``, awaited."""
        plan, session = _plan(state), state.get("session")
        return _found(await aexecute(plan, self.stores, session=session, settings=self._silent()))

    def reject_node(self, state: RetrievalState) -> dict[str, Any]:
        """Node ``reject``."""
        said = rejected(self.settings.speakers, self.stores.card, _plan(state))
        return {"route": "reject", "answer": _logged(said)}

    def direct_node(self, state: RetrievalState) -> dict[str, Any]:
        """Node ``direct``."""
        said = answered(self.settings.speakers, self.stores.card, _plan(state))
        return {"route": "direct", "answer": _logged(said)}

    def rerank_node(self, state: RetrievalState) -> dict[str, Any]:
        """Node ``rerank``."""
        run = _run(state)
        try:
            return _found(replace(run, evidence=tuple(self.reranker(_plan(state), state["evidence"]))))
        except Exception as error:  # it may be the user's
            gap = Gap(kind="plan", what="reranking", why=words_of(error), instead="the fused order was kept")
            return {"run": replace(run, gaps=(*run.gaps, gap))}

    def synthesise_node(self, state: RetrievalState) -> dict[str, Any]:
        """Node ``synthesise``."""
        found = _run(state)
        text, gap = spoken(self.settings.speakers, found)
        run = replace(found, text=text, gaps=(*found.gaps, *gap))
        return {"route": route_of(_plan(state)), "answer": text, "run": run}

    def without_plan_node(self, state: RetrievalState) -> dict[str, Any]:
        """Node ``without_plan``: the path that was there before."""
        if self.old is not None:
            return {**NOTHING, "route": "without_plan", **self.old(state)}
        run = search_with_plan(state["query"], self.stores.providers, settings=self.settings.search)
        return {
            **NOTHING,
            "route": "without_plan",
            "evidence": _kept(run.evidence),
            "answer": quoted(run.evidence),
        }

    def _silent(self) -> RunSettings:
        """The same settings without a synthesis, which has a node of its own."""
        return replace(self.settings, speakers=replace(self.settings.speakers, synthesise=lambda run: ""))

    def _once(self) -> RunSettings:
        return replace(self._silent(), budget=Budget(rounds=0))


def _unplanned(error: Exception) -> dict[str, Any]:
    """The state after a planner that failed: users get the answer that they had before."""
    LOG.warning("planning failed (%s); the path without a plan answers", type(error).__name__)
    return dict(NOTHING)


def _logged(said: Spoken) -> str:
    """A text; what is wrong with it has no other place, as there is no run."""
    text, gaps = said
    for gap in gaps:
        LOG.warning("%s: %s; %s", gap.what, gap.why, gap.instead)
    return text


def _asked(state: RetrievalState) -> tuple[str, Any, Any]:
    return state["query"], state.get("history"), state.get("session")


def _plan(state: RetrievalState) -> QueryPlan:
    """The plan of this turn, made by the node before."""
    plan = state["query_plan"]
    assert plan is not None
    return plan


def _run(state: RetrievalState) -> RunResult:
    """The run of this turn, made by the node before."""
    run = state["run"]
    assert run is not None
    return run


def _found(run: RunResult) -> dict[str, Any]:
    evidence = _kept(run.evidence)
    answers = tuple(replace(a, hits=tuple(_with_fields(hit) for hit in a.hits)) for a in run.source_answers)
    return {"run": replace(run, evidence=evidence, source_answers=answers), "evidence": evidence}


def _kept(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The evidence in a form that a checkpointer can store."""
    return tuple(_with_fields(item) for item in evidence)


def _with_fields(item: Found) -> Found:
    """A passage with its fields in a plain dict, as no checkpointer can store the read-only view of the stores."""
    return replace(item, passage=replace(item.passage, fields=dict(item.passage.fields)))
