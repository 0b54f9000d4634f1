"""What ``queryplan graph run`` prints: the plan in words, and a table of the answers with their paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from .show import escape

if TYPE_CHECKING:
    from ..program.graph.executor import GraphAnswer
    from ..signatures.graph_steps import GraphPlan

ROWS = 200
"""The most answers shown; --json and --batch have all of them."""


def say_left_out(lines: Iterable[str]) -> None:
    """Say on standard error which parts of some files are not used."""
    for line in lines:
        typer.echo(f"left out: {line}", err=True)


def show_proposal(console: Console, proposal: Any) -> None:
    """Print how a question was read, by what (ranking or model) and how certainly."""
    sure = "" if proposal.confidence is None else f", {proposal.confidence:.2f}"
    console.print(Text(f"{proposal.decided_by}{sure}: {proposal.reason}"))
    for line in proposal.degraded:
        console.print(Text(f"degraded: {line}"))


def answer_tables(plan: GraphPlan, answer: GraphAnswer) -> Iterator[RenderableType]:
    """What to print: the plan, its answers, and what could not be answered."""
    from ..program.graph.wording import plan_lines

    steps = Table("stores", "step", title="plan")
    for step, line in zip(plan.steps, plan_lines(plan), strict=True):
        steps.add_row(Text(step.store_as), Text(line[len(step.store_as) :].strip()))
    yield steps
    yield _answers(answer)
    for line in answer.degraded:
        yield Text(line)
    if len(answer.names) > ROWS:
        yield Text(f"{len(answer.names) - ROWS:,} more answers; see them all with --json")


def _answers(answer: GraphAnswer) -> Table:
    kind = answer.type or "answers"
    found = f"{len(answer.names):,} {kind}" if answer.ids or not answer.names else kind
    titles = (kind, "how it was reached")[: 1 + bool(answer.paths)]
    title = f"{found} in {answer.milliseconds:.1f} ms"
    table = Table(*map(escape, titles), title=escape(title), min_width=len(title))  # else a title breaks on short names
    for number, name in enumerate(answer.names[:ROWS]):
        path = [" – ".join(answer.paths[number])] if answer.paths else []
        table.add_row(*map(Text, (name, *path)))
    return table
