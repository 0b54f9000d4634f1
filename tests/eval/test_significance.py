"""Tests that agree with the interval, count conversations and not rows, and cry wolf as often as they say."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.eval import significance
from queryplan.eval.significance import (
    SAME,
    PairedDifference,
    corrected,
    holm,
    paired_difference,
    sign_flip_p,
    standard_error,
)

ALONE = [str(i) for i in range(200)]


def test_identical_columns_differ_by_nothing() -> None:
    values = [True, False, True, True]
    paired = paired_difference(values, values, ["a", "a", "b", "c"])
    assert paired.difference.value == 0
    assert paired.p_value == 1.0
    assert paired.verdict() == "no difference shown"


def test_a_clear_gain_is_better_and_worse_when_less_is_wanted() -> None:
    a, b = [True] * 40 + [False] * 20, [False] * 40 + [False] * 20
    paired = paired_difference(a, b, ALONE[:60])
    assert paired.difference.value == pytest.approx(2 / 3)
    assert paired.p_value < 0.001
    assert paired.verdict() == "better"
    assert paired.verdict(higher_is_better=False) == "worse"
    assert paired_difference(b, a, ALONE[:60]).verdict() == "worse"


def test_the_exact_test_counts_sign_patterns() -> None:
    paired = paired_difference([1, 1, 1, 1], [0, 0, 0, 0], ["a", "b", "c", "d"])
    assert paired.p_value == pytest.approx(2 / 16)
    # The interval alone would say "better"; four conversations cannot show that.
    assert paired.difference.low > 0
    assert paired.verdict() == "no difference shown"


def test_one_conversation_shows_nothing_however_many_rows_it_has() -> None:
    paired = paired_difference([True] * 50, [False] * 50, ["same"] * 50)
    assert paired.p_value == 1.0
    assert paired.verdict() == "no difference shown"


def test_under_no_difference_the_test_rejects_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    clusters = [str(i // 5) for i in range(50)]
    found = 0
    for _ in range(200):
        p = rng.random((10, 1))
        a, b = (rng.random((10, 5)) < p).ravel(), (rng.random((10, 5)) < p).ravel()
        found += paired_difference(a.tolist(), b.tolist(), clusters, n=50).p_value <= 0.05
    assert found <= 20


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be paired"):
        paired_difference([1.0, 2.0], [1.0], ["a", "b"])


def test_rows_that_stand_alone_give_mcnemars_exact_test() -> None:
    from statsmodels.stats.contingency_tables import mcnemar

    rng = np.random.default_rng(4)
    a, b = rng.random(120) < 0.7, rng.random(120) < 0.6
    table = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
    expected: Any = mcnemar(table, exact=True)
    assert paired_difference(a, b, ALONE[:120]).p_value == pytest.approx(expected.pvalue)


def test_whole_conversations_give_the_p_value_of_all_sign_patterns() -> None:
    sums = np.array([3.0, -1, 2, 2, -2, 1, 4, 1, -1, 5, 2])
    signs = np.array(list(product((1, -1), repeat=len(sums))))
    every = (np.abs(signs @ sums) >= abs(sums.sum())).mean()
    assert sign_flip_p(sums) == pytest.approx(every)
    # Numbers that are no counts are drawn at random, and come near.
    assert sign_flip_p(sums * 0.3) == pytest.approx(every, abs=0.02)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=40), st.randoms())
def test_a_p_value_does_not_know_which_program_is_which(sums: list[int], random: Random) -> None:
    values = np.array([s for s in sums if s] or [1])
    p = sign_flip_p(values)
    assert 0 < p <= 1
    assert sign_flip_p(-values) == pytest.approx(p)
    shuffled = values.tolist()
    random.shuffle(shuffled)
    assert sign_flip_p(np.array(shuffled)) == pytest.approx(p)


def _share(wins: int, losses: int, same: int = 20) -> PairedDifference:
    a = [True] * wins + [False] * losses + [True] * same
    b = [False] * wins + [True] * losses + [True] * same
    return paired_difference(a, b, ALONE[: len(a)])


def test_holm_is_that_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(8)
    for n in (1, 2, 7, 40):
        p = rng.random(n) ** 3
        assert holm(p.tolist()) == pytest.approx(multipletests(p, method="holm")[1])


def test_families_share_the_error_and_do_not_pay_for_each_other() -> None:
    few, many = [_share(9, 1)], [_share(12, 0), *[_share(7, 6)] * 9]
    together = corrected([*few, *many], families=["few"] * 1 + ["many"] * 10)
    assert together[0].p == pytest.approx(2 * few[0].p_value)
    assert together[1].p == pytest.approx(2 * 10 * many[0].p_value)
    assert (together[0].family, together[1].family) == (2, 20)
    # A family in which nothing could be shown takes no part of the error.
    lonely = corrected([*few, _share(2, 0)], families=["few", "many"])
    assert lonely[0].p == pytest.approx(few[0].p_value)
    assert lonely[1].detectable() >= 6 / 22


def test_holm_multiplies_the_smallest_by_the_most_and_never_lowers_a_p_value() -> None:
    found = [_share(12, 0), _share(12, 2), _share(8, 6)]
    adjusted = corrected(found)
    assert adjusted[0].p == pytest.approx(3 * found[0].p_value)
    assert adjusted[1].p == pytest.approx(2 * found[1].p_value)
    assert adjusted[2].p == pytest.approx(found[2].p_value)
    assert all(one.family == 3 for one in adjusted)
    assert all(after.p >= before.p_value for before, after in zip(found, adjusted, strict=True))


def test_what_could_never_be_shown_costs_the_others_nothing_and_is_not_shown_itself() -> None:
    found = [_share(12, 0), _share(5, 0), _share(0, 0)]
    adjusted = corrected(found)
    assert adjusted[0].family == 1
    assert adjusted[0].p == pytest.approx(found[0].p_value)
    assert [one.verdict() for one in adjusted] == ["better", SAME, SAME]
    assert corrected([_share(1, 0)])[0].p == 1.0


def test_a_program_as_much_better_as_the_detectable_effect_is_found_in_about_four_cases_of_five() -> None:
    rng = np.random.default_rng(2)
    clusters, found, effects = [str(i // 2) for i in range(400)], 0, []
    for _ in range(100):
        # One row in four differs; of those, enough more are won than lost for a difference of 7 points.
        outcome = rng.choice((1, -1, 0), 400, p=(0.16, 0.09, 0.75))
        paired = paired_difference(outcome == 1, outcome == -1, clusters, n=200)
        effects.append(paired.detectable())
        found += paired.p_value <= 0.05
    assert np.mean(effects) == pytest.approx(0.07, abs=0.005)
    assert 66 <= found <= 92


def test_where_nothing_changed_the_detectable_effect_is_what_the_test_needs_at_least() -> None:
    assert _share(0, 0, same=100).detectable() == pytest.approx(6 / 100)
    assert _share(0, 0, same=100).detectable(level=0.99) > 6 / 100


def test_pairs_that_never_differed_leave_room_for_what_so_few_cannot_show() -> None:
    found = paired_difference([True] * 12, [True] * 12, [str(i) for i in range(12)])
    reach = 1 - 0.025 ** (1 / 12)
    assert (found.difference.low, found.difference.high) == pytest.approx((-reach, reach))
    assert (found.p_value, found.verdict()) == (1.0, SAME)


def test_conversations_that_all_gain_alike_are_better_and_not_known_exactly() -> None:
    some, none = [True, False, False] * 8, [False] * 24
    eight = paired_difference(some, none, [str(i // 3) for i in range(24)])
    assert 0 < eight.difference.low < 1 / 3 < eight.difference.high
    assert eight.verdict() == "better"
    one = paired_difference(some[:3], none[:3], ["a"] * 3)
    assert one.difference.low < 0 < one.difference.high


def test_counts_that_are_too_large_to_be_added_up_exactly_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = np.random.default_rng(1).integers(-9000, 9000, 77).astype(float)
    shares = np.random.default_rng(2).integers(-4, 5, 2500).astype(float)
    alone, small = sign_flip_p(shares[shares != 0]), tokens[:6] // 100
    assert alone == significance._exact(shares[shares != 0].astype(int))
    assert sign_flip_p(small) == significance._exact(small.astype(int))
    monkeypatch.setattr(significance, "_exact", lambda sums: pytest.fail("this takes minutes"))
    assert sign_flip_p(tokens) == significance._drawn(tokens, 0)


def test_the_standard_error_is_over_conversations() -> None:
    values = np.random.default_rng(4).normal(size=30)
    usual = values.std(ddof=1) / 30**0.5
    assert standard_error(values, ALONE[:30]) == pytest.approx(usual)
    assert standard_error(np.repeat(values, 4), [name for name in ALONE[:30] for _ in range(4)]) == pytest.approx(usual)
    assert standard_error(values, ["one"] * 30) == np.inf
