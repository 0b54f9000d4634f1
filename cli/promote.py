"""``queryplan promote``: give a version an alias if it passes the gate.

Exit codes: 0 when it passed (the alias has moved, unless ``--dry-run``), 4 when the gate says no, 5 when the rows
cannot decide; 2 and 3 as for every command.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ..errors import ConfigError, UserError
from . import options
from .files import check_file
from .progress import wide_console
from .settings import load_settings
from .show import escape

if TYPE_CHECKING:
    from ..eval.gate.judging import GateResult
    from ..eval.gate.promotion import Promotion

FAILED, INCONCLUSIVE = 4, 5
_VERSION = re.compile(r"(?:models:/)?(?:(?P<model>[^/@]+)[/@])?(?P<version>[^/@]+)")
_COLOURS = {"pass": "green", "fail": "red", "inconclusive": "yellow"}


def command(
    version: Annotated[
        str | None, typer.Argument(help="The version: 3, @challenger, or models:/queryplan-podcast@challenger.")
    ] = None,
    to: Annotated[str, typer.Option(metavar="ALIAS", help="The alias to move.")] = "champion",
    domain: Annotated[
        str | None,
        typer.Option(help="The domain whose program it is; not needed if only one is registered, or VERSION names it."),
    ] = None,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Give the alias back to the version that had it before.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge without changing anything.")] = False,
    why: Annotated[str, typer.Option(help="Your own reason; kept with the version.")] = "",
    accept_inconclusive: Annotated[
        bool, typer.Option("--accept-inconclusive", help="Promote even if the rows cannot decide; needs --why.")
    ] = False,
    junit: Annotated[Path | None, typer.Option(help="Also write every check as JUnit XML.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write a summary as Markdown.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    tracking_uri: options.Tracked = None,
) -> None:
    """Compare a version with the champion on the same rows, and move the alias if it is not worse.

    Requirements stand in queryplan.toml under \\[gate]: margin, minimum, ceilings. The answer is pass (exit code 0),
    fail (4) or inconclusive (5), the last with the number of rows that would probably decide. With neither a champion
    nor a minimum nothing is required, which is inconclusive too. Each version is judged with the language model that it
    was compiled with.
    """
    from ..eval.gate.promotion import Registry
    from ..eval.gate.settings import gate_settings
    from ..eval.prices import prices_of

    if rollback == (version is not None):
        raise UserError("give a version to promote, or --rollback, and not both")
    if accept_inconclusive and not why:
        raise UserError("--accept-inconclusive needs --why, the reason that is kept with the version")
    check_file("--junit", junit)
    check_file("--markdown", markdown)
    settings = load_settings(tracking_uri=tracking_uri)
    model, number = _named(version or "0", domain, settings.tracking_uri)
    registry = Registry(settings.tracking_uri, model, prices_of(settings.prices))
    if rollback:
        done = registry.rollback(to, why=why, dry_run=dry_run)
    else:
        gate = gate_settings(settings.gate)
        done = registry.promote(number, to, gate, why=why, accept_inconclusive=accept_inconclusive, dry_run=dry_run)
    _write(done, junit, markdown)
    if as_json:
        typer.echo(done.model_dump_json(indent=2))
    else:
        _show(done, dry_run)
    if code := exit_code(done, accept_inconclusive):
        raise typer.Exit(code)


def exit_code(done: Promotion, accept_inconclusive: bool = False) -> int:
    """The exit code: 0 for a pass, 4 if the gate says no, 5 if the rows cannot decide and that is not accepted."""
    if done.gate is None or done.moved or done.gate.verdict == "pass":
        return 0
    if done.gate.verdict == "inconclusive":
        return 0 if accept_inconclusive else INCONCLUSIVE
    return FAILED


def _named(version: str, domain: str | None, uri: str) -> tuple[str, str]:
    """The registered model and the version in it, a number or ``@alias``."""
    text = version.removeprefix("models:/")
    alias = text.rpartition("@")[2] if "@" in text else None
    match = _VERSION.fullmatch(text.removeprefix("@"))
    if match is None or (alias is None and not match["version"].isdigit()):
        raise UserError(f"{version} is no version: give a number, @challenger, or models:/queryplan-DOMAIN@challenger")
    return match["model"] or _model(domain, uri), f"@{alias}" if alias else match["version"]


def _model(domain: str | None, uri: str) -> str:
    from ..eval.gate.promotion import PREFIX, planner_models

    if domain is not None:
        from ..data.card import domain_folder, load_card

        return f"{PREFIX}{load_card(domain_folder(domain)).name}"
    found = planner_models(uri)
    if len(found) != 1:
        there = ", ".join(found) or "none"
        raise ConfigError(f"say which program with --domain or models:/NAME/VERSION; registered here: {there}")
    return found[0]


def _write(done: Promotion, junit: Path | None, markdown: Path | None) -> None:
    from ..eval.gate.report import gate_junit, gate_markdown

    if done.gate is None:
        return
    for path, render in ((junit, gate_junit), (markdown, gate_markdown)):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(render(done.gate), encoding="utf-8")


def _show(done: Promotion, dry_run: bool) -> None:
    from ..eval.gate.report import not_judged

    console = wide_console()
    if done.gate is not None:
        console.print(_table(done.gate))
        if small := not_judged(done.gate):
            console.print(escape(small), emoji=False)
    before = f", before it version {done.before}" if done.before else ""
    if done.moved and done.before == done.version:
        console.print(
            escape(f"{done.model} version {done.version} was {done.alias} already, and stays it."), emoji=False
        )
    elif done.moved:
        console.print(escape(f"{done.model} version {done.version} is {done.alias} now{before}."), emoji=False)
    elif dry_run:
        console.print(escape(f"Nothing was changed: {done.model} version {done.version}, {done.why}"), emoji=False)
    else:
        console.print(escape(f"The alias {done.alias} was not moved: {done.why}"), emoji=False)


def _table(result: GateResult) -> Table:
    from ..eval.gate.report import HEADINGS, gate_cells

    table = Table(title=f"gate: {result.verdict}", title_justify="left")
    for name in HEADINGS:
        table.add_column(name, justify="right" if "rows" in name else "left", overflow="fold")
    for check in result.checks:
        if check.verdict != "not judged":
            colour = _COLOURS[check.verdict]
            name, verdict, *rest = (escape(cell) for cell in gate_cells(check))
            table.add_row(name, f"[{colour}]{verdict}[/{colour}]", *rest)
    return table
