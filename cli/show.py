"""A plan as a tree for a terminal."""

from __future__ import annotations

from rich.markup import escape as escape_markup
from rich.text import Text
from rich.tree import Tree

from ..program.context import printable
from ..program.plan import Decision, QueryPlan


def escape(text: str) -> str:
    """Escape text of a user or a model, so that it cannot style or control the terminal.

    Escape all of a line at once: a bracket in one part and its end in the next would make a style.
    """
    return escape_markup(printable(text))


def _line(markup: str) -> Text:
    """One line of the tree; ``:heart:`` is shown as typed, not as an emoji."""
    return Text.from_markup(markup, emoji=False)


def plan_tree(plan: QueryPlan) -> Tree:
    """The plan, the decisions behind it, and what could not be done."""
    tree = Tree(_line(f"[bold]{escape(plan.query) or '(empty)'}[/bold]"))
    for line in (*_conversation(plan), *_judgement(plan)):
        tree.add(_line(line))
    _parts(tree, plan)
    _trace(tree, plan)
    for gap in plan.degraded:
        tree.add(_line(f"[yellow]not done:[/yellow] {escape(f'{gap.what} – {gap.why}; {gap.instead}')}"))
    return tree


def _conversation(plan: QueryPlan) -> list[str]:
    if not plan.is_follow_up:
        return ["stands alone"]
    names = f" (points to {escape(', '.join(plan.referenced_entities))})" if plan.referenced_entities else ""
    return [f"follow-up{names}: [cyan]{escape(plan.standalone_query)}[/cyan]"]


def _judgement(plan: QueryPlan) -> list[str]:
    if not plan.is_relevant:
        kind = f" ({escape(plan.rejection_kind)})" if plan.rejection_kind else ""
        return [f"[red]not ours[/red]{kind}: {escape(plan.rejection_reason or '')}"]
    strategy = plan.retrieval_strategy
    stores = [name for name, used in (("text", strategy.use_rag), ("graph", strategy.use_kg)) if used]
    how = " and ".join(stores) if stores else "direct answer"
    kind = f", {strategy.kg_query_type}" if strategy.kg_query_type else ""
    return [f"[green]ours[/green]: {plan.complexity}, {plan.intent}", f"search: {how}{kind}"]


def _parts(tree: Tree, plan: QueryPlan) -> None:
    if plan.sub_queries:
        branch = tree.add(_line("sub-queries"))
        for part in plan.sub_queries:
            after = f" [dim]after {', '.join(map(str, part.depends_on))}[/dim]" if part.depends_on else ""
            branch.add(_line(f"{part.id}. {escape(part.text)}{after}"))
    if plan.entities:
        tree.add(_line(f"names: {escape(', '.join(plan.entities))}"))
    if plan.graph_plan is not None:
        branch = tree.add(_line("graph steps"))
        for step in plan.graph_plan.steps:
            branch.add(_line(escape(" ".join(str(v) for v in step.model_dump().values()))))


def _trace(tree: Tree, plan: QueryPlan) -> None:
    trace = plan.trace
    cost = f"{trace.requests} LM requests in {trace.rounds} rounds, {trace.tokens} tokens, {trace.milliseconds:.1f} ms"
    branch = tree.add(_line(f"[dim]why ({cost}; program {escape(plan.program_version)})[/dim]"))
    for decision in trace.decisions:
        branch.add(_line(f"[dim]{_decision(decision)}[/dim]"))
    for note in trace.notes:
        branch.add(_line(f"[dim]{escape(note)}[/dim]"))


def _decision(decision: Decision) -> str:
    value = decision.value
    shown = ", ".join(f"{v}" for v in value.values()) if isinstance(value, dict) else str(value)
    return escape(
        f"{decision.stage}: {shown} – {decision.decided_by} {decision.confidence:.2f}, "
        f"{decision.milliseconds:.0f} ms, {decision.reason}"
    )
