"""``queryplan compile``: from labelled queries to a measured and registered program."""

from __future__ import annotations

import re
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..errors import ConfigError, UserError
from . import options
from .files import check_file, check_folder, check_tracking
from .progress import by_column, draw, wide_console
from .settings import Settings, load_settings
from .show import escape

if TYPE_CHECKING:
    from ..optimizers.job_contract import JobSettings, Outcome

SPLITS = ("train", "dev", "test")
NUMBER = re.compile(r"\d+(\.\d+)?")


def command(
    domain: Annotated[str, typer.Argument(help="A shipped domain, or a folder with domain.toml and labelled queries.")],
    optimizer: Annotated[str, typer.Option(help="zero-shot, thresholds, labeled, bootstrap or cascade.")] = "bootstrap",
    lm: Annotated[
        str | None, typer.Option(help="Language model: local, local:0.5b, none, or any DSPy model name.")
    ] = None,
    api_base: options.ApiBase = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=NUMBER", help="A setting of the optimizer, such as candidates=1."),
    ] = None,
    stages: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated: follow_up, relevance, complexity, rewrite, decompose, graph; default: all but graph."
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="What embeds texts for the heads: static, or minilm, which reads whole sentences where those leave a"
            " doubt of any label (extra minilm; 3 to 7 ms); default: minilm where it is installed."
        ),
    ] = None,
    lending: Annotated[bool, typer.Option(help="Also learn from rows that other domains lend.")] = True,
    budget_calls: Annotated[
        int | None, typer.Option(min=0, help="Requests to the language model that compiling may spend.")
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(metavar="TRAIN,DEV,TEST", help="Size of a stratified sample of each split; default: all rows."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Makes every random choice repeatable.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Program folder to write; default: one under .queryplan/programs.")
    ] = None,
    tracking_uri: options.Tracked = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Also draw the report into this SVG file.")] = None,
    why: Annotated[str, typer.Option(help="Why the test set is read; recorded beside it.")] = "compile",
) -> None:
    """Compile a planner stage by stage, measure it on the test split beside its rivals, and register it in MLflow.

    Stop it with Ctrl-C whenever you like: the same command continues where it was and pays for nothing twice.
    """
    from ..optimizers.job_contract import STAGES, JobSettings

    settings = load_settings(lm=lm, api_base=api_base, tracking_uri=tracking_uri, encoder=encoder)
    check_tracking(settings.tracking_uri, tracking_uri is not None)
    job = JobSettings(
        optimizer=optimizer,
        arguments=parse_settings(set_ or []),
        lm=settings.lm_settings(),
        encoder=settings.encoder,
        lending=lending,
        stages=STAGES if stages is None else parse_stages(stages),
        sizes=parse_sample(sample),
        seed=seed,
        max_calls=budget_calls,
        programs=settings.programs_dir,
        out=out,
        journal=settings.journal,
        why=why,
    )
    run_job(domain, job, settings, as_json, picture)


def parse_stages(text: str) -> tuple[str, ...]:
    """``rewrite,decompose`` as names of stages."""
    found = tuple(stage.strip() for stage in text.split(",") if stage.strip())
    if not found:
        raise UserError(
            "--stages takes names with commas between them, such as rewrite,decompose; leave it out for all"
        )
    return found


def parse_settings(given: list[str]) -> dict[str, int | float]:
    """``candidates=1`` and ``error=0.1`` as settings of an optimizer."""
    pairs = [text.partition("=") for text in given]
    if wrong := [text for text, (_, _, number) in zip(given, pairs, strict=True) if not NUMBER.fullmatch(number)]:
        raise UserError(f"--set takes NAME=NUMBER, such as candidates=1 or error=0.1, not {wrong[0]!r}")
    return {name.strip(): int(number) if number.isdigit() else float(number) for name, _, number in pairs}


def parse_sample(text: str | None) -> dict[str, int]:
    """``48,40,40`` as sizes of train, dev and test."""
    if text is None:
        return {}
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != len(SPLITS) or min(numbers) < 1:
        raise UserError(f"--sample takes three numbers for train, dev and test, such as 48,40,40, not {text!r}")
    return dict(zip(SPLITS, numbers, strict=True))


def run_job(
    domain: str, job: JobSettings, settings: Settings, as_json: bool = False, picture: Path | None = None
) -> Path:
    """Run a compile job, show its report, and write it into MLflow; returns the program folder."""
    from ..data.disk import writing
    from ..data.domain import load_domain
    from ..eval.prices import prices_of
    from ..eval.render import to_markdown, to_rich
    from ..optimizers.job import CompileJob
    from ..optimizers.progress import open_progress

    console = Console(stderr=True)
    check_file("--picture", picture)
    check_folder("--out", job.out)
    if job.out is not None:  # a program is written beside its place and takes it when it is whole
        check_folder("the folder above --out", job.out.absolute().parent)
    read = load_domain(domain)
    with open_progress() as progress, by_column(progress) as counted:
        outcome = CompileJob(read, job).run(
            progress, counted, lambda text: console.print(escape(text), highlight=False)
        )
    outcome = outcome.priced(prices_of(settings.prices))
    with writing(outcome.folder.with_suffix(".md")):
        outcome.folder.with_suffix(".md").write_text(to_markdown(outcome.report), encoding="utf-8")
        if outcome.tables is not None:
            tables = outcome.tables.model_dump_json(indent=2)
            outcome.folder.with_suffix(".tables.json").write_text(tables, encoding="utf-8")
    if as_json:
        typer.echo(outcome.report.model_dump_json(indent=2))
    else:
        wide_console().print(to_rich(outcome.report))
    if picture is not None:
        draw(to_rich(outcome.report), picture)
    _track(outcome, f"--domain {quote(domain)}" if job.out is None else f"--program {quote(str(job.out))}", settings)
    return outcome.folder


def _track(outcome: Outcome, where: str, settings: Settings) -> None:
    """Log the outcome; ``where`` is the option by which `queryplan plan` finds its program."""
    from ..optimizers.record import log_outcome

    console = Console(stderr=True, soft_wrap=True)
    try:
        run_id, version = log_outcome(outcome, settings.tracking_uri)
    except ConfigError as error:
        console.print(f"[yellow]not in MLflow:[/yellow] {escape(str(error))}")
        return
    place = f"queryplan-{outcome.manifest.domain} version {version} (challenger), run {run_id}"
    console.print(f"program {escape(str(outcome.folder))}, in MLflow as {escape(place)}")
    console.print(f"look at it: {escape(where_to_look(settings.tracking_uri))}")
    console.print(f'plan with it: queryplan plan "…" {escape(where)}')


def where_to_look(uri: str) -> str:
    """A server's own page, or the command that shows a database; without the password that an address may have."""
    from ..program.artifact.registry import public_uri

    shown = public_uri(uri)
    return shown if uri.startswith(("http://", "https://")) else f"mlflow ui --backend-store-uri {shown}"
