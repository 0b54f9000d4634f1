"""Metrics of a graph plan: by the answers it returns on the graph, never by its steps."""

from __future__ import annotations

from collections.abc import Collection

from ...data.rows import LabelledRow
from ...program.graph.check import check_graph_plan
from ...program.graph.executors.memory import MemoryGraph
from ...program.plan import QueryPlan
from ...signatures.types import Frozen, GraphSchema


class GraphScore(Frozen):
    """The answers of a plan's graph steps against gold's; None if there is no graph, or gold says nothing of answers.

    Attributes:
        graph_right: whether they are exactly gold's (denotation accuracy); if gold's are empty, so must they be.
        graph_f1: F1 of the two sets of answers; 1 if both are empty.
        graph_planned: whether the plan has graph steps.
    """

    graph_right: bool | None = None
    graph_f1: float | None = None
    graph_planned: bool | None = None


def score_graph(row: LabelledRow, plan: QueryPlan, graph: MemoryGraph | None, schema: GraphSchema | None) -> GraphScore:
    """Run the steps of ``plan`` and compare what they return with the answers of ``row``.

    A plan without steps, or with steps that do not fit the schema, returns nothing. Where the schema cannot
    say what is asked (``expressible`` is false), any answer is wrong.
    """
    gold = row.gold
    if graph is None or gold is None or (gold.answers is None and gold.expressible):
        return GraphScore()
    wanted, found = frozenset(gold.answers or ()), _answers(plan, graph, schema)
    return GraphScore(graph_right=wanted == found, graph_f1=set_f1(wanted, found), graph_planned=bool(plan.graph_plan))


def _answers(plan: QueryPlan, graph: MemoryGraph, schema: GraphSchema | None) -> frozenset[str]:
    steps = plan.graph_plan
    if steps is None or (schema is not None and check_graph_plan(steps, schema)):
        return frozenset()
    return frozenset(graph.run(steps).names)


def set_f1(gold: Collection[str], found: Collection[str]) -> float:
    """Harmonic mean of precision and recall of two sets; 1 if both are empty."""
    left, right = set(gold), set(found)
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 1.0
