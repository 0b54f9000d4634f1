"""The result of a run as a tree for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from rich.tree import Tree

from ..program.retrieval.results import Evidence
from ..program.retrieval.run_result import RunResult
from ..program.retrieval.speaking import cut, shown, source_of
from .show import escape, plan_tree

SHOWN = 240
FACTS = 8
RECORDS = 10


def run_tree(result: RunResult) -> Tree:
    """The plan, then the evidence, what is missing, and how long it took."""
    tree = plan_tree(result.plan)
    if result.kind in ("rejected", "direct_answer"):
        tree.add(_line(f"[bold]answer[/bold]: {escape(result.text)}"))
    else:
        _answers(tree, result)
        _evidence(tree, result.evidence, "everything" if result.kind == "read_everything" else "evidence")
        _sources(tree, result)
    for gap in result.gaps:
        tree.add(_line(f"[yellow]gap:[/yellow] {escape(f'{gap.what} – {gap.why}; {gap.instead}')}"))
    tree.add(_line(f"[dim]{_cost(result)}[/dim]"))
    return tree


def _line(markup: str) -> Text:
    return Text.from_markup(markup, emoji=False)


def _answers(tree: Tree, result: RunResult) -> None:
    for sub in result.sub_answers:
        found = ", ".join(sub.answers) or "no answer"
        tree.add(_line(f"{{{sub.id}}} = {escape(found)} [dim]({escape(sub.question)})[/dim]"))
    if result.graph_answers:
        tree.add(_line(f"the graph answers: {escape(', '.join(result.graph_answers))}"))
    if result.facts:
        branch = tree.add(_line(f"the graph knows ({len(result.facts)})"))
        for fact in result.facts[:FACTS]:
            branch.add(_line(escape(str(fact))))


def _evidence(tree: Tree, evidence: Sequence[Evidence], title: str) -> None:
    branch = tree.add(_line(f"[bold]{title}[/bold] ({len(evidence)})"))
    for item in evidence:
        text = escape(cut(shown(item.passage), SHOWN))
        branch.add(_line(f"[cyan]{escape(source_of(item))}[/cyan] [dim]{escape(item.query_variant)}[/dim]\n{text}"))


def _sources(tree: Tree, result: RunResult) -> None:
    for answer in result.source_answers:
        found = ", ".join(hit.passage.id for hit in answer.hits[:RECORDS])
        more = f" … and {len(answer.hits) - RECORDS} more" if len(answer.hits) > RECORDS else ""
        asked = escape(f"{answer.query.source}: {answer.query.query_string}")
        tree.add(_line(f"{asked} [dim]{answer.matching} match[/dim] {escape(found)}{more}"))


def _cost(result: RunResult) -> str:
    trace, spent = result.trace, result.timings
    asked = ", ".join(f"{stage} {count}" for stage, count in trace.candidates.items()) or "none"
    return (
        f"candidates: {asked}; {trace.queries} searches in {result.rounds} rounds; {trace.duplicates} duplicates; "
        f"search {spent.search:.1f} ms, graph {spent.graph:.1f} ms, sources {spent.sources:.1f} ms, "
        f"follow-ups {spent.follow_ups:.1f} ms, all {spent.total:.1f} ms"
    )
