"""The graph stage of a plan: when steps through the knowledge graph are asked for, and which are taken over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .asking import Ask, Reply
from .graph.check import check_graph_plan

if TYPE_CHECKING:
    from .flow import Flow


def graph_asks(flow: Flow) -> list[Ask]:
    """The request for graph steps, if the query names something that the graph has."""
    query = flow.labels.standalone_query
    if not flow.parts.plan_graph or "graph" not in flow.parts.predictors or not flow.parts.linker.links(query):
        return []
    return [flow.ask("graph", {"query": query})]


def settle_graph(flow: Flow, reply: Reply | None) -> None:
    """Take well-typed steps over; a plan without them searches the text alone."""
    if reply is None or flow.parts.card.graph is None:
        return
    if not flow.labels.is_relevant:
        flow.wasted += reply.calls
        return
    plan = reply.prediction.hop.to_plan() if reply.prediction is not None else None
    problems = check_graph_plan(plan, flow.parts.card.graph) if plan else [reply.error or "no answer"]
    if problems:
        flow.without_lm("graph", reply, "the text is searched without the graph", problems[0])
        return
    flow.labels.graph_plan = plan
    flow.decide("graph", "anchor, expand", "lm", 1.0, "well-typed in the schema", reply)
