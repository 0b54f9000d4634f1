"""Has a language model write graph steps: constrained by the schema, checked, and repaired at most once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....signatures.graph_steps import AnchorStep, GraphPlan, GraphSchema, GraphStep
from ....signatures.plan_graph_steps import to_plan
from ...asking import Ask, Clock, Reply, own_threads, send_round
from ...lm.endpoint import LMHandle
from ..check import check_graph_plan

MOST_PROBLEMS = 3
Name = tuple[str, str]
"""A node's name and type."""


@dataclass(frozen=True)
class WrittenPlan:
    """The model's plan, if it passed the check, or why there is none.

    Attributes:
        refused: plans that did not pass the check; they are never run.
    """

    plan: GraphPlan | None
    problem: str = ""
    calls: int = 0
    refused: tuple[GraphPlan, ...] = ()


def read_steps(
    steps: Sequence[Any] | None, schema: GraphSchema, names: Sequence[Name] = ()
) -> tuple[GraphPlan | None, GraphPlan | None, str]:
    """Read the steps that a model wrote: (the plan if well-typed, the plan if ill-typed, its problems).

    Names in them are first corrected by those found in the question.
    """
    try:
        plan = mend_names(to_plan(list(steps or ()), schema), names)
    except ValueError as error:
        return None, None, str(error)
    problems = check_graph_plan(plan, schema)
    return (plan, None, "") if not problems else (None, plan, "; ".join(problems[:MOST_PROBLEMS]))


def ask_steps(
    query: str,
    schema: GraphSchema,
    lm: LMHandle,
    predictor: Any = None,
    deadline_s: float | None = None,
    names: Sequence[Name] = (),
) -> WrittenPlan:
    """Ask for the steps that answer a question, and once more with the checker's problems if they are ill-typed.

    Args:
        names: names of the graph found in the question; the model is shown them, and its steps are corrected by them.
    """
    predictor = predictor if predictor is not None else new_steps_predictor(schema)
    clock, text = Clock(deadline_s), with_names(query, names)
    first = _ask(text, lm, predictor, clock)
    plan, refused, problem = _read(first, schema, names)
    if plan is not None or first.prediction is None:
        return WrittenPlan(plan, problem, first.calls)
    again = _ask(text, lm, predictor, clock, problem)
    plan, second, problem = _read(again, schema, names)
    return WrittenPlan(plan, problem, first.calls + again.calls, tuple(p for p in (refused, second) if p is not None))


def with_names(query: str, names: Sequence[Name]) -> str:
    """A question with the names that were found in it, as a model is shown it."""
    listed = "; ".join(f"{name} ({kind})" for name, kind in dict.fromkeys(names))
    return f"{query}\nNames of the graph in it: {listed}" if listed else query


def mend_names(plan: GraphPlan, names: Sequence[Name]) -> GraphPlan:
    """The plan with its anchors' names and types as the graph has them, if only one name can be meant.

    A name that was found gets the graph's spelling and type. A name that was not found, but is the only anchor of a
    type of which one name was found, is replaced by that name.
    """
    return GraphPlan(steps=tuple(_mended(step, names) for step in plan.steps))


def _mended(step: GraphStep, names: Sequence[Name]) -> GraphStep:
    if not isinstance(step, AnchorStep) or step.node.field != "name":
        return step
    alike = {(name, kind) for name, kind in names if name.casefold() == step.node.name.casefold()}
    typed = {one for one in alike if one[1] == step.node.type} or alike or {n for n in names if n[1] == step.node.type}
    if len(typed) != 1:
        return step
    name, kind = typed.pop()
    return step.model_copy(update={"node": step.node.model_copy(update={"name": name, "type": kind})})


def new_steps_predictor(schema: GraphSchema) -> Any:
    """The uncompiled ``PlanGraphSteps`` of a schema."""
    import dspy

    from ....signatures.plan_graph_steps import plan_graph_steps
    from ...stages import MAX_TOKENS

    return dspy.Predict(plan_graph_steps(schema), max_tokens=MAX_TOKENS["graph"])


def _ask(query: str, lm: LMHandle, predictor: Any, clock: Clock, problem: str | None = None) -> Reply:
    ask = Ask("graph", predictor, {"query": query}, False, problem)
    with own_threads() as pool:
        return send_round([ask], lm, clock, pool)["graph"]


def _read(reply: Reply, schema: GraphSchema, names: Sequence[Name]) -> tuple[GraphPlan | None, GraphPlan | None, str]:
    if reply.prediction is None:
        return None, None, reply.error or "it did not answer"
    return read_steps(getattr(reply.prediction, "steps", None), schema, names)
