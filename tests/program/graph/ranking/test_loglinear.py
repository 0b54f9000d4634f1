"""Fitting a choice among candidates: whatever way it is done, the same is learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.program.graph.ranking import loglinear
from queryplan.program.graph.ranking.loglinear import Problem, fit, scores, sparse_rows, turn

ROWS, NUMBERS, CANDIDATES = 5, 3, 4


def grams_of(seed: int, segments: int, columns: int) -> Any:
    """A few n-grams for each segment."""
    drawn = np.random.default_rng(seed)
    known = [sorted(drawn.choice(columns, size=min(columns, 6), replace=False).tolist()) for _ in range(segments)]
    return sparse_rows(known, np.repeat(0.4, sum(map(len, known))), columns)


def problem_of(seed: int, segments: int, columns: int) -> Problem:
    """A question for each segment; the first of its candidates is right, and another at times."""
    drawn = np.random.default_rng(seed)
    n = segments * CANDIDATES
    place = np.repeat(np.arange(segments), CANDIDATES)
    right = (np.arange(n) % CANDIDATES == 0) | (drawn.random(n) < 0.1)
    elements = drawn.integers(0, ROWS + 1, size=(n, 2))
    return Problem(drawn.normal(size=(n, NUMBERS)), elements, place, place, right, grams_of(seed, segments, columns))


def fitted(problem: Problem, iterations: int = 200, **given: Any) -> loglinear.Fitted:
    drawn = np.random.default_rng(1)
    table = drawn.normal(size=(ROWS, problem.grams.shape[1])) / 10
    return fit(problem, np.zeros(NUMBERS), table, hold_dense=0.3, hold_table=0.2, iterations=iterations, **given)


@pytest.mark.parametrize(("segments", "columns"), [(6, 40), (12, 200), (1, 7)])
def test_with_fewer_segments_than_columns_the_same_is_learned(
    segments: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problem_of(3, segments, columns)
    rows = np.array([True, False, True, True, False])
    bounds: list[Any] = [(0.0, None), (None, 0.0), (None, None)]
    fast = fitted(problem, rows=rows, bounds=bounds)
    monkeypatch.setattr(loglinear, "MOST_TURNED", 0)
    plain = fitted(problem, rows=rows, bounds=bounds)
    np.testing.assert_allclose(fast.table, plain.table, atol=1e-5)
    np.testing.assert_allclose(fast.dense, plain.dense, atol=1e-5)
    assert fast.loss == pytest.approx(plain.loss, abs=1e-8)


def test_step_by_step_the_same_way_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(4, 10, 90)
    fast = [fitted(problem, iterations=steps).table for steps in (1, 3, 6)]
    monkeypatch.setattr(loglinear, "MOST_TURNED", 0)
    for steps, table in zip((1, 3, 6), fast, strict=True):
        np.testing.assert_allclose(table, fitted(problem, iterations=steps).table, atol=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(10, 40))
def test_turning_keeps_lengths_and_angles(seed: int, segments: int, columns: int) -> None:
    grams = grams_of(seed, segments, columns)
    turned = turn(grams)
    assert turned.grams.shape[1] <= segments
    np.testing.assert_allclose(turned.grams @ turned.grams.T, (grams @ grams.T).toarray(), atol=1e-9)
    np.testing.assert_allclose(turned.back(turned.grams), grams.toarray(), atol=1e-6)


def test_equal_segments_are_one_direction() -> None:
    grams = sparse_rows([[0, 1], [0, 1], [2, 3]], np.full(6, 0.5), 30)
    assert turn(grams).grams.shape == (3, 2)


@pytest.mark.parametrize(("segments", "columns"), [(5, 5), (9, 4)])
def test_where_nothing_is_saved_nothing_is_turned(segments: int, columns: int) -> None:
    grams = grams_of(1, segments, columns)
    assert turn(grams).grams is grams
    assert turn(grams).back(grams) is grams


def test_how_wide_the_elements_are_written_changes_nothing() -> None:
    problem = problem_of(8, 9, 50)
    nothing = np.full((len(problem.elements), 3), ROWS)
    wide = np.concatenate([nothing, problem.elements, nothing], axis=1)
    learned, same = fitted(problem), fitted(replace(problem, elements=wide))
    np.testing.assert_allclose(learned.table, same.table, atol=1e-7)
    np.testing.assert_allclose(learned.dense, same.dense, atol=1e-7)


def test_rows_that_may_not_change_do_not() -> None:
    problem = problem_of(5, 8, 60)
    before = np.random.default_rng(1).normal(size=(ROWS, 60)) / 10
    rows = np.array([True, False, False, True, True])
    after = fitted(problem, rows=rows).table
    assert (after[~rows] == before[~rows]).all()
    assert np.abs(after[rows] - before[rows]).max() > 1e-3


def test_what_is_right_is_scored_higher_after_fitting() -> None:
    problem = problem_of(6, 20, 80)
    learned = fitted(problem)
    found = scores(problem, learned.dense, learned.table)
    assert found[problem.right].mean() > found[~problem.right].mean() + 0.5


def test_without_any_ngram_the_numbers_are_learned_alone() -> None:
    problem = problem_of(7, 20, 80)
    bare = Problem(problem.dense, np.zeros((80, 0), dtype=np.int64), np.zeros(80, dtype=np.int64), *_rest(problem))
    learned = fit(bare, np.zeros(NUMBERS), np.zeros((0, 0)), hold_dense=0.1, hold_table=1.0)
    assert learned.table.shape == (0, 0)
    assert np.abs(learned.dense).max() > 0.01


def _rest(problem: Problem) -> tuple[Any, Any, Any]:
    from scipy.sparse import csr_matrix

    return problem.question, problem.right, csr_matrix((1, 0))
