"""``queryplan score``: the accuracy of source plans and read-or-search decisions, and the recall of searches."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from ..errors import UserError
from . import options
from .opening import open_planner
from .settings import load_settings

if TYPE_CHECKING:
    from ..data.rows import LabelledRow
    from ..eval.retrieval.recall import PlanOf, Question
    from ..program.planner import QueryPlanner
    from ..program.retrieval.stores import Stores
    from ..signatures.types import Frozen

PARTS = {
    "sources": ("engineering", "source plans from the labelled kinds and from the text, beside one kind and card cues"),
    "collection": ("journal", "read everything or search, beside always searching and the number of items alone"),
    "recall": ("podcast", "evidence found by planned candidates, beside the plain query and fixed variations"),
    "answering": ("podcast", "complex questions with all of their evidence, the planner off and on"),
}
SPLITS = ("train", "dev", "calibrate", "test")


@dataclass(frozen=True)
class Wanted:
    """What to score, and how."""

    domain: str
    splits: tuple[str, ...]
    cross_validated: bool
    labels: bool
    k: int


def command(
    part: Annotated[str, typer.Argument(help=f"One of {', '.join(PARTS)}.")],
    domain: options.Domain = None,
    split: Annotated[
        list[str] | None,
        typer.Option(help="dev, calibrate, train, or test, whose reading is recorded; may be repeated."),
    ] = None,
    cross_validated: Annotated[
        bool,
        typer.Option("--cross-validated", help="sources only: heads trained without the fold of each row."),
    ] = False,
    labels: Annotated[
        bool, typer.Option("--labels", help="recall and answering: plan from the rows' own labels.")
    ] = False,
    k: Annotated[int, typer.Option(min=1, help="Passages that each way of searching may return.")] = 10,
    program: options.Program = None,
    lm: options.Lm = None,
    api_base: options.ApiBase = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Score source plans and searches on labelled queries that the program did not learn from.

    Every share has an interval over conversations, and cheap rivals beside it.
    """
    if part not in PARTS:
        said = "; ".join(f"{name}: {what}" for name, (_, what) in PARTS.items())
        raise UserError(f"there is nothing called {part} to score; there are {said}")
    wanted = Wanted(domain or PARTS[part][0], tuple(split or ("dev",)), cross_validated, labels, k)
    _check(part, wanted)
    settings = load_settings(lm=lm, api_base=api_base)
    if _needs_no_program(part, wanted):
        _record(part, wanted, "none")
        report = _REPORTS[part](wanted, None)
    else:
        with open_planner(wanted.domain, program, settings) as planner:
            planner.warm()
            _record(part, wanted, planner.program_version)
            report = _REPORTS[part](wanted, planner)
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        _show(report, f"{wanted.domain}, {' and '.join(wanted.splits)}")


def _needs_no_program(part: str, wanted: Wanted) -> bool:
    """Whether rules, labels or heads trained here decide everything that is scored."""
    return part == "collection" or (wanted.cross_validated if part == "sources" else wanted.labels)


def _check(part: str, wanted: Wanted) -> None:
    """Refuse scores that would be meaningless.

    Raises:
        UserError: no such split, or rows that the heads have learned from.
    """
    if unknown := sorted(set(wanted.splits) - set(SPLITS)):
        raise UserError(f"there is no split {', '.join(unknown)}; there are {', '.join(SPLITS)}")
    learned = "train" in wanted.splits and part != "collection"
    if learned and not (wanted.cross_validated if part == "sources" else wanted.labels):
        instead = "--cross-validated" if part == "sources" else "--labels"
        raise UserError(f"heads have learned from train, so that their score there says nothing; add {instead}")


def _record(part: str, wanted: Wanted, program: str) -> None:
    """Record a reading of a test split before it happens."""
    from ..data.card import domain_folder
    from ..eval.test_readings import file_of_test, record_reading

    if "test" in wanted.splits:
        record_reading(file_of_test(domain_folder(wanted.domain)), program, f"score {part}")


def _rows(wanted: Wanted) -> Sequence[LabelledRow]:
    from ..data.domain import load_domain

    read = load_domain(wanted.domain, splits=wanted.splits)
    return [row for split in wanted.splits for row in read.rows(split)]


def _sources(wanted: Wanted, planner: QueryPlanner | None) -> Frozen:
    from ..data.card import domain_folder, load_card
    from ..eval.retrieval.scores import cross_validate_sources, measure_sources

    if planner is None:
        return cross_validate_sources(_rows(wanted), load_card(domain_folder(wanted.domain)))
    return measure_sources(_rows(wanted), planner.card, planner.heads)


def _collection(wanted: Wanted, _: QueryPlanner | None) -> Frozen:
    from ..data.card import domain_folder, load_card
    from ..eval.retrieval.scores import measure_collection

    folder = domain_folder(wanted.domain)
    return measure_collection(_rows(wanted), load_card(folder), folder)


def _recall(wanted: Wanted, planner: QueryPlanner | None) -> Frozen:
    from ..eval.retrieval.recall import measure_recall

    questions, stores = _evidence(wanted)
    return measure_recall(questions, stores, _plans(planner, stores), wanted.k)


def _answering(wanted: Wanted, planner: QueryPlanner | None) -> Frozen:
    from ..eval.retrieval.answering import measure_answering

    questions, stores = _evidence(wanted)
    try:
        return measure_answering(questions, stores, _plans(planner, stores), wanted.k)
    except ValueError as error:
        raise UserError(str(error)) from error


_REPORTS: dict[str, Callable[[Wanted, QueryPlanner | None], Frozen]] = {
    "sources": _sources,
    "collection": _collection,
    "recall": _recall,
    "answering": _answering,
}


def _evidence(wanted: Wanted) -> tuple[Sequence[Question], Stores]:
    from ..eval.retrieval.recall import evidence_questions
    from ..program.retrieval.stores import open_stores

    return evidence_questions(wanted.domain, wanted.splits), open_stores(wanted.domain)


def _plans(planner: QueryPlanner | None, stores: Stores) -> PlanOf:
    """Plans by a program, or from the labels if there is none."""
    from ..eval.retrieval.recall import plan_from_labels

    if planner is None:
        return lambda row: plan_from_labels(row, stores)
    return lambda row: planner.plan(row.query, [turn.model_dump() for turn in row.history], row.session)


def _show(report: Frozen, title: str) -> None:
    lines: Callable[[], list[str]] | None = getattr(report, "lines", None)
    if lines is not None:
        Console().print(Markdown("\n".join(lines())))
        return
    table = Table("", "right", "95 % interval", "rows", title=title)
    for name, found in json.loads(report.model_dump_json()).items():
        interval = f"{found['low']:.3f} to {found['high']:.3f}"
        table.add_row(name.replace("_", " "), f"{found['value']:.3f}", interval, str(found["n"]))
    Console().print(table)
