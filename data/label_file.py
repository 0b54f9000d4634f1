"""The file that labelled rows are appended to, and beside it the answers of the row in hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ..errors import DataError
from .disk import write_whole
from .rows import OTHER_FORMATS, LabelledRow, read_rows

LOGGED = "logged"
"""Tag of rows that were labelled from use."""

Answers = dict[str, Any]
"""What was answered about one query, by label."""


class LabelFile:
    """The file that rows are appended to, and beside it the answers of the row in hand.

    A last line that was cut off in writing is taken off: its row is labelled again, from the answers beside it.

    Raises:
        DataError: the file is there and holds something else than rows, or its name is of another format.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix in OTHER_FORMATS:
            raise DataError(f"rows are appended as lines of JSON, which is not what {path.name} is: name a .jsonl file")
        self.path = path
        _without_half(path)
        self.draft = path.with_name(f"{path.name}.draft.json")
        self.rows = read_rows(path) if path.exists() else []

    @property
    def done(self) -> set[str]:
        """Keys of the logged plans that have a row."""
        return {row.id.removeprefix(f"{LOGGED}-") for row in self.rows}

    def answers(self, key: str) -> Answers:
        """What was answered for a plan before it was left; nothing if it never was.

        Raises:
            DataError: the file with the answers cannot be read.
        """
        try:
            kept = json.loads(self.draft.read_text(encoding="utf-8"))
            return dict(kept["answers"]) if kept["key"] == key else {}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise DataError(f"{self.draft} cannot be read; remove it to go on") from error

    @property
    def in_hand(self) -> str | None:
        """The key of the plan that was left half labelled."""
        try:
            return str(json.loads(self.draft.read_text(encoding="utf-8"))["key"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def keep(self, key: str, answers: Answers) -> None:
        """Write the answers so far; a crash leaves these or the ones before."""
        write_whole(self.draft, json.dumps({"key": key, "answers": answers}, ensure_ascii=False).encode())

    def append(self, row: LabelledRow) -> None:
        """Add a finished row, on the disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            if file.tell() and not self._ends_a_line():
                file.write(b"\n")
            file.write(row.model_dump_json(exclude_defaults=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.rows.append(row)
        self.draft.unlink(missing_ok=True)

    def _ends_a_line(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


def _without_half(path: Path) -> None:
    """Take off what a crash left of a row at the end of a file, if that is the beginning of one."""
    if not path.is_file():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if _is_half(content[whole:]):
        os.truncate(path, whole)


def _is_half(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return bool(line) and line[:6] == b'{"id":'[: len(line)]
    return False
