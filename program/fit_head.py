"""Fitting one head: kernels, ridge and scale chosen on rows left out of their own fit.

Folds are grouped by conversation, so that turns of one conversation never judge each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from .features import Seen
from .heads import Head, softmax
from .ngrams import COLUMNS, FRAME_COLUMNS, as_matrix

FOLDS = 5
WIDTHS = (0.5, 1.0)
RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SHARES = ((0.0, 0.0), (0.5, 0.0), (0.8, 0.0), (0.25, 0.25), (0.35, 0.35), (0.45, 0.45))
"""Of the linear kernels on n-grams and on frames; the RBF kernel has the rest."""
SCALES = tuple(float(s) for s in np.geomspace(0.5, 40.0, 24))
MIN_ROWS = 10


@dataclass(frozen=True)
class Choice:
    """A setting, its log loss on left-out rows, and their scores."""

    loss: float
    shares: tuple[float, float]
    width: float
    ridge: float
    scale: float
    scores: np.ndarray


class Fitted(NamedTuple):
    """A head, and the probabilities of its training rows by fits without their fold, shape (rows, labels)."""

    head: Head
    left_out: np.ndarray


def fit_head(
    name: str, seen: Sequence[Seen], labels: Sequence[str], groups: Sequence[str], seed: int = 0
) -> Head | None:
    """A head trained on these rows, see ``fit_and_leave_out``."""
    fitted = fit_and_leave_out(name, seen, labels, groups, seed)
    return fitted.head if fitted else None


def fit_and_leave_out(
    name: str,
    seen: Sequence[Seen],
    labels: Sequence[str],
    groups: Sequence[str],
    seed: int = 0,
    shares: Sequence[tuple[float, float]] = SHARES,
) -> Fitted | None:
    """A head trained on these rows; None where they have fewer than two labels or ten rows.

    Args:
        seen: features of each row.
        labels: one a row.
        groups: conversation of each row; rows of one group are never in different folds.
        shares: of the linear kernels, to choose from.
    """
    classes = tuple(sorted(set(labels)))
    if len(classes) < 2 or len(labels) < MIN_ROWS:
        return None
    target = np.array([[float(label == c) for c in classes] for label in labels])
    dense = np.stack([row.dense for row in seen]).astype(np.float64)
    grams = as_matrix([row.grams for row in seen])
    # One thread is as fast on an idle machine, and 15 times faster where a language model has the cores.
    with threadpool_limits(limits=1, user_api="blas"):
        similar = tuple((part @ part.T).astype(np.float64) for part in (grams[:, :COLUMNS], grams[:, COLUMNS:]))
        best = min(_choices(dense, similar, target, folds_of(groups, seed), shares), key=lambda choice: choice.loss)
        dual = solve(_mixed(rbf(dense, best.width), similar, best.shares), target, best.ridge)
    head = Head(
        name=name,
        labels=classes,
        support=dense.astype(np.float16),
        dual=((1 - sum(best.shares)) * dual).astype(np.float32),
        linear=(np.repeat(best.shares, (COLUMNS, FRAME_COLUMNS))[:, None] * (grams.T @ dual)).astype(np.float16),
        width=best.width,
        scale=best.scale,
    )
    return Fitted(head, softmax(best.scale * best.scores))


def _choices(
    dense: np.ndarray,
    similar: Sequence[np.ndarray],
    target: np.ndarray,
    folds: np.ndarray,
    every: Sequence[tuple[float, float]],
) -> list[Choice]:
    """Every setting with its loss."""
    found = []
    for width in WIDTHS:
        near = rbf(dense, width)
        for shares in every:
            kernel = _mixed(near, similar, shares)
            for ridge, scores in _left_out(kernel, target, folds).items():
                loss, scale = min((log_loss(softmax(s * scores), target), s) for s in SCALES)
                found.append(Choice(loss, shares, width, ridge, scale, scores))
    return found


def _left_out(kernel: np.ndarray, target: np.ndarray, folds: np.ndarray) -> dict[float, np.ndarray]:
    """Scores of rows by a fit without their fold, for each ridge.

    A fold's errors without it are its coefficients in the whole fit times the inverse of its block of the
    inverted kernel (Rifkin and Lippert, "Notes on regularized least squares", 2007, for folds of one), so one
    eigendecomposition serves every fold and ridge; five, of the rows kept, took three times as long.
    """
    # Single precision halves the time and changes no choice; the final fit is in double.
    values, vectors = np.linalg.eigh(kernel.astype(np.float32))
    vectors, seen = vectors.astype(np.float64), vectors.T @ target
    blocks = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    return {
        ridge: _without_block(1 / (np.maximum(values, 0.0) + ridge), vectors, seen, target, blocks) for ridge in RIDGES
    }


def _without_block(
    inverse: np.ndarray, vectors: np.ndarray, seen: np.ndarray, target: np.ndarray, blocks: Sequence[np.ndarray]
) -> np.ndarray:
    scores = np.empty_like(target)
    for rows in blocks:
        weighed = vectors[rows] * inverse
        scores[rows] = target[rows] - np.linalg.solve(weighed @ vectors[rows].T, weighed @ seen)
    return scores


def _mixed(near: np.ndarray, similar: Sequence[np.ndarray], shares: Sequence[float]) -> np.ndarray:
    return (1 - sum(shares)) * near + sum(share * part for share, part in zip(shares, similar, strict=True) if share)


def solve(kernel: np.ndarray, target: np.ndarray, ridge: float) -> np.ndarray:
    """Coefficients of kernel ridge regression."""
    return np.linalg.solve(kernel + ridge * np.eye(len(kernel)), target)


def rbf(dense: np.ndarray, width: float) -> np.ndarray:
    """The RBF kernel of rows with each other."""
    squares = (dense**2).sum(axis=1)
    return np.exp(-width * np.maximum(squares[:, None] + squares[None] - 2 * dense @ dense.T, 0.0))


def log_loss(probabilities: np.ndarray, target: np.ndarray) -> float:
    """Mean negative log-probability of the right label."""
    return float(-np.log(np.clip((probabilities * target).sum(axis=1), 1e-9, 1)).mean())


def folds_of(groups: Sequence[str], seed: int) -> np.ndarray:
    """Fold of each row; whole groups together."""
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    place = {names[g]: int(i) % FOLDS for i, g in enumerate(order)}
    return np.array([place[g] for g in groups])
