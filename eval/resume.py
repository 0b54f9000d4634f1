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
        UserError: the file is of another program or other rows, is no journal, or cannot be
            written.
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
            record = {"row": row_id, "milliseconds": milliseconds, "plan": plan.model_dump(mode="json")}
            self._write(self._file, record)

    def _open(self, path: Path) -> TextIO:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        self._read(path, whole.splitlines())
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        file = path.open("a", encoding="utf-8")
        if not whole:
            self._write(file, self._head)
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
