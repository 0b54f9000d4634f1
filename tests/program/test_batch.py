"""Many queries from a file: one plan a row, bad rows named, stopped runs continued."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.locks import alone_at
from queryplan.errors import ConfigError, DataError
from queryplan.program.batch import each_row, plan_batch
from queryplan.program.lm.meter import active_meters
from queryplan.program.plan import QueryPlan
from queryplan.program.planner import QueryPlanner

ROWS = [
    {"id": "a", "query": "Who is Nell?"},
    {"id": "b", "query": "and why?", "history": [{"role": "user", "content": "Who is Nell?"}]},
    {"id": 3, "query": "hi", "session": {"active_entity": "Nell"}},
]


class Counting(QueryPlanner):
    """Counts what it plans."""

    planned = 0

    def plan(self, *args: Any, **kwargs: Any) -> QueryPlan:
        self.planned += 1
        return super().plan(*args, **kwargs)


@pytest.fixture
def planner(card: Any) -> Iterator[Counting]:
    made = Counting(card)
    yield made
    made.close()


def source(tmp_path: Path, rows: list[Any], name: str = "in.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> dict[str, Any]:
    lines = [json.loads(line) for line in path.read_bytes().decode().split("\n") if line]
    assert len({row["id"] for row in lines}) == len(lines)
    return {row["id"]: row for row in lines}


def test_every_row_gets_a_plan_in_order_and_progress_is_told(planner: Counting, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    out = tmp_path / "new" / "out.jsonl"
    count = plan_batch(planner, source(tmp_path, ROWS), out, progress=lambda done, total: seen.append((done, total)))
    assert count == (3, 0)
    found = read(out)
    assert list(found) == ["a", "b", "3"]
    assert QueryPlan.model_validate(found["b"]["plan"]).conversation_context == "Who is Nell?"
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_running_again_plans_nothing_twice(planner: Counting, tmp_path: Path) -> None:
    given, out = source(tmp_path, ROWS), tmp_path / "out.jsonl"
    plan_batch(planner, given, out)
    before = out.read_bytes()
    assert plan_batch(planner, given, out) == (0, 0)
    assert (planner.planned, out.read_bytes()) == (3, before)


@pytest.mark.parametrize("kept", [1, 7, 40, 0.5, -2])
def test_a_run_that_was_cut_goes_on_where_it_was(planner: Counting, tmp_path: Path, kept: float) -> None:
    given, out = source(tmp_path, ROWS), tmp_path / "out.jsonl"
    plan_batch(planner, given, out)
    lines = out.read_bytes().splitlines(keepends=True)
    cut = int(len(lines[1]) * kept) if isinstance(kept, float) else kept
    out.write_bytes(lines[0] + lines[1][:cut])
    assert plan_batch(planner, given, out) == (2, 0)
    assert list(read(out)) == ["a", "b", "3"]


def test_a_run_that_was_cut_within_a_character_goes_on(planner: Counting, tmp_path: Path) -> None:
    given, out = source(tmp_path, [{"id": "你好", "query": "今天"}]), tmp_path / "out.jsonl"
    out.write_bytes('{"id": "你'.encode()[:-1])
    assert plan_batch(planner, given, out) == (1, 0)
    assert list(read(out)) == ["你好"]


def test_what_was_said_before_is_written_beside_the_plan(planner: Counting, tmp_path: Path) -> None:
    parts = [{"role": "System", "content": "be kind"}, {"role": "User", "content": [{"type": "text", "text": "Nell?"}]}]
    rows = [*ROWS, {"id": "c", "query": "and why?", "history": parts, "conversation": "chat-7"}]
    plan_batch(planner, source(tmp_path, rows), tmp_path / "out.jsonl")
    found = read(tmp_path / "out.jsonl")
    assert set(found["a"]) == {"id", "asked", "plan"}
    assert found["b"]["history"] == ROWS[1]["history"]
    assert found["3"]["session"] == {"active_entity": "Nell"}
    assert found["c"]["history"] == [{"role": "user", "content": "Nell?"}]
    assert found["c"]["conversation"] == "chat-7"


def test_lines_of_before_that_have_no_history_are_not_planned_again(planner: Counting, tmp_path: Path) -> None:
    given, out = source(tmp_path, ROWS), tmp_path / "out.jsonl"
    plan_batch(planner, given, out)
    old = [{name: row[name] for name in ("id", "asked", "plan")} for row in read(out).values()]
    out.write_text("".join(json.dumps(row) + "\n" for row in old), encoding="utf-8")
    before = out.read_bytes()
    assert plan_batch(planner, given, out) == (0, 0)
    assert out.read_bytes() == before


@pytest.mark.parametrize("odd", ["a\u2028b", "a\x85b", "a\ud800b", "a\u2029\x0c\x1e"])
def test_any_text_can_be_planned_and_continued(planner: Counting, tmp_path: Path, odd: str) -> None:
    given, out = source(tmp_path, [{"id": "1", "query": odd}]), tmp_path / "out.jsonl"
    raw = json.dumps({"id": "2", "query": "b\u2028c"}, ensure_ascii=False)
    given.write_text(given.read_text() + raw + "\n", encoding="utf-8")
    assert plan_batch(planner, given, out) == (2, 0)
    assert plan_batch(planner, given, out) == (0, 0)
    assert len(read(out)) == 2


@pytest.mark.parametrize(
    "row",
    [
        {"id": "x"},
        {"id": "x", "query": None},
        {"id": "x", "query": 7},
        {"id": "x", "query": "q", "history": "text"},
        {"id": "x", "query": "q", "history": 7},
        {"id": "x", "query": "q", "history": ["text"]},
        {"id": "x", "query": "q", "session": "text"},
        {"id": "x", "query": "q", "session": [1]},
    ],
)
def test_a_row_that_is_no_query_is_named_and_stops_no_other(planner: Counting, tmp_path: Path, row: dict) -> None:
    out = tmp_path / "out.jsonl"
    assert plan_batch(planner, source(tmp_path, [row, *ROWS]), out) == (3, 1)
    found = read(out)
    assert found["x"]["error"].startswith("this row is no query: ")
    assert "plan" in found["b"]


def test_a_row_without_a_query_is_told_what_it_has(planner: Counting, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    plan_batch(planner, source(tmp_path, [{"id": "x", "question": "who?"}]), out)
    assert read(out)["x"]["error"] == "this row is no query: it has no 'query'; it has id, question"


@pytest.mark.parametrize("text", ["", "\n\n", "id,query\n1,hello\n", '[{"query": "hi"}]\n'])
def test_a_file_without_queries_is_told_what_a_line_is(planner: Counting, tmp_path: Path, text: str) -> None:
    given = tmp_path / "in.jsonl"
    given.write_text(text)
    with pytest.raises(DataError, match=r"^in\.jsonl.*: write one JSON object a line, such as"):
        plan_batch(planner, given, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_two_at_once_do_not_write_into_one_file(planner: Counting, tmp_path: Path) -> None:
    given, out = source(tmp_path, ROWS), tmp_path / "out.jsonl"
    with alone_at(out), pytest.raises(DataError, match="is being written by another process"):
        plan_batch(planner, given, out)
    assert plan_batch(planner, given, out) == (3, 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_a_row_is_tried_again_when_it_was_mended_or_asks_something_else(planner: Counting, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    plan_batch(planner, source(tmp_path, [{"id": "x"}, *ROWS]), out)
    mended = [{"id": "x", "query": "hi"}, {**ROWS[0], "query": "Who is Max?"}, {**ROWS[1], "history": []}, ROWS[2]]
    assert plan_batch(planner, source(tmp_path, mended), out) == (3, 0)
    found = read(out)
    assert {name: row["plan"]["query"] for name, row in found.items()} == {
        "x": "hi",
        "a": "Who is Max?",
        "b": "and why?",
        "3": "hi",
    }
    assert found["b"]["plan"]["conversation_context"] == ""


def test_rows_of_another_source_stay_where_they_are(planner: Counting, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    plan_batch(planner, source(tmp_path, [{"id": "x"}]), out)
    plan_batch(planner, source(tmp_path, ROWS, "more.jsonl"), out)
    assert list(read(out)) == ["x", "a", "b", "3"]


def test_plans_of_another_program_are_refused_and_kept(planner: Counting, tmp_path: Path) -> None:
    given, out = source(tmp_path, ROWS), tmp_path / "out.jsonl"
    plan_batch(planner, given, out)
    before = out.read_bytes()
    planner.use({})._version = "another"
    with pytest.raises(DataError, match=r"out\.jsonl:1: it is of the program .*, not of another; choose"):
        plan_batch(planner, given, out)
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    "rows",
    [[{"id": "a"}, {"id": "a"}], [{"id": 2}, {"query": "q"}], [{"id": None}, {"id": 1}], [{"id": 3}, {"id": "3"}]],
)
def test_two_rows_with_one_id_stop_before_anything_is_planned(
    planner: Counting, tmp_path: Path, rows: list[Any]
) -> None:
    with pytest.raises(DataError, match=r"in\.jsonl:2: the id '.' is that of line 1 too"):
        plan_batch(planner, source(tmp_path, rows), tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_name_that_no_file_can_hold_stops_no_row(planner: Counting, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    given = source(tmp_path, [{"id": "\ud800", "query": "hi"}, {"id": "b", "query": {"\ud800": 1}}, *ROWS[2:]])
    assert plan_batch(planner, given, out) == (2, 1)
    assert list(read(out)) == ["\ufffd", "b", "3"]
    assert plan_batch(planner, given, out) == (0, 1)


def test_a_mark_of_its_bytes_before_the_first_row_is_no_part_of_it(planner: Counting, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "a", "query": "hi"}\n', encoding="utf-8-sig")
    assert plan_batch(planner, tmp_path / "in.jsonl", tmp_path / "out.jsonl") == (1, 0)
    (tmp_path / "in.jsonl").write_text('{"id": "a", "query": "hi"}\n', encoding="utf-16")
    with pytest.raises(
        DataError, match=r"in\.jsonl:1: the line cannot be read as UTF-8 text .*; save the file as UTF-8"
    ):
        plan_batch(planner, tmp_path / "in.jsonl", tmp_path / "out.jsonl")


def test_rows_without_an_id_are_called_by_their_line(planner: Counting, tmp_path: Path) -> None:
    out, given = tmp_path / "out.jsonl", tmp_path / "in.jsonl"
    given.write_text('{"query": "a"}\n\n{"query": "b"}\n')
    plan_batch(planner, given, out)
    assert list(read(out)) == ["1", "3"]


@pytest.mark.parametrize(
    ("text", "said"),
    [('{"query": "a"}\nnonsense\n', "in.jsonl:2: not JSON"), ("[1]\n", "in.jsonl:1: expected an object with a query")],
)
def test_a_line_that_is_no_row_stops_before_anything_is_planned(
    planner: Counting, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "in.jsonl").write_text(text)
    with pytest.raises(DataError, match=said):
        plan_batch(planner, tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_missing_file_is_named(planner: Counting, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.jsonl cannot be read"):
        plan_batch(planner, tmp_path / "nowhere.jsonl", tmp_path / "out.jsonl")


@pytest.mark.parametrize("content", ["a letter to my aunt", '{"id": "a", "query": "q"}\n', "[1]\n", "text\nmore"])
def test_a_file_that_holds_something_else_is_left_alone(planner: Counting, tmp_path: Path, content: str) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text(content)
    with pytest.raises(DataError, match=r"out\.jsonl:1: this is no .*choose another --out"):
        plan_batch(planner, source(tmp_path, ROWS), out)
    assert out.read_text() == content


def test_each_row_has_its_own_deadline(bench: Any, tmp_path: Path) -> None:
    planner = bench.planner(bench.lm(delay=5.0))
    out = tmp_path / "out.jsonl"
    plan_batch(planner, source(tmp_path, ROWS[:2]), out, deadline_s=0.1)
    assert all(row["plan"]["degraded"][0]["why"] == "the deadline passed" for row in read(out).values())


def test_what_was_planned_without_a_model_is_planned_anew_with_one(bench: Any, tmp_path: Path) -> None:
    given, out = source(tmp_path, ROWS[:2]), tmp_path / "out.jsonl"
    assert plan_batch(bench.planner(None), given, out) == (2, 0)
    assert plan_batch(bench.planner(None), given, out) == (0, 0)
    opened = bench.lm()
    assert plan_batch(bench.planner(lambda: opened), given, out) == (2, 0)
    assert plan_batch(bench.planner(opened), given, out) == (0, 0)


def test_a_row_is_planned_again_if_a_request_failed(planner: Counting, tmp_path: Path) -> None:
    given, out = source(tmp_path, ROWS[:2]), tmp_path / "out.jsonl"

    def lost(row: Any) -> Any:
        for one in active_meters() if row["id"] == "b" else ():
            one.add_failure()
        return {"plan": planner.plan(row["query"]).model_dump(mode="json")}

    assert each_row(given, out, lost, planner.program_version) == (2, 0)
    assert {name: row.get("again") for name, row in read(out).items()} == {"a": None, "b": True}
    assert plan_batch(planner, given, out) == (1, 0)
    assert {name: row.get("again") for name, row in read(out).items()} == {"a": None, "b": None}
    assert plan_batch(planner, given, out) == (0, 0)


def test_a_model_that_cannot_be_opened_stops_no_batch(bench: Any, tmp_path: Path) -> None:
    def closed() -> Any:
        raise ConfigError("no such model")

    given, out = source(tmp_path, ROWS[:2]), tmp_path / "out.jsonl"
    assert plan_batch(bench.planner(closed), given, out) == (2, 0)
    assert {gap["why"] for row in read(out).values() for gap in row["plan"]["degraded"]} == {"no such model"}
    assert plan_batch(bench.planner(bench.lm()), given, out) == (2, 0)


def test_a_fault_of_ours_is_no_row_that_is_no_query(planner: Counting, tmp_path: Path) -> None:
    def broken(row: Any) -> Any:
        raise KeyError("an internal name")

    with pytest.raises(KeyError, match="an internal name"):
        each_row(source(tmp_path, ROWS), tmp_path / "out.jsonl", broken, "v1")


def test_the_file_that_is_read_is_not_written_to(planner: Counting, tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    before = source.read_bytes()
    with pytest.raises(DataError, match="the file that is read; choose another --out"):
        plan_batch(planner, source, source)
    assert source.read_bytes() == before
