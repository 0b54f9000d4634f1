"""The command ``queryplan``: adds the commands and imports each only when it is called.

A command is a file ``cli/NAME.py`` with either a function ``command`` or, for a group, a
``typer.Typer`` called ``app``; it is listed once its file exists.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from .. import __version__
from .errors import UNREAD, one_sentence
from .examples import epilog_of

PANELS: dict[str, dict[str, str]] = {
    "Begin": {
        "demo": "Compile a planner for the shipped podcast domain, show what it gained, and plan with it.",
        "models": "Fetch and list the weights of the embedded language models.",
    },
    "Compile and measure": {
        "compile": "Compile a planner for a domain against its labelled queries, tracked in MLflow.",
        "evaluate": "Measure a program: each stage, whole plans, latency, with intervals.",
        "score": "Score source plans, reading or searching, and what searching finds.",
        "compare": "Compare runs pair by pair, with intervals.",
        "promote": "Give a version an alias, if it passes the gate.",
        "bench": "Run the benchmarks, on public data sets where they are found.",
    },
    "Plan": {
        "plan": "Plan one query, or a file of them.",
        "explain": "Show the route of one query: who decided each stage, how surely, and what would change it.",
        "run": "Plan a query and execute it on the domain's own stores.",
        "serve": "Serve a program over HTTP, on loopback unless told otherwise.",
        "graph": "Import a graph, and answer questions on it.",
    },
    "Data": {
        "data": "Check, split, count and convert labelled queries.",
        "new-domain": "Begin a domain of your own.",
        "label": "Label queries from logged plans, the least certain first.",
    },
}

EXAMPLES = "\n\n".join(
    (
        "[bold]Examples[/bold]",
        'queryplan plan "who talked about meditation?" --domain podcast --lm none',
        "queryplan compile podcast --optimizer bootstrap --lm local",
        "queryplan evaluate zero-shot --domain podcast --lm openai/gpt-4o-mini",
        "Settings come from flags, then QUERYPLAN_* variables, then queryplan.toml. Keys: only from the environment.",
    )
)


def module_of(command: str) -> str:
    """The module that a command lives in."""
    return f"{__package__}.{command.replace('-', '_')}"


def load(command: str) -> Any:
    """Import a command's module and build its typer command."""
    module = import_module(module_of(command))
    if hasattr(module, "app"):
        built: Any = get_group(module.app)
    else:
        single = typer.Typer(add_completion=False, rich_markup_mode="rich")
        single.command(command, epilog=epilog_of(command))(module.command)
        built = get_command(single)
    built.name = command
    return built


class Commands(TyperGroup):
    """Commands known by name and one line of help; the rest is imported when one is called."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for panel, commands in PANELS.items():
            for name, line in commands.items():
                if find_spec(module_of(name)) is not None:
                    self.add_command(TyperCommand(name, callback=None, help=line, rich_help_panel=panel))

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order of the panels, not of the alphabet."""
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The real command behind the name that was typed."""
        name, stub, rest = super().resolve_command(ctx, args)
        return name, stub and load(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what it raises becomes one sentence."""
        with one_sentence():
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"queryplan {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Plan queries before searching: typed, checked, explained plans from a program that you compile."""


def main() -> None:
    """Entry point of the console script."""
    _write_anything(sys.stdout)
    try:
        app(prog_name="queryplan")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer and rich make 1 of it
            raise SystemExit(UNREAD) from None
        raise


def _write_anything(stream: TextIO | None) -> None:
    """A terminal shows ``?`` for what it has no character for; a file or a pipe gets UTF-8, as JSON has to be."""
    if isinstance(stream, TextIOWrapper):
        if stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8")
