"""``queryplan bench``: how fast, as ratios in one run."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table


def command(
    domain: Annotated[str, typer.Option(help="A shipped domain, or a folder with a domain.toml.")] = "podcast",
    as_json: Annotated[bool, typer.Option("--json", help="Print the timings as JSON.")] = False,
) -> None:
    """Time whole plans without a language model and the loading of a program, each beside a rival in the same run."""
    from ..eval.bench import Timing, bench_loading, bench_plans

    groups: dict[str, list[Timing]] = {
        "a plan, no language model": bench_plans(domain),
        "a program": bench_loading(domain),
    }
    if as_json:
        import json

        typer.echo(json.dumps({name: [t.model_dump() for t in timings] for name, timings in groups.items()}, indent=2))
        return
    for name, timings in groups.items():
        table = Table("", "p50 ms", "p99 ms", f"p50 over {timings[0].name}", title=name)
        for t in timings:
            table.add_row(t.name, f"{t.p50:.3f}", f"{t.p99:.3f}", f"{t.ratio:.2f}")
        Console().print(table)
