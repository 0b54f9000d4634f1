"""Opens a public set and yields its records one at a time.

A source is a file, a folder or a hub name. Records come from ``.jsonl``, ``.json`` (one list), ``.csv`` and ``.tsv``
files, plain or gzipped. Nothing but ``.json`` is held in memory whole.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import DataError

VARIABLE = "QUERYPLAN_BENCHMARKS"
MAX_LINE = 10_000_000
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(:[\w.-]+)?")


@dataclass(frozen=True)
class Record:
    """One record of a set with its place; errors name the place and the missing or wrong field."""

    file: str
    line: int
    fields: Mapping[str, Any]

    def error(self, problem: str) -> DataError:
        """An error that names the record's place."""
        return DataError(f"{self.file}:{self.line}: {problem}")

    def value(self, field: str) -> Any:
        """A field that must be there."""
        if field not in self.fields:
            raise self.error(f"there is no field {field!r}; the record has {', '.join(self.fields) or 'none'}")
        return self.fields[field]

    def text(self, field: str) -> str:
        """A field that must hold text; spaces around it are dropped."""
        value = self.value(field)
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"{field}: expected text, got {value!r:.80}")
        return value.strip()

    def number(self, field: str) -> int:
        """A field that must hold a whole number, as such or as text."""
        value = self.value(field)
        if isinstance(value, bool) or not str(value).isdecimal():
            raise self.error(f"{field}: expected a whole number, got {value!r:.80}")
        return int(value)

    def flag(self, field: str) -> bool | None:
        """A field that must be true, false or null."""
        value = self.value(field)
        if value is not None and not isinstance(value, bool):
            raise self.error(f"{field}: expected true, false or null, got {value!r:.80}")
        return value

    def list(self, field: str, kind: type = str) -> list[Any]:
        """A field that must hold a list of one kind."""
        value = self.value(field)
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            raise self.error(f"{field}: expected a list of {kind.__name__}, got {value!r:.80}")
        return value


def resolve(source: Path | str | None, name: str) -> Path | str:
    """The file or folder to read, or a hub name as it is.

    Raises:
        DataError: there is no such source; the message says what can be given.
    """
    if source is None:
        return _local_copy(name)
    path = Path(source).expanduser()
    if path.exists():
        return path
    if isinstance(source, str) and _HUB_NAME.fullmatch(source):
        return source
    raise DataError(
        f"there is no file or folder {source}; give one that has {name}, or a hub name OWNER/NAME or OWNER/NAME:CONFIG"
    )


def resolve_path(source: Path | str | None, name: str) -> Path:
    """As ``resolve``, for a set of several files that the hub does not have as rows."""
    found = resolve(source, name)
    if isinstance(found, Path):
        return found
    raise DataError(f"there is no folder {found}, and {name} cannot be read from a hub; give a folder that has it")


def records(source: Path | str) -> Iterator[Record]:
    """Every record of a file, of all data files of a folder by name, or of a data set on the hub.

    Raises:
        DataError: the folder has no file of a form that is read, or a file, a record or the hub cannot be read.
    """
    if isinstance(source, str):
        yield from _from_hub(source)
        return
    files = [source] if source.is_file() else sorted(f for f in source.iterdir() if _reader(f) is not None)
    if not files:
        raise DataError(f"the folder {source} has no {', '.join(_READERS)} file, plain or gzipped")
    for file in files:
        yield from file_records(file)


def file_records(path: Path) -> Iterator[Record]:
    """Every record of one file.

    Raises:
        DataError: the name gives no known format, or a line does not have it.
    """
    read = _reader(path)
    if read is None:
        raise DataError(f"{path.name}: expected {', '.join(_READERS)}, plain or with .gz behind it")
    yield from read(path)


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a UTF-8 file, plain or gzipped, from 1; the line end is cut off, empty lines are skipped.

    Raises:
        DataError: the file ends too early, is no UTF-8, or has a line of more than 10 MB.
    """
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as handle:
            while line := handle.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise DataError(f"{path.name}:{number}: the line is longer than {MAX_LINE // 1_000_000} MB")
                if text := line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n"):
                    yield number, text
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name}:{number}: not UTF-8: {error}") from error
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"{path.name}:{number + 1}: cannot be read from here on: {error}") from error


def first_file(folder: Path, *names: str) -> Path:
    """The first of the named files that a folder has, plain or gzipped.

    Raises:
        DataError: it has none of them.
    """
    for name in names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    raise DataError(f"the folder {folder} has no {' or '.join(names)}, plain or gzipped")


def _local_copy(name: str) -> Path:
    base = os.environ.get(VARIABLE)
    if not base:
        raise DataError(f"give a file, folder or hub name for {name}, or set {VARIABLE} to the folder that has {name}/")
    folder = Path(base).expanduser() / name
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}; {VARIABLE} must name the folder that has {name}/")
    return folder


def _json_lines(path: Path) -> Iterator[Record]:
    for number, line in numbered_lines(path):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path.name}:{number}: not JSON: {error}") from error
        yield _record(path.name, number, value)


def _json_list(path: Path) -> Iterator[Record]:
    text = "\n".join(line for _, line in numbered_lines(path))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path.name}: not JSON: {error}") from error
    if not isinstance(value, list):
        raise DataError(f"{path.name}: expected a list of records")
    yield from (_record(path.name, number, item) for number, item in enumerate(value, 1))


def _record(file: str, number: int, value: Any) -> Record:
    if not isinstance(value, dict):
        raise DataError(f"{file}:{number}: expected an object, got {value!r:.80}")
    return Record(file, number, value)


def _table(delimiter: str) -> Callable[[Path], Iterator[Record]]:
    def read(path: Path) -> Iterator[Record]:
        # Only commas come with quotes: a quote in a tab-separated file is text.
        quoting = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE
        rows = csv.reader((line + "\n" for _, line in numbered_lines(path)), delimiter=delimiter, quoting=quoting)
        try:
            head: list[str] = next(rows, [])
            for cells in rows:
                if len(cells) != len(head):
                    raise DataError(f"{path.name}:{rows.line_num}: expected {', '.join(head)}")
                yield Record(path.name, rows.line_num, dict(zip(head, cells, strict=True)))
        except csv.Error as error:
            raise DataError(f"{path.name}:{rows.line_num}: {error}") from error

    return read


def _from_hub(name: str) -> Iterator[Record]:
    import datasets

    path, _, config = name.partition(":")
    try:
        splits: Any = datasets.load_dataset(path, config or None, streaming=True)
        for split, rows in splits.items():
            for number, row in enumerate(rows, 1):
                yield Record(f"{name} {split}", number, {"split": split, **row})
    except (OSError, ValueError, RuntimeError) as error:
        raise DataError(f"there is no file {name}, and no such set on the hub can be read: {error}") from error


_READERS: dict[str, Callable[[Path], Iterator[Record]]] = {
    ".jsonl": _json_lines,
    ".json": _json_list,
    ".csv": _table(","),
    ".tsv": _table("\t"),
}


def _reader(path: Path) -> Callable[[Path], Iterator[Record]] | None:
    name = path.name.removesuffix(".gz")
    return _READERS.get(Path(name).suffix)
