"""One labelled query in its conversation, and reading and writing files of such rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from ..errors import DataError
from ..signatures.problems import meant, said_of
from ..signatures.types import Frozen, GraphPlan, Labels, RetrievalMethod, SourceIntent, SourcePlan, Turn

SPLITS = ("train", "dev", "calibrate", "test")
MAX_ERRORS_SHOWN = 20
# Characters of one line: hundreds of long turns fit, a document or a whole file on one line does not.
MAX_LINE = 1_000_000
OTHER_FORMATS = (".gz", ".csv", ".parquet")
"""Endings of files that ``data.loading`` reads; all others hold JSON lines."""

SESSION_KEYS = ("active_entity", "now", "timezone", "collection", "paradigm")
"""The session keys that planner and retrieval read; others of an application change no plan."""
# What is wrong with a line that is no record at all, whatever a row needs.
_NO_OBJECT = (": row: not JSON", ": row: expected an object")
_NO_LABELS = "labels: this field is missing"


class NoJson(str):
    """A cell of a table that must hold JSON, and does not."""


class Gold(Frozen):
    """What running the plan must give, if a row says so; each part may be missing.

    Attributes:
        graph_plan: one reference plan; any plan with the same answers is right.
        answers: names of the nodes, or the count as text, that a correct plan returns; empty if the right answer is
            that there is none.
        expressible: False if the schema cannot express the question.
        source_intents: the kinds of information wanted, with confidences and filters.
        source_plans: plans for the sources, by priority.
        retrieval_method: whether to read everything or search.
        evidence: ids of the texts that contain the answer.
    """

    graph_plan: GraphPlan | None = None
    answers: tuple[str, ...] | None = None
    expressible: bool = True
    source_intents: tuple[SourceIntent, ...] | None = None
    source_plans: tuple[SourcePlan, ...] | None = None
    retrieval_method: RetrievalMethod | None = None
    evidence: tuple[str, ...] | None = None


class LabelledRow(Frozen):
    """A query, the conversation before it, and its labels.

    Attributes:
        id: unique within the domain.
        conversation: rows of one conversation share it and stay in one split.
        turn: position of the query among the user turns of its conversation, from 1.
        history: earlier messages, oldest first.
        session: what the application knows; ``SESSION_KEYS`` are read.
        gold: what running the plan must give, if that is labelled.
        tags: names of slices that the row belongs to (``trap_word``, ``injection``, …).
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


@dataclass(frozen=True)
class Parsed:
    """The result of reading records: the valid rows, and a sentence for each invalid one.

    Attributes:
        problems: sentences that each begin with ``file:line: field: ``.
    """

    rows: tuple[LabelledRow, ...]
    problems: tuple[str, ...]

    def all_right(self) -> list[LabelledRow]:
        """The rows, if every record was valid.

        Raises:
            DataError: names file, line and field of up to twenty bad records.
        """
        if self.problems:
            more = len(self.problems) - MAX_ERRORS_SHOWN
            tail = [f"… and {more} more"] if more > 0 else []
            raise DataError("\n".join([*self.problems[:MAX_ERRORS_SHOWN], *tail]))
        return list(self.rows)


def parse_records(records: Iterable[tuple[str, str | Mapping[str, Any]]]) -> Parsed:
    """Validate records one by one, without keeping them.

    Args:
        records: (place, record) pairs; a place is ``file:line``, a record is JSON text or the parsed value.
    """
    rows: list[LabelledRow] = []
    problems: list[str] = []
    seen: dict[str, str] = {}
    for place, record in records:
        row, problem = _parse(record)
        if row is not None and row.id in seen:
            problem = f"id: {row.id!r} was used on line {_line(seen[row.id], place)} already"
        if problem:
            problems.append(f"{place}: {problem}")
        elif row is not None:
            seen[row.id] = place
            rows.append(row)
    return Parsed(tuple(rows), tuple(problems))


def read_rows(path: Path) -> list[LabelledRow]:
    """Read every row of a JSON-lines file, or of any other that ``data.loading`` reads (gz, CSV, Parquet).

    Raises:
        DataError: some lines are invalid; up to twenty are named by file, line and field, and nothing is returned.
    """
    return parse_file(path).all_right()


def parse_file(path: Path) -> Parsed:
    """Read the valid rows of a file, and what is wrong with its other lines.

    Raises:
        DataError: the file as a whole cannot be read.
    """
    if path.suffix in OTHER_FORMATS:
        from .loading import records_of  # brings in `datasets`, which takes a second; plain files do without

        parsed = parse_records(records_of(path))
    else:
        parsed = parse_records(_numbered_lines(path))
    problems = parsed.problems
    if problems and not parsed.rows and all(any(said in problem for said in _NO_OBJECT) for problem in problems):
        raise DataError(
            f"{path.name} is no file of labelled rows, since none of its lines is a JSON object: "
            "write one row a line, as data/README.md says"
        )
    if len(problems) > 1 and not parsed.rows and all(_NO_LABELS in problem for problem in problems):
        raise DataError(
            f"{path.name} is no file of labelled rows, since none of its lines has labels: "
            "queryplan plan --batch plans queries, and queryplan label makes rows of plans"
        )
    return parsed


def write_rows(path: Path, rows: Iterable[LabelledRow]) -> None:
    """Write rows as JSON lines, without fields that have their default."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(row.model_dump_json(exclude_defaults=True) + "\n" for row in rows)


def not_utf8(path: Path, opened: Callable[..., Any] = open) -> DataError:
    """The error that names the first line of a file that is not UTF-8."""
    with opened(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                byte = f"byte 0x{line[error.start]:02x}"
                return DataError(
                    f"{path}:{number}: the line cannot be read as UTF-8 text ({byte}); save the file as UTF-8"
                )
    return DataError(f"{path} cannot be read as UTF-8 text; save the file as UTF-8")


def _numbered_lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield f"{path.name}:{number}", line
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}") from error
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def _line(place: str, other: str) -> str:
    """A place relative to another one: within the same file, the line alone."""
    file, _, line = place.rpartition(":")
    return line if file == other.rpartition(":")[0] else f"{line} of {file}"


def _parse(record: str | Mapping[str, Any]) -> tuple[LabelledRow | None, str | None]:
    if isinstance(record, str) and len(record) > MAX_LINE:
        return None, (
            f"row: the line has {len(record):,} characters, and a row at most {MAX_LINE:,}; "
            "write one row a line, and keep documents out of history"
        )
    try:
        if isinstance(record, str):
            return LabelledRow.model_validate_json(record), None
        return LabelledRow.model_validate(record), None
    except ValidationError as error:
        return None, "; ".join(_explain(e) for e in error.errors())


def _explain(error: Any) -> str:
    field = ".".join(str(part) for part in error["loc"]) or "row"
    if error["type"] == "extra_forbidden" and (near := meant(error, LabelledRow)):
        return f"{field}: {said_of(error)}{near}"
    if error["type"] in ("missing", "value_error"):  # what was given is the whole of which a part is wrong
        return f"{field}: {said_of(error)}"
    got = json.dumps(error["input"], ensure_ascii=False, default=str)
    shown = got if len(got) <= 80 else got[:77] + "..."
    said = f"{said_of(error).split(', not ')[0]} as JSON" if isinstance(error["input"], NoJson) else said_of(error)
    return f"{field}: {said} (got {shown})"
