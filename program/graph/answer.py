"""Answers a question from a graph in one call: plans it, runs the plan, and words the answer.

The function that words the answer can be replaced; ``answer_table`` is the default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ...signatures.graph_steps import GraphPlan
from .batch import Planner, proposed
from .executor import GraphAnswer, GraphExecutor, execute_graph

AnswerStep = Callable[[GraphPlan, GraphAnswer], str]
"""A function from the plan that was run and its answer to words."""

ROWS = 50
"""Answers in a table at most; the table says how many more there are."""


@dataclass(frozen=True)
class GraphReply:
    """The reply to a question: the planner's proposal, the answer if there was a plan, and the words."""

    proposal: Any
    answer: GraphAnswer | None
    text: str


def answer_question(
    query: str,
    planner: Planner,
    executor: GraphExecutor,
    *,
    answer_step: AnswerStep | None = None,
    deadline_s: float | None = None,
    cap: int | None = None,
) -> GraphReply:
    """Plan a question, run the plan, and word the answer; without a plan, say why there is none.

    Args:
        deadline_s: seconds for all of it; planning may take three fifths, so that time is left to run the plan.
    """
    proposal, left = proposed(planner, query, deadline_s)
    if proposal.plan is None:
        return GraphReply(proposal, None, proposal.reason)
    answer = execute_graph(proposal.plan, executor, left, cap=cap, paths=answer_step is None)
    return GraphReply(proposal, answer, (answer_step or answer_table)(proposal.plan, answer))


def answer_table(plan: GraphPlan, answer: GraphAnswer) -> str:
    """The answers as a Markdown table with their paths, and lines below on what is missing."""
    lines = []
    if answer.names:
        lines += [f"| {answer.type or 'answer'} | how it was reached |", "|---|---|"]
        for number, name in enumerate(islice(answer.names, ROWS)):
            path = " – ".join(answer.paths[number]) if number < len(answer.paths) else ""
            lines.append(f"| {_cell(name)} | {_cell(path)} |")
    elif not answer.degraded:
        lines.append("The graph has no answer to this.")
    if len(answer.names) > ROWS:
        lines.append(f"\n{len(answer.names) - ROWS:,} more answers.")
    return "\n".join([*lines, *(f"\n{line}" for line in answer.degraded)])


def _cell(text: str) -> str:
    """Text escaped for a table cell."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())
