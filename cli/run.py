"""``queryplan run``: plan a query, or a file of them, and execute the plans on the domain's own stores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from . import options
from .graph_show import say_left_out
from .logging_plans import logging_plans
from .opening import When, open_planner
from .plan import check_asked, read_history, read_session, say_worked
from .progress import counting
from .settings import load_settings
from .show_run import run_tree

if TYPE_CHECKING:
    from ..program.planner import QueryPlanner
    from ..program.retrieval.run_result import RunResult
    from ..program.retrieval.stores import Stores

LIMIT = 10


def command(
    query: Annotated[str | None, typer.Argument(help="What the user typed.")] = None,
    domain: options.Domain = None,
    program: options.Program = None,
    history: options.History = None,
    session: options.Session = None,
    lm: options.Lm = None,
    api_base: options.ApiBase = None,
    deadline: Annotated[float | None, typer.Option(min=0, help="Seconds for planning and searching together.")] = None,
    mode: options.Mode = None,
    graph: options.Graph = False,
    limit: Annotated[
        int, typer.Option(help="Passages in the evidence; twice as many for a complex question.", min=1, max=200)
    ] = LIMIT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan and the result as JSON.")] = False,
    batch: Annotated[
        Path | None, typer.Option(help="Run every row of this JSONL file; rows have id, query, history, session.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="JSONL file for the results of --batch; run again to continue.")
    ] = None,
    log: options.Log = None,
    log_text: options.LogText = False,
    tracking_uri: options.TrackingUri = None,
) -> None:
    """Plan a query and execute it: evidence with its sources, what the graph answers, and every gap.

    Texts are searched by words and by vectors, side by side; no language model writes the answer.
    """
    from ..data.card import domain_of

    settings = load_settings(lm=lm, api_base=api_base, tracking_uri=tracking_uri)
    check_asked(query, batch, out, {"--history": history, "--session": session}, "results")
    row = {"query": query or "", "history": read_history(history), "session": read_session(session)}
    # For a batch the model must answer first: plans made without it would only have to be made again.
    when: When = "within" if batch is None else "before"
    opened = open_planner(domain, program, settings, plan_graph=graph, model=when, mode=mode)
    with opened as planner, logging_plans(planner, log, log_text):
        stores = _stores(domain_of(planner.card, domain))
        if batch is not None and out is not None:
            _batch(planner, stores, batch, out, deadline, limit)
            return
        result = _run(planner, stores, row, deadline, limit)
    if as_json:
        typer.echo(json.dumps(result.as_json(), ensure_ascii=False, indent=2))
    else:
        Console().print(run_tree(result))


def _stores(domain: str) -> Stores:
    from ..program.retrieval.stores import open_stores

    stores = open_stores(domain)
    say_left_out(stores.left_out)
    return stores


def _run(
    planner: QueryPlanner, stores: Stores, row: Mapping[str, Any], deadline: float | None, limit: int
) -> RunResult:
    from ..program.asking import PLANNING
    from ..program.retrieval.calls import Deadline
    from ..program.retrieval.execute import RunSettings, execute
    from ..program.retrieval.search import SearchSettings

    until = Deadline(deadline)
    most = None if deadline is None else PLANNING * deadline
    plan = planner.plan(row["query"], row.get("history"), row.get("session"), most)
    left = None if deadline is None else until.left()
    settings = RunSettings(search=SearchSettings(limit=limit))
    return execute(plan, stores, session=row.get("session"), deadline_s=left, settings=settings)


def _batch(
    planner: QueryPlanner, stores: Stores, source: Path, target: Path, deadline: float | None, limit: int
) -> None:
    from ..program.batch import conversation_of, each_row, switches_of

    def run(row: Mapping[str, Any]) -> dict[str, Any]:
        result = _run(planner, stores, row, deadline, limit)
        return {**conversation_of(row), "run": result.as_json()}

    with counting("running") as report:
        depends = f"{switches_of(planner)} {limit}" if limit != LIMIT else switches_of(planner)
        worked = each_row(source, target, run, planner.program_version, report, depends=depends)
    say_worked(worked, "run", target)
