"""Fitting one head: kernels, ridge and scale chosen on rows left out of their own fit.

Folds are grouped by conversation, so that turns of one conversation never judge each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from .features import Seen
from .heads import Head, softmax
from .ngrams import as_matrix

FOLDS = 5
WIDTHS = (0.5, 1.0)
RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0)
LINEAR_SHARES = (0.0, 0.5, 0.7, 0.9)
SCALES = tuple(float(s) for s in np.geomspace(0.5, 40.0, 24))
MIN_ROWS = 10


@dataclass(frozen=True)
class Choice:
    """A setting and its log loss on left-out rows."""

    loss: float
    share: float
    width: float
    ridge: float
    scale: float


def fit_head(
    name: str, seen: Sequence[Seen], labels: Sequence[str], groups: Sequence[str], seed: int = 0
) -> Head | None:
    """A head trained on these rows; None where they have fewer than two labels or ten rows.

    Args:
        seen: features of each row.
        labels: one a row.
        groups: conversation of each row; rows of one group are never in different folds.
    """
    classes = tuple(sorted(set(labels)))
    if len(classes) < 2 or len(labels) < MIN_ROWS:
        return None
    target = np.array([[float(label == c) for c in classes] for label in labels])
    dense = np.stack([row.dense for row in seen]).astype(np.float64)
    grams = as_matrix([row.grams for row in seen])
    # One thread is as fast on an idle machine, and 15 times faster where a language model has the cores.
    with threadpool_limits(limits=1, user_api="blas"):
        similar = (grams @ grams.T).astype(np.float64)
        best = min(_choices(dense, similar, target, folds_of(groups, seed)), key=lambda choice: choice.loss)
        kernel = _mixed(rbf(dense, best.width), similar, best.share)
        dual = solve(kernel, target, best.ridge)
    return Head(
        name=name,
        labels=classes,
        support=dense.astype(np.float16),
        dual=((1 - best.share) * dual).astype(np.float32),
        linear=(best.share * (grams.T @ dual)).astype(np.float16),
        width=best.width,
        scale=best.scale,
    )


def _choices(dense: np.ndarray, similar: np.ndarray, target: np.ndarray, folds: np.ndarray) -> list[Choice]:
    """Every setting with its loss; one eigendecomposition a fold and kernel serves all ridges."""
    found = []
    for width in WIDTHS:
        near = rbf(dense, width)
        for share in LINEAR_SHARES:
            kernel = _mixed(near, similar, share)
            for ridge, scores in _left_out(kernel, target, folds).items():
                loss, scale = min((log_loss(softmax(s * scores), target), s) for s in SCALES)
                found.append(Choice(loss, share, width, ridge, scale))
    return found


def _left_out(kernel: np.ndarray, target: np.ndarray, folds: np.ndarray) -> dict[float, np.ndarray]:
    """Scores of rows by a fit without their fold, for each ridge."""
    scores = {ridge: np.zeros_like(target) for ridge in RIDGES}
    for fold in range(FOLDS):
        held, kept = folds == fold, folds != fold
        if not held.any() or not kept.any():
            continue
        # Single precision halves the time and changes no choice; the final fit is in double.
        values, vectors = np.linalg.eigh(kernel[np.ix_(kept, kept)].astype(np.float32))
        inner, across = vectors.T @ target[kept], kernel[np.ix_(held, kept)] @ vectors
        for ridge in RIDGES:
            scores[ridge][held] = across @ (inner / (np.maximum(values, 0.0) + ridge)[:, None])
    return scores


def _mixed(near: np.ndarray, similar: np.ndarray, share: float) -> np.ndarray:
    return (1 - share) * near + share * similar


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
