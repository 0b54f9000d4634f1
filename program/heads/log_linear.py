"""Log-linear models that choose among a few candidates for each row, with named features (traits).

Berger, Della Pietra and Della Pietra 1996.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, diags_array, hstack

STEPS = 150
Traits = Sequence[tuple[str, float]]
"""Features (traits) of a choice by name, each with its value."""


def fitted(
    traits: Sequence[Sequence[Traits]],
    merit: Sequence[np.ndarray],
    sharpness: float,
    least: int,
    ridge: float,
    own: Sequence[bool] | None = None,
) -> dict[str, float]:
    """The maximum a posteriori weight of each trait, by name.

    With rows of other domains beside one's own, a weight is the sum of one that all rows share and one for the domain's
    own rows, each under the same ridge (Daumé III 2007). So what holds everywhere is learned from all rows, and what
    differs from the domain's own.

    Args:
        traits: features of each choice of each row.
        merit: how good each choice is, one array for each row, shape (choices,).
        sharpness: how strongly the target prefers merit: a choice of merit 1 has e ** sharpness times the target
            probability of one of merit 0.
        least: number of rows that must have a trait for it to get a weight.
        ridge: penalty on the weights' squares, relative to the mean loss of a row.
        own: which rows are the domain's own; by default all.
    """
    having = Counter(name for row in traits for name in {name for choice in row for name, _ in choice})
    names = sorted(name for name, rows in having.items() if rows >= least)
    parts = 1 if own is None or all(own) else 2
    matrix: csr_array = _matrix(traits, {name: column for column, name in enumerate(names)})
    if own is not None and parts > 1:
        mine = np.repeat(np.array(own, dtype=float), [len(row) for row in merit])
        matrix = csr_array(hstack([matrix, diags_array(mine) @ matrix]))
    ends = np.cumsum([0, *(len(row) for row in merit)])
    liked = np.concatenate([_softmax(sharpness * row) for row in merit])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        chances = _by_row(matrix @ weights, ends)
        lost = -float(liked @ np.log(chances + 1e-12)) / len(merit)
        slope = matrix.T @ (chances - liked) / len(merit)
        return lost + ridge / 2 * float(weights @ weights), slope + ridge * weights

    found = minimize(loss, np.zeros(parts * len(names)), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    summed = found.x.reshape(parts, len(names)).sum(axis=0)
    halved = summed.astype(np.float16).astype(float)  # rounded as when saved, so that a loaded model says the same
    return {name: weight for name, weight in zip(names, halved.tolist(), strict=True) if weight}


def _matrix(traits: Sequence[Sequence[Traits]], columns: dict[str, int]) -> csr_array:
    places, sizes, starts = [], [], [0]
    for row in traits:
        for choice in row:
            known = [(columns[name], size) for name, size in choice if name in columns]
            places += [place for place, _ in known]
            sizes += [size for _, size in known]
            starts.append(len(places))
    shape = (len(starts) - 1, len(columns))
    return csr_array((np.array(sizes), np.array(places), np.array(starts)), shape=shape)


def _softmax(scores: np.ndarray) -> np.ndarray:
    shifted = np.exp(scores - scores.max())
    return shifted / shifted.sum()


def _by_row(scores: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Softmax within each row's choices."""
    starts, sizes = ends[:-1], np.diff(ends)
    shifted = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
    return shifted / np.repeat(np.add.reduceat(shifted, starts), sizes)
