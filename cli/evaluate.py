"""``queryplan evaluate``: measure a program on labelled queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..errors import ConfigError
from . import options
from .files import check_file, check_folder, check_tracking
from .opening import open_planner
from .progress import counting, wide_console
from .settings import Settings, load_settings
from .show import escape

if TYPE_CHECKING:
    from ..eval.measured import Measured
    from ..eval.report import Report


def command(
    program: Annotated[str, typer.Argument(help="A program folder, models:/NAME@ALIAS, or zero-shot.")],
    domain: Annotated[str | None, typer.Option(help="A shipped domain, or a folder with a domain.toml.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Labelled queries as JSONL; default: the domain's test.jsonl.")
    ] = None,
    lm: options.Lm = None,
    api_base: options.ApiBase = None,
    mode: options.Mode = None,
    sample: Annotated[int | None, typer.Option(min=1, help="A stratified sample of this many rows.")] = None,
    oracle: Annotated[
        bool | None,
        typer.Option(
            "--oracle/--no-oracle",
            help="Replace stages by gold labels one by one, to see what each costs; default: only without a model, "
            "and on up to 2,000 rows.",
        ),
    ] = None,
    throughput: Annotated[
        bool, typer.Option("--throughput", help="Also measure queries a second, with 1, 8 and 64 in flight.")
    ] = False,
    graph: Annotated[bool, typer.Option("--graph", help="Also plan graph steps, and score their answers.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Also write every row with its plan: a .json file, or a folder.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report as one HTML page.")] = None,
    price: options.Price = None,
    tracking_uri: options.Tracked = None,
    why: Annotated[str, typer.Option(help="Why the test set is read; recorded beside it.")] = "evaluate",
) -> None:
    """Measure stages and whole plans with intervals, beside the majority class and TF-IDF; also latency and cost.

    If it is stopped, the same command continues where it was. The evaluation is kept in a folder under
    .queryplan/evaluations, which `queryplan compare` takes.
    """
    from ..eval.measuring import Wanted, measure
    from ..eval.prices import prices_of
    from ..eval.render import to_rich

    settings = load_settings(lm=lm, api_base=api_base, tracking_uri=tracking_uri)
    given = options.price(price)
    _check(out, html)
    check_tracking(settings.tracking_uri, tracking_uri is not None)
    wanted = Wanted(domain, data, sample, why, oracle, throughput, prices_of(settings.prices))
    with (
        open_planner(domain, program, settings, plan_graph=graph, mode=mode) as planner,
        counting("planning") as report,
    ):
        planner.warm()
        measuring, measured, compared = measure(
            planner, wanted, lambda what, done, total: report(done, total), price=given
        )
    if as_json:
        typer.echo(compared.model_dump_json(indent=2))
    else:
        wide_console().print(to_rich(compared))
    _write(measured, out, html)
    typer.echo(f"kept in {measuring.folder(measured)}", err=True)
    _track(measured, compared, measuring.dataset, settings)


def _check(out: Path | None, html: Path | None) -> None:
    """Check that the files can be written, before minutes are spent on measuring."""
    if out is not None and out.suffix == ".json":
        check_file("--out", out)
    else:
        check_folder("--out", out)
    check_file("--html", html)


def _write(measured: Measured, out: Path | None, html: Path | None) -> None:
    from ..eval.page.html_report import write_page

    if out is not None and out.suffix == ".json":
        measured.evaluation.save(out)
    elif out is not None:
        measured.save(out)
    if html is not None:
        write_page([measured], html)


def _track(measured: Measured, compared: Report, dataset: str, settings: Settings) -> None:
    """Write the evaluation and its page into MLflow; if the server is down, nothing is lost and the command goes on."""
    from ..eval.page.html_report import html_page
    from ..eval.tracking.runs import Tracking
    from ..eval.tracking.track_page import log_page

    tracking = Tracking(settings.tracking_uri, f"queryplan-{measured.evaluation.domain}")
    try:
        run_id = tracking.log_evaluation(measured.evaluation, report=compared, dataset=dataset)
        log_page(html_page([measured]), measured, settings.tracking_uri, run_id)
    except ConfigError as error:
        Console(stderr=True).print(f"[yellow]not in MLflow:[/yellow] {escape(str(error))}")
        return
    typer.echo(f"in MLflow as run {run_id}", err=True)
