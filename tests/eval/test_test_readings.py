"""The list of readings of a test set."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from queryplan.data.card import SHIPPED, load_card
from queryplan.data.domain import Domain, rows_hash
from queryplan.data.fingerprints import text_fingerprint
from queryplan.data.rows import LabelledRow
from queryplan.eval.measuring import Measuring, Wanted
from queryplan.eval.resume import code_fingerprint
from queryplan.eval.test_readings import (
    READINGS_FILE,
    file_of_test,
    measured_on,
    read_of_test,
    readings,
    record_reading,
    seen_before,
    told_reading,
)

Make = Callable[..., Any]


def test_each_reading_is_appended_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "test.jsonl"
    assert readings(file) == 0
    assert record_reading(file, "models:/queryplan-podcast/3", "gate") == 1
    assert record_reading(file, "zero-shot", "report") == 2
    entries = [json.loads(line) for line in (tmp_path / READINGS_FILE).read_text().splitlines()]
    assert [(e["program"], e["why"]) for e in entries] == [
        ("models:/queryplan-podcast/3", "gate"),
        ("zero-shot", "report"),
    ]
    assert entries[0]["date"].endswith("+00:00")


def test_a_list_that_cannot_be_written_warns_and_still_counts(tmp_path: Path) -> None:
    (tmp_path / READINGS_FILE).mkdir()
    with pytest.warns(UserWarning, match=r"reading of test\.jsonl is not recorded"):
        assert record_reading(tmp_path / "test.jsonl", "p", "why") == 1


def test_a_measuring_that_goes_on_or_is_looked_at_again_is_one_reading(tmp_path: Path, row: Make) -> None:
    file, same = tmp_path / "test.jsonl", measured_on("p", "none", [row()])
    assert [record_reading(file, "p", "evaluate", same) for _ in range(3)] == [1, 1, 1]
    others = [("p", "local:0.5b", [row()]), ("q", "none", [row()]), ("p", "none", [row("What is craft?")])]
    assert [record_reading(file, "p", "evaluate", measured_on(*other)) for other in others] == [2, 3, 4]
    assert record_reading(file, "p", "pytest", same) == 1
    assert readings(file) == 4
    assert told_reading(file, "p", "evaluate", same) == "test.jsonl was read with this program before (reading 1 of 4)."
    other = measured_on("r", "none", [row()])
    assert told_reading(file, "r", "evaluate", other) == "This was reading 5 of test.jsonl."


def test_a_reading_with_graph_steps_is_another_and_one_without_keeps_its_name(tmp_path: Path, row: Make) -> None:
    file, plain = tmp_path / "test.jsonl", measured_on("p", "none", [row()])
    assert plain == text_fingerprint("p", "none", rows_hash([row()]), code_fingerprint())
    names = [plain, measured_on("p", "none", [row()], graph=True), plain]
    assert [record_reading(file, "p", "evaluate", name) for name in names] == [1, 2, 1]


def test_a_word_on_why_with_an_unusual_line_end_is_one_reading(tmp_path: Path) -> None:
    file = tmp_path / "test.jsonl"
    assert record_reading(file, "p", "first\u2028second\x85third") == 1
    assert readings(file) == 1


def test_readings_at_the_same_time_are_each_counted_once(tmp_path: Path) -> None:
    file = tmp_path / "test.jsonl"
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(lambda n: record_reading(file, f"p{n}", "race"), range(40)))
    assert sorted(counts) == list(range(1, 41))


def test_a_reading_names_the_file_that_was_read(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl.gz").touch()
    record_reading(file_of_test(tmp_path), "p", "why")
    assert json.loads((tmp_path / READINGS_FILE).read_text())["file"] == "test.jsonl.gz"


@pytest.fixture
def domain(tmp_path: Path, row: Make) -> Domain:
    splits = {name: (row(f"What is {name}?", f"{name}-1", name),) for name in ("train", "test")}
    return Domain(tmp_path / "mine", load_card(SHIPPED / "podcast"), splits)


def test_test_rows_are_known_under_any_file_name(domain: Domain, row: Make) -> None:
    test, train, other = domain.rows("test"), domain.rows("train"), [row("What is new?", "n1", "n")]
    held = Path("held.jsonl")
    own = domain.folder / "test.jsonl"
    assert read_of_test(test, None, domain) == own
    assert read_of_test([*other, *test], held, domain) == own
    assert read_of_test(other, domain.folder / "test.jsonl.gz", domain) == domain.folder / "test.jsonl.gz"
    assert read_of_test([*train, *other], held, domain) is None
    assert read_of_test(other, held, None) is None


def test_rows_that_programs_learn_from_are_told(domain: Domain, row: Make) -> None:
    known: list[LabelledRow] = [*domain.rows("train"), row("What is new?", "n1", "n")]
    (told,) = seen_before(known, domain)
    assert told.startswith("1 of these 2 rows are in train of podcast")
    assert seen_before(domain.rows("test"), domain) == []


def test_evaluating_with_graph_steps_after_a_plain_evaluation_is_a_new_reading(tmp_path: Path, domain: Domain) -> None:
    told = []
    for graph in (False, True, False):
        measuring: Any = object.__new__(Measuring)
        planner = SimpleNamespace(warm=lambda: None, program_version="p", lm_name="none", plan_graph=graph)
        measuring.planner, measuring.domain = planner, domain
        measuring.sample = SimpleNamespace(rows=domain.splits["test"])
        measuring.wanted = Wanted(data=tmp_path / "test.jsonl")
        told.append(measuring.counted()[0])
    assert told[0] == "This was reading 1 of test.jsonl."
    assert told[1] == "This was reading 2 of test.jsonl."
    assert "before (reading 1 of 2)" in told[2]
