"""A plan as a tree that a person reads."""

from __future__ import annotations

from rich.markup import escape
from rich.tree import Tree

from ..program.plan import Decision, QueryPlan


def plan_tree(plan: QueryPlan) -> Tree:
    """The plan, what it rests on, and what it could not do."""
    tree = Tree(f"[bold]{escape(plan.query) or '(empty)'}[/bold]")
    for line in (*_conversation(plan), *_judgement(plan)):
        tree.add(line)
    _parts(tree, plan)
    _trace(tree, plan)
    for gap in plan.degraded:
        tree.add(f"[yellow]not done:[/yellow] {escape(gap.what)} – {escape(gap.why)}; {escape(gap.instead)}")
    return tree


def _conversation(plan: QueryPlan) -> list[str]:
    if not plan.is_follow_up:
        return ["stands alone"]
    names = f" (points to {escape(', '.join(plan.referenced_entities))})" if plan.referenced_entities else ""
    return [f"follow-up{names}: [cyan]{escape(plan.standalone_query)}[/cyan]"]


def _judgement(plan: QueryPlan) -> list[str]:
    if not plan.is_relevant:
        return [f"[red]not ours[/red] ({plan.rejection_kind}): {escape(plan.rejection_reason or '')}"]
    strategy = plan.retrieval_strategy
    stores = [name for name, used in (("text", strategy.use_rag), ("graph", strategy.use_kg)) if used]
    how = " and ".join(stores) if stores else "direct answer"
    kind = f", {strategy.kg_query_type}" if strategy.kg_query_type else ""
    return [f"[green]ours[/green]: {plan.complexity}, {plan.intent}", f"search: {how}{kind}"]


def _parts(tree: Tree, plan: QueryPlan) -> None:
    if plan.sub_queries:
        branch = tree.add("sub-queries")
        for part in plan.sub_queries:
            after = f" [dim]after {', '.join(map(str, part.depends_on))}[/dim]" if part.depends_on else ""
            branch.add(f"{part.id}. {escape(part.text)}{after}")
    if plan.entities:
        tree.add(f"names: {escape(', '.join(plan.entities))}")
    if plan.graph_plan is not None:
        branch = tree.add("graph steps")
        for step in plan.graph_plan.steps:
            branch.add(escape(" ".join(str(v) for v in step.model_dump().values())))


def _trace(tree: Tree, plan: QueryPlan) -> None:
    trace = plan.trace
    cost = f"{trace.requests} LM requests in {trace.rounds} rounds, {trace.tokens} tokens, {trace.milliseconds:.1f} ms"
    branch = tree.add(f"[dim]why ({cost}; program {escape(plan.program_version)})[/dim]")
    for decision in trace.decisions:
        branch.add(f"[dim]{_decision(decision)}[/dim]")
    for note in trace.notes:
        branch.add(f"[dim]{escape(note)}[/dim]")


def _decision(decision: Decision) -> str:
    value = decision.value
    shown = ", ".join(f"{v}" for v in value.values()) if isinstance(value, dict) else str(value)
    return escape(
        f"{decision.stage}: {shown} – {decision.decided_by} {decision.confidence:.2f}, "
        f"{decision.milliseconds:.0f} ms, {decision.reason}"
    )
