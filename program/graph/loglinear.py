"""Fitting a log-linear choice among candidates: numbers, and elements times n-grams.

The loss is the negative log-probability that a right candidate is chosen; a question may have several.
The parameters start from, and are drawn to, given values, so that what was learned over all domains is
kept where a domain's own labels say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ITERATIONS = 60


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
    shape = (int(free.sum()), table.shape[1])
    starts = np.flatnonzero(np.diff(problem.question, prepend=-1))
    base = np.concatenate([dense, table[free].ravel()]).astype(np.float64)
    held = np.concatenate([np.full(len(dense), hold_dense), np.repeat(by_row[free], shape[1])])

    limits = None if bounds is None else [*bounds, *[(None, None)] * (shape[0] * shape[1])]

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        whole = table.astype(np.float64)
        whole[free] = x[len(dense) :].reshape(shape)
        value, by_dense, by_table = _loss(problem, starts, x[: len(dense)], whole)
        away = x - base
        return value + 0.5 * float((held * away) @ away), np.concatenate(
            [by_dense, by_table[free].ravel()]
        ) + held * away

    found = minimize(
        loss, base, jac=True, method="L-BFGS-B", bounds=limits, options={"maxiter": iterations, "maxcor": 8}
    )
    fitted = table.astype(np.float64)
    fitted[free] = found.x[len(dense) :].reshape(shape)
    return Fitted(found.x[: len(dense)], fitted, float(found.fun) / max(1, len(starts)))


def scores(problem: Problem, dense: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The score of every candidate, shape (n,)."""
    said = problem.grams @ table.T
    padded = np.concatenate([said, np.zeros((len(said), 1))], axis=1)
    return problem.dense @ dense + padded[problem.segment[:, None], problem.elements].sum(axis=1)


def _loss(
    problem: Problem, starts: np.ndarray, dense: np.ndarray, table: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Sum of losses over questions, and gradients."""
    found = scores(problem, dense, table)
    top = np.maximum.reduceat(found, starts)[problem.question]
    mass = np.exp(found - top)
    of_right = np.where(problem.right, mass, 0.0)
    total, right = np.add.reduceat(mass, starts), np.add.reduceat(of_right, starts)
    residual = mass / total[problem.question] - of_right / np.maximum(right, 1e-300)[problem.question]
    width = len(table) + 1
    places = problem.segment[:, None] * width + problem.elements
    weights = np.repeat(residual, problem.elements.shape[1])
    gathered = np.bincount(places.ravel(), weights, minlength=problem.grams.shape[0] * width)
    by_segment = gathered.reshape(-1, width)[:, :-1]
    value = float((np.log(total) - np.log(np.maximum(right, 1e-300))).sum())
    return value, problem.dense.T @ residual, (problem.grams.T @ by_segment).T


def sparse_rows(columns: Sequence[Sequence[int]], values: np.ndarray, width: int) -> Any:
    """A scipy CSR matrix from the columns of each row; ``values`` has one for every column named."""
    from scipy.sparse import csr_matrix

    ends = np.cumsum([0, *(len(row) for row in columns)])
    flat = np.concatenate([np.zeros(0), *columns]).astype(np.int64)
    return csr_matrix((values, flat, ends), shape=(len(columns), width))
