"""The ``queryplan`` command: lists the commands, and imports each only when it is called.

A command is a file ``cli/NAME.py`` with a function ``command`` or, for a group, a ``typer.Typer`` called ``app``. It
is listed once its file exists.
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
    "Get started": {
        "demo": "Compile a planner for the shipped podcast domain, show what it gained, and plan with it.",
        "models": "Fetch and list the weights of the embedded language models.",
    },
    "Compile and measure": {
        "compile": "Compile a planner on a domain's labelled queries, tracked in MLflow.",
        "evaluate": "Measure a program with intervals: each stage, whole plans, latency, cost.",
        "score": "Score source plans, read-or-search decisions, and the evidence that searches find.",
        "compare": "Compare programs or evaluations on the same rows, with intervals.",
        "promote": "Give a version an alias, if it passes the gate.",
        "bench": "Measure speed beside rivals, and how often the heads' bound breaks.",
    },
    "Plan": {
        "plan": "Plan one query, or a file of them.",
        "explain": "Show who decided each stage of a query's plan, how surely, and what would change it.",
        "run": "Plan a query and execute it on the domain's own stores.",
        "serve": "Serve a program over HTTP, on loopback unless told otherwise.",
        "graph": "Import a graph, and answer questions from it.",
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
        "Settings come from flags, then QUERYPLAN_* variables, then queryplan.toml; keys only from the environment.",
    )
)


def module_of(command: str) -> str:
    """The name of a command's module."""
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
    _join_lines(built)
    return built


def _join_lines(command: Any) -> None:
    """Join the lines of each paragraph of help, a group's commands included.

    Rich keeps the line breaks of all paragraphs but the first, whatever the width of the terminal.
    """
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in (command.help or "").split("\n\n"))
    for one in getattr(command, "commands", {}).values():
        _join_lines(one)


class Commands(TyperGroup):
    """The commands, listed by name and one line of help; a command's module is imported only when it is called."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for panel, commands in PANELS.items():
            for name, line in commands.items():
                if find_spec(module_of(name)) is not None:
                    self.add_command(TyperCommand(name, callback=None, help=line, rich_help_panel=panel))

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands in the order of the help's panels, not of the alphabet."""
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Load the command whose name was typed."""
        name, stub, rest = super().resolve_command(ctx, args)
        return name, stub and load(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error becomes one sentence."""
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
        if isinstance(end.__context__, BrokenPipeError):  # for which typer and rich exit with 1
            raise SystemExit(UNREAD) from None
        raise


def _write_anything(stream: TextIO | None) -> None:
    """Let every character be written: a terminal shows ``?`` for one that it lacks; files and pipes get UTF-8."""
    if isinstance(stream, TextIOWrapper):
        if stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8")
