"""Labels that are chosen together."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.domain import load_domain
from queryplan.program.heads.joint import FLOOR, SEPARATOR, choose_together, fit_joint, likeliest_together
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


SHARE = st.floats(0.0, 1.0)
BONUS = st.floats(-2.0, 2.0)


@given(st.tuples(*[SHARE] * 6), st.dictionaries(st.sampled_from((FACT, PARTS, "simple|multi_part|true")), BONUS))
def test_it_is_the_highest_sum_of_logarithms_and_its_share_of_all(
    shares: tuple[float, ...], joint: dict[str, float]
) -> None:
    outputs = (("simple", "complex"), ("factual", "multi_part"), ("false", "true"))
    given_ = [dict(zip(labels, shares[2 * i : 2 * i + 2], strict=True)) for i, labels in enumerate(outputs)]
    if not joint:
        return
    whole = {
        key: bonus + sum(math.log(max(p[k], FLOOR)) for p, k in zip(given_, key.split(SEPARATOR), strict=True))
        for key, bonus in joint.items()
    }
    found, share = likeliest_together(joint, given_)
    best = max(whole.values())
    assert whole[SEPARATOR.join(found)] == pytest.approx(best, abs=1e-9)
    assert share == pytest.approx(1 / sum(math.exp(value - best) for value in whole.values()), rel=1e-6)


def test_without_combinations_each_label_is_the_likeliest_by_itself() -> None:
    found, share = likeliest_together({}, [{"simple": 0.8, "complex": 0.2}, {"factual": 0.5}, {"true": 0.0}])
    assert found == ("simple", "factual", "true")
    assert share == pytest.approx(0.8 * 0.5 * FLOOR)


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
