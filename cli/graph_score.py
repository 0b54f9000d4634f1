"""``queryplan graph score``: the share of questions that a graph planner answers exactly right, for each set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ..errors import UserError
from . import options
from .progress import counting, saying_waits, wide_console
from .show import escape

if TYPE_CHECKING:
    from ..eval.graph.beside_cypher import Beside
    from ..eval.graph.scores import GraphReport
    from ..eval.graph.sets import GraphSet, Opening
    from ..program.lm.endpoint import LMHandle

JOURNAL = Path(".queryplan/graph-score.sqlite")


def score(
    sets: Annotated[
        list[str] | None,
        typer.Argument(
            help="Some of biomedical, biomedical-more, biomedical-voices, hetionet, hetionet-more, unseen, metaqa, "
            "metaqa-types; default: biomedical, hetionet and unseen."
        ),
    ] = None,
    lm: Annotated[
        str,
        typer.Option(
            help="Language model: none, local, local:0.5b, or any DSPy model name; it is also asked for Cypher."
        ),
    ] = "none",
    api_base: options.ApiBase = None,
    split: Annotated[str, typer.Option(help="biomedical only: dev, or test, whose reading is recorded.")] = "dev",
    sampled: Annotated[
        bool, typer.Option("--sampled", help="metaqa and metaqa-types: only the samples of 150 questions.")
    ] = False,
    most: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions of each set.")] = None,
    ask_all: Annotated[
        bool, typer.Option("--ask-all", help="Ask the model even where the ranking is certain.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Measure graph plans by their answers, beside a simple planner that follows the nearest edge; with a model, beside
    Cypher that it writes.

    Public sets are read from the folder that QUERYPLAN_BENCHMARKS names. A model's answers are kept in
    .queryplan/graph-score.sqlite: run again to continue.
    """
    from ..eval.graph.sets import Opening, open_sets
    from ..optimizers.graph import learn_graph

    if split not in ("dev", "test"):
        raise UserError(f"--split is dev or test, not {split}")
    names = sets or ["biomedical", "hetionet", "unseen"]
    opening = Opening(learn_graph, sampled=sampled or lm != "none", split=split)
    _record(names, opening, lm)
    model = _model(lm, api_base)
    made: list[Any] = []
    try:
        opened = open_sets(names, opening)
        while (measured := _next(opened)) is not None:
            part = measured.first(most)
            made += [_beside(part, model, ask_all)] if model is not None else _scores(part)
            if not as_json:
                _show(made[-1:] if model is not None else made[-2:], part)
    finally:
        if model is not None:
            model.close()
    if as_json:
        typer.echo(json.dumps([_plain(report) for report in made], ensure_ascii=False, indent=2))


def _next(sets: Iterator[GraphSet]) -> GraphSet | None:
    """The next set, None after the last; its planner may have to learn first, which takes minutes."""
    with saying_waits(spinner=False):
        return next(sets, None)


def _record(names: list[str], opening: Opening, lm: str) -> None:
    """Record a reading of the test split before it happens."""
    from ..data.card import domain_folder
    from ..eval.test_readings import file_of_test, record_reading

    if opening.split == "test" and "biomedical" in names:
        record_reading(file_of_test(domain_folder("biomedical")), f"graph score, --lm {lm}", "answers of graph plans")


def _model(lm: str, api_base: str | None) -> LMHandle | None:
    from ..program.lm.endpoint import open_lm
    from ..program.lm.journal import CallJournal
    from .settings import load_settings

    if lm == "none":
        return None
    return open_lm(load_settings(lm=lm, api_base=api_base).lm_settings(), CallJournal(JOURNAL))


def _scores(measured: GraphSet) -> list[GraphReport]:
    """The scores of the planner, and of one that only follows the nearest edge."""
    from ..eval.graph.scores import OneHop, measure_graph

    little = OneHop(measured.graph.schema, measured.planner.answerer.index)
    with counting(measured.name) as report:
        scored = measure_graph(measured.planner, measured.graph, measured.questions, measured.name, report)
    return [scored, measure_graph(little, measured.graph, measured.questions, f"{measured.name}, nearest edge")]


def _beside(measured: GraphSet, model: LMHandle, ask_all: bool) -> Beside:
    from ..eval.graph.beside_cypher import measure_beside
    from ..eval.graph.sets import database_of

    with database_of(measured.folder, measured.graph) as database, counting(measured.name) as report:
        return measure_beside(measured, database, model, ask_all, report)


def _plain(report: Any) -> dict[str, Any]:
    """A report as plain data, without the results of single questions, since these contain the answers."""
    return report.model_dump(mode="json", exclude={"results", "attempts"})


def _show(reports: list[Any], measured: GraphSet) -> None:
    console = wide_console()
    rows = [row for report in reports for row in report.rows()]
    table = Table(*rows[0], title=escape(f"{measured.name}: learned from {measured.told}"))
    for row in rows:
        table.add_row(*(escape(str(value)) for value in row.values()))
    console.print(table)
    for line in reports[0].sentences():
        console.print(escape(line))
