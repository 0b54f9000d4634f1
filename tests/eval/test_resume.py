"""An evaluation that is killed goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.rows import LabelledRow, write_rows
from queryplan.errors import UserError
from queryplan.eval.evaluation import evaluate
from queryplan.eval.resume import Journal
from queryplan.program.lm.meter import active_meters

Make = Callable[..., Any]

_SLOW = """
import sys, time
from pathlib import Path
from queryplan.data.rows import read_rows
from queryplan.eval.baselines import ConstantPlanner
from queryplan.eval.evaluation import evaluate

class Slow(ConstantPlanner):
    def plan(self, query, history=None, session=None):
        time.sleep(0.03)
        return super().plan(query, history, session)

rows = read_rows(Path(sys.argv[1]))
evaluate(Slow(rows), rows, name="slow", resume=Path(sys.argv[2]))
"""


def test_an_evaluation_whose_process_is_killed_goes_on_where_it_was(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path
) -> None:
    from queryplan.eval.baselines import ConstantPlanner

    many = [_numbered(row, turn) for turn in range(20) for row in rows]
    file, journal = tmp_path / "rows.jsonl", tmp_path / "journal.jsonl"
    write_rows(file, many)
    _kill_after(10, journal, [sys.executable, "-c", _seeded(_SLOW), str(file), str(journal)])
    kept = len(journal.read_text(encoding="utf-8").split("\n")) - 2
    assert 10 <= kept < len(many)
    planner = ConstantPlanner(many)
    asked = []
    plan = planner.plan
    planner.plan = lambda query, history=None, session=None: asked.append(query) or plan(query, history, session)  # pyright: ignore[reportAttributeAccessIssue]
    evaluation = evaluate(planner, many, name="slow", resume=journal)
    assert len(asked) in (len(many) - kept, len(many) - kept + 1)  # a line may have been cut
    assert kept - 1 <= evaluation.resumed <= kept
    again = evaluate(ConstantPlanner(many), many, name="slow", resume=journal)
    assert (again.cases, again.resumed) == (evaluation.cases, len(many))
    fresh = evaluate(ConstantPlanner(many), many, name="slow")
    outcomes = [[(c.row_id, c.plan.model_dump(exclude={"trace"})) for c in e.cases] for e in (fresh, evaluation)]
    assert outcomes[0] == outcomes[1]


def _numbered(row: LabelledRow, turn: int) -> LabelledRow:
    return row.model_copy(update={"id": f"{row.id}/{turn}", "conversation": f"{row.conversation}/{turn}"})


def _seeded(code: str) -> str:
    """The code of a fresh interpreter that imports the package as this one does."""
    return f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}\n{code}"


def _kill_after(lines: int, journal: Path, command: list[str]) -> None:
    process = subprocess.Popen(command, env=dict(os.environ))
    deadline = time.monotonic() + 120
    while not journal.exists() or journal.read_bytes().count(b"\n") <= lines:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline, "it wrote nothing"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_two_processes_cannot_write_one_journal(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "journal.jsonl"
    with Journal(path, "p", "d"), pytest.raises(UserError, match="another process"), Journal(path, "p", "d"):
        pass
    with Journal(path, "p", "d") as again:
        assert again.done == {}


def test_a_query_with_unusual_line_ends_comes_back(row: Make, table_planner: Make, tmp_path: Path) -> None:
    odd = [row(f"What is\u2028idea\x85 {i}?\x0b", f"r{i}", f"c{i}") for i in range(3)]
    journal = tmp_path / "journal.jsonl"
    first = evaluate(table_planner(odd), odd, name="table", resume=journal)
    planner = table_planner(odd)
    assert evaluate(planner, odd, name="table", resume=journal).cases == first.cases
    assert planner.asked == []


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_journal_cut_anywhere_in_its_last_line_loses_that_line_only(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path, cut: int
) -> None:
    journal = tmp_path / "journal.jsonl"
    evaluate(table_planner(rows), rows, name="table", resume=journal)
    content = journal.read_bytes()
    journal.write_bytes(content[:-cut])
    planner = table_planner(rows)
    evaluate(planner, rows, name="table", resume=journal)
    assert planner.asked == [rows[-1].id]
    lines = journal.read_text(encoding="utf-8").split("\n")[:-1]
    assert len({json.loads(line).get("row") for line in lines}) == len(rows) + 1


def test_a_journal_cut_inside_a_character_loses_that_line_only(row: Make, table_planner: Make, tmp_path: Path) -> None:
    odd = [row("Wer ist Jörg?", "r1", "c1"), row("Was sagt Zoë?", "r2", "c2")]
    journal = tmp_path / "journal.jsonl"
    evaluate(table_planner(odd), odd, name="table", resume=journal)
    content = journal.read_bytes()
    journal.write_bytes(content[: content.rindex("ë".encode()) + 1])
    planner = table_planner(odd)
    assert evaluate(planner, odd, name="table", resume=journal).resumed == 1
    assert planner.asked == ["r2"]


def test_what_other_code_planned_is_planned_anew(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "journal.jsonl"
    evaluate(table_planner(rows), rows, name="table", resume=journal)
    monkeypatch.setattr("queryplan.eval.resume.code_fingerprint", lambda: "other")
    planner = table_planner(rows)
    assert evaluate(planner, rows, name="table", resume=journal).resumed == 0
    assert planner.asked == [row.id for row in rows]
    assert evaluate(table_planner(rows), rows, name="table", resume=journal).resumed == len(rows)


def test_plans_that_an_outage_degraded_are_planned_anew(
    rows: list[LabelledRow], table_planner: Make, tmp_path: Path
) -> None:
    gap = {"what": "rewrite", "why": "the server is down", "instead": "the query as typed"}
    planner = table_planner(rows, {rows[0].id: {"degraded": (gap,)}})
    plan = planner.plan

    def interrupted(query: str, history: Any = None, session: Any = None) -> Any:
        if query == rows[0].query:
            for counted in active_meters():
                counted.add_failure()
        return plan(query, history, session)

    planner.plan = interrupted
    journal = tmp_path / "journal.jsonl"
    assert evaluate(planner, rows, name="table", resume=journal).summary().degraded.value > 0
    healthy = table_planner(rows)
    assert evaluate(healthy, rows, name="table", resume=journal).summary().degraded.value == 0
    assert healthy.asked == [rows[0].id]
