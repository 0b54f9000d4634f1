"""Compiling a cascade without any language model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.data.domain import load_domain
from queryplan.errors import ProgramError, UserError
from queryplan.optimizers.job import CompileJob
from queryplan.optimizers.job_contract import JobSettings
from queryplan.optimizers.progress import SilentProgress
from queryplan.optimizers.registry import make_optimizer
from queryplan.program.lm.endpoint import LMSettings
from queryplan.program.planner import QueryPlanner

pytestmark = pytest.mark.slow


@pytest.fixture
def domain(tmp_path: Path) -> Path:
    """The podcast with the first of its training rows, and its dev rows in the place of test."""
    folder = tmp_path / "podcast"
    shutil.copytree(domain_folder("podcast"), folder)
    train = (folder / "train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "train.jsonl").write_text("".join(train[:400]), encoding="utf-8")
    shutil.copy(folder / "dev.jsonl", folder / "test.jsonl")
    return folder


def job(domain: Path, tmp_path: Path, **arguments: object) -> CompileJob:
    settings = JobSettings(
        optimizer="cascade",
        arguments=arguments,
        lm=LMSettings(model="none"),
        out=tmp_path / "program",
        work=tmp_path / "work",
        journal=tmp_path / "journal.sqlite",
    )
    return CompileJob(load_domain(domain), settings)


def test_a_cascade_compiles_without_a_model_and_plans_within_its_bound(domain: Path, tmp_path: Path) -> None:
    said: list[str] = []
    outcome = job(domain, tmp_path).run(SilentProgress(), lambda *_: None, said.append)
    bound = outcome.manifest.bound
    assert bound is not None
    assert outcome.manifest.mode == "bounded"
    assert bound.conversations > 200
    assert any(f"{bound.conversations} conversations, which can support" in line for line in said)
    assert outcome.tables is not None
    assert {c.name for c in outcome.tables.coverage} >= {"constant", "tf-idf", "best effort", "compiled"}
    for begin in ("joint coverage of compiled", "heads on relevance: wrong in", "best effort: of "):
        assert any(note.startswith(begin) for note in outcome.report.sentences), begin
    loaded = QueryPlanner.load(outcome.folder)
    assert loaded.gate.bound == bound
    reasons = {d.reason for d in loaded.plan("Who is Nell?").trace.decisions if d.decided_by == "head"}
    assert reasons <= {"learned head, within the bound", "learned head, outside the bound"}


def test_a_domain_without_calibration_rows_compiles_and_says_that_no_head_answers(domain: Path, tmp_path: Path) -> None:
    (domain / "calibrate.jsonl").unlink()
    said: list[str] = []
    outcome = job(domain, tmp_path).run(SilentProgress(), lambda *_: None, said.append)
    assert outcome.manifest.bound is not None
    assert outcome.manifest.bound.certainty is None
    assert any("0 conversations are too few: label 45 or more" in line for line in said)


def test_each_seed_has_a_program_folder_of_its_own(domain: Path, tmp_path: Path) -> None:
    read, planner = load_domain(domain), QueryPlanner(load_card(domain))
    settings = [
        JobSettings(optimizer="cascade", lm=LMSettings(model="none"), seed=seed, programs=tmp_path)
        for seed in (0, 1, 1)
    ]
    first, second, again = (CompileJob(read, one)._folder(planner) for one in settings)
    assert first != second == again


def test_a_folder_that_is_no_program_is_refused_before_anything_is_learned(domain: Path, tmp_path: Path) -> None:
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "mine.txt").write_text("keep")
    said: list[str] = []
    with pytest.raises(ProgramError, match="holds something that is no compiled program"):
        job(domain, tmp_path).run(SilentProgress(), lambda *_: None, said.append)
    assert said == []
    assert (tmp_path / "program" / "mine.txt").read_text() == "keep"


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(UserError, match="off, bounded, best-effort"):
        make_optimizer("cascade", mode="reckless")
