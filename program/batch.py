"""Planning many queries from a file, one after the other; a stopped run continues where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..data.card import HistoryWindow
from ..data.disk import write_whole, writing
from ..data.fingerprints import text_fingerprint
from ..data.lines import numbered_lines
from ..data.locks import alone_at
from ..data.rows import not_utf8
from ..errors import DataError, QueryPlanError
from .context import as_given, clean_input, encodable
from .lm.meter import meter
from .planner import QueryPlanner

Row = dict[str, Any]

_ONE_A_LINE = 'write one JSON object a line, such as {"id": "1", "query": "what is it?"}'


class Output(NamedTuple):
    """The kind of output of a batch, which says what its lines hold.

    Attributes:
        what: the kind in a word, for messages.
        made_by: gives the program that made a line, or whatever else ``by`` calls it, or None if the line does not say;
            raises ``KeyError``, ``TypeError`` or ``AttributeError`` for other lines.
    """

    what: str
    made_by: Callable[[Row], str | None]
    by: str = "program"


def _planner_of(row: Row) -> str | None:
    plan = row["run"]["plan"] if "run" in row else row["plan"]
    return plan.get("program_version")


PLANS = Output("plans", _planner_of)
AGAIN = "again"
"""The key of a line that is to be made again: a model did not answer one of its requests."""


class Worked(NamedTuple):
    """Numbers of rows that a batch worked on: with a result, and not a query."""

    done: int
    failed: int


def plan_batch(
    planner: QueryPlanner,
    source: Path,
    target: Path,
    deadline_s: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Worked:
    """Plan every row ``{"id", "query", "history", "session"}`` and append ``{"id", "asked", "plan"}`` to ``target``.

    A row's ``history``, ``session`` and ``conversation`` are written beside its plan, so that the output can be
    labelled. It is the caller's own file, while a production log has no text unless asked to (`plan_log.py`).

    A row that is in ``target`` already, with the same query, history and session, and by the same model, is not planned
    again. A row that is not a query gets ``{"id", "error"}``, does not stop the others, and is tried again the next
    time. So is one of whose requests to a model one failed; its line has ``"again": true``.

    Raises:
        DataError: ``source`` is missing or empty, a line is not a JSON object, or two have the same id; or ``target``
            holds anything but plans of this program, or another process writes it. File and line are named.
    """
    work = partial(_planned, planner, deadline_s=deadline_s)
    return each_row(source, target, work, planner.program_version, progress, depends=switches_of(planner))


def each_row(
    source: Path,
    target: Path,
    work: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    program: str,
    progress: Callable[[int, int], None] | None = None,
    output: Output = PLANS,
    depends: str = "",
) -> Worked:
    """Append ``{"id", "asked", …}`` with the result of ``work`` to ``target``, for every row that is not there yet.

    ``work`` gets rows that are queries, and returns a mapping as ``output`` says; others get an ``error``. ``asked`` is
    a hash of the row and of ``depends``.

    Args:
        program: the version that makes these lines.
        depends: what else they depend on; where it is another one, rows are worked on again.

    Raises:
        DataError: as for `plan_batch`.
        OSError: the disk is full; what was written before is kept, and the next run continues from there.
    """
    rows = _rows(source)
    if target.resolve() == source.resolve():
        raise DataError(f"{target}: the output would be written to the file that is read; choose another --out")
    target.parent.mkdir(parents=True, exist_ok=True)
    report = progress or (lambda done, total: None)
    with alone_at(target):
        asked = {name: _asked(row, depends) for name, row in rows.items()}
        there = _there(target, asked, program, output)
        report(len(rows.keys() & there), len(rows))
        waiting = {name: row for name, row in rows.items() if name not in there}
        return _appended(target, waiting, lambda name: _worked(work, rows[name], asked[name]), len(rows), report)


def _appended(
    target: Path,
    waiting: Iterable[str],
    work: Callable[[str], Row],
    count: int,
    report: Callable[[int, int], None],
) -> Worked:
    waiting, failed = list(waiting), 0
    with writing(target), target.open("a", encoding="utf-8") as file:
        for done, name in enumerate(waiting, count - len(waiting) + 1):
            worked = work(name)
            failed += "error" in worked
            file.write(encodable(json.dumps({"id": name, **worked}, ensure_ascii=False)) + "\n")
            file.flush()
            report(done, count)
    return Worked(len(waiting) - failed, failed)


def _worked(work: Callable[[Mapping[str, Any]], Mapping[str, Any]], row: Row, asked: str) -> Row:
    if why := no_query(row):
        return {"error": why}
    with meter() as cost:
        worked = work(row)
    return {"asked": asked, **({AGAIN: True} if cost.failed else {}), **worked}


def no_query(row: Mapping[str, Any]) -> str:
    """Why a row is no query that can be planned; empty if it is one."""
    try:
        clean_input(row["query"], row.get("history"), row.get("session"), HistoryWindow())
    except KeyError as error:
        return f"this row is no query: it has no {error}; it has {', '.join(row) or 'nothing'}"
    except TypeError as error:
        return f"this row is no query: {error}"
    return ""


def switches_of(planner: QueryPlanner) -> str:
    """What its plans depend on beside its version: whether it plans graph steps, and its language model.

    That is opened for it. If it cannot be, plans are made without it, and made again the next time.
    """
    with suppress(QueryPlanError):
        planner.open_lm()
    model = planner.lm_name if planner.has_lm else "none"
    return " ".join([*(["graph"] if planner.plan_graph else []), *([model] if model != "none" else [])])


def _planned(planner: QueryPlanner, row: Mapping[str, Any], *, deadline_s: float | None) -> dict[str, Any]:
    plan = planner.plan(row["query"], row.get("history"), row.get("session"), deadline_s)
    return {**conversation_of(row), "plan": plan.model_dump(mode="json")}


def conversation_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The conversation of a row, as its line of output keeps it so that the plan can be labelled."""
    kept = {
        "history": as_given(row.get("history")),
        "session": row.get("session"),
        "conversation": str(row.get("conversation") or ""),
    }
    return {name: value for name, value in kept.items() if value}


def _asked(row: Row, depends: str) -> str:
    """A hash that is the same for the same query, history and session."""
    parts = [json.dumps(row.get(key), sort_keys=True) for key in ("query", "history", "session")]
    return text_fingerprint(*parts, *([depends] if depends else []))


def _rows(source: Path) -> dict[str, Row]:
    """The rows by id; one without an id has the number of its line."""
    rows: dict[str, Row] = {}
    lines: dict[str, int] = {}
    for number, row in _numbered(source):
        name = encodable(str(number if row.get("id") is None else row["id"]))
        if name in rows:
            raise DataError(
                f"{source.name}:{number}: the id {name!r} is that of line {lines[name]} too; give each row its own id"
            )
        rows[name], lines[name] = row, number
    if not rows:
        raise DataError(f"{source.name} has no queries: {_ONE_A_LINE}")
    return rows


def _numbered(source: Path) -> Iterator[tuple[int, Row]]:
    try:
        text = source.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(source) from error
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error.strerror or error}") from error
    for number, line in numbered_lines(text):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            wrong = DataError(f"{source.name}:{number}: not JSON ({error}): {_ONE_A_LINE}")
            raise not_lines(source) or wrong from error
        if not isinstance(row, dict):
            raise DataError(f"{source.name}:{number}: expected an object with a query: {_ONE_A_LINE}")
        yield number, row


def not_lines(path: Path) -> DataError | None:
    """The error for a file that is one JSON document over many lines; None for others."""
    try:
        json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    return DataError(f"{path.name} is one JSON document over several lines: write one object a line")


def _there(target: Path, asked: Mapping[str, str], program: str, output: Output) -> set[str]:
    """Ids that are done; lines to be made again, and a last line cut by a crash, are removed first."""
    if not target.is_file():
        return set()
    content = target.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    lines = {n: line for n, line in enumerate(whole.split(b"\n"), 1) if line.strip()}
    if whole != content and not lines and not b'{"id"'.startswith(content[:5]):
        raise DataError(f"{target.name}:1: this is no file of {output.what}; choose another --out")
    made = {n: _made(line, f"{target.name}:{n}", program, output) for n, line in lines.items()}
    kept = {n: line for n, line in made.items() if not _again(line, asked.get(line.id))}
    if whole != content or len(kept) < len(made):
        write_whole(target, b"".join(lines[n] + b"\n" for n in kept))
    return {line.id for line in kept.values()}


class _Made(NamedTuple):
    """A line of output: its id, what was asked (None in older files), and whether it is to be tried again."""

    id: str
    asked: str | None
    again: bool


def _again(line: _Made, asked: str | None) -> bool:
    """Whether a row has to be worked on again: it was not a query, a request failed, or it asks something else now."""
    return asked is not None and (line.again or line.asked not in (None, asked))


def _made(line: bytes, where: str, program: str, output: Output) -> _Made:
    """Parse a line of output.

    Raises:
        DataError: it is not a line of output, or is of another program.
    """
    try:
        row = json.loads(line)
        made = _Made(str(row["id"]), row.get("asked"), "error" in row or bool(row.get(AGAIN)))
        by = None if "error" in row else output.made_by(row)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise DataError(f"{where}: this is no line of {output.what}; choose another --out") from error
    if by not in (None, program):
        raise DataError(f"{where}: it is of the {output.by} {by}, not of {program}; choose another --out")
    return made
