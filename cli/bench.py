"""``queryplan bench``: speed beside rivals in the same run, whether the heads' bound holds, and what lent rows gain."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..errors import UserError
from .progress import counting

if TYPE_CHECKING:
    from ..signatures.types import Frozen

PARTS = {
    "plans": "decisions of a text, whole plans, plans a second, loading a program",
    "router": "the heads beside semantic-router, where it is installed",
    "retrieval": "candidates, source plans, reading everything",
    "graph": "importing a graph, running plans of one to three hops, and making plans",
    "http": "a plan over HTTP beside the planner alone",
    "bound": "how often the bound on the heads' error breaks on rows that it was not fitted on; takes minutes",
    "lending": "what a domain with a card and few rows gains from rows that other domains lend; takes minutes",
}
USUAL = ("plans", "router", "retrieval", "graph", "http")
WIDE = 6
"""From this many columns on a table is transposed: in a pipe a line has 80 characters, and headings would be cut."""

Tables = dict[str, "Sequence[Frozen]"]
Report = Callable[[int, int], None]


def command(
    parts: Annotated[
        list[str] | None,
        typer.Argument(help=f"Some of {', '.join(PARTS)}; default: all but bound and lending."),
    ] = None,
    domain: Annotated[str, typer.Option(help="A shipped domain, or a folder with a domain.toml.")] = "podcast",
    draws: Annotated[int, typer.Option(min=1, help="bound only: how often it is fitted and measured.")] = 200,
    error: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="bound only: the share of queries that may be wrong.")
    ] = 0.05,
    bound: Annotated[bool, typer.Option("--bound", help="The same as the one argument bound.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Run benchmarks; data sets and rivals that are not found are named as skipped.

    Times are measured on one core without a language model, with ratios to the first line of each table.
    """
    chosen = ["bound"] if bound else list(parts or USUAL)
    if unknown := sorted(set(chosen) - set(PARTS)):
        raise UserError(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(PARTS)}")
    made: dict[str, Callable[[Report], Tables]] = {
        "plans": lambda report: _plans(domain),
        "router": lambda report: _router(),
        "retrieval": lambda report: _retrieval(),
        "graph": lambda report: _graph(),
        "http": lambda report: _http(domain),
        "bound": lambda report: _bound(draws, error, report),
        "lending": _lending,
    }
    every: Tables = {}
    for part in chosen:
        with counting(part) as report:
            tables = made[part](report)
        every |= tables
        if not as_json:
            _show(tables)
    if as_json:
        typer.echo(json.dumps({name: [row.model_dump() for row in rows] for name, rows in every.items()}, indent=2))


def _plans(domain: str) -> Tables:
    from ..eval.bench.plans import bench_decisions, bench_loading, bench_plans, bench_rate, heads_size

    with TemporaryDirectory() as folder:
        seconds, kept = _trained(domain, Path(folder))
        size = heads_size(domain, kept) / 1e6
        typer.echo(f"heads trained in {seconds:.0f} s; their file has {size:.2f} MB (2 MB at most)", err=True)
        return {
            "from a text to every decision, ms": bench_decisions(domain, kept=kept),
            "a plan, no language model, ms": bench_plans(domain, kept=kept),
            "plans a second": bench_rate(domain, kept=kept),
            "a program, ms": bench_loading(domain, kept=kept),
        }


def _trained(domain: str, folder: Path) -> tuple[float, Path]:
    """Train a domain's heads in a process of their own, and return the seconds and the folder that keeps them.

    A process that has trained is slower afterwards.
    """
    from ..program.uncompiled import KEPT

    named = str(Path(domain).resolve()) if Path(domain).is_dir() else domain
    command = [sys.executable, "-m", "queryplan", "plan", "what is it?", "--domain", named, "--lm", "none"]
    began = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "QUERYPLAN_PROGRAMS_DIR": str(folder / "none")},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise UserError(done.stderr.strip().rpartition("\n")[2].removeprefix("error: "))
    return time.perf_counter() - began, folder / KEPT


def _router() -> Tables:
    from ..eval.bench.router import bench_router, missing

    if why := missing():
        typer.echo(f"skipped router: {why}", err=True)
        return {}
    return {"beside semantic-router": bench_router()}


def _retrieval() -> Tables:
    from ..eval.bench.retrieval import bench_retrieval

    return {"retrieval, ms": bench_retrieval()}


def _graph() -> Tables:
    from ..eval.bench.graph import bench_graph

    found = bench_graph()
    return {
        "a graph": [found],
        "running graph plans, ms": found.hops,
        "the same in memory, ms": found.memory_hops,
        "planning questions without a language model, ms": found.planning,
    }


def _http(domain: str) -> Tables:
    from ..eval.bench.http import bench_http, missing

    if why := missing():
        typer.echo(f"skipped http: {why}", err=True)
        return {}
    return {"plans over HTTP on loopback, one caller, ms": bench_http(domain)}


def _bound(draws: int, error: float, report: Report) -> Tables:
    from ..eval.cascade.bound_sets import resample_sets, skipped

    for why in skipped():
        typer.echo(f"skipped {why}", err=True)
    found = list(resample_sets(draws, error, progress=report))
    return {f"the bound of {error:.0%}, resampled": found}


def _lending(report: Report) -> Tables:
    from ..eval.bench.lending import bench_lending

    return {"plans of new domains, rules and heads": bench_lending(report)}


def _show(tables: Mapping[str, Sequence[Frozen]]) -> None:
    for name, rows in tables.items():
        lines = [row.model_dump() for row in rows]
        columns = [column for column in lines[0] if not any(_nested(line[column]) for line in lines)]
        names = [column.replace("_", " ") for column in columns]
        cells = [[_cell(line[column]) for column in columns] for line in lines]
        if len(columns) > WIDE:
            names, *cells = (list(line) for line in zip(names, *cells, strict=True))
        table = Table(*names, title=name)
        for row in cells:
            table.add_row(*row)
        Console().print(table)


def _nested(value: Any) -> bool:
    """Whether a value is a table of its own."""
    return isinstance(value, list | tuple) and any(isinstance(item, dict) for item in value)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 100 else f"{value:,.0f}"
    if isinstance(value, list | tuple):
        return " / ".join(map(_cell, value))
    if isinstance(value, dict):  # an estimate
        return f"{value['value']:.2f} [{value['low']:.2f}, {value['high']:.2f}]"
    return "" if value is None else str(value)
