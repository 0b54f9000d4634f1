"""Fits on ``dev`` how the label probabilities of a model and of a head are combined.

For each output two ways are compared by grouped cross-validation: the head as it is, and both combined. The model gets
a weight only if it improves held-out conversations; otherwise the head decides and the model is not asked. A head alone
is not fitted again: it was calibrated on many more rows, and the bias fitted on the podcast's 68 later turns of ``dev``
undid what these had taught.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..eval.significance import standard_error
from ..program.settle import FLOOR, Combination, head_alone
from .thresholds import grouped_folds

MIN_ROWS = 20
PENALTY = 2.0
# The prior mean of both weights: model and head count the same.
START = 0.5


@dataclass(frozen=True)
class Opinions:
    """Model's and head's probabilities for one output on some rows.

    Attributes:
        lm: the model's probabilities, shape (rows, labels).
        head: the head's probabilities, same shape.
        gold: index of the right label of each row.
        groups: conversation of each row.
    """

    output: str
    labels: tuple[str, ...]
    lm: np.ndarray
    head: np.ndarray
    gold: np.ndarray
    groups: tuple[str, ...]


@dataclass(frozen=True)
class FittedCombination:
    """The combination chosen for one output, and the held-out scores it was chosen by.

    ``accuracy`` and ``loss`` (mean log loss) have one value each for ``head``, ``lm`` (scaled, for the record) and
    ``both``.
    """

    output: str
    combination: Combination
    accuracy: dict[str, float]
    loss: dict[str, float]
    rows: int

    @property
    def sentence(self) -> str:
        """The choice as a sentence for the report."""
        who = "model and head weighed" if self.combination.lm_weight else "the head alone, the model does not beat it"
        shown = ", ".join(f"{name} {value:.3f}" for name, value in self.accuracy.items())
        return f"{self.output}: {who} (held-out dev accuracy {shown}; {self.rows} rows)"


class _Held(NamedTuple):
    """For each held-out row, whether its label was right, and its log loss; shape (rows,) each."""

    right: np.ndarray
    losses: np.ndarray


READINGS = {"lm": (True, False), "both": (True, True)}
HEAD = (False, True)


def fit_combination(opinions: Opinions, seed: int = 0) -> FittedCombination | None:
    """The combination that is better on held-out conversations; None if there are too few rows or conversations."""
    if len(opinions.gold) < MIN_ROWS or len(set(opinions.groups)) < 5:
        return None
    folds = grouped_folds(opinions.groups, seed)
    held = {"head": _as_it_is(opinions)} | {name: _held_out(opinions, folds, use) for name, use in READINGS.items()}
    # Both have fitted biases; what the head alone would gain by such biases is not the model's merit.
    heads = min(held["head"], _held_out(opinions, folds, HEAD), key=lambda one: one.losses.mean())
    return FittedCombination(
        opinions.output,
        _pooled(opinions) if _clearly_better(held["both"], heads, opinions.groups) else head_alone(opinions.labels),
        {name: float(one.right.mean()) for name, one in held.items()},
        {name: float(one.losses.mean()) for name, one in held.items()},
        len(opinions.gold),
    )


def _clearly_better(one: _Held, other: _Held, groups: Sequence[str]) -> bool:
    """Whether the log loss is lower by more than a standard error (Breiman et al., 1984), as a model costs seconds.

    The error is over conversations, ``groups``, since rows of one conversation are not independent.
    """
    gained = other.losses - one.losses
    return float(gained.mean()) > standard_error(gained, groups)


def _pooled(opinions: Opinions) -> Combination:
    lm, head, *bias = _fit(opinions, np.arange(len(opinions.gold)), READINGS["both"]).round(6).tolist()
    return Combination(lm_weight=lm, head_weight=head, bias=dict(zip(opinions.labels, bias, strict=True)))


def _as_it_is(opinions: Opinions) -> _Held:
    said = opinions.head[np.arange(len(opinions.gold)), opinions.gold]
    return _Held(opinions.head.argmax(axis=1) == opinions.gold, -np.log(np.clip(said, FLOOR, 1.0)))


def _held_out(opinions: Opinions, folds: Sequence[np.ndarray], use: tuple[bool, bool]) -> _Held:
    """Cross-validated scores: the weights for each fold are fitted on the other folds."""
    everything = np.arange(len(opinions.gold))
    losses, right = np.zeros(len(opinions.gold)), np.zeros(len(opinions.gold), dtype=bool)
    for fold in folds:
        weights = _fit(opinions, np.setdiff1d(everything, fold), use)
        scores = _log_probabilities(opinions, fold, weights)
        losses[fold] = -scores[np.arange(len(fold)), opinions.gold[fold]]
        right[fold] = scores.argmax(axis=1) == opinions.gold[fold]
    return _Held(right, losses)


def _fit(opinions: Opinions, rows: np.ndarray, use: tuple[bool, bool]) -> np.ndarray:
    """Fit the weights of model and head and a bias for each label, with a normal prior on all of them.

    Returns them in this order, shape (2 + labels,). ``use`` says whether the model and the head may have a weight.
    """
    from scipy.optimize import minimize

    gold = opinions.gold[rows]

    def loss(weights: np.ndarray) -> float:
        scores = _log_probabilities(opinions, rows, weights)
        prior = PENALTY / 2 * (((weights[:2] - START) ** 2).sum() + (weights[2:] ** 2).sum())
        return float(-scores[np.arange(len(rows)), gold].sum() + prior)

    bounds = [(0.0, 5.0) if used else (0.0, 0.0) for used in use] + [(-6.0, 6.0)] * len(opinions.labels)
    start = np.array([START * use[0], START * use[1], *np.zeros(len(opinions.labels))])
    return minimize(loss, start, method="L-BFGS-B", bounds=bounds).x


def _log_probabilities(opinions: Opinions, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    lm, head = (np.log(np.clip(p[rows], FLOOR, 1.0)) for p in (opinions.lm, opinions.head))
    scores = weights[0] * lm + weights[1] * head + weights[2:]
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
