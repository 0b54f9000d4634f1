"""One real compile of one stage with the embedded 0.5B model; its answer words are checked on the way."""

from __future__ import annotations

from pathlib import Path

import pytest
from queryplan.data.domain import Domain, load_domain
from queryplan.optimizers.job import CompileJob
from queryplan.optimizers.job_contract import JobSettings, Outcome
from queryplan.optimizers.progress import SilentProgress
from queryplan.program.lm.endpoint import LMSettings

pytestmark = pytest.mark.weights


def small_podcast() -> Domain:
    podcast = load_domain("podcast", splits=("train", "dev"))
    dev = podcast.rows("dev")
    return Domain(
        podcast.folder, podcast.card, {"train": podcast.rows("train")[:400], "dev": dev[:60], "test": dev[60:]}
    )


def compile_relevance(tmp_path: Path) -> Outcome:
    settings = JobSettings(
        optimizer="labeled",
        lm=LMSettings(model="local:0.5b"),
        stages=("relevance",),
        sizes={"dev": 12, "test": 3},
        programs=tmp_path / "programs",
        work=tmp_path / "runs",
        journal=tmp_path / "journal.sqlite",
    )
    return CompileJob(small_podcast(), settings).run(SilentProgress(), lambda *_: None, lambda _: None)


@pytest.mark.timeout(600)
def test_one_stage_compiles_on_the_real_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queryplan.optimizers.job.told_reading", lambda *_: "not recorded")
    outcome = compile_relevance(tmp_path)
    result = outcome.results["relevance"]
    assert result.chosen == "labeled-8"
    assert len(result.predictor.demos) == 8
    assert {d["is_relevant"] for d in result.predictor.demos} == {True, False}
    assert outcome.manifest.fingerprints["lm"].startswith("local/qwen2.5-coder-0.5b")
    zero_shot = next(e for e in outcome.evaluations if e.name == "zero-shot")
    assert any(d.decided_by == "lm" for case in zero_shot.cases for d in case.plan.trace.decisions)
