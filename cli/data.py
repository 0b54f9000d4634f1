"""``queryplan data``: check, split, count and convert labelled queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from .examples import epilog_of
from .files import check_file, check_folder
from .progress import wide_console

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Check, split, count and convert labelled queries.",
    epilog="[bold]Examples[/bold]\n\nqueryplan data check podcast\n\n"
    "queryplan data split labelled.jsonl --out my-domain\n\nqueryplan data convert clinc150 --out clinc",
)

Source = Annotated[
    str,
    typer.Argument(
        help="A shipped domain, a domain folder, a JSONL, CSV or Parquet file (also .gz), or OWNER/NAME on the hub."
    ),
]


@app.command(epilog=epilog_of("data check"))
def check(
    source: Source,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Also draw the findings, as .png or .svg.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out how much TF-IDF can learn from the queries alone.")
    ] = False,
) -> None:
    """Find what spoils results: duplicates, leaks between splits, labels against the guide, gold plans that fail.

    Ends with exit code 1 if anything must be mended, so that CI stops. No file is changed.
    """
    from ..data.checking import check_set, folder_of, open_set
    from ..eval.giveaway import giveaway
    from ..eval.graph.gold_plans import check_gold_plans
    from ..program.retrieval.own_texts import check_texts
    from .data_show import check_tables, draw

    check_file("--picture", picture)
    labelled = open_set(source)
    folder = folder_of(source)
    plans = check_gold_plans(labelled, folder)
    texts = check_texts(folder, labelled.card) if folder is not None else ()
    report = check_set(labelled).joined([*plans.findings, *texts], plans.notes)
    given = () if quick else giveaway(labelled.splits, labelled.known)
    if as_json:
        typer.echo(json.dumps({**report.model_dump(), "giveaway": [g.model_dump() for g in given]}, ensure_ascii=False))
    else:
        wide_console().print(check_tables(report, given))
    if picture is not None:
        draw(report, given, picture)
    if report.findings:
        raise typer.Exit(1)


@app.command(epilog=epilog_of("data split"))
def split(
    file: Source,
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl and the other splits.")],
    shares: Annotated[
        str | None, typer.Option(help="Share of each split; default: train=0.45,dev=0.15,calibrate=0.25,test=0.15.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random draw.")] = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite split files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Split rows by conversation, so that each split has its share of every label."""
    from ..data.disk import writing
    from ..data.loading import load_rows
    from ..data.splitting import SHARES, parse_shares, split_rows, write_splits
    from ..data.statistics import set_statistics
    from .data_show import statistics_tables

    check_folder("--out", out)
    parts = split_rows(load_rows(file), parse_shares(shares) if shares else SHARES, seed)
    with writing(out):
        write_splits(parts, out, replace)
    counted = set_statistics(parts)
    if as_json:
        typer.echo(json.dumps({"out": str(out), "seed": seed, **counted.model_dump()}, ensure_ascii=False))
    else:
        wide_console().print(statistics_tables(counted, f"{file} in {out}, seed {seed}"))


@app.command()
def stats(source: Source, as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """Count the rows, conversations, lengths, languages, tags and labels of each split."""
    from ..data.checking import open_set
    from ..data.statistics import set_statistics
    from .data_show import statistics_tables, title_of

    labelled = open_set(source)
    counted = set_statistics(labelled.splits, labelled.known)
    if as_json:
        typer.echo(json.dumps({"fingerprints": labelled.fingerprints, **counted.model_dump()}, ensure_ascii=False))
    else:
        wide_console().print(statistics_tables(counted, title_of(source, labelled.fingerprints)))
    if labelled.problems:
        typer.echo(f"{len(labelled.problems)} rows cannot be read: queryplan data check {source}", err=True)


@app.command(epilog=epilog_of("data convert"))
def convert(
    name: Annotated[str, typer.Argument(help="The public set; a wrong name lists all of them.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it must be empty or not exist.")],
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="PATH|HUB", help="Where the set is; default: $QUERYPLAN_BENCHMARKS/NAME, then the hub."
        ),
    ] = None,
) -> None:
    """Convert a public set into a domain folder that can be compiled; says which labels the set has."""
    from ..data.converters import CONVERTERS
    from ..errors import DataError

    if name not in CONVERTERS:
        own = "; rows of your own need none: queryplan data split FILE --out FOLDER takes JSONL, CSV and Parquet"
        raise DataError(f"there is no converter {name!r}: give one of {', '.join(CONVERTERS)}{own}")
    converter = CONVERTERS[name]
    summary = converter.convert(source, out)
    rows = ", ".join(f"{split} {count:,}" for split, count in summary.rows.items()) or "none"
    typer.echo(f"{summary.folder}: rows {rows}; graph of {summary.nodes:,} nodes and {summary.edges:,} edges")
    for reason, count in summary.left_out.items():
        typer.echo(f"left out: {count:,} ({reason})")
    typer.echo(f"labels: {', '.join(converter.says) or 'none'}; {converter.licence}, from {converter.source}")
