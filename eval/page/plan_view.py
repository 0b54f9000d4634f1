"""A plan as a few readable lines, beside gold and beside another plan."""

from __future__ import annotations

from collections.abc import Sequence

from ...program.plan import QueryPlan
from ...signatures.types import Frozen, SubQuery
from ..row_table import RowResult


class ViewLine(Frozen):
    """One field in gold and in each plan.

    Attributes:
        cells: the value in each plan, as text.
        right: whether the value in each plan is right; None if gold does not say.
    """

    field: str
    gold: str
    cells: tuple[str, ...]
    right: tuple[bool | None, ...]


LABEL_LINES = (
    ("follow-up", "is_follow_up", "follow_up"),
    ("standalone form", "standalone_query", "rewrite"),
    ("ours", "is_relevant", "relevance"),
    ("rejected as", "rejection_kind", ""),
    ("complexity", "complexity", "complexity"),
    ("intent", "intent", "intent"),
    ("needs decomposition", "needs_decomposition", "needs_decomposition"),
    ("sub-queries", "sub_queries", "decompose"),
)
"""For each line its title, its field in labels and plans, and the stage whose score says whether it is right."""


def view(results: Sequence[RowResult]) -> tuple[ViewLine, ...]:
    """The plans that one row got from several programs, field by field; lines without any value are left out."""
    gold = results[0].gold
    lines = [
        ViewLine(
            field=name,
            gold=said(getattr(gold, field)),
            cells=tuple(said(getattr(result.plan, field)) for result in results),
            right=tuple(_right(result, stage) for result in results),
        )
        for name, field, stage in LABEL_LINES
    ]
    return tuple(line for line in [*lines, *_beyond(results)] if line.gold or any(line.cells))


def said(value: object) -> str:
    """A value of a label or of a plan as text; empty if it has none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "; ".join(_sub_query(one) if isinstance(one, SubQuery) else str(one) for one in value)
    return "" if value is None else str(value)


def _sub_query(one: SubQuery) -> str:
    after = f" (after {', '.join(map(str, one.depends_on))})" if one.depends_on else ""
    return f"{one.id}. {one.text}{after}"


def _right(result: RowResult, stage: str) -> bool | None:
    return result.outcomes[stage] if stage else result.score.rejection_kind_right


def _beyond(results: Sequence[RowResult]) -> list[ViewLine]:
    """Lines for the fields that gold has no label for, and for graph plans, which are judged by running them."""
    expected = results[0].expected
    answers = said(expected.answers) if expected else ""
    graphs = [_graph(result.plan) for result in results]
    nothing = (None,) * len(results)
    return [
        ViewLine(field="graph steps", gold=answers, cells=tuple(graphs), right=_graph_right(results))
        if any(graphs)
        else ViewLine(field="graph steps", gold="", cells=(), right=()),
        ViewLine(field="decided by", gold="", cells=tuple(_decided(r.plan) for r in results), right=nothing),
        ViewLine(field="could not be done", gold="", cells=tuple(_degraded(r.plan) for r in results), right=nothing),
    ]


def _graph_right(results: Sequence[RowResult]) -> tuple[bool | None, ...]:
    return tuple(result.score.graph_right for result in results)


def _graph(plan: QueryPlan) -> str:
    if plan.graph_plan is None:
        return ""
    return "; ".join(f"{step.store_as} = {step.kind}" for step in plan.graph_plan.steps)


def _decided(plan: QueryPlan) -> str:
    return ", ".join(f"{d.stage} {d.decided_by} {d.confidence:.2f}" for d in plan.trace.decisions)


def _degraded(plan: QueryPlan) -> str:
    return "; ".join(f"{d.what}: {d.why}, so {d.instead}" for d in plan.degraded)
