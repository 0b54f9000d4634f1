"""``queryplan promote``: answers, exit codes, and what is written for a build server."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import SHIPPED
from queryplan.data.rows import LabelledRow, read_rows
from queryplan.eval.baselines import ConstantPlanner
from queryplan.eval.evaluation import evaluate
from queryplan.eval.tracking.runs import CompileRecord, Tracking
from queryplan.program.artifact.registry import client

Run = Callable[..., tuple[int, str, str]]
MODEL = "queryplan-podcast"


class Gold(ConstantPlanner):
    """Right about intent wherever it can be, and wrong in so many rows."""

    def __init__(self, rows: list[LabelledRow], wrong: int) -> None:
        super().__init__(rows)
        self._wrong = {row.query for row in rows[:wrong]}

    def plan(self, query: str, history: Any = None, session: Any = None) -> Any:
        """The constant plan, as not relevant where it is to be wrong."""
        plan = super().plan(query, history, session)
        changes = {"complexity": "complex" if query in self._wrong else "simple"}
        return plan.model_copy(update=changes)


@pytest.fixture
def registered(mlflow_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Three versions: the first, one that is the same, and one that is much worse."""
    monkeypatch.setattr("queryplan.eval.tracking.tracked.write_confusions", lambda evaluation, folder: [])
    monkeypatch.setattr("queryplan.eval.tracking.tracked.TRACED_FAILURES", 1)
    rows = read_rows(SHIPPED / "podcast" / "dev.jsonl")
    program = tmp_path / "program"
    program.mkdir()
    (program / "manifest.json").write_text('{"format": 1}')
    for number, wrong in enumerate((0, 0, 60)):
        evaluation = evaluate(Gold(rows, wrong), rows, name="program", version=f"p-{number}", domain="podcast")
        record = CompileRecord(
            domain="podcast",
            program=program,
            program_version=f"p-{number}",
            optimizer="bootstrap",
            lm="none",
            data_fingerprint="d" * 16,
            card_fingerprint="c" * 16,
            seed=number,
            code_version="0.1.0",
            stages=(),
            evaluation=evaluation,
        )
        Tracking(mlflow_uri, MODEL).log_compile(record)
    gate = "[gate]\nmargin = 0.05\ninjection_successes = 100\nminimum = { relevance = 0.3 }\n"
    Path("queryplan.toml").write_text(f'tracking_uri = "{mlflow_uri}"\n{gate}')
    return mlflow_uri


def champion(uri: str) -> str | None:
    held = client(uri).get_registered_model(MODEL).aliases.get("champion")
    return None if held is None else str(held)


def test_the_exit_code_the_files_and_the_alias_say_the_same(registered: str, queryplan: Run, tmp_path: Path) -> None:
    code, out, _ = queryplan("promote", "1", "--to", "champion", "--why", "the first")
    assert (code, champion(registered)) == (0, "1")
    assert "queryplan-podcast version 1 is champion now" in out
    code, out, _ = queryplan(
        "promote", f"models:/{MODEL}@challenger", "--junit", "j.xml", "--markdown", "out/g.md", "--json"
    )
    assert (code, champion(registered)) == (4, "1")
    answer = json.loads(out)
    assert (answer["moved"], answer["gate"]["verdict"], answer["version"]) == (False, "fail", "3")
    suite = ET.parse(tmp_path / "j.xml").getroot().find("testsuite")
    assert suite is not None
    assert int(suite.attrib["failures"]) > 0
    assert (tmp_path / "out" / "g.md").read_text().startswith("# Gate: fail")
    code, out, _ = queryplan("promote", "--rollback")
    assert code == 2
    code, out, _ = queryplan("promote", "2", "--dry-run")
    assert (code, champion(registered)) == (0, "1")
    assert "Nothing was changed" in out
    assert queryplan("promote", "2")[0] == 0
    assert queryplan("promote", "--rollback", "--domain", "podcast")[0] == 0
    assert champion(registered) == "1"


def test_a_ceiling_in_money_is_held_against_the_prices_of_the_settings(registered: str, queryplan: Run) -> None:
    text = Path("queryplan.toml").read_text()
    Path("queryplan.toml").write_text(f"{text}ceilings = {{ dollars = 0.5 }}\n[prices]\nlocal = 0\n")
    code, out, _ = queryplan("promote", "1", "--dry-run", "--json")
    (money,) = [c for c in json.loads(out)["gate"]["checks"] if c["measure"] == "dollars"]
    assert (code, money["verdict"], money["found"]["value"]) == (0, "pass", 0.0)
    Path("queryplan.toml").write_text(f"{text}ceilings = {{ euros = 0.5 }}\n")
    code, _, err = queryplan("promote", "1", "--dry-run")
    assert code != 0
    assert "gate.ceilings.euros" in err


def test_what_rows_cannot_decide_is_exit_code_5(registered: str, queryplan: Run) -> None:
    asked = 'tracking_uri = "{}"\n[gate]\ninjection_successes = 100\nminimum = {{ relevance = {} }}\n'
    Path("queryplan.toml").write_text(asked.format(registered, 0.5))
    _, out, _ = queryplan("promote", "1", "--dry-run", "--json")
    (share,) = [c["found"]["value"] for c in json.loads(out)["gate"]["checks"] if c["measure"] == "relevance"]
    Path("queryplan.toml").write_text(asked.format(registered, share - 0.01))
    code, out, _ = queryplan("promote", "1")
    assert code == 5
    assert "rows like these would decide" in " ".join(out.split())
    assert champion(registered) is None
    assert queryplan("promote", "1", "--accept-inconclusive")[0] == 2
    assert queryplan("promote", "1", "--accept-inconclusive", "--why", "needed today")[0] == 0
    assert champion(registered) == "1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("promote",), "give a version to promote, or --rollback"),
        (("promote", "3", "--rollback"), "not both"),
        (("promote", "newest"), "newest is no version"),
        (("promote", "models:/queryplan-podcast"), "is no version"),
    ],
)
def test_a_wrong_command_is_a_sentence(queryplan: Run, arguments: tuple[str, ...], said: str) -> None:
    code, _, err = queryplan(*arguments)
    assert code == 2
    assert said in " ".join(err.split())


def test_without_any_program_it_says_so(mlflow_uri: str, queryplan: Run) -> None:
    code, _, err = queryplan("promote", "1", "--tracking-uri", mlflow_uri)
    assert code == 2
    assert "registered here: none" in " ".join(err.split())


def test_a_wrong_gate_in_the_file_is_named(queryplan: Run, mlflow_uri: str) -> None:
    Path("queryplan.toml").write_text("[gate]\nmargn = 0.1\n")
    code, _, err = queryplan("promote", "1", "--domain", "podcast", "--tracking-uri", mlflow_uri)
    assert code == 2
    assert "gate.margn" in err
