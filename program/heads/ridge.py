"""Kernel ridge regression with closed-form predictions for left-out folds, for many targets and ridges at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ROUNDS = 3
"""Rounds of refinement: the coefficients of 5,000 rows are then those of double precision up to their 12th digit."""
FEW_RIDGES = 2
CHUNK = 512
OFTEN = 0.02
"""The share of rows from which a column is multiplied as a dense one; 0.05 takes a seventh longer, 0.01 a third."""
Part = tuple[np.ndarray, np.ndarray]
"""The numbers of a fold's rows, and their diagonal block of the inverted kernel (with its ridge)."""


class LeftOut(NamedTuple):
    """What a fit gives for its own training rows.

    Attributes:
        rows: numbers of the rows that were judged, ascending.
        scores: their scores by fits without their fold, shape (judged rows, labels).
        dual: the coefficients of the fit with all rows, shape (n, labels).
    """

    rows: np.ndarray
    scores: np.ndarray
    dual: np.ndarray


class Solved:
    """A kernel of rows, decomposed or inverted once and used for every target that is fitted to it.

    Args:
        kernel: shape (n, n), symmetric, in single precision, which halves time and memory: its errors lie far below any
            ridge that is tried. What is solved with it is refined in double precision.
        folds: the fold of each row, shape (n,).
    """

    def __init__(self, kernel: np.ndarray, folds: np.ndarray) -> None:
        self._kernel = kernel
        self._blocks = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        self._inverses: dict[float, tuple[np.ndarray, list[Part]]] = {}
        self._factors: dict[float, np.ndarray] = {}

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = np.linalg.eigh(self._kernel)
        return np.maximum(values, 0.0), vectors.astype(np.float64)

    def left_out(self, target: np.ndarray, ridges: Sequence[float], *, every: bool = True) -> dict[float, LeftOut]:
        """For each ridge, the scores of rows by fits without their fold, and the coefficients of the fit with all.

        The errors of a fold by a fit without it are its coefficients in the whole fit times the inverse of its block of
        the inverted kernel (Rifkin and Lippert, "Notes on regularized least squares", 2007, for folds of one). So one
        eigendecomposition serves every fold and ridge; one for each of five folds took three times as long. For each
        of few ridges, inverting takes a quarter of the time, and judging one fold alone a third of that.

        Args:
            target: shape (n, labels).
            every: whether the rows of every fold are judged, or with few ridges those of one fold alone.
        """
        if len(ridges) <= FEW_RIDGES:
            self._inverses = {ridge: one for ridge, one in self._inverses.items() if ridge in ridges}
            self._factors = {ridge: one for ridge, one in self._factors.items() if ridge in ridges}
            return {ridge: (self._by_inverse if every else self._by_factor)(target, ridge) for ridge in ridges}
        values, vectors = self._spectrum
        seen, found = vectors.T @ target, {}
        for ridge in ridges:
            weighed = vectors / (values + ridge)
            parts = [(rows, weighed[rows] @ vectors[rows].T) for rows in self._blocks]
            dual = weighed @ seen
            found[ridge] = LeftOut(np.arange(len(target)), _without_blocks(parts, dual, target), dual)
        return found

    def _by_inverse(self, target: np.ndarray, ridge: float) -> LeftOut:
        if ridge not in self._inverses:
            inverse = _inverted(factor_of(self._kernel.copy(), ridge))
            columns = ((rows, inverse[:, rows]) for rows in self._blocks)
            self._inverses[ridge] = inverse, [(rows, some.T @ some) for rows, some in columns]
        inverse, parts = self._inverses[ridge]
        dual = _refined(self._kernel, ridge, lambda left: inverse.T @ (inverse @ left), target)
        return LeftOut(np.arange(len(target)), _without_blocks(parts, dual, target), dual)

    def _by_factor(self, target: np.ndarray, ridge: float) -> LeftOut:
        """With the rows of the judged fold last, their block of the factor has all that judging them needs."""
        from scipy.linalg import cho_solve

        rows = self._blocks[0]
        others = np.setdiff1d(np.arange(len(target)), rows)
        order = np.concatenate([others, rows])
        if ridge not in self._factors:
            self._factors[ridge] = factor_of(self._kernel[np.ix_(order, order)], ridge)
        factor = self._factors[ridge]

        def solve(left: np.ndarray) -> np.ndarray:
            found = np.empty_like(left)
            found[order] = cho_solve((factor, True), left[order], check_finite=False)
            return found

        dual = _refined(self._kernel, ridge, solve, target)
        block = factor[len(others) :, len(others) :].astype(np.float64)
        errors = block @ (block.T @ dual[rows]) if len(others) else target
        return LeftOut(rows, target[rows] - errors, dual)


def rbf(dense: np.ndarray, width: float) -> np.ndarray:
    """The RBF kernel of rows with each other, shape (n, n)."""
    return kernel(dense, dense, width)


def kernel(some: np.ndarray, others: np.ndarray, width: float) -> np.ndarray:
    """The RBF kernel of rows with others, shape (rows, others)."""
    # Half of the time went into memory for what stands between the steps, so all are made in one place.
    found = some @ others.T
    found *= 2
    found -= (some**2).sum(axis=1)[:, None]
    found -= (others**2).sum(axis=1)
    np.minimum(found, 0.0, out=found)
    found *= width
    return np.exp(found, out=found)


def linear(rows: csr_array) -> np.ndarray:
    """The linear kernel of sparse rows with each other, shape (n, n), in single precision.

    Columns that many rows have are multiplied as a dense matrix, the rest as a sparse one, some rows at a time: a sixth
    of the time of all columns as a sparse one.
    """
    from scipy.sparse import csc_array

    columns = csc_array(rows, dtype=np.float32)
    often = np.diff(columns.indptr) > OFTEN * (len(rows.indptr) - 1)
    dense, rare = columns[:, np.flatnonzero(often)].toarray(), columns[:, np.flatnonzero(~often)].tocsr()
    products = dense @ dense.T
    others = rare.T.tocsr()
    for start in range(0, len(products), CHUNK):
        products[start : start + CHUNK] += (rare[start : start + CHUNK] @ others).toarray()
    return products


def _without_blocks(parts: Sequence[Part], dual: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The scores of each fold by a fit without it, from the folds' blocks of the inverted kernel.

    With a single fold there is nothing left to fit, and all scores are 0.
    """
    if len(parts) == 1:
        return np.zeros_like(target)
    scores = np.empty_like(target)
    for rows, block in parts:
        scores[rows] = target[rows] - np.linalg.solve(block, dual[rows])
    return scores


def _refined(
    kernel: np.ndarray, ridge: float, solve: Callable[[np.ndarray], np.ndarray], target: np.ndarray
) -> np.ndarray:
    """The coefficients of a kernel ridge regression in double precision; ``solve`` finds them in single.

    Each round solves for what the rounds before left over (Wilkinson, "Rounding Errors in Algebraic Processes", 1963).
    """
    dual, left = np.zeros(target.shape), target
    for done in range(1, ROUNDS + 1):
        dual = dual + solve(left.astype(kernel.dtype))
        if done < ROUNDS:
            left = target - ridge * dual - times(kernel, dual)
    return dual


def times(kernel: np.ndarray, some: np.ndarray) -> np.ndarray:
    """The product of a kernel in single precision with columns in double, computed in double a few rows at a time."""
    starts = range(0, len(kernel), CHUNK)
    return np.concatenate([kernel[start : start + CHUNK].astype(np.float64) @ some for start in starts])


def factor_of(kernel: np.ndarray, ridge: float) -> np.ndarray:
    """The lower Cholesky factor of a symmetric kernel with a ridge, in the kernel's memory.

    Raises:
        numpy.linalg.LinAlgError: the kernel with its ridge is not positive definite.
    """
    from scipy.linalg.lapack import get_lapack_funcs

    # The transpose of a symmetric matrix is itself, and is already in LAPACK's column order, without a slow copy.
    matrix = np.asfortranarray(kernel.T)
    matrix[np.diag_indices(len(matrix))] += ridge
    (factorise,) = get_lapack_funcs(("potrf",), (matrix,))
    factor, failed = factorise(matrix, lower=True, clean=True, overwrite_a=True)
    if failed:
        raise np.linalg.LinAlgError("the kernel of the training rows is not positive definite")
    return factor


def _inverted(factor: np.ndarray) -> np.ndarray:
    """The inverse W of a Cholesky factor, in its place: W^T W is the inverse of the kernel with its ridge.

    The blocks of five folds are products of some of its columns, a fifth of the work of all of W^T W.
    """
    from scipy.linalg.lapack import get_lapack_funcs

    (invert,) = get_lapack_funcs(("trtri",), (factor,))
    inverse, failed = invert(factor, lower=True, overwrite_c=True)
    if failed:
        raise np.linalg.LinAlgError("the kernel of the training rows is not positive definite")
    return inverse
