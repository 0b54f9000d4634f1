"""Two opinions on one output, and which label comes of them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.heads.heads import HeadAnswer
from queryplan.program.settle import Combination, label_probabilities, settle

HEAD = HeadAnswer("true", {"true": 0.7, "false": 0.3})
BOTH = Combination(lm_weight=1.0, head_weight=1.0, bias={"true": 0.0, "false": 0.0})


def yes(probability: float, value: bool) -> Any:
    return SimpleNamespace(probability=probability, value=value)


def choice(value: str, **probabilities: float) -> Any:
    return SimpleNamespace(value=value, probabilities=probabilities)


def test_the_model_decides_with_its_own_threshold_where_nothing_was_fitted() -> None:
    found = settle(yes(0.6, False), HEAD, None)
    assert found is not None
    assert (found.label, found.truth, found.by) == ("false", False, "lm")
    assert found.confidence == pytest.approx(0.4)


def test_a_choice_keeps_the_label_its_weights_chose() -> None:
    found = settle(choice("causal", causal=0.3, factual=0.7), None, None)
    assert found is not None
    assert (found.label, found.confidence) == ("causal", 0.3)


def test_a_head_decides_where_the_model_does_not_answer() -> None:
    for combination in (None, BOTH):
        found = settle(None, HEAD, combination)
        assert found is not None
        assert (found.label, found.confidence, found.by) == ("true", 0.7, "head")


def test_without_an_opinion_there_is_no_label() -> None:
    assert settle(None, None, BOTH) is None


def test_a_fitted_combination_multiplies_the_opinions() -> None:
    found = settle(yes(0.2, False), HEAD, BOTH)
    assert found is not None
    assert found.confidence == pytest.approx(0.8 * 0.3 / (0.8 * 0.3 + 0.2 * 0.7))
    assert (found.label, found.by, found.reason) == ("false", "lm", "model and head, weighed")


def test_a_combination_without_the_model_is_the_heads_word() -> None:
    alone = Combination(lm_weight=0.0, head_weight=1.0, bias={"true": 0.0, "false": math.log(3)})
    for answer in (None, yes(0.99, True)):
        found = settle(answer, HEAD, alone)
        assert found is not None
        assert (found.label, found.by) == ("false", "head")
        assert found.confidence == pytest.approx(0.9 / 1.6)


def test_a_label_of_probability_zero_does_not_break_the_sum() -> None:
    found = BOTH.probabilities({"true": 0.0, "false": 1.0}, {"true": 1.0, "false": 0.0})
    assert found == pytest.approx({"true": 0.5, "false": 0.5})


def test_probabilities_of_yes_and_of_labels() -> None:
    assert label_probabilities(yes(0.25, False)) == {"true": 0.25, "false": 0.75}
    assert label_probabilities(choice("a", a=1.0)) == {"a": 1.0}


@given(st.floats(0, 5), st.floats(0, 5), st.floats(0, 1), st.floats(0, 1), st.floats(-20, 20))
def test_pooled_probabilities_sum_to_one(lm: float, head: float, p: float, q: float, bias: float) -> None:
    made = Combination(lm_weight=lm, head_weight=head, bias={"true": bias, "false": 0.0})
    found = made.probabilities({"true": p, "false": 1 - p}, {"true": q, "false": 1 - q})
    assert sum(found.values()) == pytest.approx(1)
    assert all(0 <= v <= 1 for v in found.values())
