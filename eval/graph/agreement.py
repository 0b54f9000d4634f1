"""Tests whether two executors give the same answers to the same plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...program.graph.check import check_graph_plan
from ...program.graph.executor import GraphExecutor, execute_graph
from ...signatures.graph_steps import GraphPlan
from ...signatures.types import Frozen


class Disagreement(Frozen):
    """A plan that two executors answer differently."""

    plan: GraphPlan
    first: tuple[str, ...]
    second: tuple[str, ...]


class Agreement(Frozen):
    """How often two executors gave the same answers.

    Attributes:
        plans: how many were run.
        answered: how many of them had an answer on the first executor.
        ill_typed: how many the checker refused; these were not run.
        gaps: how many one of the executors could not run.
        disagreements: the first ten.
        differing: how many plans were answered differently.
    """

    plans: int
    answered: int
    ill_typed: int
    gaps: int
    differing: int
    disagreements: tuple[Disagreement, ...]


def agreement(
    first: GraphExecutor,
    second: GraphExecutor,
    plans: Iterable[GraphPlan],
    progress: Callable[[int], None] | None = None,
) -> Agreement:
    """Run plans on two executors and compare the answers' names and ids, with their order, and the unknown names.

    ``progress`` is called with the number of plans run so far.
    """
    counted = {"plans": 0, "answered": 0, "ill_typed": 0, "gaps": 0, "differing": 0}
    found: list[Disagreement] = []
    for plan in plans:
        if check_graph_plan(plan, first.schema):
            counted["ill_typed"] += 1
            continue
        one, other = execute_graph(plan, first), execute_graph(plan, second)
        counted["plans"] += 1
        counted["answered"] += bool(one.names)
        counted["gaps"] += bool(one.gaps or other.gaps)
        if (one.names, one.ids, one.unknown) != (other.names, other.ids, other.unknown):
            counted["differing"] += 1
            found.append(Disagreement(plan=plan, first=one.names, second=other.names))
        if progress is not None:
            progress(counted["plans"])
    return Agreement(**counted, disagreements=tuple(found[:10]))
