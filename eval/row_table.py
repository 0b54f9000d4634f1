"""The row table: what a planner did on each labelled row, typed, and as JSON lines, columns or Parquet.

Everything that is reported of an evaluation can be computed from this table alone: accuracy, intervals, slices,
blame, cost, comparison of two programs. One `RowResult` is one labelled row with the plan it got.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from ..data.rows import Gold, LabelledRow
from ..errors import DataError
from ..program.plan import QueryPlan
from ..signatures.problems import problems_of
from ..signatures.types import STAGES, Frozen, Labels
from .metrics import CaseScore
from .slices import slices_of

if TYPE_CHECKING:
    from pyarrow import Schema

ROWS_FILE, PARQUET_FILE = "rows.jsonl", "rows.parquet"

ROW_GROUP = 1000
"""Rows that are turned into columns at a time; all 10,000 of a set at once took 150 MB."""

ORDER_OF_STAGES: tuple[tuple[str, Callable[[CaseScore], bool | None]], ...] = (
    ("follow_up", lambda s: s.follow_up_right),
    ("rewrite", lambda s: s.rewrite_right),
    ("relevance", lambda s: s.relevance_right),
    ("complexity", lambda s: s.complexity_right),
    ("intent", lambda s: s.intent_right),
    ("needs_decomposition", lambda s: s.decomposition_right),
    ("decompose", lambda s: s.sub_queries_right),
    ("graph", lambda s: s.graph_right),
)
"""The stages that decide whether a plan is right, in their order.

The graph counts only where its steps were run (`queryplan evaluate --graph`): `plan_right` is without it."""

STAGE_NAMES = tuple(name for name, _ in ORDER_OF_STAGES)


class RowResult(Frozen):
    """One labelled row, the plan that it got, and the score of that plan.

    Attributes:
        row_id: the id of the labelled row.
        conversation: rows of one conversation are not independent; every interval is grouped by it.
        turn: position of the query among the user turns of its conversation, from 1.
        query: as typed.
        slices: the slices it belongs to, see ``eval/slices.py``; its tags are among them.
        gold: the labels.
        expected: what running the plan must give, if the row says so.
        plan: what the planner answered; its trace has decisions, calls, tokens and times by stage.
        score: each outcome, calls, tokens, rounds and wall-clock milliseconds.
    """

    row_id: str
    conversation: str
    turn: int = 1
    query: str
    language: str
    tags: tuple[str, ...]
    slices: tuple[str, ...] = ()
    gold: Labels
    expected: Gold | None = None
    plan: QueryPlan
    score: CaseScore

    @classmethod
    def of(cls, row: LabelledRow, plan: QueryPlan, score: CaseScore) -> RowResult:
        """The result of ``row``."""
        made = cls(
            row_id=row.id,
            conversation=row.conversation,
            turn=row.turn,
            query=row.query,
            language=row.language,
            tags=row.tags,
            slices=slices_of(row),
            gold=row.labels,
            expected=row.gold,
            plan=plan,
            score=score,
        )
        share_field_sets(made)
        return made

    @property
    def outcomes(self) -> dict[str, bool | None]:
        """Right, wrong or not applicable, for each stage in order."""
        return {name: read(self.score) for name, read in ORDER_OF_STAGES}

    @property
    def lost_at(self) -> str | None:
        """The earliest wrong stage; None if the plan is right, with the graph's answers if scored."""
        return next((name for name, right in self.outcomes.items() if right is False), None)

    @property
    def all_right(self) -> bool:
        """Whether the plan is right, and the answers of its graph steps if they were scored."""
        return self.lost_at is None

    @property
    def stage_ms(self) -> dict[str, float]:
        """Milliseconds that each stage waited for a language model; 0 if none was asked."""
        found: dict[str, float] = {}
        for decision in self.plan.trace.decisions:
            found[decision.stage] = found.get(decision.stage, 0.0) + decision.milliseconds
        return found

    @property
    def route(self) -> str:
        """How the plan was made.

        ``cache``; ``rules``, if nothing but rules decided; ``heads``, if no request was made; ``1 round``,
        ``2 rounds`` or ``3 rounds`` of requests to a language model.
        """
        trace = self.plan.trace
        makers = {decision.decided_by for decision in trace.decisions}
        if "cache" in makers:
            return "cache"
        if trace.requests:
            return f"{trace.rounds} round{'s' if trace.rounds != 1 else ''}"
        return "rules" if makers <= {"rule"} else "heads"

    @property
    def rejection_probability(self) -> float:
        """The probability that the query is out of scope, by whoever decided; 0 if unknown."""
        decision = self.plan.trace.decision("relevance")
        if decision is None or decision.decided_by == "fallback":
            return 0.0 if self.plan.is_relevant else 1.0
        return 1.0 - decision.confidence if self.plan.is_relevant else decision.confidence

    def columns(self) -> dict[str, Any]:
        """The row as plain cells: text, numbers and booleans, and JSON text for nested values.

        ``right_STAGE`` has the outcome of each stage of `STAGE_NAMES`, ``ms_STAGE`` its milliseconds; the
        fields of `CaseScore` keep their names.
        """
        return {
            "row_id": self.row_id,
            "conversation": self.conversation,
            "turn": self.turn,
            "query": self.query,
            "language": self.language,
            "tags": json.dumps(self.tags, ensure_ascii=False),
            "slices": json.dumps(self.slices, ensure_ascii=False),
            "gold": self.gold.model_dump_json(),
            "expected": self.expected.model_dump_json(exclude_none=True) if self.expected else None,
            "plan": self.plan.model_dump_json(),
            **self.score.model_dump(),
            **{f"right_{name}": right for name, right in self.outcomes.items()},
            **{f"ms_{name}": self.stage_ms.get(name) for name in STAGES},
            "lost_at": self.lost_at,
            "route": self.route,
            "rejection_probability": self.rejection_probability,
        }


_FIELD_SETS: dict[frozenset[str], set[str]] = {}


def share_field_sets(model: BaseModel) -> None:
    """Let frozen models that were given the same fields share the set of their names.

    Pydantic keeps one set for each model: 9.5 of the 15.7 KB that a row with its plan takes (pydantic 2).
    """
    given = model.__pydantic_fields_set__
    object.__setattr__(model, "__pydantic_fields_set__", _FIELD_SETS.setdefault(frozenset(given), given))
    for value in model.__dict__.values():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, BaseModel):
                share_field_sets(one)


def columns_of(rows: Sequence[RowResult]) -> dict[str, list[Any]]:
    """The whole table, one list for each column, in the order of ``rows``; see `RowResult.columns`."""
    cells = [row.columns() for row in rows]
    return {name: [line[name] for line in cells] for name in cells[0]} if cells else {}


def write_rows(rows: Iterable[RowResult], path: Path) -> None:
    """Write the table as JSON lines, each a whole `RowResult`; the folder is created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(row.model_dump_json() + "\n" for row in rows)


def read_rows_file(path: Path) -> tuple[RowResult, ...]:
    """Read what `write_rows` wrote.

    Raises:
        DataError: there is no such file, or a line is not a row of this version; file and line are named.
    """
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            return tuple(_parsed(line, f"{path.name}:{number}") for number, line in enumerate(file, 1) if line.strip())
    except FileNotFoundError as error:
        raise DataError(f"there is no row table {path}: evaluate again") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the row table {path.name} cannot be read: {error}") from error


def _parsed(line: str, where: str) -> RowResult:
    try:
        found = RowResult.model_validate_json(line)
        share_field_sets(found)
        return found
    except ValidationError as error:
        raise DataError(f"{where}: not a row that this version can read: {problems_of(error, 1)}") from error


def write_parquet(rows: Sequence[RowResult], path: Path) -> None:
    """Write the columns of the table as Parquet, for pandas, DuckDB or Spark; the folder is created.

    The types of the columns do not depend on the rows: a stage that applies to no row still has a boolean column.
    """
    from pyarrow import Table, parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    schema = _parquet_schema()
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, len(rows), ROW_GROUP):
            writer.write_table(Table.from_pydict(columns_of(rows[start : start + ROW_GROUP]), schema))


def _parquet_schema() -> Schema:
    import pyarrow as pa

    kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    text = ("row_id", "conversation", "query", "language", "tags", "slices", "gold", "expected", "plan")
    scores = {n: kinds[_kind(field.annotation)] for n, field in CaseScore.model_fields.items()}
    outcomes = {f"right_{name}": pa.bool_() for name in STAGE_NAMES}
    times = {f"ms_{name}": pa.float64() for name in STAGES}
    fields = {name: pa.string() for name in text} | {"turn": pa.int64()} | scores | outcomes | times
    fields |= {"lost_at": pa.string(), "route": pa.string(), "rejection_probability": pa.float64()}
    return pa.schema(fields)


def _kind(annotation: Any) -> Any:
    """The type of a field that may be None."""
    return next((t for t in get_args(annotation) if t is not type(None)), annotation)
