"""What converters read and write: errors by file and line, sources, hubs, options, and folders left alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from queryplan.data.converters import CONVERTERS, sources
from queryplan.errors import DataError

from .converting import (
    BREAK,
    CAST,
    CLINC,
    FIRST,
    STRATEGY,
    Fields,
    convert_rows,
    converted,
    rows_of,
    write,
)

# Bad input


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([CLINC, "{"], "in.jsonl:2: not JSON"),
        (["[" * 100_000], "in.jsonl:1: not JSON"),
        ([CLINC, "[1]"], "in.jsonl:2: expected an object"),
        ([{"id": "a"}], "in.jsonl:1: there is no field 'text'; the record has id"),
        ([CLINC, {**CLINC, "id": "b", "text": " "}], "in.jsonl:2: text: expected text"),
        ([CLINC, CLINC], "in.jsonl:2: two rows have the id 'c-1'"),
        ([{**CLINC, "domain": "moon"}], "in.jsonl:1: domain: 'moon' is none of"),
        ([{**CLINC, "split": "moon"}], "in.jsonl:1: split: 'moon' is none of"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_left_behind(tmp_path: Path, lines: list[Any], said: str) -> None:
    with pytest.raises(DataError) as caught:
        convert_rows("clinc150", tmp_path, *lines)
    assert str(caught.value).startswith(said)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize(
    ("name", "record", "said"),
    [
        ("trec_cast", {**CAST[0], "turn": "one"}, "turn: expected a whole number"),
        ("trec_cast", {**CAST[0], "turn": 0}, "turn: must be at least 1"),
        ("trec_cast", {**CAST[1], "history": [{"role": "god", "text": "x"}]}, "history.0: expected a role"),
        ("trec_cast", {**CAST[1], "history": []}, "is_follow_up must be false without history"),
        ("canard", {**CAST[0], "is_follow_up": "no"}, "is_follow_up: expected true, false or null"),
        ("mtrag", {**FIRST, "multi_turn_label": "Maybe"}, "multi_turn_label: 'Maybe' is none of"),
        ("strategyqa", {**STRATEGY, "step_is_operation": [True]}, "decomposition: 3 steps, but"),
        ("strategyqa", {**STRATEGY, "decomposition": "When?"}, "decomposition: expected a list of str"),
        ("break_qdmr", {**BREAK, "operators": []}, "steps: 3 steps, but operators has 0"),
    ],
)
def test_a_wrong_field_is_named_with_its_line(tmp_path: Path, name: str, record: Fields, said: str) -> None:
    with pytest.raises(DataError) as caught:
        convert_rows(name, tmp_path, record)
    assert str(caught.value).startswith("in.jsonl:1: ")
    assert said in str(caught.value)


def test_a_truncated_gzip_is_named_with_the_line_it_stops_at(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl.gz", *({**CLINC, "id": f"c-{n * 7919}"} for n in range(3000)))
    source.write_bytes(source.read_bytes()[:-2000])
    with pytest.raises(DataError, match=r"in\.jsonl\.gz:\d+: cannot be read from here on"):
        converted("clinc150", source, tmp_path / "out")


@pytest.mark.parametrize(
    ("file", "data", "said"),
    [
        ("in.jsonl.gz", b"no gzip", "in.jsonl.gz:1: cannot be read"),
        ("in.jsonl", json.dumps(CLINC).encode() + b'\n{"a": "\xe9"}\n', "in.jsonl:2: not UTF-8"),
        ("in.json", b"{}", "in.json: expected a list"),
        ("in.json", b"[", "in.json: not JSON"),
        ("in.csv", b"a,b\n1\n", "in.csv:2: expected a, b"),
        ("in.xml", b"<a/>", "in.xml: expected .jsonl"),
        ("in.jsonl", b"", "gave no row of clinc150"),
    ],
)
def test_a_file_of_the_wrong_format_is_named(tmp_path: Path, file: str, data: bytes, said: str) -> None:
    (tmp_path / file).write_bytes(data)
    with pytest.raises(DataError) as caught:
        converted("clinc150", tmp_path / file, tmp_path / "out")
    assert said in str(caught.value)


def test_a_line_too_long_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_LINE", 200)
    with pytest.raises(DataError, match=r"in\.jsonl:2: the line is longer"):
        convert_rows("clinc150", tmp_path, CLINC, {**CLINC, "id": "b", "text": "x" * 300})


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"\xef\xbb\xbf" + json.dumps(CLINC).encode() + b"\r\n")
    assert list(rows_of(converted("clinc150", source, tmp_path / "out"))) == ["c-1"]


# Where from, where to


def test_the_benchmarks_folder_is_the_source_when_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "all" / "clinc150" / "train.jsonl.gz", CLINC)
    monkeypatch.setenv("QUERYPLAN_BENCHMARKS", str(tmp_path / "all"))
    assert CONVERTERS["clinc150"].convert(None, tmp_path / "out").rows == {"train": 1}
    with pytest.raises(DataError, match=r"there is no folder .*mtrag"):
        CONVERTERS["mtrag"].convert(None, tmp_path / "other")


def test_without_any_source_the_message_says_what_to_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUERYPLAN_BENCHMARKS", raising=False)
    with pytest.raises(DataError, match="or set QUERYPLAN_BENCHMARKS"):
        CONVERTERS["metaqa"].convert(None, tmp_path / "out")


@pytest.mark.parametrize("source", ["nowhere", "a/b/c.jsonl", Path("owner/name")])
def test_a_source_that_is_not_there(tmp_path: Path, source: Path | str) -> None:
    with pytest.raises(DataError, match="there is no file or folder"):
        CONVERTERS["clinc150"].convert(source, tmp_path / "out")


def test_a_folder_without_data_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(DataError, match=r"has no \.jsonl"):
        converted("clinc150", tmp_path / "in", tmp_path / "out")
    with pytest.raises(DataError, match=r"has no kb\.txt"):
        converted("metaqa", tmp_path / "in", tmp_path / "out")


def test_a_hub_name_is_read_through_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def load_dataset(*names: Any, **options: Any) -> dict[str, list[Fields]]:
        asked.append((names, options))
        return {"train": [{key: value for key, value in CLINC.items() if key != "split"}]}

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    assert CONVERTERS["clinc150"].convert("owner/name:full", tmp_path / "out").rows == {"train": 1}
    assert asked == [(("owner/name", "full"), {"streaming": True})]
    with pytest.raises(DataError, match="cannot be read from a hub"):
        CONVERTERS["metaqa"].convert("owner/name", tmp_path / "other")


def test_a_hub_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(*names: Any, **options: Any) -> None:
        raise ConnectionError("no route")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    with pytest.raises(
        DataError, match="there is no file owner/name, and no such set on the hub can be read: no route"
    ):
        CONVERTERS["clinc150"].convert("owner/name", tmp_path / "out")


def test_a_folder_that_has_something_is_not_touched(tmp_path: Path) -> None:
    mine = write(tmp_path / "out" / "mine.txt", "keep")
    with pytest.raises(DataError, match="is there already"):
        convert_rows("clinc150", tmp_path, CLINC)
    assert [mine] == list((tmp_path / "out").iterdir())
    with pytest.raises(DataError, match="cannot be written"):
        CONVERTERS["clinc150"].convert(tmp_path / "in.jsonl", mine / "below")


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert list(convert_rows("clinc150", tmp_path, CLINC)) == ["c-1"]


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("canard", {"domain": "x"}, "canard has no option domain; it has split"),
        ("clinc150", {"split": "exam"}, "there is no split 'exam'"),
        ("strategyqa", {"operations": "burn"}, "operations: give drop or keep"),
        ("metaqa", {"typo": 1}, "metaqa has no option typo; it has split, hops, hold_out"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, name: str, options: Fields, said: str) -> None:
    with pytest.raises(DataError, match=said):
        CONVERTERS[name].convert(write(tmp_path / "in.jsonl", CLINC), tmp_path / "out", **options)


def test_all_rows_can_go_to_one_split(tmp_path: Path) -> None:
    domain = converted("trec_cast", write(tmp_path / "in.jsonl", *CAST), tmp_path / "out", split="test")
    assert {split: len(rows) for split, rows in domain.splits.items()} == {"test": 3}
