"""A compile to put into MLflow, with a key and paths in it that must never get there."""

from __future__ import annotations

from pathlib import Path

import pytest
from queryplan.data.rows import LabelledRow
from queryplan.eval.baselines import ConstantPlanner, TfidfPlanner
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.report import build_report
from queryplan.eval.tracking.records import print_of
from queryplan.eval.tracking.runs import CandidateRecord, CompileRecord

KEY = "sk-aVerySecretKey123456"


@pytest.fixture
def uri(mlflow_uri: str) -> str:
    """A tracking server of the test's own."""
    return mlflow_uri


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program folder."""
    folder = tmp_path / "my-programs" / "podcast"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('{"format": 1}')
    (folder / "heads.safetensors").write_bytes(b"heads")
    return folder


@pytest.fixture
def evaluations(rows: list[LabelledRow], monkeypatch: pytest.MonkeyPatch) -> list[Evaluation]:
    """Two evaluations of the same rows."""
    return [evaluate(kind(rows), rows, name=kind.__name__) for kind in (ConstantPlanner, TfidfPlanner)]


@pytest.fixture
def record(program: Path, evaluations: list[Evaluation], rows: list[LabelledRow]) -> CompileRecord:
    """What a compile writes into MLflow."""
    return CompileRecord(
        domain="podcast",
        program=program,
        program_version="p-1",
        optimizer="bootstrap",
        arguments={"max_demos": 8, "api_key": KEY, "log_dir": str(program), "teacher": {"max_tokens": 60, "key": KEY}},
        lm="local",
        data_fingerprint="d" * 16,
        card_fingerprint="c" * 16,
        seed=7,
        code_version="0.1.0",
        stages=("follow_up", "relevance"),
        sample="24 of 100 rows",
        candidates=(
            CandidateRecord(stage="relevance", name="labeled-8", score=0.81, demos=8, chosen=True),
            CandidateRecord(stage="relevance", name="zero-shot", score=0.55, details={"log": str(program)}),
        ),
        read={
            "train": print_of(rows[:9]),
            "lent": print_of(rows[:2]),
            "dev": print_of(rows[9:12]),
            "calibrate": print_of(rows[12:]),
        },
        evaluation=evaluations[1],
        report=build_report(evaluations),
    )
