"""``queryplan compile`` and ``evaluate``, from the command line to MLflow, without a real model."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from queryplan import QueryPlanner
from queryplan.cli import compile as compiling
from queryplan.cli.compile import where_to_look
from queryplan.cli.settings import load_settings
from queryplan.data.card import load_card
from queryplan.data.domain import rows_hash
from queryplan.data.rows import read_rows
from queryplan.errors import ConfigError, UserError
from queryplan.eval.sampling import sample_rows
from queryplan.eval.test_readings import readings
from queryplan.program.artifact.folder import read_manifest
from queryplan.program.artifact.registry import client
from queryplan.program.heads.lending import lent_rows

pytestmark = pytest.mark.slow

Run = Callable[..., tuple[int, str, str]]
STAGES = "follow_up,relevance,complexity,rewrite"


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mlflow_database: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QUERYPLAN_API_KEY", "sk-secret-of-the-test")
    # MLflow keeps one store an address in a process, so a relative one would stay in the first folder.
    Path(".queryplan").mkdir()
    shutil.copy(mlflow_database, ".queryplan/mlflow.db")
    monkeypatch.setenv("QUERYPLAN_TRACKING_URI", f"sqlite:///{tmp_path}/.queryplan/mlflow.db")


def compile_with(queryplan: Run, domain: Path, endpoint: Any, *more: str) -> tuple[int, str, str]:
    lm = ("--lm", "openai/fake", "--api-base", endpoint.base)
    return queryplan("compile", domain, *lm, "--stages", STAGES, "--sample", "40,20,8", "--budget-calls", "400", *more)


def the_program() -> Path:
    (manifest,) = Path(".queryplan/programs").rglob("manifest.json")
    return manifest.parent


def test_a_compile_ends_with_a_report_a_program_and_a_registered_version(
    queryplan: Run, small_domain: Path, endpoint: Any
) -> None:
    code, out, err = compile_with(queryplan, small_domain, endpoint)
    assert code == 0, err
    for column in ("constant", "tf-idf", "heads alone", "zero-shot", "compiled"):
        assert column in out
    assert "labels_right" in out
    assert "plan_right" in out
    assert "8 of 12 test rows, stratified, seed 0" in out
    assert "version 1 (challenger)" in err
    assert f'plan with it: queryplan plan "…" --domain {small_domain}' in err
    manifest = read_manifest(the_program())
    assert manifest.lm == "openai/fake"
    assert {"data", "card", "signatures", "encoder", "lm"} <= manifest.fingerprints.keys()
    assert "labels_right" in manifest.metrics
    assert manifest.compiled["optimizer"] == "bootstrap"
    train = read_rows(small_domain / "train.jsonl")  # heads learn from all of them
    lent = lent_rows(train, load_card(small_domain))
    assert {"heads.encoder": "wordllama-l2-256", "heads.closer": "none", "heads.lending": "true"}.items() <= (
        the_run().data.params.items()
    )
    assert data_sets() == {
        "podcast train": rows_hash(train),
        "podcast lent": rows_hash([row for one in lent for row in one.rows]),
        "podcast dev": rows_hash(sample_rows(read_rows(small_domain / "dev.jsonl"), 20, name="dev").rows),
        "podcast test": rows_hash(sample_rows(read_rows(small_domain / "test.jsonl"), 8, name="test").rows),
    }


def the_run() -> Any:
    """The run that a compile made."""
    server = client(os.environ["QUERYPLAN_TRACKING_URI"])
    experiment = server.get_experiment_by_name("queryplan-podcast")
    assert experiment is not None
    (run,) = server.search_runs([experiment.experiment_id], "tags.`queryplan.kind` = 'compile'")
    return run


def data_sets() -> dict[str, str]:
    """The digests of the data sets of the run that a compile made."""
    run = the_run()
    return {given.dataset.name: given.dataset.digest for given in run.inputs.dataset_inputs} if run.inputs else {}


def test_it_says_where_to_look_without_a_password() -> None:
    assert where_to_look("sqlite:///a.db") == "mlflow ui --backend-store-uri sqlite:///a.db"
    assert where_to_look("http://me:hunter2@host:5000/") == "http://host:5000/", "its own page shows a server"
    assert "hunter2" not in where_to_look("postgresql://me:hunter2@host/db")


def test_what_to_do_where_mlflow_took_nothing_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(outcome: Any, uri: str) -> tuple[str, str]:
        raise ConfigError("MLflow is down. Run the same command again to send it")

    monkeypatch.setattr("queryplan.optimizers.record.log_outcome", refuse)
    compiling._track(cast("Any", None), "", load_settings())
    assert capsys.readouterr().err.casefold().count("run the same command again") == 1


def test_the_registered_version_plans_from_its_address(queryplan: Run, small_domain: Path, endpoint: Any) -> None:
    assert compile_with(queryplan, small_domain, endpoint)[0] == 0
    planner = QueryPlanner.load("models:/queryplan-podcast@challenger", lm=None)
    assert planner.program_version == read_manifest(the_program()).version
    assert planner.plan("Which book did Leilani write?").is_relevant


def test_a_compile_that_was_stopped_pays_for_nothing_twice(queryplan: Run, small_domain: Path, endpoint: Any) -> None:
    endpoint.fail_after = 60
    code, _, err = compile_with(queryplan, small_domain, endpoint)
    assert code == 2
    assert err.splitlines()[-1].startswith("error: ")
    answered = [_asked(body) for body in endpoint.requests[1:60]]
    endpoint.fail_after, endpoint.requests[:] = None, []
    assert compile_with(queryplan, small_domain, endpoint)[0] == 0
    again = [_asked(body) for body in endpoint.requests]
    assert not set(answered) & set(again[1:])


def _asked(body: dict[str, Any]) -> str:
    return json.dumps(body["messages"], sort_keys=True)


def test_compiling_again_gives_the_same_program(queryplan: Run, small_domain: Path, endpoint: Any) -> None:
    assert compile_with(queryplan, small_domain, endpoint)[0] == 0
    first, asked = read_manifest(the_program()).version, len(endpoint.requests)
    read = readings(small_domain / "test.jsonl")
    assert compile_with(queryplan, small_domain, endpoint)[0] == 0
    assert read_manifest(the_program()).version == first
    assert len(endpoint.requests) <= asked + 2
    assert readings(small_domain / "test.jsonl") == read


def test_no_key_no_path_and_no_pickle_is_left_anywhere(
    queryplan: Run, small_domain: Path, endpoint: Any, tmp_path: Path
) -> None:
    assert compile_with(queryplan, small_domain, endpoint)[0] == 0
    files = [f for f in Path(".queryplan").rglob("*") if f.is_file()]
    assert not [f for f in files if f.suffix in (".pkl", ".pickle", ".joblib")]
    assert not [f for f in files if b"sk-secret-of-the-test" in f.read_bytes()]
    program = list(the_program().iterdir())
    assert not [f for f in program if str(tmp_path).encode() in f.read_bytes()]


def test_without_a_model_heads_are_compiled_and_measured(queryplan: Run, small_domain: Path) -> None:
    code, out, _ = queryplan("compile", small_domain, "--lm", "none", "--sample", "12,12,12")
    assert code == 0
    assert "compiled" in out
    assert read_manifest(the_program()).lm == "none"
    plan = QueryPlanner.load(the_program()).plan("Which book did Leilani write?")
    assert {d.decided_by for d in plan.trace.decisions} <= {"rule", "head"}


def test_a_program_in_a_place_of_ones_own_is_planned_with_from_there(queryplan: Run, small_domain: Path) -> None:
    code, _, err = queryplan("compile", small_domain, "--lm", "none", "--sample", "12,12,12", "--out", "my [/own] one")
    assert code == 0
    assert """plan with it: queryplan plan "…" --program 'my [/own] one'""" in err


def test_a_reading_of_test_is_counted(queryplan: Run, small_domain: Path) -> None:
    readings = small_domain / "test-readings.jsonl"
    before = len(readings.read_text().splitlines()) if readings.is_file() else 0
    _, out, _ = queryplan("compile", small_domain, "--lm", "none", "--why", "a test of ours")
    assert f"This was reading {before + 1} of test.jsonl." in " ".join(out.split())
    assert json.loads(readings.read_text().splitlines()[-1])["why"] == "a test of ours"


def test_evaluate_shows_a_program_beside_its_cheap_rivals(queryplan: Run, small_domain: Path) -> None:
    assert queryplan("compile", small_domain, "--lm", "none", "--out", "mine")[0] == 0
    code, out, err = queryplan("evaluate", "mine", "--domain", small_domain, "--out", "rows.json")
    assert code == 0, err
    assert "tf-idf" in out
    assert "in MLflow as run" in err
    assert len(json.loads(Path("rows.json").read_text())["cases"]) == 12


def test_evaluate_takes_a_file_and_prints_json(queryplan: Run, small_domain: Path) -> None:
    assert queryplan("compile", small_domain, "--lm", "none", "--out", "mine")[0] == 0
    code, out, _ = queryplan(
        "evaluate", "mine", "--domain", small_domain, "--data", small_domain / "dev.jsonl", "--json"
    )
    assert code == 0
    report = json.loads(out)
    assert report["columns"] == ["constant", "tf-idf", "program"]
    assert report["n"] == 40


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--lm", "none", "--optimizer", "magic"), "there is no optimizer 'magic': give one of"),
        (("--lm", "none", "--stages", "magic"), "there is no stage magic"),
        (("--lm", "none", "--sample", "many"), "--sample takes three numbers"),
        (("--lm", "openai/fake", "--api-base", "http://127.0.0.1:9/v1"), "cannot be reached; start it"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    queryplan: Run, small_domain: Path, arguments: tuple[str, ...], said: str
) -> None:
    code, _, err = queryplan("compile", small_domain, *arguments)
    assert code == 2
    last = err.splitlines()[-1]
    assert last.startswith("error: ")
    assert said in last


def test_a_bad_line_names_file_line_and_field(queryplan: Run, small_domain: Path, tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    for file in small_domain.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    lines = (folder / "train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    lines[2] = lines[2].replace('"complexity":"', '"complexity":"very ')
    (folder / "train.jsonl").write_text("".join(lines), encoding="utf-8")
    code, _, err = queryplan("compile", folder, "--lm", "none")
    assert code == 2
    assert "train.jsonl:3: labels.complexity" in err
    assert not Path(".queryplan/programs").exists()


def test_settings_of_an_optimizer_are_whole_numbers_or_decimals() -> None:
    from queryplan.cli.compile import parse_settings

    assert parse_settings(["candidates=1", "error=0.1"]) == {"candidates": 1, "error": 0.1}
    for wrong in ("error", "error=", "error=.1.", "error=high"):
        with pytest.raises(UserError, match="NAME=NUMBER"):
            parse_settings([wrong])


@pytest.mark.parametrize("text", ["", " , "])
def test_no_stage_is_not_every_stage(text: str) -> None:
    from queryplan.cli.compile import parse_stages

    assert parse_stages("rewrite, decompose") == ("rewrite", "decompose")
    with pytest.raises(UserError, match="--stages takes names"):
        parse_stages(text)
