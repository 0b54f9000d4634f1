"""Fitting one head: kernels, ridge and scale chosen on rows left out of their own fit.

Folds are grouped by conversation, so that turns of one conversation never judge each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from .features import Seen
from .heads import Head, against_first, softmax
from .ngrams import COLUMNS, FRAME_COLUMNS, as_matrix

FOLDS = 5
PARTS = (COLUMNS, FRAME_COLUMNS)
WIDTH = 1.0
"""Gamma of the RBF kernel; a half, 0.7 and 1.5 were within a hundredth in log loss, and one is half of the work."""
RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SHARES = ((0.0, 0.0), (0.5, 0.0), (0.8, 0.0), (0.25, 0.25), (0.35, 0.35), (0.45, 0.45))
"""Of the linear kernels on the parts of a row, n-grams and frames; the RBF kernel has the rest."""
SCALES = tuple(float(s) for s in np.geomspace(0.5, 40.0, 24))
SHIFTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""What is tried as a head start of the labels that rows which were made up do not have."""
MADE_WEIGHT = 0.6
MIN_ROWS = 10
TINY = 1e-6
SEARCHED = 600
"""Of more rows so many choose the kernels; the work grows with the cube of their number."""
RIDGED = 1200
"""Of more rows so many choose the ridge. The scale is chosen by all."""


@dataclass(frozen=True)
class Choice:
    """A setting, its log loss on left-out rows, their scores, which the shift is not added to, and coefficients."""

    loss: float
    shares: Sequence[float]
    ridge: float
    scale: float
    shift: float
    scores: np.ndarray
    dual: np.ndarray


class Lessons(NamedTuple):
    """What a head learns from, a row a query.

    Attributes:
        dense: dense features, shape (n, d).
        similar: the kernel of each part of the n-grams, shape (n, n).
        target: one-hot labels, shape (n, labels).
        roots: of the weights of rows, shape (n, 1); below one where a row was made up.
        folds: of each row.
    """

    dense: np.ndarray
    similar: tuple[np.ndarray, ...]
    target: np.ndarray
    roots: np.ndarray
    folds: np.ndarray

    def some(self, rows: np.ndarray) -> Lessons:
        """Those of these rows."""
        similar = tuple(kernel[np.ix_(rows, rows)] for kernel in self.similar)
        return Lessons(self.dense[rows], similar, self.target[rows], self.roots[rows], self.folds[rows])

    def kernel(self, near: np.ndarray, shares: Sequence[float]) -> np.ndarray:
        """The mixed kernel times the roots."""
        return _mixed(near, self.similar, shares) * self.roots * self.roots.T


class Fitted(NamedTuple):
    """A head, and what is known of it from its fit.

    Attributes:
        head: the head.
        left_out: probabilities of its true training rows by fits without their fold, shape (rows, labels).
        penalty: of the RBF part's size beside its squared mistakes: the ridge over that kernel's share.
        weights: of the rows that it learned from, in the order of its support vectors.
        shares, ridge: that were chosen, for heads that learn much the same.
    """

    head: Head
    left_out: np.ndarray
    penalty: float = 1.0
    weights: np.ndarray | None = None
    shares: Sequence[float] = ()
    ridge: float = 0.0


def fit_head(
    name: str,
    seen: Sequence[Seen],
    labels: Sequence[str],
    groups: Sequence[str],
    seed: int = 0,
    shares: Sequence[Sequence[float]] = SHARES,
    parts: Sequence[int] = PARTS,
) -> Head | None:
    """A head trained on these rows, see ``fit_and_leave_out``."""
    fitted = fit_and_leave_out(name, seen, labels, groups, seed, shares, parts=parts)
    return fitted.head if fitted else None


def fit_and_leave_out(
    name: str,
    seen: Sequence[Seen],
    labels: Sequence[str],
    groups: Sequence[str],
    seed: int = 0,
    shares: Sequence[Sequence[float]] = SHARES,
    made: int = 0,
    parts: Sequence[int] = PARTS,
    ridges: Sequence[float] = RIDGES,
) -> Fitted | None:
    """A head trained on these rows; None where they have fewer than two labels or ten rows.

    Args:
        seen: features of each row.
        labels: one a row.
        groups: conversation of each row; rows of one group are never in different folds.
        shares: of the linear kernels, to choose from.
        made: how many of the last rows were made up: they teach with less weight, and no setting is judged by them.
        parts: columns of each part of a row, a linear kernel each.
        ridges: to choose from.
    """
    classes = tuple(sorted(set(labels)))
    if len(classes) < 2 or len(labels) < MIN_ROWS:
        return None
    target = np.array([[float(label == c) for c in classes] for label in labels])
    dense = np.stack([row.dense for row in seen]).astype(np.float64)
    grams = as_matrix([row.grams for row in seen], sum(parts))
    # One thread is as fast on an idle machine, and 15 times faster where a language model has the cores. Only
    # libraries that are there already are limited, and scipy has a BLAS of its own.
    import scipy.linalg  # noqa: F401

    with threadpool_limits(limits=1, user_api="blas"):
        ends = [0, *np.cumsum(parts).tolist()]
        similar = tuple((part @ part.T).toarray() for part in (grams[:, a:b] for a, b in pairwise(ends)))
        # Ridge regression with weights is that without, of rows of kernel and target times their roots.
        roots = np.where(np.arange(len(labels)) < len(labels) - made, 1.0, MADE_WEIGHT**0.5)[:, None]
        lessons = Lessons(dense, similar, target, roots, folds_of(groups, seed))
        best = _best(lessons, groups, shares, ridges, seed)
        dual = roots * best.dual
    start = best.scale * best.shift * _unmade(target, roots)
    head = Head(
        name=name,
        labels=classes,
        support=dense.astype(np.float16),
        dual=((1 - sum(best.shares)) * against_first(dual)).astype(np.float32),
        linear=(np.repeat(best.shares, parts)[:, None] * (grams.T @ against_first(dual))).astype(np.float16),
        width=WIDTH,
        scale=best.scale,
        bias=tuple(start.tolist()) if made else (),
    )
    penalty = best.ridge / max(1 - sum(best.shares), TINY)
    left_out = softmax(best.scale * best.scores + start)
    return Fitted(head, left_out, penalty, roots[:, 0] ** 2, best.shares, best.ridge)


def _best(
    lessons: Lessons, groups: Sequence[str], shares: Sequence[Sequence[float]], ridges: Sequence[float], seed: int
) -> Choice:
    """The setting of least loss; of many rows, those of some conversations choose the kernels, and more the ridge."""
    if len(shares) == len(ridges) == 1:
        return _choices(lessons, shares, ridges)[0]
    best = min(_choices(lessons.some(_some(groups, seed, SEARCHED)), shares, ridges), key=_loss)
    if len(groups) > SEARCHED:
        best = min(_choices(lessons.some(_some(groups, seed, RIDGED)), [best.shares], ridges), key=_loss)
    return _choices(lessons, [best.shares], [best.ridge])[0]


def _some(groups: Sequence[str], seed: int, enough: int) -> np.ndarray:
    """Rows of conversations drawn until they are enough, in order."""
    names = sorted(set(groups))
    drawn = {names[i]: place for place, i in enumerate(np.random.default_rng(seed).permutation(len(names)))}
    places = np.array([drawn[group] for group in groups])
    return np.flatnonzero(places <= np.sort(places)[min(enough, len(places)) - 1])


def _choices(lessons: Lessons, every: Sequence[Sequence[float]], ridges: Sequence[float]) -> list[Choice]:
    """Every setting with its loss on the true rows."""
    found = []
    target, true = lessons.target, lessons.roots[:, 0] == 1.0
    shifts, unmade = (SHIFTS, _unmade(target, lessons.roots)) if not true.all() else ((0.0,), 0.0)
    near = rbf(lessons.dense, WIDTH)
    for shares in every:
        left_out = _left_out(lessons.kernel(near, shares), lessons.roots * target, lessons.folds, ridges)
        for ridge, (weighed, dual) in left_out.items():
            scores = weighed[true]
            loss, scale, shift = min(
                (log_loss(softmax(s * (scores + shift * unmade)), target[true]), s, shift)
                for shift in shifts
                for s in SCALES
            )
            found.append(Choice(loss, shares, ridge, scale, shift, scores, dual))
    return found


def _loss(choice: Choice) -> float:
    return choice.loss


def _unmade(target: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """One for the labels that no row which was made up has, else nought."""
    return 1.0 - target[roots[:, 0] < 1.0].max(axis=0, initial=0.0)


LeftOut = tuple[np.ndarray, np.ndarray]
"""Scores of rows by a fit without their fold, and the coefficients of the fit with all."""


def _left_out(
    kernel: np.ndarray, target: np.ndarray, folds: np.ndarray, ridges: Sequence[float]
) -> dict[float, LeftOut]:
    """Scores of rows by a fit without their fold, for each ridge.

    A fold's errors without it are its coefficients in the whole fit times the inverse of its block of the
    inverted kernel (Rifkin and Lippert, "Notes on regularized least squares", 2007, for folds of one), so one
    eigendecomposition serves every fold and ridge; five, of the rows kept, took three times as long. For one ridge
    the inverse itself takes a quarter of the time.
    """
    blocks = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    if len(ridges) == 1:
        inverse = inverted(kernel + ridges[0] * np.eye(len(kernel)))
        dual = inverse @ target
        parts = [(rows, inverse[np.ix_(rows, rows)]) for rows in blocks]
        return {ridges[0]: (_without_blocks(parts, dual, target), dual)}
    # Single precision halves the time and changes no choice; the final fit is in double.
    values, vectors = np.linalg.eigh(kernel.astype(np.float32))
    vectors, seen = vectors.astype(np.float64), vectors.T @ target
    found = {}
    for ridge in ridges:
        weighed = vectors / (np.maximum(values, 0.0) + ridge)
        parts = [(rows, weighed[rows] @ vectors[rows].T) for rows in blocks]
        dual = weighed @ seen
        found[ridge] = (_without_blocks(parts, dual, target), dual)
    return found


def _without_blocks(parts: Sequence[tuple[np.ndarray, np.ndarray]], dual: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Scores of each fold by a fit without it, from the folds' blocks of the inverted kernel."""
    scores = np.empty_like(target)
    for rows, block in parts:
        scores[rows] = target[rows] - np.linalg.solve(block, dual[rows])
    return scores


def inverted(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a positive definite matrix, by Cholesky: half of the work of a general one."""
    from scipy.linalg.lapack import get_lapack_funcs

    factorise, invert = get_lapack_funcs(("potrf", "potri"), (matrix,))
    factor, failed = factorise(matrix, lower=True)
    inverse, failed = invert(factor, lower=True) if not failed else (factor, failed)
    if failed:
        raise np.linalg.LinAlgError("the kernel of the training rows is not positive definite")
    return np.tril(inverse) + np.tril(inverse, -1).T


def _mixed(near: np.ndarray, similar: Sequence[np.ndarray], shares: Sequence[float]) -> np.ndarray:
    return (1 - sum(shares)) * near + sum(share * part for share, part in zip(shares, similar, strict=True) if share)


def rbf(dense: np.ndarray, width: float) -> np.ndarray:
    """The RBF kernel of rows with each other."""
    return kernel(dense, dense, width)


def kernel(some: np.ndarray, others: np.ndarray, width: float) -> np.ndarray:
    """The RBF kernel of rows with others, shape (rows, others)."""
    squares = (some**2).sum(axis=1)[:, None] + (others**2).sum(axis=1)
    return np.exp(-width * np.maximum(squares - 2 * some @ others.T, 0.0))


def log_loss(probabilities: np.ndarray, target: np.ndarray) -> float:
    """Mean negative log-probability of the right label."""
    return float(-np.log(np.clip((probabilities * target).sum(axis=1), 1e-9, 1)).mean())


def folds_of(groups: Sequence[str], seed: int) -> np.ndarray:
    """Fold of each row; whole groups together."""
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    place = {names[g]: int(i) % FOLDS for i, g in enumerate(order)}
    return np.array([place[g] for g in groups])
