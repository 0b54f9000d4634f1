"""Answers many graph questions from a file, and reads graph plans from files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from ...errors import DataError
from ...signatures.graph_steps import GraphPlan, GraphSchema
from ...signatures.problems import problems_of
from ..asking import PLANNING
from ..batch import Output, Worked, each_row
from .exchange.export import from_spoke
from .executor import GraphAnswer, GraphExecutor, execute_graph
from .executors.stepping import RunClock

_FENCED = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)


class Planner(Protocol):
    """Anything that makes a proposal for a question; a proposal has ``plan``, ``reason`` and ``degraded``."""

    def plan(self, query: str, deadline_s: float | None = None) -> Any:
        """A proposal for one question, made within so many seconds."""
        ...


def proposed(planner: Planner, query: str, deadline_s: float | None) -> tuple[Any, float | None]:
    """A proposal, and how many seconds are left to run it; None without a deadline."""
    clock = RunClock(deadline_s)
    proposal = planner.plan(query) if deadline_s is None else planner.plan(query, PLANNING * deadline_s)
    return proposal, clock.left()


def answer_row(
    proposal: Any, executor: GraphExecutor, deadline_s: float | None = None, cap: int | None = None
) -> dict[str, Any]:
    """``{"graph_plan", "answers", "certainty", "degraded"}`` of a proposal; without a plan it says why."""
    sure = {"certainty": proposal.confidence}
    if proposal.plan is None:
        return {"graph_plan": None, "answers": [], **sure, "degraded": [*proposal.degraded, proposal.reason]}
    answer = execute_graph(proposal.plan, executor, deadline_s, cap=cap)
    return {**plan_row(proposal.plan, answer, tuple(proposal.degraded)), **sure}


def plan_row(plan: GraphPlan, answer: GraphAnswer, degraded: tuple[str, ...] = ()) -> dict[str, Any]:
    """``{"graph_plan", "answers", "degraded"}`` of a plan that was run."""
    return {
        "graph_plan": plan.model_dump(mode="json", exclude_defaults=True),
        "answers": list(answer.names),
        "degraded": [*degraded, *answer.degraded],
    }


def graph_batch(
    planner: Planner,
    executor: GraphExecutor,
    source: Path,
    target: Path,
    deadline_s: float | None = None,
    cap: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Worked:
    """Answer every row ``{"id", "query"}`` and append the ``answer_row``, with ``id`` and ``asked``, to ``target``.

    As in ``plan_batch``, rows that have an answer already, for the same query, graph and cap, are not answered again.

    Raises:
        DataError: as for ``plan_batch``, also for answers of another graph or cap.
    """
    asked = executor.fingerprint if cap is None else f"{executor.fingerprint} cut at {cap}"

    def answered(row: Mapping[str, Any]) -> dict[str, Any]:
        proposal, left = proposed(planner, row["query"], deadline_s)
        return {"graph": asked, **answer_row(proposal, executor, left, cap)}

    model = getattr(planner, "lm_name", "none")
    depends = "" if model == "none" else model
    return each_row(source, target, answered, asked, progress, Output("answers", _graph_of, "graph"), depends)


def _graph_of(row: dict[str, Any]) -> str | None:
    """The graph that a line's answers come from; None in older files, which do not say it."""
    if not isinstance(row["answers"], list):
        raise TypeError("answers must be a list")
    return row.get("graph")


def read_plan(path: Path, schema: GraphSchema) -> GraphPlan:
    """Read a plan from a JSON file: ours, a row with a ``graph_plan``, or in SPOKE planning's shape.

    Raises:
        DataError: it cannot be read; the place in it is named.
    """
    try:
        told = json.loads(_unfenced(path.read_text(encoding="utf-8-sig")))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path.name} is no JSON of a plan: {error}") from error
    if isinstance(told, Mapping) and "graph_plan" in told:
        if told["graph_plan"] is None:
            raise DataError(f"{path.name} is a row without a plan: its graph_plan is null; give a row that has one")
        told = told["graph_plan"]
    if isinstance(told, Mapping) and ("plan" in told or "error" in told):
        return from_spoke(told, schema)
    try:
        return GraphPlan.model_validate(told)
    except ValidationError as error:
        raise DataError(f"{path.name} is no plan: {problems_of(error, 5)}") from error


def _unfenced(text: str) -> str:
    """A text without the marks that language models put around code."""
    return fenced[1] if (fenced := _FENCED.fullmatch(text.strip())) else text
