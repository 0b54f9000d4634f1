"""Loads labelled rows from any common file, a folder, or the Hugging Face hub, through ``datasets``.

``datasets`` opens, decompresses and streams; nothing is cached and nothing is pickled. Each format is read with
declared features (a line of text for JSON lines, text columns for CSV, what the file itself declares for Parquet and
the hub), and every record is then checked by the one model of a row, ``LabelledRow``, so that an error names file,
line and field whatever the format was.
"""

from __future__ import annotations

import csv
import gzip
import json
import logging
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError
from ..signatures.types import Labels
from .card import CARD_FILE
from .domain import OTHER_NAMES, misnamed_splits, split_files
from .rows import SPLITS, LabelledRow, NoJson, Parsed, not_utf8, parse_file, parse_records

if TYPE_CHECKING:
    from datasets import Dataset, Features

Record = tuple[str, str | Mapping[str, Any]]

HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# Columns that hold a list or an object; as text they are JSON.
STRUCTURED = frozenset(
    (
        *("history", "session", "labels", "tags", "gold"),
        *(f"labels.{name}" for name in ("referenced_entities", "sub_queries", "entities", "relationships_needed")),
    )
)
COLUMNS = (*LabelledRow.model_fields, *(f"labels.{name}" for name in Labels.model_fields))
"""Columns of a table: the fields of a row; ``labels`` as one column of JSON or as ``labels.…`` each."""
NEEDED = tuple(
    name
    for place, model in (("", LabelledRow), ("labels.", Labels))
    for name in (f"{place}{field}" for field, info in model.model_fields.items() if info.is_required())
    if name != "labels"
)
"""Those that every row needs; the labels may be in one column instead."""
# Empty cells of these are empty texts; of all others, fields that were not given.
_TEXTS = ("query", "labels.standalone_query")
# Names that tables often have as numbers.
_NAMES = ("id", "conversation")


def load_rows(source: str | Path) -> list[LabelledRow]:
    """Load every row of a file, of all splits of a folder, or of a data set on the hub.

    Raises:
        DataError: there is no such source, or rows are wrong; up to twenty are named by file, line and field.
    """
    return _joined(parse_splits(source).values()).all_right()


def parse_splits(source: str | Path) -> dict[str, Parsed]:
    """Load the valid rows of each split, and what is wrong with the other records; a single file is one split.

    Raises:
        DataError: there is no such source, or a file cannot be read at all.
    """
    path = Path(source)
    if path.is_dir():
        files = split_files(path)
        if not files:
            raise DataError(_without_rows(path))
        return {split: parse_file(file) for split, file in files.items()}
    if path.is_file():
        return {path.name.split(".")[0]: parse_file(path)}
    if HUB_NAME.fullmatch(str(source)):
        return {name: parse_records(records) for name, records in _hub(str(source))}
    raise DataError(f"there is no file or folder {source}, and a data set on the hub is named OWNER/NAME")


def _without_rows(folder: Path) -> str:
    """The error for a folder without splits, which says what to do."""
    expected = ", ".join(f"{split}.jsonl" for split in SPLITS)
    if unread := misnamed_splits(folder):
        return f"{folder} has no labelled rows that are read: {', '.join(unread.values())}"
    if (folder / CARD_FILE).is_file():
        return f"{folder} has a {CARD_FILE} and no labelled rows yet: write some into {expected} (data/README.md)"
    if any(folder.iterdir()):
        return f"{folder} has neither a {CARD_FILE} nor labelled rows: give the folder that has them ({expected})"
    return f"{folder} is empty: begin a domain in it with queryplan new-domain NAME --out {folder}"


def records_of(path: Path) -> Iterator[Record]:
    """(place, record) of every row of one file, as ``parse_records`` takes them.

    Raises:
        DataError: the file cannot be read at all.
    """
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    if not path.stat().st_size:
        return
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    kind = suffixes[-1] if suffixes else ""
    read = {".csv": _csv, ".parquet": _parquet}.get(kind, _lines)
    with _explained(path):
        yield from read(path)


def row_features() -> Features:
    """The declared columns of a set of rows: what ``to_dataset`` writes and any reader may rely on."""
    from datasets import Features, Json, List, Value

    text, truth, texts = Value("string"), Value("bool"), List(Value("string"))
    part = {"id": Value("int32"), "text": text, "depends_on": List(Value("int32"))}
    names = ("standalone_query", "rejection_kind", "complexity", "intent")
    labels: dict[str, Any] = dict.fromkeys(Labels.model_fields, texts) | dict.fromkeys(names, text)
    labels |= dict.fromkeys(("is_follow_up", "is_relevant", "needs_decomposition"), truth)
    columns: dict[str, Any] = dict.fromkeys(LabelledRow.model_fields, text)
    columns |= {"turn": Value("int32"), "history": List({"role": text, "content": text}), "tags": texts}
    columns |= {"session": Json(), "gold": Json(), "labels": labels | {"sub_queries": List(part)}}
    return Features(columns)


def to_dataset(rows: Iterable[LabelledRow]) -> Dataset:
    """Rows as a ``datasets.Dataset`` in memory, to be written as Parquet or put on the hub."""
    from datasets import Dataset

    return Dataset.from_list([row.model_dump(mode="json") for row in rows], features=row_features())


def _joined(parts: Iterable[Parsed]) -> Parsed:
    """All parts joined, in which no id may occur twice."""
    rows, problems, seen = [], [], {}
    for part in parts:
        problems += part.problems
        for row in part.rows:
            if row.id in seen:
                problems.append(f"row {row.id}: id: it is used in two splits; give one of them another")
            seen[row.id] = True
            rows.append(row)
    return Parsed(tuple(rows), tuple(problems))


# -- formats


def _lines(path: Path) -> Iterator[Record]:
    from datasets import Features, Value
    from datasets.packaged_modules.text.text import Text

    features = Features({"text": Value("string")})
    for number, record in enumerate(_stream(Text, path, features=features, encoding="utf-8-sig"), 1):
        if record["text"].strip():
            yield f"{path.name}:{number}", record["text"]


def _csv(path: Path) -> Iterator[Record]:
    """Records of a CSV file, with line numbers of the file, as a quoted cell may span several."""
    from datasets import Features, Value
    from datasets.packaged_modules.csv.csv import Csv

    columns, separator = _csv_columns(path)
    if not columns:
        return
    options = {"sep": separator, "na_filter": False, "skip_blank_lines": False, "encoding": "utf-8-sig"}
    line = 2
    for record in _stream(Csv, path, features=Features({c: Value("string") for c in columns}), **options):
        if any(record.values()):
            yield f"{path.name}:{line}", _nested({k: v for k, v in record.items() if v or k in _TEXTS})
        line += 1 + sum(value.count("\n") for value in record.values() if value)


def _csv_columns(path: Path) -> tuple[list[str], str]:
    """The columns, and what separates them: the comma, or what spreadsheets of many countries write instead."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        head = next(csv.reader(file), [])
        separator = next((s for s in ";\t|" if len(head) == 1 and s in head[0]), ",")
        file.seek(0)
        columns = next(csv.reader(file, delimiter=separator), [])
    if columns:
        _check_columns(columns, f"{path.name}:1")
    return columns, separator


def _check_columns(columns: Collection[str], where: str) -> None:
    """Say once what would be wrong with every row.

    Raises:
        DataError: a column is none of a row's, or one that every row needs is missing.
    """
    if unknown := [name or "''" for name in sorted(set(columns) - set(COLUMNS))]:
        raise DataError(f"{where}: no such column: {', '.join(unknown)}; columns are {', '.join(COLUMNS)}")
    needed = [name for name in NEEDED if not (name.startswith("labels.") and "labels" in columns)]
    if missing := [name for name in needed if name not in columns]:
        raise DataError(f"{where}: there is no column {', '.join(missing)}, and every row needs it")


def _parquet(path: Path) -> Iterator[Record]:
    from datasets.packaged_modules.parquet.parquet import Parquet

    with closing(_stream(Parquet, path, batch_size=1000)) as records:  # also where the columns are wrong
        yield from _table(records, path.name)


def _table(records: Iterable[Mapping[str, Any]], name: str) -> Iterator[Record]:
    for number, record in enumerate(records, 1):
        if number == 1:
            _check_columns(record, name)
        yield f"{name}:{number}", _nested(_given(record))


def _hub(name: str) -> Iterator[tuple[str, Iterator[Record]]]:
    import datasets

    with _explained(Path(name)):
        splits: Mapping[str, Any] = datasets.load_dataset(name, streaming=True)  # type: ignore[assignment]
    for split, rows in splits.items():
        yield OTHER_NAMES.get(split, split), _read_on(rows, name, split)


def _read_on(rows: Iterable[Mapping[str, Any]], name: str, split: str) -> Iterator[Record]:
    with _explained(Path(name)):
        yield from _table(rows, f"{name} {split}")


def _stream(builder: Callable[..., Any], path: Path, **options: Any) -> Generator[dict[str, Any]]:
    """Records of one file. The builder is called directly, as ``load_dataset`` would ask the hub first."""
    with tempfile.TemporaryDirectory(prefix="queryplan-") as folder:
        made = builder(data_files={"rows": [str(_unpacked(path, Path(folder)))]}, cache_dir=folder, **options)
        for batch in made.as_streaming_dataset(split="rows").iter(batch_size=1000):
            names = list(batch)
            for values in zip(*batch.values(), strict=True):
                yield dict(zip(names, values, strict=True))


def _unpacked(path: Path, folder: Path) -> Path:
    """The file itself, or the unpacked content of a .gz: ``datasets`` 5.2 would forget the encoding in unpacking."""
    if path.suffix != ".gz":
        return path.absolute()
    target = folder / path.stem
    with gzip.open(path, "rb") as packed, target.open("wb") as file:
        shutil.copyfileobj(packed, file)
    return target


# -- records


def _given(value: Any) -> Any:
    """A record without the nulls by which a table marks a missing field."""
    if isinstance(value, Mapping):
        return {k: _given(v) for k, v in value.items() if v is not None}
    return [_given(v) for v in value] if isinstance(value, list) else value


def _nested(record: Mapping[str, Any]) -> dict[str, Any]:
    """A flat record as a nested one: JSON cells are parsed, ``labels.…`` columns joined."""
    row: dict[str, Any] = {}
    for name, value in record.items():
        value = _from_json(value) if name in STRUCTURED and isinstance(value, str) else value
        value = str(value) if name in _NAMES and isinstance(value, int) else value
        if name.startswith("labels."):
            row.setdefault("labels", {})[name.removeprefix("labels.")] = value
        else:
            row[name] = value
    return row


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return NoJson(text)  # the model of a row says what is expected instead


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of ``datasets`` and the formats into one sentence about the file."""
    logger = logging.getLogger("datasets")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)  # it would print the error that is raised below
    try:
        yield
    except (GeneratorExit, DataError):
        raise
    except UnicodeDecodeError as error:
        raise not_utf8(path, gzip.open if path.suffix == ".gz" else open) from error
    except (EOFError, zlib.error) as error:
        raise DataError(f"{path} is cut short or damaged ({error}); copy or download it again") from error
    except gzip.BadGzipFile as error:
        raise DataError(f"{path} is no gzip file ({error}); give it another ending or compress it again") from error
    except Exception as error:
        raise DataError(f"{path} cannot be read: {' '.join(str(error).split()) or type(error).__name__}") from error
    finally:
        logger.setLevel(level)
