"""``queryplan plan``: plan one query, or a file of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from ..errors import DataError, UserError
from . import options
from .files import check_file, read_json
from .logging_plans import logging_plans
from .opening import When, open_planner
from .progress import counting
from .settings import load_settings
from .show import plan_tree

if TYPE_CHECKING:
    from ..data.card import DomainCard
    from ..program.batch import Worked
    from ..program.plan import QueryPlan


def command(
    query: Annotated[str | None, typer.Argument(help="What the user typed.")] = None,
    domain: options.Domain = None,
    program: options.Program = None,
    history: options.History = None,
    session: options.Session = None,
    active_entity: options.ActiveEntity = None,
    lm: options.Lm = None,
    api_base: options.ApiBase = None,
    deadline: options.Deadline = None,
    mode: options.Mode = None,
    graph: options.Graph = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
    batch: Annotated[
        Path | None, typer.Option(help="Plan every row of this JSONL file; rows have id, query, history, session.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="JSONL file for the plans of --batch; run again to continue.")
    ] = None,
    log: options.Log = None,
    log_text: options.LogText = False,
    tracking_uri: options.TrackingUri = None,
) -> None:
    """Plan a query: is it a follow-up, is it in scope, how hard is it, what has to be asked?

    Without a compiled program, heads are first trained from the domain's own rows, and the plan says so.
    """
    settings = load_settings(lm=lm, api_base=api_base, tracking_uri=tracking_uri)
    single = {"--history": history, "--session": session, "--active-entity": active_entity}
    check_asked(query, batch, out, single, "plans")
    messages, known = read_history(history), read_session(session) or {}
    known |= {"active_entity": active_entity} if active_entity else {}
    # For a batch the model must answer first: plans made without it would only have to be made again.
    when: When = "within" if batch is None else "before"
    opened = open_planner(domain, program, settings, plan_graph=graph, model=when, mode=mode)
    with opened as planner, logging_plans(planner, log, log_text):
        if batch is not None and out is not None:
            _batch(planner, batch, out, deadline)
            return
        plan = planner.plan(query or "", messages, known, deadline)
    if as_json:
        typer.echo(plan.model_dump_json(indent=2))
    else:
        Console().print(plan_tree(plan))
        if plan.graph_plan is not None:
            _say_answers(planner.card, domain, plan)


def _say_answers(card: DomainCard, domain: str | None, plan: QueryPlan) -> None:
    """Print what the plan's graph steps find in the domain's own graph, or a line on why that cannot be read."""
    from ..data.card import domain_of

    try:
        answers = _answers(domain_of(card, domain), plan)
    except DataError as error:
        typer.echo(f"the graph was not asked: {error}", err=True)
    else:
        Console().print(f"the graph answers: {answers}", markup=False)


def _answers(domain: str, plan: QueryPlan) -> str:
    """The answers of the plan's graph steps on the domain's own graph, in words."""
    from ..program.graph.executor import open_graph

    assert plan.graph_plan is not None
    found = open_graph(domain).run(plan.graph_plan)
    unknown = ", ".join(ref.name for ref in found.unknown)
    return ", ".join(found.names) or (f"it has no {unknown}" if unknown else "nothing")


def check_asked(
    query: str | None, batch: Path | None, out: Path | None, single: Mapping[str, object], results: str
) -> None:
    """Refuse anything but one query, or a batch with the file for its results, whose place must be writable.

    Args:
        single: the options for a single query, by flag, which a batch would ignore.
        results: what is written to the file, in a word.

    Raises:
        UserError: both are given, or neither, or a batch without its file or with options for a single query.
    """
    if (query is None) == (batch is None):
        raise UserError("give a query or --batch FILE --out FILE, and not both")
    if (batch is None) != (out is None):
        raise UserError(f"--batch and --out go together: the queries and the file that their {results} are written to")
    check_file("--out", out)
    said = [name for name, value in single.items() if value is not None]
    if batch is not None and said:
        raise UserError(f"{' and '.join(said)} cannot be given with --batch: write history and session into its rows")


def read_history(path: Path | None) -> list[dict[str, Any]] | None:
    """Read the messages in a file: a JSON list, an object that has one as ``messages``, or one message a line.

    Raises:
        DataError: the file has no messages in any of these forms.
    """
    if path is None:
        return None
    messages = read_json(path, "a JSON list of messages, [] for none", lines=True)
    if isinstance(messages, dict):
        messages = messages.get("messages", [messages] if "role" in messages else None)
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        raise DataError(f"{path} must hold a JSON list of messages, each with role and content")
    return messages


def read_session(path: Path | None) -> dict[str, Any] | None:
    """Read the session in a file.

    Raises:
        DataError: the file is not a JSON object.
    """
    if path is None:
        return None
    session = read_json(path, "a JSON object")
    if not isinstance(session, dict):
        raise DataError(f'{path} must hold a JSON object, such as {{"now": "2025-10-17T16:40:00+02:00"}}')
    return session


def _batch(planner: Any, source: Path, target: Path, deadline: float | None) -> None:
    from ..program.batch import plan_batch

    with counting("planning") as report:
        worked = plan_batch(planner, source, target, deadline, report)
    say_worked(worked, "planned", target)


def say_worked(worked: Worked, how: str, target: Path) -> None:
    """Say how many rows of a batch were done.

    Raises:
        DataError: some rows were not queries.
    """
    said = f"{worked.done} queries {how}, all of them in {target}"
    if not worked.done and not worked.failed:
        said = f"nothing is left to do: every query is in {target} already"
    if worked.failed:
        raise DataError(
            f"{said}; rows that are no query: {worked.failed}, each with its error there; mend them and run again"
        )
    typer.echo(said, err=True)
