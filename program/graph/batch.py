"""Answering many questions from a file, and reading plans from files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from ...errors import DataError
from ...signatures.graph_steps import GraphPlan, GraphSchema
from .executor import GraphAnswer, GraphExecutor, execute_graph
from .export import from_spoke


class Planner(Protocol):
    """What makes plans of questions; what it gives has ``plan``, ``reason`` and ``degraded``."""

    def plan(self, query: str) -> Any:
        """A proposal for one question."""
        ...


def answer_row(
    proposal: Any, executor: GraphExecutor, deadline_s: float | None = None, cap: int | None = None
) -> dict[str, Any]:
    """``{"graph_plan", "answers", "degraded"}`` of a proposal; without a plan there are no answers, and it says why."""
    if proposal.plan is None:
        return {"graph_plan": None, "answers": [], "degraded": [*proposal.degraded, proposal.reason]}
    answer = execute_graph(proposal.plan, executor, deadline_s, cap=cap)
    return plan_row(proposal.plan, answer, tuple(proposal.degraded))


def plan_row(plan: GraphPlan, answer: GraphAnswer, degraded: tuple[str, ...] = ()) -> dict[str, Any]:
    """``{"graph_plan", "answers", "degraded"}`` of a plan that was run."""
    return {
        "graph_plan": plan.model_dump(mode="json", exclude_defaults=True),
        "answers": list(answer.names),
        "degraded": [*degraded, *answer.degraded],
    }


def graph_batch(
    planner: Planner,
    executor: GraphExecutor,
    source: Path,
    target: Path,
    deadline_s: float | None = None,
    cap: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Answer every row ``{"id", "query"}`` and append ``{"id", "graph_plan", "answers", "degraded"}`` to ``target``.

    A row whose id is in ``target`` already is not answered again. A row that is no question gets
    ``{"id", "error"}`` and does not stop the others.

    Returns:
        How many rows were answered now.

    Raises:
        DataError: ``source`` is missing or a line is not a JSON object, or ``target`` holds something else.
    """
    rows = list(_rows(source))
    done = _done(target)
    waiting = [(name, row) for name, row in rows if name not in done]
    target.parent.mkdir(parents=True, exist_ok=True)
    report = progress or (lambda done, total: None)
    report(len(rows) - len(waiting), len(rows))
    with target.open("a", encoding="utf-8") as file:
        for count, (name, row) in enumerate(waiting, len(rows) - len(waiting) + 1):
            answered = _answered(planner, executor, row, deadline_s, cap)
            file.write(json.dumps({"id": name, **answered}, ensure_ascii=False) + "\n")
            file.flush()
            report(count, len(rows))
    return len(waiting)


def _answered(
    planner: Planner, executor: GraphExecutor, row: Mapping[str, Any], deadline_s: float | None, cap: int | None
) -> dict[str, Any]:
    query = row.get("query")
    if not isinstance(query, str):
        return {"error": "this row is no question: it has no text under query"}
    return answer_row(planner.plan(query), executor, deadline_s, cap)


def _rows(source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        lines = source.read_text(encoding="utf-8-sig").split("\n")  # a string may hold U+2028, which ends no line
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{source} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{source.name}:{number}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise DataError(f"{source.name}:{number}: expected an object with id and query")
        yield str(row.get("id", number)), row


def _done(target: Path) -> set[str]:
    """Ids already in the output; a last line that was cut by a crash is taken off first."""
    if not target.is_file():
        return set()
    content = target.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    done = {_id(line, f"{target.name}:{n}") for n, line in enumerate(whole.split(b"\n"), 1) if line.strip()}
    if whole != content:
        if not content[len(whole) :].startswith(b'{"id"'[: len(content) - len(whole)]):
            raise DataError(f"{target.name}: its last line is no answer; choose another --out")
        target.write_bytes(whole)
    return done


def _id(line: bytes, where: str) -> str:
    try:
        row = json.loads(line)
        if row.keys() & {"answers", "error"}:
            return str(row["id"])
    except (ValueError, KeyError, AttributeError):
        pass
    raise DataError(f"{where}: this is no line of answers; choose another --out")


def read_plan(path: Path, schema: GraphSchema) -> GraphPlan:
    """A plan from a JSON file: ours, a row with a ``graph_plan``, or in SPOKE planning's shape.

    Raises:
        DataError: it cannot be read; the place in it is named.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path.name} is no JSON of a plan: {error}") from error
    if isinstance(told, Mapping) and isinstance(told.get("graph_plan"), Mapping):
        told = told["graph_plan"]
    if isinstance(told, Mapping) and ("plan" in told or "error" in told):
        return from_spoke(told, schema)
    try:
        return GraphPlan.model_validate(told)
    except ValidationError as error:
        lines = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])
        raise DataError(f"{path.name} is no plan: " + "; ".join(lines)) from error
