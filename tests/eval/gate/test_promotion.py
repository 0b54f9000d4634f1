"""Moving an alias in the registry: through the gate, with its reasons, and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.rows import LabelledRow
from queryplan.errors import ConfigError, DataError
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.gate.promotion import Registry, planner_models
from queryplan.eval.gate.settings import gate_settings
from queryplan.eval.tracking.runs import CompileRecord, Tracking
from queryplan.program.artifact.registry import client

Make = Callable[..., Any]
MODEL = "queryplan-podcast"
ASKED = gate_settings({"minimum": {"whole_plan": 0.2}})


class Shelf:
    """Registers versions of one program with an evaluation each."""

    def __init__(self, uri: str, folder: Path, rows: list[LabelledRow], planner: Make) -> None:
        self.uri, self.rows = uri, rows
        self._folder, self._planner = folder, planner
        self.registry = Registry(uri, MODEL)
        folder.mkdir()
        (folder / "manifest.json").write_text('{"format": 1}')

    def measured(self, name: str, wrong: int = 0, domain: str = "podcast") -> Evaluation:
        """An evaluation with so many wrong plans."""
        table = {row.id: {"intent": "factual"} for row in self.rows[:wrong]}
        return evaluate(self._planner(self.rows, table), self.rows, name=name, version=name, domain=domain)

    def put(self, name: str, wrong: int = 0) -> str:
        """A version; returns its number."""
        record = CompileRecord(
            domain="podcast",
            program=self._folder,
            program_version=name,
            optimizer="bootstrap",
            lm="none",
            data_fingerprint="d" * 16,
            card_fingerprint="c" * 16,
            seed=7,
            code_version="0.1.0",
            stages=(),
            evaluation=self.measured(name, wrong),
        )
        return Tracking(self.uri, MODEL).log_compile(record)[1]

    @property
    def champion(self) -> str | None:
        """The version that has the alias."""
        held = client(self.uri).get_registered_model(MODEL).aliases.get("champion")
        return None if held is None else str(held)


@pytest.fixture
def shelf(mlflow_uri: str, tmp_path: Path, row: Make, table_planner: Make, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    # Pictures take most of the time of a version here.
    monkeypatch.setattr("queryplan.eval.tracking.tracked.write_confusions", lambda evaluation, folder: [])
    monkeypatch.setattr("queryplan.eval.tracking.tracked.TRACED_FAILURES", 1)
    rows = [row(f"What is idea {i}?", f"r{i}", f"c{i}") for i in range(120)]
    return Shelf(mlflow_uri, tmp_path / "program", rows, table_planner)


def test_a_version_that_passes_gets_the_alias_and_the_reason_is_kept(shelf: Shelf) -> None:
    first, second = shelf.put("p-1"), shelf.put("p-2")
    begun = shelf.registry.promote(first, "champion", ASKED, why="the first one")
    assert (begun.moved, begun.before, shelf.champion) == (True, None, first)
    done = shelf.registry.promote("@challenger", "champion", ASKED)
    assert (done.moved, done.version, done.before, shelf.champion) == (True, second, first, second)
    mlflow = client(shelf.uri)
    tags = mlflow.get_model_version(MODEL, second).tags
    assert tags["queryplan.champion.gate"] == "pass"
    assert "p-2 against p-1, 120 rows" in tags["queryplan.champion.why"]
    run = mlflow.get_run(tags["queryplan.champion.run"])
    assert run.data.tags["queryplan.moved"] == "True"
    assert {file.path for file in mlflow.list_artifacts(run.info.run_id)} == {"gate.json", "gate.md"}
    assert "the first one" in mlflow.get_model_version(MODEL, first).tags["queryplan.champion.why"]


def test_a_version_that_fails_does_not_get_it_and_the_reason_is_kept_too(shelf: Shelf) -> None:
    shelf.registry.promote(shelf.put("p-1"), "champion", ASKED)
    worse = shelf.put("p-2", wrong=30)
    done = shelf.registry.promote(worse, "champion", ASKED, accept_inconclusive=True, why="please")
    assert done.gate is not None
    assert (done.moved, done.gate.verdict, shelf.champion) == (False, "fail", "1")
    tags = client(shelf.uri).get_model_version(MODEL, worse).tags
    assert tags["queryplan.champion.gate"] == "fail"
    assert "plan_right on all rows: -25.0 points" in tags["queryplan.champion.why"]


def test_what_rows_cannot_decide_waits_until_somebody_takes_it_upon_themselves(shelf: Shelf) -> None:
    shelf.registry.promote(shelf.put("p-1", wrong=4), "champion", ASKED)
    version = shelf.put("p-2", wrong=6)
    waiting = shelf.registry.promote(version, "champion", ASKED)
    assert waiting.gate is not None
    assert (waiting.moved, waiting.gate.verdict) == (False, "inconclusive")
    taken = shelf.registry.promote(version, "champion", ASKED, accept_inconclusive=True, why="it is faster")
    assert (taken.moved, shelf.champion) == (True, version)
    assert taken.why.startswith("accepted although inconclusive")
    assert taken.why.endswith(" Reason: it is faster")


def test_a_dry_run_changes_nothing(shelf: Shelf) -> None:
    version = shelf.put("p-1")
    mlflow = client(shelf.uri)
    before = len(mlflow.search_runs([mlflow.get_experiment_by_name(MODEL).experiment_id]))  # pyright: ignore[reportOptionalMemberAccess]
    done = shelf.registry.promote(version, "champion", ASKED, dry_run=True)
    assert done.gate is not None
    assert (done.moved, done.run_id, done.gate.verdict, shelf.champion) == (False, None, "pass", None)
    after = len(mlflow.search_runs([mlflow.get_experiment_by_name(MODEL).experiment_id]))  # pyright: ignore[reportOptionalMemberAccess]
    assert after == before


def test_a_rollback_gives_the_alias_back_step_by_step(shelf: Shelf) -> None:
    versions = [shelf.put(f"p-{i}") for i in range(3)]
    for version in versions:
        shelf.registry.promote(version, "champion", ASKED)
    dry = shelf.registry.rollback("champion", dry_run=True)
    assert (dry.moved, dry.version, shelf.champion) == (False, "2", "3")
    done = shelf.registry.rollback("champion", why="it was slow")
    assert (done.version, done.before, shelf.champion) == ("2", "3", "2")
    assert "it was slow" in client(shelf.uri).get_model_version(MODEL, "2").tags["queryplan.champion.why"]
    client(shelf.uri).delete_model_version(MODEL, "3")
    assert shelf.registry.rollback("champion").version == "1"
    with pytest.raises(ConfigError, match="no earlier version"):
        shelf.registry.rollback("champion")
    assert shelf.champion == "1"


@pytest.mark.parametrize(
    ("promoted", "back"),
    [("1213", "121"), ("11211", "21")],
)
def test_a_rollback_goes_the_way_back_that_the_alias_came(shelf: Shelf, promoted: str, back: str) -> None:
    versions = [shelf.put(f"p-{i}") for i in range(3)]
    for number in promoted:
        assert shelf.registry.promote(versions[int(number) - 1], "canary", ASKED).moved
    assert "".join(shelf.registry.rollback("canary").version for _ in back) == back
    with pytest.raises(ConfigError, match="no earlier version"):
        shelf.registry.rollback("canary")


def test_what_cannot_be_judged_is_named(shelf: Shelf, tmp_path: Path) -> None:
    first, second = shelf.put("p-1"), shelf.put("p-2")
    with pytest.raises(ConfigError, match="no version 9"):
        shelf.registry.promote("9", "champion", ASKED)
    with pytest.raises(ConfigError, match="nothing to roll back"):
        shelf.registry.rollback("champion")
    shelf.registry.promote(first, "champion", ASKED)
    run = client(shelf.uri).get_model_version(MODEL, second).run_id
    assert run is not None
    for file in sorted((tmp_path / "mlartifacts" / run / "artifacts" / "evaluation").iterdir(), reverse=True):
        file.unlink()
    with pytest.raises(DataError, match=r"evaluation|there is no"):
        shelf.registry.promote(second, "champion", ASKED)
    (tmp_path / "mlartifacts" / run / "artifacts" / "evaluation").rmdir()
    with pytest.raises(DataError, match="has no evaluation"):
        shelf.registry.promote(second, "champion", ASKED)
    assert shelf.champion == first


def test_versions_measured_on_different_rows_are_compared_on_rows_that_both_have(shelf: Shelf) -> None:
    shelf.registry.promote(shelf.put("p-1"), "champion", ASKED)
    shelf.rows = shelf.rows[:100]
    second = shelf.put("p-2")
    with pytest.raises(DataError, match="different rows"):
        shelf.registry.promote(second, "champion", ASKED)
    Tracking(shelf.uri, MODEL).log_evaluation(shelf.measured("p-1"), dataset="podcast new")
    done = shelf.registry.promote(second, "champion", ASKED)
    assert done.gate is not None
    assert (done.moved, done.gate.rows) == (True, 100)


def test_rows_that_a_version_learned_from_are_passed_over_while_there_are_others(shelf: Shelf) -> None:
    version = shelf.put("p-1")
    every, shelf.rows = shelf.rows, shelf.rows[:100]
    Tracking(shelf.uri, MODEL).log_evaluation(shelf.measured("p-1").model_copy(update={"seen": 100}))
    done = shelf.registry.promote(version, "champion", ASKED, dry_run=True)
    assert done.gate is not None
    assert (done.gate.verdict, done.gate.rows) == ("pass", 120)
    shelf.rows = every
    Tracking(shelf.uri, MODEL).log_evaluation(shelf.measured("p-1").model_copy(update={"seen": 7}))
    done = shelf.registry.promote(version, "champion", ASKED)
    assert done.gate is not None
    assert (done.moved, done.gate.verdict) == (False, "inconclusive")
    assert "learned from" in done.why


def test_an_evaluation_of_another_domain_is_refused(shelf: Shelf) -> None:
    shelf.registry.promote(shelf.put("p-1"), "champion", ASKED)
    version = shelf.put("p-2")
    stray = shelf.measured("p-2", domain="journal")
    Tracking(shelf.uri, MODEL).log_evaluation(stray)
    with pytest.raises(DataError, match="of the domain journal"):
        shelf.registry.promote(version, "champion", ASKED)


def test_a_version_is_judged_with_the_model_it_was_compiled_with(shelf: Shelf) -> None:
    shelf.registry.promote(shelf.put("p-1"), "champion", ASKED)
    worse = shelf.put("p-2", wrong=30)
    larger = shelf.measured("p-2").model_copy(update={"lm": "openai/larger"})
    Tracking(shelf.uri, MODEL).log_evaluation(larger)
    done = shelf.registry.promote(worse, "champion", ASKED)
    assert done.gate is not None
    assert (done.moved, done.gate.verdict) == (False, "fail")
    shelf.rows = shelf.rows[:100]
    Tracking(shelf.uri, MODEL).log_evaluation(shelf.measured("p-1"))
    Tracking(shelf.uri, MODEL).log_evaluation(shelf.measured("p-2").model_copy(update={"lm": "openai/larger"}))
    done = shelf.registry.promote(worse, "champion", ASKED, dry_run=True)
    assert done.gate is not None
    assert done.gate.rows == 120


def test_the_settings_of_the_gate_decide(shelf: Shelf) -> None:
    version = shelf.put("p-1", wrong=60)
    strict = gate_settings({"minimum": {"whole_plan": 0.9}})
    assert not shelf.registry.promote(version, "champion", strict).moved
    assert shelf.registry.promote(version, "champion", gate_settings({"minimum": {"whole_plan": 0.3}})).moved


def test_only_programs_of_ours_are_listed(shelf: Shelf) -> None:
    shelf.put("p-1")
    client(shelf.uri).create_registered_model("somebody-elses")
    assert planner_models(shelf.uri) == [MODEL]


def test_a_version_that_we_did_not_register_is_refused(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("p-1")
    client(shelf.uri).create_model_version(MODEL, str(tmp_path))
    with pytest.raises(ConfigError, match="was not registered by"):
        shelf.registry.promote("2", "champion", ASKED)


def test_what_is_written_has_no_key_and_no_path(shelf: Shelf, tmp_path: Path) -> None:
    version = shelf.put("p-1")
    why = f"see {tmp_path}/notes.txt, key sk-aVerySecretKey123456"
    done = shelf.registry.promote(version, "champion", ASKED, why=why)
    assert done.run_id is not None
    folder = tmp_path / "mlartifacts" / done.run_id / "artifacts"
    kept = [
        *(path.read_text() for path in folder.iterdir()),
        json.dumps(client(shelf.uri).get_model_version(MODEL, version).tags),
    ]
    assert not [text for text in kept if "sk-aVery" in text or str(tmp_path) in text]
