"""The walk of Learn then Test, and what so many rows can show."""

from __future__ import annotations

import numpy as np
import pytest
from queryplan.eval.cascade.learn_then_test import errors_allowed, lowest_safe, p_value, rows_needed, smallest_error


@pytest.mark.parametrize(("rows", "allowed"), [(44, -1), (45, 0), (50, 0), (100, 1), (200, 5)])
def test_so_many_rows_allow_so_many_errors_at_five_percent(rows: int, allowed: int) -> None:
    assert errors_allowed(rows, 0.05, 0.9) == allowed


def test_the_fewest_rows_that_support_an_error_do_and_one_fewer_does_not() -> None:
    assert rows_needed(0.01, 0.9) == 230
    assert p_value(0, 230, 0.01) <= 0.1 < p_value(0, 229, 0.01)
    assert smallest_error(230, 0.9) == pytest.approx(0.01, rel=0.01)
    assert smallest_error(0, 0.9) == 1.0


def test_the_walk_stops_at_the_first_failure_even_if_a_later_threshold_would_pass() -> None:
    wrong = {0.9: 0, 0.8: 1, 0.7: 9, 0.6: 0}
    assert lowest_safe(wrong.__getitem__, 100, 0.05, 0.9, tuple(wrong)) == 0.8


def test_nothing_is_safe_where_the_strictest_threshold_fails_or_rows_are_too_few() -> None:
    assert lowest_safe(lambda _: 2, 100, 0.05, 0.9) is None
    assert lowest_safe(lambda _: 0, 44, 0.05, 0.9) is None
    assert lowest_safe(lambda _: 0, 45, 0.05, 0.9) == 0.0


def test_on_invented_rows_the_bound_is_broken_no_more_often_than_promised() -> None:
    """Certainties that flatter themselves; the true loss at a threshold is known in closed form."""
    rng, broken = np.random.default_rng(3), 0
    for _ in range(300):
        certain = rng.random(150)
        wrong = rng.random(150) < 0.4 * (1 - certain)
        found = lowest_safe(lambda t, c=certain, w=wrong: int(w[c >= t].sum()), 150, 0.05, 0.9)
        # P(certain >= t and wrong) is the integral of 0.4 * (1 - c) from t to 1.
        broken += found is not None and 0.2 * (1 - found) ** 2 > 0.05
    assert broken <= 300 * 0.1 + 2 * (300 * 0.09) ** 0.5
