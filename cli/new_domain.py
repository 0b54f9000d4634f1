"""``queryplan new-domain``: begin a domain of your own, from answers at the terminal or from flags."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from ..errors import UserError
from .files import check_folder


def command(
    name: Annotated[str, typer.Argument(help="The domain's name: small letters, digits, - and _.")],
    title: Annotated[str | None, typer.Option(help="What people call the domain.")] = None,
    description: Annotated[str | None, typer.Option(help="What the domain is, in one sentence.")] = None,
    covers: Annotated[
        list[str] | None,
        typer.Option(help="A subject that it answers; repeat for each. What follows a comma explains it."),
    ] = None,
    excluded: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND=DESCRIPTION", help="A kind of question that it does not answer; repeat for each."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write; default: ./NAME.")] = None,
) -> None:
    """Write a domain folder that can be compiled: a card, and starter rows for you to replace.

    At a terminal it asks for what was not given.
    """
    from ..data.disk import writing
    from ..data.newdomain import DomainAnswers, check_name, parse_excluded, write_domain

    check_name(name)
    folder = out or Path(name)
    check_folder("--out" if out else "the domain", folder)
    asks = _at_a_terminal()
    lines = tuple(covers or _covered(asks))
    called = title or _one(asks, "title", name.replace("-", " ").replace("_", " ").title())
    answers = DomainAnswers(
        name=name,
        title=called,
        description=description or _one(asks, "one sentence on what it is", f"{called}: {'; '.join(lines)}."),
        covers=lines,
        excluded=parse_excluded(excluded or (_outside() if asks else [])),
    )
    with writing(folder):
        written = write_domain(folder, answers)
    typer.echo(f"{folder}: {', '.join(path.name for path in written)}")
    typer.echo(f"The rows are starters made from templates; {folder / 'README.md'} says how to replace them.")
    typer.echo(f"queryplan data check {quote(str(folder))}\nqueryplan compile {quote(str(folder))} --lm none")


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


def _one(asks: bool, text: str, default: str) -> str:
    return typer.prompt(text, default=default) if asks else default


def _covered(asks: bool) -> list[str]:
    if not asks:
        raise UserError("say what it answers: --covers TEXT, once for each, since there is no terminal to ask at")
    typer.echo("what does it answer? one thing a line, an empty line ends")
    lines: list[str] = []
    while line := str(typer.prompt(">", default="", show_default=False)).strip():
        lines.append(line)
    return lines or _covered(asks)


def _outside() -> list[str]:
    typer.echo("what do people ask that is not for it? KIND=DESCRIPTION a line, such as weather=weather reports; an")
    typer.echo("empty line ends; with fewer than two, general knowledge and other tasks are added")
    lines: list[str] = []
    while line := str(typer.prompt(">", default="", show_default=False)).strip():
        lines.append(line)
    return lines
