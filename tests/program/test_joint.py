"""Labels that are chosen together."""

from __future__ import annotations

import math
from typing import Any

import pytest
from queryplan.data.domain import load_domain
from queryplan.program.joint import SEPARATOR, choose_together, fit_joint
from queryplan.program.planner import QueryPlanner
from queryplan.program.stages import narrowed, outputs_of

PARTS = SEPARATOR.join(("complex", "multi_part", "true"))
FACT = SEPARATOR.join(("simple", "factual", "false"))


def test_only_combinations_of_the_training_rows_are_known() -> None:
    rows = load_domain("podcast", splits=("train",)).rows("train")
    joint = fit_joint(rows)
    seen = {(r.labels.complexity, r.labels.intent, r.labels.needs_decomposition) for r in rows if r.labels.is_relevant}
    assert len(joint) == len(seen)
    assert not any(key.startswith("complex|greeting") for key in joint)


def test_no_relevant_row_gives_no_combination() -> None:
    assert fit_joint([]) == {}


def test_what_goes_together_wins_over_what_is_likeliest_alone() -> None:
    chances = [{"simple": 0.55, "complex": 0.45}, {"multi_part": 0.6, "factual": 0.4}, {"true": 0.7, "false": 0.3}]
    assert choose_together({FACT: 0.0, PARTS: 0.0}, chances) == ("complex", "multi_part", "true")


def test_the_bonus_decides_between_equals() -> None:
    even = [{"simple": 0.5, "complex": 0.5}, {"multi_part": 0.5, "factual": 0.5}, {"true": 0.5, "false": 0.5}]
    assert choose_together({FACT: 0.2, PARTS: 0.1}, even) == ("simple", "factual", "false")
    assert choose_together({FACT: 0.1, PARTS: 0.2}, even) == ("complex", "multi_part", "true")


def test_the_bonus_is_half_the_pointwise_mutual_information() -> None:
    rows = [r for r in load_domain("podcast", splits=("train",)).rows("train") if r.labels.is_relevant]
    greetings = [r for r in rows if r.labels.intent == "greeting"]
    simple = [r for r in rows if r.labels.complexity == "simple"]
    whole = [r for r in rows if not r.labels.needs_decomposition]
    n = len(rows)
    expected = math.log(len(greetings) / n) - sum(math.log(len(x) / n) for x in (greetings, simple, whole))
    assert fit_joint(rows)[SEPARATOR.join(("simple", "greeting", "false"))] == pytest.approx(expected / 2, abs=1e-5)


def test_a_narrowed_predictor_asks_for_less_and_keeps_the_rest(bench: Any) -> None:
    planner: QueryPlanner = bench.planner()
    whole = planner.stage_predictors["complexity"]
    whole.fields = {"needs_decomposition": {"threshold": 0.4}, "intent": {"weights": {}}}
    small = narrowed(whole, {"needs_decomposition"})
    assert outputs_of(small) == {"needs_decomposition"}
    assert small.fields == {"needs_decomposition": {"threshold": 0.4}}
    assert narrowed(whole, outputs_of(whole)) is whole
