"""One sequential pass of a planner over labelled rows, and everything that is read off it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import ValidationError

from ..data.domain import rows_hash
from ..data.rows import LabelledRow
from ..errors import DataError
from ..program.plan import QueryPlan
from ..signatures.types import Frozen, Labels
from .metrics import CaseScore, score_case
from .resume import Journal
from .summary import Summary, summarise

Progress = Callable[[int, int], None]


class Planner(Protocol):
    """Anything that plans: the real planner and its cheap rivals."""

    @property
    def program_version(self) -> str:
        """Names the compiled content; changes whenever it does."""
        ...

    def plan(self, query: str, history: Any = None, session: Mapping[str, Any] | None = None) -> QueryPlan:
        """The plan of one query; history as dicts with ``role`` and ``content``, oldest first."""
        ...


class Case(Frozen):
    """One row, its plan and the score of that plan."""

    row_id: str
    conversation: str
    query: str
    language: str
    tags: tuple[str, ...]
    gold: Labels
    plan: QueryPlan
    score: CaseScore


class Evaluation(Frozen):
    """What a planner did on a set of rows.

    Attributes:
        name: the heading of its column in a report.
        data_fingerprint: of the rows, see `rows_hash`.
        load_average: of the machine over the last minute, before and after; latency measured under
            other load means little. Empty where the system does not tell.
        sample: a sentence about how the rows were drawn, if they are not the whole set.
        replayed: some answers of the model came from a journal, so latency was not measured.
    """

    kind: Literal["evaluation"] = "evaluation"
    name: str
    program_version: str
    data_fingerprint: str
    finished: str
    load_average: tuple[float, ...] = ()
    sample: str | None = None
    replayed: bool = False
    cases: tuple[Case, ...]

    def summary(self) -> Summary:
        """Accuracy and macro-F1 of each stage, whole plans, costs and latency, with intervals."""
        return self._summary

    @cached_property
    def _summary(self) -> Summary:
        return summarise(self.cases)

    def save(self, path: Path) -> None:
        """Write as JSON; the folder is created."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Evaluation:
        """Read what `save` wrote.

        Raises:
            DataError: no such file, or not an evaluation of this version.
        """
        try:
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise DataError(f"there is no evaluation {path}") from error
        except (OSError, UnicodeDecodeError, ValidationError) as error:
            raise DataError(f"{path.name} is not an evaluation that this version can read: {error}") from error


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
) -> Evaluation:
    """Plan every row once, one after the other, and score it.

    Args:
        progress: called with (rows done, rows in all), first with what a stopped run had done.
        resume: a JSON-lines file that gets every plan as soon as it is there; run again with the
            same file, only the missing rows are planned.
        sample: a sentence about how ``rows`` were drawn, shown in reports.
        version: says more than ``planner.program_version`` about what plans, such as the language model of
            an uncompiled planner; ``resume`` is refused to another version or another ``name``.

    Raises:
        UserError: ``resume`` holds plans of another program or of other rows, or cannot be written.
        DataError: there are no rows.
    """
    if not rows:
        raise DataError("there are no rows to evaluate on: give a file with at least one labelled query")
    fingerprint, version = rows_hash(rows), version or planner.program_version
    before = _load_average()
    with Journal(resume, f"{name} {version}", fingerprint) as journal:
        cases = _pass(planner, rows, journal, progress or (lambda done, total: None))
    return Evaluation(
        name=name,
        program_version=version,
        data_fingerprint=fingerprint,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        load_average=before + _load_average(),
        sample=sample,
        replayed=replayed,
        cases=tuple(cases),
    )


def _pass(planner: Planner, rows: Sequence[LabelledRow], journal: Journal, progress: Progress) -> list[Case]:
    cases = {row.id: _case(row, *journal.done[row.id]) for row in rows if row.id in journal.done}
    progress(len(cases), len(rows))
    for row in rows:
        if row.id not in cases:
            plan, milliseconds = _timed(planner, row)
            journal.append(row.id, plan, milliseconds)
            cases[row.id] = _case(row, plan, milliseconds)
            progress(len(cases), len(rows))
    return [cases[row.id] for row in rows]


def _timed(planner: Planner, row: LabelledRow) -> tuple[QueryPlan, float]:
    history = [{"role": turn.role, "content": turn.content} for turn in row.history]
    session = dict(row.session)
    start = time.perf_counter()
    plan = planner.plan(row.query, history=history, session=session)
    return plan, (time.perf_counter() - start) * 1000


def _case(row: LabelledRow, plan: QueryPlan, milliseconds: float) -> Case:
    return Case(
        row_id=row.id,
        conversation=row.conversation,
        query=row.query,
        language=row.language,
        tags=row.tags,
        gold=row.labels,
        plan=plan,
        score=score_case(row, plan, milliseconds=milliseconds),
    )


def _load_average() -> tuple[float, ...]:
    """The load of the last minute; empty on systems without it (Windows)."""
    return (round(os.getloadavg()[0], 2),) if hasattr(os, "getloadavg") else ()
