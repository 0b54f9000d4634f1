"""Scores of one answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy
import numpy as np
import pytest
from queryplan.optimizers.bootstrap import METRIC_THRESHOLD
from queryplan.optimizers.scores import (
    brier,
    decision_metric,
    decompose_score,
    rewrite_score,
    stage_metric,
    steps_score,
)
from queryplan.program.stages import StageSpec
from queryplan.signatures.decompose_query import WrittenSubQuery
from queryplan.signatures.seam import choice_of, yes_no

Yes: Any = yes_no("so", "not so")
Abc: Any = choice_of([("a", "first", "one"), ("b", "second", "two"), ("c", "third", "three")])


def noul(p: float) -> Any:
    return Yes(value=p >= 0.5, probability=p, confidence=0.5)


def choice(a: float, b: float, c: float) -> Any:
    return Abc(value="a", probabilities={"a": a, "b": b, "c": c}, confidence=0.5)


def test_brier_of_two_answers_is_the_squared_distance() -> None:
    assert brier(noul(0.8), True) == pytest.approx(0.04)
    assert brier(noul(0.8), False) == pytest.approx(0.64)


def test_brier_of_a_choice_is_halved_into_the_unit_interval() -> None:
    assert brier(choice(1, 0, 0), "a") == 0
    assert brier(choice(1, 0, 0), "b") == 1
    assert brier(choice(0.5, 0.5, 0), "a") == pytest.approx(0.25)


def test_a_missing_decision_or_an_unknown_label_scores_worst() -> None:
    assert brier(None, "a") == 1
    assert brier(choice(0, 1, 0), "z") == 1


def test_decision_metric_averages_only_what_is_labelled() -> None:
    metric = decision_metric(("is_relevant", "rejection_kind"))
    prediction = dspy.Prediction(is_relevant=noul(0.9), rejection_kind=choice(0, 1, 0))
    assert metric(dspy.Example(is_relevant=True), prediction) == pytest.approx(0.99)
    both = dspy.Example(is_relevant=True, rejection_kind="a")
    assert metric(both, prediction) == pytest.approx(0.99 / 2)


def test_decision_metric_refuses_an_example_without_labels() -> None:
    with pytest.raises(ValueError, match="no label for any of x"):
        decision_metric(("x",))(dspy.Example(y=1), dspy.Prediction())


def test_one_wrong_output_is_enough_to_be_no_demonstration() -> None:
    metric = decision_metric(("u", "v", "w"))
    example = dspy.Example(u=True, v=True, w="b")
    prediction = dspy.Prediction(u=noul(0.99), v=noul(0.99), w=choice(0.6, 0.4, 0.0))
    assert metric(example, prediction) > METRIC_THRESHOLD
    assert metric(example, prediction, trace=[]) < METRIC_THRESHOLD


def test_above_the_threshold_gold_always_has_the_highest_probability() -> None:
    chances = np.random.default_rng(0).dirichlet([0.5, 0.5, 0.5], size=2000)
    good = [p for p in chances if 1 - brier(choice(*map(float, p)), "a") > METRIC_THRESHOLD]
    assert len(good) > 100
    assert all(p.argmax() == 0 for p in good)


def test_rewrite_score_is_token_f1() -> None:
    gold = dspy.Example(standalone_query="What does Ida Mercer say about sleep?")
    assert rewrite_score(gold, dspy.Prediction(standalone_query="what does Ida Mercer say about sleep")) == 1
    assert 0 < rewrite_score(gold, dspy.Prediction(standalone_query="What does she say about sleep?")) < 1
    assert rewrite_score(gold, dspy.Prediction()) == 0


GOLD: list[dict[str, Any]] = [
    {"text": "Who wrote The Quiet Hour?", "depends_on": []},
    {"text": "What does {1} recommend against insomnia?", "depends_on": [1]},
]


def decomposed(items: Sequence[Any]) -> float:
    return decompose_score(dspy.Example(sub_queries=GOLD), dspy.Prediction(sub_queries=items))


def test_gold_sub_queries_score_one_also_as_models() -> None:
    assert decomposed(GOLD) == pytest.approx(1, abs=1e-6)
    assert decomposed([WrittenSubQuery(**item) for item in GOLD]) == pytest.approx(1, abs=1e-6)


def test_a_sub_query_too_few_or_too_many_costs() -> None:
    extra = {"text": "How tall is the tower?", "depends_on": []}
    assert decomposed(GOLD[:1]) <= 0.5
    assert decomposed([*GOLD, extra]) == pytest.approx(2 / 3, abs=1e-6)


def test_wrong_dependencies_cost_a_quarter() -> None:
    # The placeholder counts as a dependency, so it has to go as well.
    loose = [GOLD[0], {"text": "What does that recommend against insomnia?", "depends_on": []}]
    assert decomposed(loose) == pytest.approx(0.75, abs=1e-6)


def test_dependencies_are_carried_over_when_the_order_differs() -> None:
    turned = [
        {"text": "What does {2} recommend against insomnia?", "depends_on": [2]},
        {"text": "Who wrote The Quiet Hour?", "depends_on": []},
    ]
    assert decomposed(turned) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("written", [[], None, [{"text": " ?! "}], [{"depends_on": [1]}], ["no object"]])
def test_what_cannot_be_read_scores_zero(written: Any) -> None:
    assert decomposed(written) == 0


def test_steps_score_counts_equal_steps_whatever_their_numbers() -> None:
    find = {"do": "find", "name": "Ida", "type": "Guest"}
    follow = {"do": "follow", "start": 1, "edge": "WROTE", "direction": "out", "without": []}
    gold = dspy.Example(steps=[find, follow])
    assert steps_score(gold, dspy.Prediction(steps=[find, {**follow, "start": 2}])) == 1
    assert steps_score(gold, dspy.Prediction(steps=[find, {**follow, "direction": "in"}])) == 0.5
    assert steps_score(gold, dspy.Prediction(steps=[find])) == pytest.approx(2 / 3)
    assert steps_score(gold, dspy.Prediction()) == 0


def test_every_stage_has_a_metric(specs: dict[str, StageSpec]) -> None:
    assert all(callable(stage_metric(spec)) for spec in specs.values())
