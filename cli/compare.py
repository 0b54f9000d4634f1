"""``queryplan compare``: evaluations or programs on the same rows, with paired differences and their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import UserError
from . import options
from .files import check_file, check_tracking
from .opening import open_planner
from .progress import counting, wide_console
from .settings import Settings, load_settings

if TYPE_CHECKING:
    from ..eval.measured import Measured
    from ..eval.measuring import Wanted


def command(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="A B …", help="Evaluation folders, MLflow run ids, program folders, or models:/NAME@ALIAS."
        ),
    ],
    domain: Annotated[
        str | None, typer.Option(help="For programs: a shipped domain, or a folder with a domain.toml.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="For programs: labelled queries as JSONL; default: the domain's test.jsonl.")
    ] = None,
    lm: Annotated[str | None, typer.Option(help="For programs: local, none, or any DSPy model name.")] = None,
    api_base: options.ApiBase = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="For programs: a stratified sample of this many rows.")
    ] = None,
    graph: Annotated[bool, typer.Option("--graph", help="For programs: plan and score graph steps too.")] = False,
    regressions: Annotated[int, typer.Option(min=0, help="Show at most this many plans that got worse.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the comparison as one HTML page.")
    ] = None,
    price: options.Price = None,
    track: Annotated[bool, typer.Option("--track", help="Also keep the page in an MLflow run.")] = False,
    tracking_uri: options.Tracked = None,
    why: Annotated[str, typer.Option(help="Why the test set is read; recorded beside it.")] = "compare",
) -> None:
    """Compare programs on the same rows, each with the first: paired, with intervals, corrected for multiple testing.

    Kept evaluations are compared as they are. Programs are measured first, on the same rows; run it again to continue.
    """
    from ..eval.compare import compare
    from ..eval.compare_render import to_rich
    from ..eval.measured import apart
    from ..eval.measuring import Wanted
    from ..eval.page.html_report import write_page
    from ..eval.prices import prices_of

    settings = load_settings(lm=lm, api_base=api_base, tracking_uri=tracking_uri)
    prices, given = prices_of(settings.prices), options.price(price)
    check_file("--html", html)
    if track:
        check_tracking(settings.tracking_uri, tracking_uri is not None)
    wanted, what = Wanted(domain, data, sample, why), [one for one in what if not _beside(Path(one))]
    kept = _check(what, settings, wanted, graph)
    found = [one or _measure(name, settings, wanted, graph) for name, one in zip(what, kept, strict=True)]
    measured = apart([one.priced(given or prices.of(one.evaluation.lm)) for one in found])
    report = compare([one.evaluation for one in measured], max(regressions, 20 if html or as_json else regressions))
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        wide_console().print(to_rich(report, regressions))
    if html is not None:
        write_page(measured, html)
    if track:
        _track(measured, settings)


def _beside(path: Path) -> bool:
    """Whether a path is a report that `queryplan compile` wrote beside a program; ``programs/*`` matches those too."""
    name = next((path.name.removesuffix(end) for end in (".tables.json", ".md") if path.name.endswith(end)), "")
    return bool(name) and path.is_file() and path.with_name(name).is_dir()


def _check(what: list[str], settings: Settings, wanted: Wanted, graph: bool) -> list[Measured | None]:
    """The kept evaluation that each name stands for, or None for a program, if all can be compared.

    This is checked before any program is measured, so that no reading of test rows is recorded in vain.

    Raises:
        QueryPlanError: too few of them, no such evaluation or program, or different rows.
    """
    from ..eval.compare import check_comparable
    from ..eval.measured import apart
    from ..eval.tracking.stored import stored

    if len(what) < 2:
        raise UserError("comparing takes two evaluations or more; `queryplan evaluate` measures one")
    kept = [stored(one, settings.tracking_uri) for one in what]
    known = [one.evaluation for one in apart([one for one in kept if one is not None])]
    if known:
        check_comparable(known)
    for program in (name for name, one in zip(what, kept, strict=True) if one is None):
        rows = _rows_for(program, settings, wanted, graph)
        if known and rows != known[0].data_fingerprint:
            raise UserError(f"{program} would be measured on other rows than {known[0].name}: give the same --data")
    return kept


def _rows_for(program: str, settings: Settings, wanted: Wanted, graph: bool) -> str:
    """The fingerprint of the rows that a program would be measured on."""
    from ..data.domain import rows_hash
    from ..eval.measuring import Measuring

    with open_planner(wanted.domain, program, settings, plan_graph=graph, model="later") as planner:
        return rows_hash(Measuring(planner, wanted).sample.rows)


def _measure(program: str, settings: Settings, wanted: Wanted, graph: bool) -> Measured:
    """Measure a program now; the evaluation has the program's name."""
    from ..eval.measuring import Measuring

    opened = open_planner(wanted.domain, program, settings, plan_graph=graph)
    with opened as planner, counting(f"planning with {program}") as report:
        measuring = Measuring(planner, wanted, lambda what, done, total: report(done, total))
        for sentence in measuring.counted():
            typer.echo(sentence, err=True)
        measured = measuring.program().named(Path(program).name)
        measured.save(measuring.folder(measured))
    return measured


def _track(measured: list[Measured], settings: Settings) -> None:
    from ..eval.page.html_report import html_page
    from ..eval.tracking.track_page import log_comparison

    domain = measured[0].evaluation.domain
    versions = [one.evaluation.program_version for one in measured]
    run_id = log_comparison(html_page(measured), settings.tracking_uri, domain, versions)
    typer.echo(f"in MLflow as run {run_id}", err=True)
