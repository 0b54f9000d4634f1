"""The journal of an evaluation: every plan as soon as it is there, so that a stopped pass goes on."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from pydantic import ValidationError

from ..errors import UserError
from ..program.plan import QueryPlan

_KIND = "queryplan-evaluation-journal"


class Journal:
    """A JSON-lines file: first whose plans they are, then a line for each planned row.

    Without a path it keeps nothing. ``done`` maps the id of each planned row to its plan and the
    milliseconds that it took. A last line that was cut off in writing is dropped.

    Raises:
        UserError: the file is of another program or other rows, is no journal, cannot be written, or
            another process is at it.
    """

    def __init__(self, path: Path | None, program: str, data: str) -> None:
        self.done: dict[str, tuple[QueryPlan, float]] = {}
        self._path, self._file = path, None
        self._head = {"kind": _KIND, "program": program, "data": data}

    def __enter__(self) -> Journal:
        if self._path is not None:
            try:
                self._file = self._open(self._path)
            except (OSError, UnicodeDecodeError) as error:
                raise UserError(f"{self._path} cannot keep the evaluation: {error}; use another file") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, row_id: str, plan: QueryPlan, milliseconds: float) -> None:
        """Keep one plan, on the disk before the next one begins."""
        if self._file is not None:
            # Not through plain data: a plan of many candidates takes five times as long that way.
            head = json.dumps({"row": row_id, "milliseconds": milliseconds}, ensure_ascii=False)
            self._file.write(f'{head[:-1]}, "plan": {plan.model_dump_json()}}}\n')
            self._file.flush()

    def _open(self, path: Path) -> TextIO:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="utf-8", newline="\n")
        try:
            _claim(file, path)
            file.seek(0)
            text = file.read()
            whole = text[: text.rfind("\n") + 1]
            # Not `splitlines`: a query may hold U+2028, which ends no line of JSON.
            self._read(path, [line for line in whole.split("\n") if line])
            if whole != text:
                file.truncate(len(whole.encode()))
            if not whole:
                self._write(file, self._head)
        except BaseException:
            file.close()
            raise
        return file

    def _read(self, path: Path, lines: list[str]) -> None:
        try:
            records = [json.loads(line) for line in lines]
            if records:
                self._check(path, records[0])
            for record in records[1:]:
                plan = QueryPlan.model_validate(record["plan"])
                self.done[record["row"]] = (plan, float(record["milliseconds"]))
        except (ValueError, KeyError, TypeError, ValidationError) as error:
            raise UserError(f"{path} is not the journal of an evaluation: use another file or delete it") from error

    def _check(self, path: Path, head: Any) -> None:
        if not isinstance(head, dict) or head.get("kind") != _KIND:
            raise ValueError("no journal")
        for field, what in (("program", "program"), ("data", "set of rows")):
            if head.get(field) != self._head[field]:
                raise UserError(
                    f"{path} holds the plans of another {what} ({head.get(field)}, not {self._head[field]}): "
                    "use another file or delete it"
                )

    @staticmethod
    def _write(file: TextIO, record: dict[str, Any]) -> None:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")
        file.flush()


def _claim(file: TextIO, path: Path) -> None:
    """Let no second process plan the same rows into the same file; the system lets go when this one ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UserError(f"{path} is in use: another process is at this evaluation, wait for it or stop it") from error
