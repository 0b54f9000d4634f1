"""Optimizers by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from queryplan.data.domain import load_domain
from queryplan.errors import UserError
from queryplan.optimizers.base import Progress, StageResult, StageTask
from queryplan.optimizers.job import CompileJob
from queryplan.optimizers.job_contract import JobSettings
from queryplan.optimizers.registry import make_optimizer
from queryplan.program.lm.endpoint import LMSettings


def test_settings_reach_the_optimizer() -> None:
    assert make_optimizer("bootstrap", candidates=2).arguments()["candidates"] == 2


def test_an_unknown_name_is_refused_with_the_choices() -> None:
    with pytest.raises(UserError, match="'gepa': give one of zero-shot, thresholds, labeled, bootstrap"):
        make_optimizer("gepa")


def test_an_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UserError, match="does not take demos; it has k, k_written, written_dev"):
        make_optimizer("labeled", demos=3, k=2)


class Mine:
    """An optimizer of somebody's own: the protocol, and no base class."""

    name = "mine"

    def compile(self, task: StageTask, progress: Progress) -> StageResult:
        predictor = task.student.deepcopy()
        return StageResult(task.stage, predictor, candidates=(), chosen=self.name, calls=0)

    def arguments(self) -> dict[str, Any]:
        return {}


def test_an_optimizer_of_ones_own_is_taken_as_it_is(tmp_path: Path) -> None:
    mine = Mine()
    settings = JobSettings(optimizer=mine, lm=LMSettings(model="none"), out=tmp_path / "program")
    assert CompileJob(load_domain("journal"), settings).optimizer is mine
