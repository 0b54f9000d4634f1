"""``queryplan label``: turn logged plans into labelled rows at the terminal, the least certain first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..errors import DataError, UserError
from .errors import STOPPED
from .files import check_file
from .settings import load_settings
from .show import escape

if TYPE_CHECKING:
    from ..data.card import DomainCard
    from ..data.label_file import Answers, LabelFile
    from ..data.labelling import LoggedPlan, Question

HOW = "Enter takes what the plan says; /s skips the row, /q stops. What you answered is kept."


class _Skipped(Exception):
    """Raised when the person who labels skips a plan."""


class _Stopped(Exception):
    """Raised when the person who labels stops with ``/q`` or the end of the input."""


def command(
    domain: Annotated[str, typer.Option(help="A shipped domain, or a folder with a domain.toml.")],
    out: Annotated[Path, typer.Option(help="JSONL file that labelled rows are appended to.")],
    logs: Annotated[Path | None, typer.Argument(help="Logged plans as JSONL: query, history, plan.")] = None,
    traces: Annotated[
        str | None, typer.Option(metavar="EXPERIMENT", help="Plans logged as MLflow traces instead of a file.")
    ] = None,
    newest: Annotated[int, typer.Option(min=1, help="Read this many of the newest traces.")] = 1000,
    tracking_uri: Annotated[str | None, typer.Option(help="The MLflow server that holds the --traces.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Offer at most this many plans.")] = None,
) -> None:
    """Label queries from production: each question proposes the answer that the logged plan has.

    Stop whenever you like; the same command continues where you were, even in the middle of a row.
    """
    from ..data.card import domain_folder, load_card
    from ..data.labelling import NOT_THERE, in_their_conversation
    from ..data.locks import alone_at

    check_file("--out", out)
    card = load_card(domain_folder(domain))
    logged, lost = in_their_conversation(_logged(logs, traces, newest, tracking_uri), str(logs or traces))
    if lost:
        typer.echo(f"{lost} plans are left out: they were made in conversations {NOT_THERE}", err=True)
    _say_of_another(logged, card)
    with alone_at(out):
        _label_all(logged, out, card, limit)


def _label_all(logged: list[LoggedPlan], out: Path, card: DomainCard, limit: int | None) -> None:
    from ..data.label_file import LabelFile
    from ..data.labelling import least_certain_first

    kept = LabelFile(out)
    waiting = least_certain_first(logged, kept.done)
    waiting.sort(key=lambda plan: plan.key != kept.in_hand)
    console = Console(highlight=False)
    if not waiting:
        console.print(f"0 to label of {len(logged)} plans, {len(kept.rows)} in {escape(str(out))}", emoji=False)
        return
    console.print(f"{len(waiting)} to label, {len(kept.rows)} in {escape(str(out))}. {HOW}", emoji=False)
    before = len(kept.rows)
    try:
        for number, plan in enumerate(waiting[:limit], 1):
            _offer(console, plan, f"{number} of {len(waiting)}")
            _label(console, plan, kept, card)
    except _Stopped:
        console.print(f"\n{STOPPED}")
    except KeyboardInterrupt:  # how to go on is said where every command ends with Ctrl-C
        console.print(f"\n{_added(kept, before, out)}", emoji=False)
        raise
    console.print(_added(kept, before, out), emoji=False)


def _added(kept: LabelFile, before: int, out: Path) -> str:
    return f"{len(kept.rows) - before} rows added to {escape(str(out))}"


def _say_of_another(logged: list[LoggedPlan], card: DomainCard) -> None:
    """Say if plans were made by a program of another domain, since their proposals are not meant for this one."""
    others = sorted({name for plan in logged if (name := plan.compiled_for) not in ("", card.name)})
    if others:
        typer.echo(f"some of these plans are of the domain {', '.join(others)}, not of {card.name}", err=True)


def _logged(logs: Path | None, traces: str | None, newest: int, tracking_uri: str | None) -> list[LoggedPlan]:
    """Read logged plans from a file or from MLflow."""
    from ..data.labelling import logged_plans, read_logged
    from ..program.batch import not_lines

    if (logs is None) == (traces is None):
        raise UserError("give a file of logged plans or --traces EXPERIMENT, and not both")
    if logs is not None:
        try:
            return read_logged(logs)
        except DataError as error:
            raise not_lines(logs) or error from None
    from ..program.plan_traces import read_traces

    found = read_traces(load_settings(tracking_uri=tracking_uri).tracking_uri, str(traces), newest)
    return logged_plans((f"trace {number}", record) for number, record in enumerate(found, 1))


def _offer(console: Console, logged: LoggedPlan, place: str) -> None:
    console.rule(f"{place}, certainty {logged.certainty:.2f}")
    for turn in logged.history:
        console.print(f"[dim]{turn.role}: {escape(turn.content)}[/dim]", emoji=False)
    console.print(f"[bold]{escape(logged.query)}[/bold]", emoji=False)


def _label(console: Console, logged: LoggedPlan, kept: LabelFile, card: DomainCard) -> None:
    """Ask until the row is complete or skipped; answers that contradict the guide are asked about once more."""
    from ..data.labelling import make_row

    answers: Answers = kept.answers(logged.key)
    before: Answers = {}
    while True:
        try:
            _ask_all(console, logged, answers, before, kept, card)
            kept.append(make_row(logged, answers))
            return
        except _Skipped:
            return
        except DataError as error:
            console.print(f"[red]{escape(str(error))}[/red]; once more, Enter takes what you said:", emoji=False)
            answers, before = {}, answers


def _ask_all(
    console: Console, logged: LoggedPlan, answers: Answers, before: Answers, kept: LabelFile, card: DomainCard
) -> None:
    from ..data.labelling import next_question

    while (question := next_question(logged, answers, card, before)) is not None:
        answers[question.field] = _ask(console, question)
        kept.keep(logged.key, answers)


def _ask(console: Console, question: Question) -> object:
    from ..data.labelling import read_answer

    choices = f" ({', '.join(question.choices)})" if question.choices else ""
    enter = "" if question.proposed is None else f" [dim]{escape(f'[{question.shown}]')}[/dim]"
    while True:
        console.print(f"{escape(question.text + choices)}{enter}", emoji=False)
        typed = _typed()
        if typed.strip() == "/q":
            raise _Stopped
        if typed.strip() == "/s":
            raise _Skipped
        try:
            return read_answer(question, typed)
        except ValueError as error:
            console.print(f"[red]{escape(str(error))}[/red]", emoji=False)


def _typed() -> str:
    """What is typed at the prompt, which makes one error of Ctrl-C and of the end of the input."""
    try:
        return str(typer.prompt("", default="", show_default=False, prompt_suffix="> "))
    except typer.Abort as end:
        raise (KeyboardInterrupt if isinstance(end.__context__, KeyboardInterrupt) else _Stopped) from None
