"""``queryplan explain``: who decided each stage of one query's plan, how surely, and what would change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from ..errors import DataError
from . import options
from .opening import open_planner
from .plan import read_history, read_session
from .settings import load_settings
from .show import escape

if TYPE_CHECKING:
    from ..data.card import DomainCard
    from ..data.rows import LabelledRow
    from ..program.explaining import Explanation, StageRoute


def command(
    query: Annotated[str, typer.Argument(help="What the user typed.")],
    domain: options.Domain = None,
    program: options.Program = None,
    history: options.History = None,
    session: options.Session = None,
    active_entity: options.ActiveEntity = None,
    lm: options.Lm = None,
    api_base: options.ApiBase = None,
    mode: options.Mode = None,
    deadline: options.Deadline = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the explanation as JSON.")] = False,
    tracking_uri: options.TrackingUri = None,
) -> None:
    """Plan a query and show each stage: who decided, how surely, against which threshold, and what resembles it."""
    from ..program.explaining import explain

    settings = load_settings(lm=lm, api_base=api_base, tracking_uri=tracking_uri)
    messages = read_history(history)
    with open_planner(domain, program, settings, model="within", mode=mode) as planner:
        known = (read_session(session) or {}) | ({"active_entity": active_entity} if active_entity else {})
        rows = _rows(planner.card, domain)
        found = explain(planner, query, messages, known or None, deadline, rows)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        Console().print(route_tree(found))


def _rows(card: DomainCard, domain: str | None) -> tuple[LabelledRow, ...]:
    """The rows that heads learn from; if they cannot be read, none, and a line on stderr says so."""
    from ..data.card import domain_of
    from ..data.domain import load_domain

    try:
        return load_domain(domain_of(card, domain), splits=("train",)).rows("train")
    except DataError as error:
        typer.echo(f"no rows that resemble it are shown: {error}", err=True)
        return ()


def route_tree(found: Explanation) -> Tree:
    """An explanation as a tree for a terminal."""
    tree = Tree(_line(f"[bold]{escape(found.plan.query) or '(empty)'}[/bold]"))
    if found.plan.is_follow_up:
        tree.add(_line(f"read as: [cyan]{escape(found.plan.standalone_query)}[/cyan]"))
    for route in found.routes:
        _add(tree, route)
    for gap in found.plan.degraded:
        tree.add(_line(f"[yellow]not done:[/yellow] {escape(f'{gap.what} – {gap.why}; {gap.instead}')}"))
    for note in (*found.plan.trace.notes, f"mode {found.mode}; {found.bound}"):
        tree.add(_line(f"[dim]{escape(note)}[/dim]"))
    return tree


def _add(tree: Tree, route: StageRoute) -> None:
    value = route.value
    shown = ", ".join(map(str, value.values())) if isinstance(value, dict) else str(value)
    who = f"{route.decided_by}, probability {route.confidence:.3f}, {route.reason}"
    branch = tree.add(_line(f"[bold]{route.stage}[/bold]: {escape(f'{shown} – {who}')}"))
    if route.certainty is not None:
        needed = f", needed {route.needed:.3f}" if route.needed is not None else ", no threshold"
        branch.add(_line(f"heads' certainty {route.certainty:.3f}{needed}"))
    for output, given in route.heads.items():
        best = ", ".join(f"{label} {p:.3f}" for label, p in list(given.items())[:3])
        branch.add(_line(f"[dim]{output}: {escape(best)}[/dim]"))
    for near in route.nearest:
        branch.add(_line(f"[dim]like ({near.similarity:.2f}) {escape(f'{near.query} – {near.label}')}[/dim]"))
    if route.change:
        branch.add(_line(f"would change it: {escape(route.change)}"))


def _line(markup: str) -> Text:
    return Text.from_markup(markup, emoji=False)
