"""How a model's label probabilities and a head's are weighed, fitted on ``dev``.

For each output two readings compete by grouped cross-validation: the head alone, and both pooled.
The model is only given a weight where held-out conversations prefer it; where it does not beat the
head, the head decides and the model is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..program.settle import FLOOR, Combination
from .thresholds import grouped_folds

MIN_ROWS = 20
PENALTY = 2.0
# Both weights start as if the opinions were independent witnesses of equal worth.
START = 0.5


@dataclass(frozen=True)
class Opinions:
    """What model and head said of some rows about one output.

    Attributes:
        lm: model's probabilities, shape (rows, labels).
        head: head's probabilities, same shape.
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
    """The weighing chosen for one output, and the held-out scores it was chosen by.

    ``accuracy`` and ``loss`` (mean log loss) are by reading: ``head``, ``lm`` (scaled, for the record)
    and ``both``.
    """

    output: str
    combination: Combination
    accuracy: dict[str, float]
    loss: dict[str, float]
    rows: int

    @property
    def sentence(self) -> str:
        """What was decided, for the report."""
        who = "model and head weighed" if self.combination.lm_weight else "the head alone, the model does not beat it"
        shown = ", ".join(f"{name} {value:.3f}" for name, value in self.accuracy.items())
        return f"{self.output}: {who} (held-out dev accuracy {shown}; {self.rows} rows)"


READINGS = {"head": (False, True), "lm": (True, False), "both": (True, True)}


def fit_combination(opinions: Opinions, seed: int = 0) -> FittedCombination | None:
    """The weighing that held-out conversations prefer; None with too few rows to tell."""
    if len(opinions.gold) < MIN_ROWS or len(set(opinions.groups)) < 5:
        return None
    folds = grouped_folds(opinions.groups, seed)
    held = {name: _held_out(opinions, folds, use) for name, use in READINGS.items()}
    chosen = "both" if held["both"][1] < held["head"][1] else "head"
    weights = _fit(opinions, np.arange(len(opinions.gold)), READINGS[chosen])
    return FittedCombination(
        opinions.output,
        Combination(
            lm_weight=round(float(weights[0]), 6) if chosen == "both" else 0.0,
            head_weight=round(float(weights[1]), 6),
            bias={label: round(float(b), 6) for label, b in zip(opinions.labels, weights[2:], strict=True)},
        ),
        {name: accuracy for name, (accuracy, _) in held.items()},
        {name: loss for name, (_, loss) in held.items()},
        len(opinions.gold),
    )


def _held_out(opinions: Opinions, folds: Sequence[np.ndarray], use: tuple[bool, bool]) -> tuple[float, float]:
    """(accuracy, mean log loss) on rows left out of the fit that reads them."""
    everything = np.arange(len(opinions.gold))
    logs = np.zeros(len(opinions.gold))
    right = np.zeros(len(opinions.gold))
    for fold in folds:
        weights = _fit(opinions, np.setdiff1d(everything, fold), use)
        scores = _log_probabilities(opinions, fold, weights)
        logs[fold] = scores[np.arange(len(fold)), opinions.gold[fold]]
        right[fold] = scores.argmax(axis=1) == opinions.gold[fold]
    return float(right.mean()), float(-logs.mean())


def _fit(opinions: Opinions, rows: np.ndarray, use: tuple[bool, bool]) -> np.ndarray:
    """Weights of model and head, then a bias for each label, with a normal prior on all of them."""
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
