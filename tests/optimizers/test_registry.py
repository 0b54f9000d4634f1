"""Optimizers by name."""

from __future__ import annotations

import pytest
from queryplan.errors import UserError
from queryplan.optimizers.registry import make_optimizer


def test_settings_reach_the_optimizer() -> None:
    assert make_optimizer("bootstrap", candidates=2).arguments()["candidates"] == 2


def test_an_unknown_name_is_refused_with_the_choices() -> None:
    with pytest.raises(UserError, match="'gepa': give one of zero-shot, thresholds, labeled, bootstrap"):
        make_optimizer("gepa")


def test_an_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UserError, match="it has k, k_written, written_dev"):
        make_optimizer("labeled", demos=3)
