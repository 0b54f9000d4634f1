"""Intervals that cover, widen with clustering, and never disagree with the test."""

from __future__ import annotations

import numpy as np
import pytest
from queryplan.eval.statistics import (
    FEW,
    SHARE,
    clustered_interval,
    clustered_quantiles,
    confusion,
    macro_f1,
    resampling_weights,
)

ALONE = [str(i) for i in range(200)]


def test_the_value_is_the_mean_and_lies_in_its_interval() -> None:
    estimate = clustered_interval([True] * 150 + [False] * 50, ALONE)
    assert estimate.value == 0.75
    assert estimate.low < 0.75 < estimate.high
    assert (estimate.n, estimate.clusters) == (200, 200)
    # The normal approximation: 0.75 plus or minus 1.96 standard errors of 0.0306.
    assert estimate.low == pytest.approx(0.69, abs=0.012)
    assert estimate.high == pytest.approx(0.81, abs=0.012)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(200):
        share = rng.beta(7, 3, size=60)
        values = rng.random((60, 4)) < share[:, None]
        estimate = clustered_interval(values.ravel(), [str(i // 4) for i in range(240)], n=400)
        hits += estimate.low <= 0.7 <= estimate.high
    assert 0.90 <= hits / 200 <= 0.99


def test_rows_of_one_conversation_count_less_than_independent_rows() -> None:
    values = [i % 2 == 0 for i in range(20) for _ in range(10)]
    together = clustered_interval(values, [str(i) for i in range(20) for _ in range(10)])
    apart = clustered_interval(values, ALONE)
    assert together.value == apart.value
    assert together.high - together.low > 2.5 * (apart.high - apart.low)


def test_the_same_seed_gives_the_same_interval_and_the_order_of_rows_does_not_matter_to_the_value() -> None:
    values = np.random.default_rng(0).random(50)
    clusters = [str(i // 5) for i in range(50)]
    assert clustered_interval(values, clusters) == clustered_interval(values, clusters)
    assert clustered_interval(values, clusters, seed=1) != clustered_interval(values, clusters)


def test_twenty_of_twenty_right_is_not_certainty() -> None:
    estimate = clustered_interval([True] * 20, ALONE[:20])
    assert (estimate.value, estimate.high) == (1.0, 1.0)
    assert estimate.low == pytest.approx(0.025 ** (1 / 20))
    assert clustered_interval([False] * 20, ALONE[:20]).high == pytest.approx(1 - 0.025 ** (1 / 20))


def test_counts_that_are_all_alike_keep_an_interval_of_no_width() -> None:
    estimate = clustered_interval([2, 2, 2], ["a", "b", "c"])
    assert (estimate.low, estimate.value, estimate.high) == (2, 2, 2)


def test_conversations_that_are_alike_are_not_certainty_about_others() -> None:
    one = clustered_interval([True, True, True, False], ["a"] * 4)
    assert (one.low, one.value, one.high) == pytest.approx((0.01875, 0.75, 0.99375))
    halves = clustered_interval([True, False] * 10, [str(i // 2) for i in range(20)])
    assert halves.low < 0.4
    assert halves.high > 0.6
    shares = clustered_interval([1.0] * 20, ALONE[:20], bounds=SHARE)
    assert shares.low == pytest.approx(0.025 ** (1 / 20))
    (time,) = clustered_quantiles([3.0, 9.0], ["a", "a"], (0.5,))
    assert time.low == 3.0
    assert time.high > 8


def test_a_perfect_macro_f1_is_as_doubtful_as_its_accuracy() -> None:
    perfect = macro_f1(["a", "b", "a"], ["a", "b", "a"], ["1", "2", "3"])
    assert (perfect.value, perfect.high) == (1.0, 1.0)
    assert perfect.low == pytest.approx(0.025 ** (1 / 3))
    assert macro_f1(["a", "a"], ["b", "b"], ["1", "2"]).high == pytest.approx(1 - 0.025**0.5)


def test_no_rows_and_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="no rows"):
        clustered_interval([], [])
    with pytest.raises(ValueError, match="2 values have 1 clusters"):
        clustered_interval([1.0, 2.0], ["a"])


def test_quantiles_are_values_that_occurred_and_rise() -> None:
    values = np.random.default_rng(1).exponential(size=200)
    p50, p90, p99 = clustered_quantiles(values, ALONE, (0.5, 0.9, 0.99))
    assert p50.value == np.quantile(values, 0.5, method="inverted_cdf")
    assert p90.value == np.quantile(values, 0.9, method="inverted_cdf")
    assert p50.low < p50.value < p50.high
    assert p50.value < p90.value < p99.value <= values.max()


def test_macro_f1_agrees_with_scikit_learn() -> None:
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(5)
    gold = rng.choice(["a", "b", "c"], 200, p=[0.7, 0.2, 0.1]).tolist()
    planned = [g if rng.random() < 0.7 else "d" if rng.random() < 0.1 else "a" for g in gold]
    estimate = macro_f1(gold, planned, ALONE)
    assert estimate.value == pytest.approx(f1_score(gold, planned, average="macro"))
    assert estimate.low < estimate.value < estimate.high


def test_confusion_counts_gold_by_row_and_prediction_by_column() -> None:
    matrix = confusion(["a", "a", "b"], ["a", "b", "z"], labels=["b", "a"])
    assert matrix.labels == ("b", "a", "z")
    assert matrix.counts == ((0, 0, 1), (1, 1, 0), (0, 0, 0))


def test_many_conversations_are_drawn_as_few_are() -> None:
    """Beyond `FEW` another way of drawing is taken; counts are binomial all the same, and sum to what was drawn."""
    for k in (FEW, FEW + 100):
        weights = np.concatenate(list(resampling_weights(k, 400, 3)))
        assert weights.shape == (400, k)
        assert (weights.sum(axis=1) == k).all()
        assert weights.mean() == 1
        assert weights.var() == pytest.approx(1 - 1 / k, abs=0.02)
        assert (weights == 0).mean() == pytest.approx((1 - 1 / k) ** k, abs=0.005)
        # Two clusters of one draw lean against each other by 1/k, and two draws not at all.
        assert abs(np.corrcoef(weights[:, 0], weights[:, 1])[0, 1]) < 0.25
        assert abs(np.corrcoef(weights[0], weights[1])[0, 1]) < 0.25
    again = np.concatenate(list(resampling_weights(FEW + 100, 400, 3)))
    assert (again == weights).all()
