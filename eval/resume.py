"""The journal of an evaluation, which keeps every plan as soon as it is made, so that a stopped pass can continue."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from pydantic import ValidationError

from .. import __version__
from ..data.disk import writing
from ..data.locks import claim
from ..errors import UserError
from ..program.plan import QueryPlan

_KIND = "queryplan-evaluation-journal"
# What plans, this package's part of it; how plans are scored and shown is not in the journal.
_PLANNING = ("program/**/*.py", "signatures/**/*.py", "data/*.py", "eval/baselines.py", "eval/oracle.py")


@cache
def code_fingerprint() -> str:
    """Hash of this package's version and of its sources that plan, 16 hex digits."""
    package = Path(__file__).parents[1]
    sources = sorted(path for pattern in _PLANNING for path in package.glob(pattern))
    digest = hashlib.sha256(__version__.encode())
    for path in sources:
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


class Journal:
    """A JSON-lines file with a head (program, rows, code) and a line for each planned row.

    Without a path it keeps nothing. ``done`` maps the id of each planned row to its plan and the milliseconds that it
    took. A last line that was cut off in writing is dropped. A journal by other code is begun again: neither its plans
    nor its times are what this code would give.

    Raises:
        UserError: the file is of another program or other rows, is not a journal, cannot be written, or is in use by
            another process.
    """

    def __init__(self, path: Path | None, program: str, data: str) -> None:
        self.done: dict[str, tuple[QueryPlan, float]] = {}
        self._path, self._file = path, None
        self._head = {"kind": _KIND, "program": program, "data": data, "code": code_fingerprint()}

    def __enter__(self) -> Journal:
        if self._path is not None:
            try:
                self._file = self._open(self._path)
            except OSError as error:
                raise UserError(f"{self._path} cannot keep the evaluation: {error}; use another file") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, row_id: str, plan: QueryPlan, milliseconds: float) -> None:
        """Write one plan; it is on the disk before the next one begins."""
        if self._file is not None and self._path is not None:
            # Not through plain data: a plan of many candidates takes five times as long that way.
            head = json.dumps({"row": row_id, "milliseconds": milliseconds}, ensure_ascii=False)
            with writing(self._path):
                self._file.write(f'{head[:-1]}, "plan": {plan.model_dump_json()}}}\n'.encode())
                self._file.flush()

    def _open(self, path: Path) -> BinaryIO:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
        try:
            if not claim(file):
                raise UserError(f"{path} is in use: another process is at this evaluation, wait for it or stop it")
            file.seek(0)
            content = file.read()  # bytes: the last line may be cut inside a character
            whole = content.rfind(b"\n") + 1
            # Not `splitlines`: a query may hold U+2028, which ends no line of JSON.
            kept = whole if self._read(path, [line for line in content[:whole].split(b"\n") if line]) else 0
            file.truncate(kept)
            if not kept:
                self._write(file, self._head)
        except BaseException:
            file.close()
            raise
        return file

    def _read(self, path: Path, lines: list[bytes]) -> bool:
        """Read the lines into ``done``; False if they are by other code."""
        try:
            records = [json.loads(line) for line in lines]
            if records:
                self._check(path, records[0])
            if not records or records[0].get("code") != self._head["code"]:
                return False
            for record in records[1:]:
                plan = QueryPlan.model_validate(record["plan"])
                self.done[record["row"]] = (plan, float(record["milliseconds"]))
        except (ValueError, KeyError, TypeError, ValidationError) as error:
            raise UserError(f"{path} is not the journal of an evaluation: use another file or delete it") from error
        return True

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
    def _write(file: BinaryIO, record: dict[str, Any]) -> None:
        file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        file.flush()
