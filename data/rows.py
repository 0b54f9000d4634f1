"""One labelled query in its conversation, and reading and writing files of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from ..errors import DataError
from ..signatures.types import Frozen, GraphPlan, Labels, RetrievalMethod, SourceIntent, SourcePlan, Turn

SPLITS = ("train", "dev", "calibrate", "test")
MAX_ERRORS_SHOWN = 20


class Gold(Frozen):
    """What running the plan must give, where a row says so; each part may be missing.

    Attributes:
        graph_plan: one reference plan; any plan with the same answers is right.
        answers: names of the nodes, or the count as text, that a correct plan returns; empty when the
            honest answer is that there is none.
        expressible: False where the schema cannot say what is asked.
        source_intents: kinds of information wanted, with confidences and filters.
        source_plans: plans for the sources, by priority.
        retrieval_method: read everything or search.
        evidence: ids of the texts that hold the answer.
    """

    graph_plan: GraphPlan | None = None
    answers: tuple[str, ...] | None = None
    expressible: bool = True
    source_intents: tuple[SourceIntent, ...] | None = None
    source_plans: tuple[SourcePlan, ...] | None = None
    retrieval_method: RetrievalMethod | None = None
    evidence: tuple[str, ...] | None = None


class LabelledRow(Frozen):
    """A query, what was said before it, and its labels.

    Attributes:
        id: unique within the domain.
        conversation: rows of one conversation share it and stay in one split.
        turn: position of the query among the user turns of its conversation, from 1.
        history: earlier messages, oldest first.
        session: what the application knows, such as ``active_entity``.
        gold: what running the plan must give, where that is labelled.
        tags: names of slices the row belongs to (``trap_word``, ``injection``, …).
    """

    id: str = Field(min_length=1)
    conversation: str = Field(min_length=1)
    turn: int = Field(ge=1)
    query: str
    history: tuple[Turn, ...] = ()
    session: dict[str, Any] = {}
    labels: Labels
    language: str = "en"
    tags: tuple[str, ...] = ()
    gold: Gold | None = None

    @model_validator(mode="after")
    def _labels_fit_the_conversation(self) -> LabelledRow:
        if self.labels.is_follow_up and not self.history:
            raise ValueError("labels.is_follow_up must be false without history")
        if not self.labels.is_follow_up and self.labels.standalone_query != self.query:
            raise ValueError("labels.standalone_query must equal query when is_follow_up is false")
        return self


def read_rows(path: Path) -> list[LabelledRow]:
    """Every row of a JSON-lines file.

    Raises:
        DataError: names file, line and field of up to twenty bad lines; nothing half read.
    """
    rows, problems, seen = [], [], {}
    for number, line in _numbered_lines(path):
        row, problem = _parse_line(line)
        if row is not None and row.id in seen:
            problem = f"id: {row.id!r} was used on line {seen[row.id]} already"
        if problem:
            problems.append(f"{path.name}:{number}: {problem}")
        elif row is not None:
            seen[row.id] = number
            rows.append(row)
    if problems:
        more = len(problems) - MAX_ERRORS_SHOWN
        tail = [f"… and {more} more"] if more > 0 else []
        raise DataError("\n".join(problems[:MAX_ERRORS_SHOWN] + tail))
    return rows


def write_rows(path: Path, rows: Iterable[LabelledRow]) -> None:
    """Write rows as JSON lines, defaults left out."""
    text = "".join(row.model_dump_json(exclude_defaults=True) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def _numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as UTF-8 text: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _parse_line(line: str) -> tuple[LabelledRow | None, str | None]:
    try:
        return LabelledRow.model_validate_json(line), None
    except ValidationError as error:
        return None, "; ".join(_explain(e) for e in error.errors())


def _explain(error: Any) -> str:
    field = ".".join(str(part) for part in error["loc"]) or "row"
    got = json.dumps(error["input"], ensure_ascii=False, default=str)
    shown = got if len(got) <= 80 else got[:77] + "..."
    return f"{field}: {error['msg']} (got {shown})"
