"""The graph stage of a plan: the learned ranking where it is sure, otherwise with a language model's help.

A question in words that the ranking seldom met is restated by the model, and ranked by both wordings. Where there is
no ranking, or it has no plan, the model is asked for steps, which are checked and repaired once. Questions that name
nothing the graph has are not asked about at all. A plan without graph steps searches the text alone, and ``degraded``
says why where steps were wanted.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

from .asking import Ask, Reply, Sent
from .graph.asking.steps import read_steps
from .graph.planner import LIKELY

if TYPE_CHECKING:
    from ..signatures.graph_steps import GraphPlan
    from ..signatures.types import DecidedBy
    from .flow import Flow
    from .graph.planner import GraphProposal

Round = Generator[list[Ask], Mapping[Sent, Reply], None]
GUESSED = ("fuzzy", "unknown")
"""Ways of finding a name that are uncertain."""


def graph_asks(flow: Flow) -> list[Ask]:
    """The request to restate the query or, if that is not wanted, for steps.

    There is none if the ranking is sure, or the query names nothing that the graph has.
    """
    query = flow.labels.standalone_query
    if not flow.parts.plan_graph or "graph" not in flow.parts.predictors or _sure(flow) is not None:
        return []
    if not _names_something(flow):
        return []
    if _restates(flow):
        from .graph.asking.restated import restate_ask

        return [restate_ask(query, flow.parts.graph.schema, _proposal(flow).likeliest)]  # type: ignore[union-attr]
    return [] if _has_plans(flow) else [_steps(flow)]


def _names_something(flow: Flow) -> bool:
    """Whether the query has a name of the card, or a name or value that the ranking's likeliest plan starts from.

    The latter also covers values of properties and, in scripts without spaces, names inside a sentence. A text that
    only resembles a name is not enough.
    """
    if flow.parts.linker.links(flow.labels.standalone_query):
        return True
    ranked = _proposal(flow)
    first = ranked.likeliest[:1] if ranked is not None else ()
    return any(reading.how not in GUESSED for one in first for reading in one.hypothesis.readings)


def settle_graph(flow: Flow, reply: Reply | None) -> Round:
    """Take well-typed steps into the plan: the ranking's, or the model's after at most one repair."""
    if not flow.parts.plan_graph:
        return
    if not flow.labels.is_relevant:
        flow.wasted += reply.calls if reply else 0
        return
    if (lacking := _lacking(flow)) is not None:
        flow.without_lm("graph", None, f"the text is searched without the graph{lacking[1]}", lacking[0])
        return
    if (sure := _sure(flow)) is not None:
        _take(flow, sure)
        return
    if reply is None:
        reply = yield from _unforeseen(flow)
    if reply is not None and _restates(flow):
        yield from _settle_restated(flow, reply)
    elif reply is not None:
        yield from _settle_written(flow, reply)
    else:
        _best_effort(flow)


def _unforeseen(flow: Flow) -> Generator[list[Ask], Mapping[Sent, Reply], Reply | None]:
    """The model's answer for a query that was thought to need sub-queries, and so was not asked about; none if it does.

    Without heads every query is thought so until its labels are there.
    """
    late = flow.labels.needs_decomposition or flow.further_round_spent or not flow.parts.has_lm
    if late or not (asks := graph_asks(flow)):
        return None
    flow.further_round_spent = True
    replies = yield from flow.round(asks)
    return replies["graph"]


def _lacking(flow: Flow) -> tuple[str, str] | None:
    """Why neither ranking nor model can plan graph steps, and a clause on what could; None if one of them can."""
    if flow.parts.card.graph is None:
        return "the card has no graph", ""
    if flow.parts.graph is None and not flow.parts.has_lm:
        learn = "; `queryplan graph run` asks it, and a program that is compiled with --stages graph"
        return f"this program has not learned to write graph steps, and {flow.parts.lm_missing}", learn
    return None


def _settle_restated(flow: Flow, reply: Reply) -> Round:
    """Rank by both wordings; ask the model for steps if neither has a plan and a round is left."""
    from .graph.asking.restated import read_restated

    planner, ranked = flow.parts.graph, _proposal(flow)
    assert planner is not None
    assert ranked is not None
    restating = read_restated(reply)
    if not restating.text:
        _without_answer(flow, reply, restating.problem)
        return
    again = flow.graph_proposal = planner.ranked_again(flow.labels.standalone_query, ranked, restating)
    if not _has_plans(flow) and not flow.further_round_spent:
        flow.further_round_spent = True
        replies = yield from flow.round([_steps(flow)])
        yield from _settle_written(flow, replies["graph"])
    elif again.plan is not None and (planner.is_sure(again) or again.confidence >= LIKELY):
        flow.labels.graph_plan = again.plan
        by: DecidedBy = "head" if again is ranked else "lm"
        flow.decide("graph", _words(again.plan), by, again.confidence, again.reason, reply)
    else:
        flow.wasted += reply.calls


def _restates(flow: Flow) -> bool:
    """Whether the query is restated before anything else."""
    ranked = _proposal(flow)
    return ranked is not None and flow.parts.graph.wants_restating(flow.labels.standalone_query, ranked)  # type: ignore[union-attr]


def _steps(flow: Flow, problem: str | None = None) -> Ask:
    return flow.ask("graph", {"query": flow.labels.standalone_query}, problem)


def _without_answer(flow: Flow, reply: Reply, problem: str) -> None:
    """Take the ranking's plan, if it is likely, since the model gave none; ``degraded`` says so."""
    best = _likely(flow)
    instead = "the learned ranking's steps were taken" if best else "the text is searched without the graph"
    flow.without_lm("graph", reply, instead, problem)
    if best is not None:
        _take(flow, best)


def _settle_written(flow: Flow, reply: Reply) -> Round:
    plan, problem = _read(flow, reply)
    if plan is None and reply.prediction is not None and not flow.further_round_spent:
        flow.further_round_spent = True
        replies = yield from flow.round([_steps(flow, problem)])
        reply = replies["graph"]
        plan, problem = _read(flow, reply)
    if plan is None:
        _without_answer(flow, reply, problem)
        return
    flow.labels.graph_plan = plan
    flow.decide("graph", _words(plan), "lm", 1.0, "well-typed in the schema", reply)


def _read(flow: Flow, reply: Reply) -> tuple[GraphPlan | None, str]:
    schema = flow.parts.card.graph
    if reply.prediction is None or schema is None:
        return None, reply.error or "no answer"
    plan, _, problem = read_steps(getattr(reply.prediction, "steps", None), schema)
    return plan, problem


def _best_effort(flow: Flow) -> None:
    """Take the ranking's plan without a model, if it is likelier right than wrong."""
    if (likely := _likely(flow)) is not None:
        _take(flow, likely)


def _proposal(flow: Flow) -> GraphProposal | None:
    """The ranking's proposal for the query, computed once."""
    planner: Any = flow.parts.graph
    if planner is None:
        return None
    if flow.graph_proposal is None:
        flow.graph_proposal = planner.ranked(flow.labels.standalone_query)
    return flow.graph_proposal


def _has_plans(flow: Flow) -> bool:
    """Whether the ranking has any plan, or says that the schema cannot express the question."""
    ranked = _proposal(flow)
    return ranked is not None and bool(ranked.likeliest)


def _sure(flow: Flow) -> GraphProposal | None:
    found = _proposal(flow)
    return found if found is not None and flow.parts.graph.is_sure(found) else None  # type: ignore[union-attr]


def _likely(flow: Flow) -> GraphProposal | None:
    found = _proposal(flow)
    return found if found is not None and found.plan is not None and found.confidence >= LIKELY else None


def _take(flow: Flow, proposal: GraphProposal) -> None:
    assert proposal.plan is not None
    flow.labels.graph_plan = proposal.plan
    flow.decide("graph", _words(proposal.plan), "head", proposal.confidence, proposal.reason)


def _words(plan: GraphPlan) -> str:
    return ", ".join(step.kind for step in plan.steps)
