"""Every format gives the same rows, and every mistake names file, line and field."""

from __future__ import annotations

import csv
import gzip
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest
from datasets import config as hub
from queryplan.data.card import domain_folder
from queryplan.data.checking import check_set, open_set
from queryplan.data.domain import load_domain, misnamed_splits, rows_hash
from queryplan.data.loading import COLUMNS, load_rows, parse_splits, row_features, to_dataset
from queryplan.data.rows import LabelledRow, read_rows, write_rows
from queryplan.errors import DataError

LABELS: dict[str, Any] = {"is_follow_up": False, "standalone_query": "Who is Nell?", "is_relevant": True,
                          "complexity": "simple", "intent": "definition", "needs_decomposition": False}  # fmt: skip
ROW: dict[str, Any] = {"id": "p-1.1", "conversation": "p-1", "turn": 1, "query": "Who is Nell?", "labels": LABELS}


@pytest.fixture(scope="module")
def rows() -> list[LabelledRow]:
    made = list(load_domain("podcast", splits=("dev",)).rows("dev"))
    gold = {"graph_plan": {"steps": [{"kind": "anchor", "node": {"name": "Nell", "type": "Host"}, "store_as": "a"}]},
            "answers": ["Nell"], "expressible": False}  # fmt: skip
    extra = {**ROW, "gold": gold, "session": {"active_entity": "Nell", "deep": {"a": [1, None]}}, "tags": ["typo"]}
    return [*made, LabelledRow.model_validate(extra)]


def as_jsonl(rows: list[LabelledRow], path: Path) -> None:
    write_rows(path, rows)


def as_gzip(rows: list[LabelledRow], path: Path) -> None:
    path.write_bytes(gzip.compress("".join(f"{r.model_dump_json()}\n" for r in rows).encode()))


def as_parquet(rows: list[LabelledRow], path: Path) -> None:
    to_dataset(rows).to_parquet(str(path))


def as_csv(rows: list[LabelledRow], path: Path, opened: Callable[..., Any] = open) -> None:
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        names = [name for name in COLUMNS if name != "labels"]
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for row in rows:
            values = row.model_dump(mode="json", exclude_defaults=True)
            flat = {**values, **{f"labels.{k}": v for k, v in values.pop("labels").items()}}
            flat.pop("labels", None)
            cells = {k: json.dumps(v) if isinstance(v, list | dict) else v for k, v in flat.items()}
            writer.writerow(cells)


def as_csv_gz(rows: list[LabelledRow], path: Path) -> None:
    as_csv(rows, path, gzip.open)


@pytest.mark.parametrize(
    ("ending", "write"),
    [(".jsonl", as_jsonl), (".jsonl.gz", as_gzip), (".parquet", as_parquet), (".csv", as_csv), (".csv.gz", as_csv_gz)],
)
def test_every_format_gives_the_same_rows(
    tmp_path: Path, rows: list[LabelledRow], ending: str, write: Callable[[list[LabelledRow], Path], None]
) -> None:
    write(rows, path := tmp_path / f"dev{ending}")
    assert load_rows(path) == rows
    assert read_rows(path) == rows
    assert rows_hash(load_rows(path)) == rows_hash(rows)


def test_json_text_in_a_table_is_read(tmp_path: Path) -> None:
    flat = {**ROW, "labels": json.dumps(LABELS), "history": "[]", "tags": '["typo"]'}
    datasets.Dataset.from_list([flat]).to_parquet(str(tmp_path / "a.parquet"))
    assert load_rows(tmp_path / "a.parquet")[0].tags == ("typo",)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    for name, opened in (("a.jsonl", open), ("b.jsonl.gz", gzip.open)):
        with opened(tmp_path / name, "wt", encoding="utf-8-sig") as file:
            file.write(json.dumps(ROW))
        assert len(load_rows(tmp_path / name)) == 1


def test_nothing_is_left_behind(tmp_path: Path, rows: list[LabelledRow]) -> None:
    as_gzip(rows, tmp_path / "a.jsonl.gz")
    home = {p for p in Path(str(hub.HF_CACHE_HOME)).rglob("*") if p.is_file()}
    load_rows(tmp_path / "a.jsonl.gz")
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl.gz"]
    assert {p for p in Path(str(hub.HF_CACHE_HOME)).rglob("*") if p.is_file()} == home


def test_declared_features_are_the_fields_of_a_row() -> None:
    features = row_features()
    assert list(features) == list(LabelledRow.model_fields)
    assert set(features["labels"]) == set(LABELS) | {
        "referenced_entities", "rejection_kind", "sub_queries", "entities", "relationships_needed"
    }  # fmt: skip


# -- folders and the hub


@pytest.mark.parametrize(
    ("name", "right"),
    [
        *(("validation.jsonl", "dev.jsonl"), ("Train.jsonl", "train.jsonl"), ("training.csv.gz", "train.csv.gz")),
        *(("TEST.CSV", "test.csv"), ("calibration.parquet", "calibrate.parquet"), ("val.jsonl.gz", "dev.jsonl.gz")),
        *((f"train.{e}", "train.jsonl, one row a line") for e in ("json", "ndjson", "tsv", "xlsx", "jsonl.zip")),
    ],
)
def test_a_file_that_is_named_nearly_as_a_split_is_named(
    tmp_path: Path, rows: list[LabelledRow], name: str, right: str
) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(DataError, match=f"no labelled rows that are read: {name} is not read, but {right} would be"):
        load_rows(tmp_path)
    as_jsonl(rows, tmp_path / "calibrate.jsonl")
    (found,) = [one for one in check_set(open_set(tmp_path)).findings if one.kind == "files of rows that are not read"]
    assert found.examples == (f"{name} is not read, but {right} would be",)
    shutil.copy(domain_folder("journal") / "domain.toml", tmp_path)
    with pytest.raises(DataError, match=f"has no dev.jsonl; rename what is there: {name} is not read"):
        load_domain(tmp_path, splits=()).rows("dev")


@pytest.mark.parametrize(
    "name", ["test-readings.jsonl", "evidence.jsonl", "train.md", "train.jsonl.unfinished", "dev", "testing/train.csv"]
)
def test_other_files_of_a_folder_are_its_owners(tmp_path: Path, rows: list[LabelledRow], name: str) -> None:
    as_jsonl(rows, tmp_path / "test.jsonl")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("x")
    assert misnamed_splits(tmp_path) == {}


def test_a_folder_is_read_split_by_split(tmp_path: Path, rows: list[LabelledRow]) -> None:
    as_jsonl(rows[:9], tmp_path / "train.jsonl")
    as_gzip(rows[9:], tmp_path / "dev.jsonl.gz")
    found = parse_splits(tmp_path)
    assert {name: len(part.rows) for name, part in found.items()} == {"train": 9, "dev": len(rows) - 9}
    assert load_rows(tmp_path) == rows


def test_a_folder_without_rows_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is empty: begin a domain in it with queryplan new-domain NAME --out"):
        load_rows(tmp_path)
    (tmp_path / "notes.md").write_text("x")
    with pytest.raises(DataError, match=r"neither a domain\.toml nor labelled rows: .*train\.jsonl, dev\.jsonl"):
        load_rows(tmp_path)
    (tmp_path / "domain.toml").write_text("x")
    with pytest.raises(DataError, match=r"has a domain\.toml and no labelled rows yet: write some into train\.jsonl"):
        load_rows(tmp_path)


def test_two_files_of_one_split_are_refused(tmp_path: Path, rows: list[LabelledRow]) -> None:
    as_jsonl(rows, tmp_path / "dev.jsonl")
    as_gzip(rows, tmp_path / "dev.jsonl.gz")
    with pytest.raises(DataError, match=r"dev\.jsonl and dev\.jsonl\.gz: keep one"):
        load_rows(tmp_path)


def test_an_id_in_two_splits_is_named(tmp_path: Path, rows: list[LabelledRow]) -> None:
    as_jsonl(rows[:2], tmp_path / "train.jsonl")
    as_jsonl(rows[1:3], tmp_path / "dev.jsonl")
    with pytest.raises(DataError, match=rf"row {rows[1].id}: id: it is used in two splits"):
        load_rows(tmp_path)


def test_a_hub_name_is_streamed(monkeypatch: pytest.MonkeyPatch, rows: list[LabelledRow]) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    def load_dataset(name: str, **options: Any) -> dict[str, Any]:
        asked.append((name, options))
        return {"train": to_dataset(rows[:3]), "validation": to_dataset(rows[3:5])}

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    assert {name: len(part.rows) for name, part in parse_splits("someone/queries").items()} == {"train": 3, "dev": 2}
    assert asked == [("someone/queries", {"streaming": True})]


def test_a_wrong_row_on_the_hub_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "load_dataset", lambda name, **_: {"train": [ROW, {**ROW, "turn": 0}]})
    with pytest.raises(DataError, match=r"someone/queries train:2: turn: "):
        load_rows("someone/queries")


def test_a_hub_that_cannot_be_reached_is_one_sentence() -> None:
    with pytest.raises(DataError, match=r"someone/queries cannot be read: .*Hub"):
        load_rows("someone/queries")


@pytest.mark.parametrize("source", ["nowhere", "nowhere.jsonl", "a/b/c"])
def test_a_source_that_is_none_is_named(source: str) -> None:
    with pytest.raises(DataError, match=f"there is no file or folder {source}"):
        load_rows(source)


# -- bad input


def packed(*lines: Any) -> bytes:
    return gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


# Lines that do not compress away, so that a cut falls inside the stream.
MANY = [{**ROW, "id": f"p-{random.Random(n).random()}"} for n in range(300)]


HEAD = ",".join(("id", "conversation", "turn", "query", *(f"labels.{name}" for name in LABELS)))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl.gz", packed(*MANY)[:900], r"a\.jsonl\.gz is cut short or damaged"),
        ("a.jsonl.gz", packed(ROW)[:-6], r"a\.jsonl\.gz is cut short or damaged"),
        ("a.jsonl.gz", json.dumps(ROW).encode(), r"a\.jsonl\.gz is no gzip file"),
        ("a.csv.gz", gzip.compress(",".join(COLUMNS).encode(), mtime=0)[:-4], r"a\.csv\.gz is cut short or damaged"),
        ("a.jsonl", json.dumps(ROW).encode() + b"\n\n\xe9", r"a\.jsonl:3: .* as UTF-8 text \(byte 0xe9\); save"),
        ("a.jsonl", json.dumps(ROW).encode("utf-16"), r"a\.jsonl:1: .* as UTF-8 text"),
        ("a.jsonl.gz", gzip.compress(b"{}\n\xff", mtime=0), r"a\.jsonl\.gz:2: .* as UTF-8 text \(byte 0xff\)"),
        ("a.csv", HEAD.encode() + b"\n1,caf\xe9\n", r"a\.csv:2: .* as UTF-8 text \(byte 0xe9\)"),
        ("a.parquet", b"PAR1 nothing", r"a\.parquet cannot be read: "),
        ("a.csv", b"id,colour\n1,red\n", r"a\.csv:1: no such column: colour; columns are id, conv"),
        ("a.csv", f",{HEAD}\n0,1\n".encode(), r"a\.csv:1: no such column: ''; columns are id, conv"),
        ("a.csv", b"id;colour\n1;red\n", r"a\.csv:1: no such column: colour; columns are id, conv"),
        ("a.csv", f"{HEAD}\n1,2,3\n1,2,3{',' * 20}\n".encode(), r"a\.csv cannot be read: .*line 3"),
    ],
)
def test_a_file_that_is_broken_is_one_sentence(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=said):
        load_rows(tmp_path / name)
    assert (tmp_path / name).read_bytes() == content


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "a.csv.gz", "a.jsonl.gz"])
def test_a_file_of_nothing_has_no_rows(tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    for content in (b"", *((gzip.compress(b"", mtime=0),) if name.endswith(".gz") else ())):
        (tmp_path / name).write_bytes(content)
        assert load_rows(tmp_path / name) == []
    assert capfd.readouterr().err == ""


FLAT = {"id": "1", "conversation": "c", "turn": "1", "query": "q"} | {f"labels.{k}": v for k, v in LABELS.items()}
FLAT["labels.standalone_query"] = "q"


def as_table(path: Path, rows: list[dict[str, Any]], separator: str = ",") -> Path:
    """A CSV or Parquet file of flat rows."""
    if path.suffix == ".parquet":
        datasets.Dataset.from_list(rows).to_parquet(str(path))
        return path
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("missing", ["labels.intent", "turn", "labels.is_relevant"])
def test_a_column_that_every_row_needs_is_named_once(tmp_path: Path, ending: str, missing: str) -> None:
    rows = [{k: v for k, v in {**FLAT, "id": str(n)}.items() if k != missing} for n in range(5)]
    with pytest.raises(DataError, match=rf"there is no column {missing}, and every row needs it$"):
        load_rows(as_table(tmp_path / f"a.{ending}", rows))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_that_no_row_has_is_named_once(tmp_path: Path, ending: str) -> None:
    rows = [{**FLAT, "id": str(n), "remarks": "x"} for n in range(5)]
    with pytest.raises(DataError, match=r"no such column: remarks; columns are") as caught:
        load_rows(as_table(tmp_path / f"a.{ending}", rows))
    assert str(caught.value).count("remarks") == 1


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_that_a_table_numbers_are_named_by_their_numbers(tmp_path: Path, ending: str) -> None:
    rows = [{**FLAT, "id": n, "conversation": n // 2, "turn": str(1 + n % 2)} for n in range(4)]
    found = load_rows(as_table(tmp_path / f"a.{ending}", rows))
    assert [(row.id, row.conversation, row.turn) for row in found] == [
        *(("0", "0", 1), ("1", "0", 2), ("2", "1", 1), ("3", "1", 2))
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_what_spreadsheets_write_between_columns_is_read(tmp_path: Path, separator: str) -> None:
    asked = {**FLAT, "query": 'a; b, "c" | d', "labels.standalone_query": 'a; b, "c" | d'}
    (row,) = load_rows(as_table(tmp_path / "a.csv", [asked], separator))
    assert row.query == asked["query"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("history", "[{'role': 'user', 'content': 'hi'}]", "a list"),
        ("labels.entities", "Barolo, Chianti", "a list"),
        ("session", "{now: 2025}", "an object"),
    ],
)
def test_a_cell_that_must_be_json_says_so(tmp_path: Path, ending: str, column: str, cell: str, expected: str) -> None:
    path = as_table(tmp_path / f"a.{ending}", [{**FLAT, column: cell}])
    with pytest.raises(DataError, match=rf"{column}: expected {expected} as JSON \(got "):
        load_rows(path)


@pytest.mark.parametrize("packing", [lambda b: b, gzip.compress])
def test_a_line_of_ten_megabytes_is_named(tmp_path: Path, packing: Callable[[bytes], bytes]) -> None:
    huge = json.dumps({**ROW, "id": "huge", "query": "x" * 10_000_000})
    path = tmp_path / ("a.jsonl" if packing(b"") == b"" else "a.jsonl.gz")
    path.write_bytes(packing(f"{json.dumps(ROW)}\n{huge}\n".encode()))
    with pytest.raises(DataError, match=r":2: row: the line has 10,000,\d\d\d characters") as caught:
        load_rows(path)
    assert len(str(caught.value)) < 300


def test_a_line_of_csv_is_counted_over_cells_of_several_lines(tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "conversation", "turn", "query", "labels"])
        long = {**LABELS, "standalone_query": "two\nlines"}
        writer.writerow(["a", "a", 1, "two\nlines", json.dumps(long)])
        file.write("\n")
        writer.writerow(["b", "b", 0, "q", json.dumps({**LABELS, "standalone_query": "q"})])
    with pytest.raises(DataError, match=r"^a\.csv:5: turn: "):
        load_rows(tmp_path / "a.csv")


def test_a_cell_that_is_no_json_names_its_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,conversation,turn,query,labels,history\na,a,1,q,{},[oops\n")
    with pytest.raises(DataError, match=r'a\.csv:2: history: .*\(got "\[oops"\)'):
        load_rows(tmp_path / "a.csv")


@pytest.mark.parametrize("ending", [".jsonl.gz", ".parquet"])
def test_up_to_twenty_mistakes_are_named_at_once(tmp_path: Path, ending: str) -> None:
    wrong = [{**ROW, "id": f"{n}", "labels": {**LABELS, "intent": "chat"}} for n in range(30)]
    path = tmp_path / f"a{ending}"
    if ending == ".parquet":
        datasets.Dataset.from_list(wrong).to_parquet(str(path))
    else:
        path.write_bytes(packed(*wrong))
    with pytest.raises(DataError) as caught:
        load_rows(path)
    lines = str(caught.value).splitlines()
    assert len(lines) == 21
    assert lines[0].startswith(f"a{ending}:1: labels.intent: ")
    assert lines[-1] == "… and 10 more"
