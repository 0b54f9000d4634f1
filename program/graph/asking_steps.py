"""Asking a language model for graph steps: constrained by the schema, checked, and repaired once at most."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ...signatures.graph_steps import GraphPlan, GraphSchema
from ...signatures.plan_graph_steps import to_plan
from ..asking import Ask, Clock, Reply, send_round
from ..lm.endpoint import LMHandle
from .check import check_graph_plan

MOST_PROBLEMS = 3


@dataclass(frozen=True)
class WrittenPlan:
    """What the model wrote: a plan that passed the check, or why there is none.

    Attributes:
        refused: plans that did not pass the check; none of them is ever run.
    """

    plan: GraphPlan | None
    problem: str = ""
    calls: int = 0
    refused: tuple[GraphPlan, ...] = ()


def read_steps(steps: Sequence[Any] | None, schema: GraphSchema) -> tuple[GraphPlan | None, GraphPlan | None, str]:
    """Written steps as (a well-typed plan, an ill-typed one, what is wrong with that)."""
    try:
        plan = to_plan(list(steps or ()), schema)
    except ValueError as error:
        return None, None, str(error)
    problems = check_graph_plan(plan, schema)
    return (plan, None, "") if not problems else (None, plan, "; ".join(problems[:MOST_PROBLEMS]))


def ask_steps(
    query: str, schema: GraphSchema, lm: LMHandle, predictor: Any = None, deadline_s: float | None = None
) -> WrittenPlan:
    """Ask for the steps that answer a question, and once more with the checker's words if they are ill-typed."""
    predictor = predictor if predictor is not None else new_steps_predictor(schema)
    clock = Clock(deadline_s)
    first = _ask(query, lm, predictor, clock)
    plan, refused, problem = _read(first, schema)
    if plan is not None or first.prediction is None:
        return WrittenPlan(plan, problem, first.calls)
    again = _ask(query, lm, predictor, clock, problem)
    plan, second, problem = _read(again, schema)
    return WrittenPlan(plan, problem, first.calls + again.calls, tuple(p for p in (refused, second) if p is not None))


def new_steps_predictor(schema: GraphSchema) -> Any:
    """The uncompiled ``PlanGraphSteps`` of a schema."""
    import dspy

    from ...signatures.plan_graph_steps import plan_graph_steps
    from ..stages import MAX_TOKENS

    return dspy.Predict(plan_graph_steps(schema), max_tokens=MAX_TOKENS["graph"])


def _ask(query: str, lm: LMHandle, predictor: Any, clock: Clock, problem: str | None = None) -> Reply:
    ask = Ask("graph", predictor, {"query": query}, False, problem)
    with ThreadPoolExecutor(1, thread_name_prefix="queryplan-graph") as pool:
        return send_round([ask], lm, clock, pool)["graph"]


def _read(reply: Reply, schema: GraphSchema) -> tuple[GraphPlan | None, GraphPlan | None, str]:
    if reply.prediction is None:
        return None, None, reply.error or "it did not answer"
    return read_steps(getattr(reply.prediction, "steps", None), schema)
