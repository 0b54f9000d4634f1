"""Fits a log-linear choice among candidates, whose features are numbers and products of elements and n-grams.

The loss is the negative log-probability that a right candidate is chosen; a question may have several right ones. The
parameters start from given values and are regularised towards them. So what was learned over all domains is kept where
a domain's own labels say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

ITERATIONS = 60
MOST_TURNED = 2000
"""The most segments for which ``turn`` reduces n-grams. That takes seconds then, and eight times as long for twice as
many."""
SMALL = 1e-12
"""Share of the longest direction's squared length below which a direction is nothing but rounding."""


@dataclass(frozen=True)
class Problem:
    """Questions with candidates.

    Attributes:
        dense: the numbers of each candidate, shape (n, numbers).
        elements: the rows of its elements in the table, shape (n, m); the number of rows stands for no element.
        segment: the row of ``grams`` that each candidate is seen with, shape (n,).
        question: the number of each candidate's question, ascending from 0, shape (n,).
        right: whether each candidate is right, shape (n,).
        grams: the n-grams of each segment (a question under one hypothesis), a scipy CSR matrix, shape (segments,
            columns).
    """

    dense: np.ndarray
    elements: np.ndarray
    segment: np.ndarray
    question: np.ndarray
    right: np.ndarray
    grams: Any


@dataclass(frozen=True)
class Fitted:
    """The fitted parameters, and the mean loss of a question that they reach, regularisation included."""

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
    """Fit the weights of numbers and the table of elements by n-grams, with L-BFGS.

    Args:
        dense, table: the values to start from, towards which the fit is regularised.
        hold_dense, hold_table: the strength of that, in units of one question's loss; the latter for each row of the
            table, or one for all.
        rows: which rows of the table may change, shape (rows,), bool; by default all.
        bounds: the least and the greatest weight of each number.
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
    """The n-grams of segments in at most as many columns as there are segments, by a rotation of their space.

    Nothing is lost, because what a row of the table gains is always a linear combination of segments' n-grams. And as
    the rotation keeps lengths and angles, L-BFGS takes the same steps, with a twentieth of the numbers for a domain of
    some hundred questions.

    Attributes:
        grams: shape (segments, rotated columns).
        back: a function from rows over the rotated columns to rows over the original ones.
    """

    grams: Any
    back: Callable[[np.ndarray], np.ndarray] = lambda rows: rows


def turn(grams: Any) -> Turned:
    """Rotate n-grams into fewer columns; unchanged if there are not fewer segments than columns, or too many."""
    if not 0 < grams.shape[0] < min(grams.shape[1], MOST_TURNED):
        return Turned(grams)
    lengths, ways = np.linalg.eigh((grams @ grams.T).toarray())
    kept = lengths > lengths[-1] * SMALL
    root = np.sqrt(lengths[kept])
    return Turned(ways[:, kept] * root, lambda rows: ((rows / root) @ ways[:, kept].T) @ grams)


def _narrow(elements: np.ndarray, none: int) -> np.ndarray:
    """The elements in as few columns as any candidate needs: where only shared elements are fitted, these are few."""
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
    """The sum of losses over questions, with its gradients by ``dense`` and by ``said``.

    Args:
        starts: the first candidate of each question.
        said: what the n-grams of each segment say for each element, shape (segments, rows).
    """
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
    """A scipy CSR matrix from the columns of each row; ``values`` has the values of all of these, row by row."""
    from scipy.sparse import csr_matrix

    ends = np.cumsum([0, *(len(row) for row in columns)])
    flat = np.concatenate([np.zeros(0), *columns]).astype(np.int64)
    return csr_matrix((values, flat, ends), shape=(len(columns), width))
