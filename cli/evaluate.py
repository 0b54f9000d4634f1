"""``queryplan evaluate``: how good is a program on labelled queries?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .opening import open_planner
from .progress import counting, wide_console
from .settings import load_settings


def command(
    program: Annotated[str, typer.Argument(help="A program folder, models:/NAME@ALIAS, or zero-shot.")],
    domain: Annotated[str | None, typer.Option(help="A shipped domain, or a folder with a domain.toml.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Labelled queries as JSONL; default: the domain's test.jsonl.")
    ] = None,
    lm: Annotated[str | None, typer.Option(help="local, local:0.5b, none, or any DSPy model name.")] = None,
    api_base: Annotated[str | None, typer.Option(help="Root of an OpenAI-compatible server.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="So many rows, drawn stratified.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write every row with its plan to this JSON file.")] = None,
    tracking_uri: Annotated[
        str | None, typer.Option(help="Where MLflow keeps runs; default: a SQLite file here.")
    ] = None,
    why: Annotated[str, typer.Option(help="A word on why the test set is read; kept beside it.")] = "evaluate",
) -> None:
    """Accuracy of each stage and of whole plans with intervals, beside the majority class and TF-IDF; latency and cost.

    A stopped evaluation continues where it was when the same command is run again.
    """
    from ..eval.measuring import measure
    from ..eval.render import to_rich
    from ..eval.tracking import Tracking

    settings = load_settings(lm=lm, api_base=api_base, tracking_uri=tracking_uri)
    with open_planner(domain, program, settings) as planner, counting("planning") as report:
        planner.warm()
        evaluations, compared = measure(planner, domain or planner.card.name, data, sample, why, report)
    if as_json:
        typer.echo(compared.model_dump_json(indent=2))
    else:
        wide_console().print(to_rich(compared))
    if out is not None:
        evaluations[-1].save(out)
    run_id = Tracking(settings.tracking_uri, f"queryplan-{planner.card.name}").log_evaluation(
        evaluations[-1], report=compared
    )
    typer.echo(f"in MLflow as run {run_id}", err=True)
