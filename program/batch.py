"""Planning many queries from a file, one after the other, going on where a stopped run was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import DataError
from .planner import QueryPlanner

RESULTS = {"plan", "run", "error"}
"""Keys that mark a line of output as such."""


def plan_batch(
    planner: QueryPlanner,
    source: Path,
    target: Path,
    deadline_s: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Plan every row ``{"id", "query", "history", "session"}`` and append ``{"id", "plan"}`` to ``target``.

    A row whose id is in ``target`` already is not planned again. A row that is no query gets
    ``{"id", "error"}`` and does not stop the others.

    Returns:
        How many rows were planned now.

    Raises:
        DataError: ``source`` is missing or a line is not a JSON object, or ``target`` is something
            else than plans; file and line are named.
    """
    return each_row(source, target, lambda row: _planned(planner, row, deadline_s), progress)


def each_row(
    source: Path,
    target: Path,
    work: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Append ``{"id", …}`` with what ``work`` makes of it to ``target`` for every row that is not there yet.

    ``work`` returns a mapping with one of the keys of `RESULTS`. A ``KeyError`` or ``TypeError`` that it raises
    means that the row is no query, and becomes its ``error``.

    Raises:
        DataError: as for `plan_batch`.
    """
    rows = list(_rows(source))
    done = _done(target)
    waiting = [(number, row) for number, row in rows if str(row.get("id", number)) not in done]
    target.parent.mkdir(parents=True, exist_ok=True)
    report = progress or (lambda done, total: None)
    report(len(rows) - len(waiting), len(rows))
    with target.open("a", encoding="utf-8") as file:
        for count, (number, row) in enumerate(waiting, len(rows) - len(waiting) + 1):
            file.write(json.dumps(_worked(work, number, row), ensure_ascii=False) + "\n")
            file.flush()
            report(count, len(rows))
    return len(waiting)


def _worked(work: Callable[[Mapping[str, Any]], Mapping[str, Any]], number: int, row: Mapping[str, Any]) -> dict:
    name = str(row.get("id", number))
    try:
        return {"id": name, **work(row)}
    except (KeyError, TypeError) as error:
        return {"id": name, "error": f"this row is no query: {error}"}


def _planned(planner: QueryPlanner, row: Mapping[str, Any], deadline_s: float | None) -> dict[str, Any]:
    plan = planner.plan(row["query"], row.get("history"), row.get("session"), deadline_s)
    return {"plan": plan.model_dump(mode="json")}


def _rows(source: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        lines = source.read_text(encoding="utf-8").split("\n")  # a string may hold U+2028, which ends no line
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
            raise DataError(f"{source.name}:{number}: expected an object with a query")
        yield number, row


def _done(target: Path) -> set[str]:
    """Ids already in the output; a last line that was cut by a crash is taken off first."""
    if not target.is_file():
        return set()
    content = target.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    done = {_id(line, f"{target.name}:{n}") for n, line in enumerate(whole.split(b"\n"), 1) if line.strip()}
    if whole != content:
        if not done and not b'{"id"'.startswith(content[:5]):
            raise DataError(f"{target.name}:1: this is no file of plans; choose another --out")
        target.write_bytes(whole)
    return done


def _id(line: bytes, where: str) -> str:
    try:
        row = json.loads(line)
        if row.keys() & RESULTS:
            return str(row["id"])
    except (ValueError, KeyError, AttributeError, RecursionError):
        pass
    raise DataError(f"{where}: this is no line of plans; choose another --out")
