"""Fits a log-linear choice among candidates, whose features are numbers and products of elements and n-grams.

The loss is the negative log-probability that a right candidate is chosen; a question may have several. The parameters
start from given values and are regularised towards them, so that what was learned over all domains is kept where a
domain's own labels say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

ITERATIONS = 60
MOST_TURNED = 2000
"""Segments up to which n-grams are turned: it takes seconds for so many, and eight times as long for twice as many."""
SMALL = 1e-12
"""Share of the longest direction's squared length below which a direction is nothing but rounding."""


@dataclass(frozen=True)
class Problem:
    """Questions with candidates.

    Attributes:
        dense: shape (n, numbers).
        elements: rows of the table, shape (n, m); the number of rows stands for none.
        segment: of each candidate, which row of ``grams`` it is seen with, shape (n,).
        question: of each candidate, ascending from 0, shape (n,).
        right: shape (n,).
        grams: n-grams of each segment, a scipy CSR matrix, shape (segments, columns).
    """

    dense: np.ndarray
    elements: np.ndarray
    segment: np.ndarray
    question: np.ndarray
    right: np.ndarray
    grams: Any


@dataclass(frozen=True)
class Fitted:
    """Parameters and what they reach on what they were fitted to."""

    dense: np.ndarray
    table: np.ndarray
    loss: float


def fit(
    problem: Problem,
    dense: np.ndarray,
    table: np.ndarray,
    *,
    hold_dense: float,
    hold_table: float | np.ndarray,
    rows: np.ndarray | None = None,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
    iterations: int = ITERATIONS,
) -> Fitted:
    """Fit by L-BFGS.

    Args:
        dense, table: where to start from, and what is held to.
        hold_dense, hold_table: strength of that, in units of one question's loss; of each row of the table, or of all.
        rows: rows of the table that may change, shape (rows,); all if not given.
        bounds: between what the weight of each number may lie.
    """
    from scipy.optimize import minimize

    free = np.ones(len(table), dtype=bool) if rows is None else rows
    by_row = np.broadcast_to(np.asarray(hold_table, dtype=np.float64), (len(table),))
    problem = replace(problem, elements=_narrow(problem.elements, len(table)))
    turned = turn(problem.grams)
    shape = (int(free.sum()), turned.grams.shape[1])
    starts = np.flatnonzero(np.diff(problem.question, prepend=-1))
    said = problem.grams @ table.T
    base = np.concatenate([dense, np.zeros(shape[0] * shape[1])]).astype(np.float64)
    held = np.concatenate([np.full(len(dense), hold_dense), np.repeat(by_row[free], shape[1])])

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        now = said.copy()
        now[:, free] += turned.grams @ x[len(dense) :].reshape(shape).T
        value, by_dense, by_segment = _loss(problem, starts, x[: len(dense)], now)
        by_table = (turned.grams.T @ by_segment[:, free]).T
        away = x - base
        slope = np.concatenate([by_dense, by_table.ravel()]) + held * away
        return value + 0.5 * float((held * away) @ away), slope

    limits = None if bounds is None else [*bounds, *[(None, None)] * (shape[0] * shape[1])]
    found = minimize(
        loss, base, jac=True, method="L-BFGS-B", bounds=limits, options={"maxiter": iterations, "maxcor": 8}
    )
    fitted = table.astype(np.float64)
    fitted[free] += turned.back(found.x[len(dense) :].reshape(shape))
    return Fitted(found.x[: len(dense)], fitted, float(found.fun) / max(1, len(starts)))


@dataclass(frozen=True)
class Turned:
    """N-grams of segments in as few columns as there are segments, by turning the space of their columns.

    What a row of the table gains is always a sum of segments' n-grams, so that nothing is lost; and because lengths and
    angles stay what they are, L-BFGS takes the same steps as before, at a twentieth of the numbers for a domain of some
    hundred questions.

    Attributes:
        grams: shape (segments, turned columns).
        back: rows over turned columns as rows over columns.
    """

    grams: Any
    back: Callable[[np.ndarray], np.ndarray] = lambda rows: rows


def turn(grams: Any) -> Turned:
    """Turn n-grams, if there are fewer segments than columns and few enough that this is fast."""
    if not 0 < grams.shape[0] < min(grams.shape[1], MOST_TURNED):
        return Turned(grams)
    lengths, ways = np.linalg.eigh((grams @ grams.T).toarray())
    kept = lengths > lengths[-1] * SMALL
    root = np.sqrt(lengths[kept])
    return Turned(ways[:, kept] * root, lambda rows: ((rows / root) @ ways[:, kept].T) @ grams)


def _narrow(elements: np.ndarray, none: int) -> np.ndarray:
    """The same elements in as few columns as there are of any candidate: of what all schemas share it has few."""
    width = int((elements != none).sum(axis=1).max(initial=0))
    return np.sort(elements, axis=1)[:, :width]


def scores(problem: Problem, dense: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The score of every candidate, shape (n,)."""
    return _scores(problem, dense, problem.grams @ table.T)


def _scores(problem: Problem, dense: np.ndarray, said: np.ndarray) -> np.ndarray:
    padded = np.concatenate([said, np.zeros((len(said), 1))], axis=1)
    return problem.dense @ dense + padded[problem.segment[:, None], problem.elements].sum(axis=1)


def _loss(
    problem: Problem, starts: np.ndarray, dense: np.ndarray, said: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Sum of losses over questions, and gradients by the numbers and by what each segment says for each element."""
    found = _scores(problem, dense, said)
    top = np.maximum.reduceat(found, starts)[problem.question]
    mass = np.exp(found - top)
    of_right = np.where(problem.right, mass, 0.0)
    total, right = np.add.reduceat(mass, starts), np.add.reduceat(of_right, starts)
    residual = mass / total[problem.question] - of_right / np.maximum(right, 1e-300)[problem.question]
    width = said.shape[1] + 1
    places = problem.segment[:, None] * width + problem.elements
    weights = np.repeat(residual, problem.elements.shape[1])
    gathered = np.bincount(places.ravel(), weights, minlength=problem.grams.shape[0] * width)
    by_segment = gathered.reshape(-1, width)[:, :-1]
    value = float((np.log(total) - np.log(np.maximum(right, 1e-300))).sum())
    return value, problem.dense.T @ residual, by_segment


def sparse_rows(columns: Sequence[Sequence[int]], values: np.ndarray, width: int) -> Any:
    """A scipy CSR matrix from the columns of each row; ``values`` has one for every column named."""
    from scipy.sparse import csr_matrix

    ends = np.cumsum([0, *(len(row) for row in columns)])
    flat = np.concatenate([np.zeros(0), *columns]).astype(np.int64)
    return csr_matrix((values, flat, ends), shape=(len(columns), width))
