"""Evaluates a planner in one sequential pass over labelled rows, with everything that is computed from it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import Field, ValidationError

from ..data.disk import write_whole
from ..data.domain import rows_hash
from ..data.rows import LabelledRow
from ..errors import DataError
from ..program.lm.meter import meter
from ..program.plan import QueryPlan
from ..signatures.problems import problems_of
from ..signatures.types import Frozen
from .metrics import Judge, score_case
from .prices import Price, dollars_of
from .resume import Journal
from .row_table import PARQUET_FILE, ROWS_FILE, RowResult, read_rows_file, write_parquet, write_rows
from .statistics import Estimate
from .summary import Summary, summarise

Case = RowResult
HEAD_FILE = "evaluation.json"
Progress = Callable[[int, int], None]


class Planner(Protocol):
    """Anything that plans queries: a real planner or a cheap rival."""

    @property
    def program_version(self) -> str:
        """A name of the compiled content, which changes whenever the content does."""
        ...

    def plan(self, query: str, history: Any = None, session: Mapping[str, Any] | None = None) -> QueryPlan:
        """Plan one query; history is dicts with ``role`` and ``content``, oldest first."""
        ...


class Evaluation(Frozen):
    """A planner's results on a set of rows: the row table in ``cases``, and where it comes from.

    Attributes:
        name: the heading of its column in a report.
        domain: the name on its domain's card; empty if not given.
        lm: the language model that was asked; empty if not given.
        data_fingerprint: hash of the rows, see `rows_hash`.
        load_average: the machine's load over the last minute, before and after; latency measured under other load
            means little. Empty if the system does not report it.
        sample: a sentence on how the rows were drawn, if they are not the whole set.
        replayed: whether some answers of the model came from a journal, so that latency was not measured.
        resumed: number of rows whose plans and times come from an earlier run of the same program and code.
        seen: number of rows that the program learned from; on new queries it is less accurate than here. 0 also if
            not counted.
        price: the price of the model's tokens, if it was known when this was measured.
    """

    kind: Literal["evaluation"] = "evaluation"
    name: str
    domain: str = ""
    lm: str = ""
    program_version: str
    data_fingerprint: str
    finished: str
    load_average: tuple[float, ...] = ()
    sample: str | None = None
    replayed: bool = False
    resumed: int = Field(default=0, ge=0)
    seen: int = Field(default=0, ge=0)
    price: Price | None = None
    cases: tuple[RowResult, ...]

    def summary(self) -> Summary:
        """Accuracy and macro-F1 of each stage, whole plans, costs and latency, with intervals."""
        return self._summary

    @cached_property
    def _summary(self) -> Summary:
        return summarise(self.cases)

    @property
    def dollars(self) -> Estimate | None:
        """Dollars that a thousand such plans cost; None if no price is known."""
        return dollars_of(self.cases, self.price)

    def priced(self, price: Price | None) -> Evaluation:
        """The same evaluation at another price; None changes nothing."""
        return self if price is None else self.model_copy(update={"price": price})

    def save(self, path: Path) -> None:
        """Write as one JSON file; the folder is created."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")

    def save_folder(self, folder: Path) -> None:
        """Write as a folder: ``evaluation.json`` without the rows, ``rows.jsonl``, and ``rows.parquet``."""
        write_rows(self.cases, folder / ROWS_FILE)
        write_parquet(self.cases, folder / PARQUET_FILE)
        head = self.model_dump_json(indent=1, exclude={"cases"})
        write_whole(folder / HEAD_FILE, f"{head}\n".encode())

    @classmethod
    def load(cls, path: Path) -> Evaluation:
        """Read what `save` or `save_folder` wrote.

        Raises:
            DataError: there is no such file, or it is not an evaluation of this version.
        """
        try:
            if path.is_dir():
                return cls._of_folder(path)
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise DataError(f"there is no evaluation {path}") from error
        except ValidationError as error:
            said = problems_of(error, 1)
            raise DataError(f"{path.name} is not an evaluation that this version can read: {said}") from error
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise DataError(f"{path.name} is not an evaluation that this version can read: {error}") from error

    @classmethod
    def _of_folder(cls, folder: Path) -> Evaluation:
        head = json.loads((folder / HEAD_FILE).read_text(encoding="utf-8"))
        return cls.model_validate({**head, "cases": read_rows_file(folder / ROWS_FILE)})


def evaluate(
    planner: Planner,
    rows: Sequence[LabelledRow],
    *,
    name: str,
    progress: Progress | None = None,
    resume: Path | None = None,
    sample: str | None = None,
    replayed: bool = False,
    version: str | None = None,
    judge: Judge | None = None,
    domain: str = "",
    lm: str = "",
    seen: int = 0,
) -> Evaluation:
    """Plan every row once, one after the other, and score the plans.

    Args:
        progress: called with (rows done, rows in all), first with the rows that a stopped run had done.
        resume: a JSON-lines file to which every plan is written as soon as it is made. Run again with the same file and
            the same code, only missing rows are planned, and those that a failed request degraded.
        sample: a sentence on how ``rows`` were drawn, shown in reports.
        version: a fuller name than ``planner.program_version``, for example with the language model of an uncompiled
            planner. ``resume`` is refused for another version or another ``name``.
        judge: what to score with, such as a graph to run graph steps on.
        domain: kept with the evaluation.
        lm: kept with the evaluation; ``resume`` is refused for another one.
        seen: number of rows that the planner learned from; kept with the evaluation.

    Raises:
        UserError: ``resume`` holds plans of another program or of other rows, or cannot be written.
        DataError: there are no rows.
    """
    if not rows:
        raise DataError("there are no rows to evaluate on: give a file with at least one labelled query")
    fingerprint, version = rows_hash(rows), version or planner.program_version
    before = load_average()
    with Journal(resume, f"{name} {version} {lm}".strip(), fingerprint) as journal:
        resumed = len(journal.done)
        cases = planned(_plan_row(planner), rows, journal, progress or (lambda done, total: None), judge)
    return Evaluation(
        name=name,
        domain=domain,
        lm=lm,
        program_version=version,
        data_fingerprint=fingerprint,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        load_average=before + load_average(),
        sample=sample,
        replayed=replayed,
        resumed=resumed,
        seen=seen,
        cases=tuple(cases),
    )


def planned(
    plan_row: Callable[[LabelledRow], QueryPlan],
    rows: Sequence[LabelledRow],
    journal: Journal,
    progress: Progress,
    judge: Judge | None = None,
) -> list[RowResult]:
    """Plan the rows that the journal lacks, one after the other, and score all rows, in their order.

    A plan that is degraded because a request failed says more about the server than about the program: it counts in
    this run, but is not kept for the next.
    """
    cases = {row.id: _case(row, *journal.done[row.id], judge) for row in rows if row.id in journal.done}
    progress(len(cases), len(rows))
    for row in rows:
        if row.id not in cases:
            with meter() as cost:
                start = time.perf_counter()
                plan = plan_row(row)
                milliseconds = (time.perf_counter() - start) * 1000
            if not (cost.failed and plan.degraded):
                journal.append(row.id, plan, milliseconds)
            cases[row.id] = _case(row, plan, milliseconds, judge)
            progress(len(cases), len(rows))
    return [cases[row.id] for row in rows]


def arguments_of(row: LabelledRow) -> dict[str, Any]:
    """A row's query, history and session, as ``plan`` takes them."""
    history = [{"role": turn.role, "content": turn.content} for turn in row.history]
    return {"query": row.query, "history": history, "session": dict(row.session)}


def _plan_row(planner: Planner) -> Callable[[LabelledRow], QueryPlan]:
    return lambda row: planner.plan(**arguments_of(row))


def _case(row: LabelledRow, plan: QueryPlan, milliseconds: float, judge: Judge | None) -> RowResult:
    return RowResult.of(row, plan, score_case(row, plan, milliseconds=milliseconds, judge=judge))


def learned_from(seen: int, rows: int) -> str:
    """The beginning of a sentence about rows that a program learned from."""
    return f"the program learned from {seen} of these {rows} rows, so that they show nothing about new queries"


def load_average() -> tuple[float, ...]:
    """The load average of the last minute; empty on systems without it (Windows)."""
    return (round(os.getloadavg()[0], 2),) if hasattr(os, "getloadavg") else ()
