"""Fits on ``dev`` how probabilities become decisions: a threshold for a ``Noul``, label weights for a ``Choice``.

A language model ranks well but its probabilities are biased: with the 1.5B model, relevance had an AUROC of 0.95, but
only 0.77 were right at a threshold of 0.5. Two corrections are compared on held-out conversations, and DSPy's own
reading stays if neither is better:

- scaling: probabilities ``softmax(log p / T + b)`` with one temperature ``T`` and one bias for each label (Platt 1999
  for two labels, "vector scaling" with a shared slope in Guo et al. 2017), with a normal prior around the identity,
  whose strength is chosen by held-out log loss;
- for two labels also the threshold with the highest accuracy, or the middle of the range that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, cast

import dspy
import numpy as np

from ..errors import DataError
from ..program.heads.heads import softmax
from ..signatures.seam import DecisionState, Noul
from .base import FittedOutput

SMALLEST = 1e-6
FOLDS = 5
MIN_ROWS = 5
PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0)
LARGEST_EXPONENT = 20.0

Pairs = Sequence[tuple[dspy.Example, dspy.Prediction]]


@dataclass(frozen=True)
class Evidence:
    """Labelled predictions of one output.

    Attributes:
        chances: probabilities, shape (rows, labels); ``(false, true)`` for a ``Noul``.
        gold: index of the right label of each row.
        groups: conversation of each row; rows of a conversation are always in the same fold.
        labels: the labels, in column order.
        two: whether the output is a ``Noul``.
    """

    chances: np.ndarray
    gold: np.ndarray
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    two: bool

    def take(self, rows: np.ndarray) -> Evidence:
        """The evidence restricted to some rows."""
        groups = tuple(self.groups[int(i)] for i in rows)
        return Evidence(self.chances[rows], self.gold[rows], groups, self.labels, self.two)

    @property
    def logs(self) -> np.ndarray:
        """Log-probabilities; a probability of 0 counts as one in a million."""
        return np.log(np.clip(self.chances, SMALLEST, 1.0))


Rule = np.ndarray
"""A weight for each label: the label of the highest weighted probability is chosen."""


def fit_fields(
    signature: type[dspy.Signature], pairs: Pairs, seed: int = 0
) -> tuple[dict[str, dict[str, Any]], tuple[FittedOutput, ...]]:
    """Fit every decision output of a signature on predictions.

    Args:
        pairs: (example with labels and ``conversation``, prediction) of ``dev``.

    Returns:
        Settings to merge into the predictor's ``fields``, and what was done for each output.

    Raises:
        DataError: the signature does not have a label.
    """
    evidence = {name: evidence_of(name, kind, pairs) for name, kind in DecisionState(signature, {}).types.items()}
    fitted = [fit_output(name, rows, seed) for name, rows in evidence.items()]
    return {f.output: f.config for f in fitted if f.config}, tuple(fitted)


def evidence_of(name: str, kind: type, pairs: Pairs) -> Evidence:
    """The predictions of output ``name`` for the examples that have a label for it."""
    two = issubclass(kind, cast(type, Noul))
    labels = ("false", "true") if two else tuple(kind.criteria())  # type: ignore[attr-defined]
    used = [(example, prediction[name]) for example, prediction in pairs if name in example and name in prediction]
    rows = [_chances(decision, labels, two) for _, decision in used]
    return Evidence(
        chances=np.array(rows, dtype=float).reshape(len(rows), len(labels)),
        gold=np.array([_index(name, example[name], labels, two) for example, _ in used], dtype=int),
        groups=tuple(str(example.get("conversation", i)) for i, (example, _) in enumerate(used)),
        labels=labels,
        two=two,
    )


def _chances(decision: Any, labels: tuple[str, ...], two: bool) -> list[float]:
    if two:
        return [1.0 - decision.probability, decision.probability]
    return [decision.probabilities[label] for label in labels]


def _index(name: str, label: Any, labels: tuple[str, ...], two: bool) -> int:
    text = ("true" if label else "false") if two else str(label)
    if text not in labels:
        raise DataError(f"{name}: the label {text!r} is not one of {', '.join(labels)}; mend the row or the card")
    return labels.index(text)


def fit_output(name: str, evidence: Evidence, seed: int = 0) -> FittedOutput:
    """Choose how one output is read: as DSPy does, or by the fit that is best on held-out conversations."""
    keep = np.ones(len(evidence.labels))
    before = _accuracy(evidence, keep)
    reason = _too_little(evidence)
    if reason:
        return _fitted(name, evidence, "keep", keep, (before, before, None), reason)
    folds = grouped_folds(evidence.groups, seed)
    penalty, calibrated = _best_penalty(evidence, folds)
    methods = _methods(evidence, penalty)
    scores = {method: _held_out(evidence, folds, fit) for method, fit in methods.items()}
    best = max(scores, key=lambda method: scores[method])
    if scores[best] <= before:
        return _fitted(name, evidence, "keep", keep, (before, before, calibrated))
    return _fitted(name, evidence, best, methods[best](evidence), (before, scores[best], calibrated))


def _methods(evidence: Evidence, penalty: float) -> dict[str, Callable[[Evidence], Rule]]:
    """The fits to choose from; the smoother one is first and wins a tie."""

    def scaled(rows: Evidence) -> Rule:
        return scaled_rule(rows, penalty)

    def plateau(rows: Evidence) -> Rule:
        return plateau_rule(rows, scaled_rule(rows, penalty))

    return {"logistic": scaled, "plateau": plateau} if evidence.two else {"scaled": scaled}


def _too_little(evidence: Evidence) -> str:
    if len(evidence.gold) < MIN_ROWS:
        return f"{len(evidence.gold)} labelled predictions are fewer than {MIN_ROWS}"
    if len(set(evidence.groups)) < 2:
        return "all predictions are of one conversation"
    return "all labels are the same" if len(set(evidence.gold.tolist())) < 2 else ""


def _fitted(
    name: str,
    evidence: Evidence,
    method: str,
    rule: Rule,
    scores: tuple[float, float, float | None],
    note: str = "",
) -> FittedOutput:
    config = {} if method == "keep" else _config(evidence, rule)
    kind = "noul" if evidence.two else "choice"
    return FittedOutput(name, kind, len(evidence.gold), method, config, *scores, note)


def _config(evidence: Evidence, rule: Rule) -> dict[str, Any]:
    """The rule in DSPy's own terms, to six digits.

    ``p w1 >= (1 - p) w0`` is ``p >= w0 / (w0 + w1)``.
    """
    if evidence.two:
        return {"threshold": _short(rule[0] / (rule[0] + rule[1]))}
    return {"weights": {label: _short(w) for label, w in zip(evidence.labels, rule, strict=True)}}


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def choose(chances: np.ndarray, rule: Rule, two: bool) -> np.ndarray:
    """The label chosen for each row, shape (rows,); ties as DSPy breaks them: true, or the label of higher probability.

    Args:
        chances: probabilities, shape (rows, labels); with ``two``, of false and true.
        two: whether it is a ``Noul``, which has a threshold; otherwise it is a ``Choice``, whose labels have weights.
    """
    if two:
        return (chances[:, 1] >= rule[0] / (rule[0] + rule[1])).astype(int)
    weighted = chances * rule
    tied = weighted >= weighted.max(axis=1, keepdims=True)
    return np.where(tied, chances, -1.0).argmax(axis=1)


def _accuracy(evidence: Evidence, rule: Rule) -> float:
    if not len(evidence.gold):
        return 0.0
    return float((choose(evidence.chances, rule, evidence.two) == evidence.gold).mean())


def grouped_folds(groups: Sequence[str], seed: int) -> list[np.ndarray]:
    """Row numbers in up to `FOLDS` parts of about equal size that split no conversation.

    Args:
        groups: the conversation of each row.
    """
    members: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        members.setdefault(group, []).append(row)
    order = sorted(members)
    Random(seed).shuffle(order)
    parts: list[list[int]] = [[] for _ in range(min(FOLDS, len(order)))]
    for group in sorted(order, key=lambda g: -len(members[g])):
        min(parts, key=len).extend(members[group])
    return [np.array(sorted(part), dtype=int) for part in parts]


def _held_out(evidence: Evidence, folds: Sequence[np.ndarray], fit: Callable[[Evidence], Rule]) -> float:
    """The share of rows that are right by a rule fitted on the other folds."""
    right = 0.0
    for fold in folds:
        held = evidence.take(fold)
        right += _accuracy(held, fit(_without(evidence, fold))) * len(fold)
    return right / len(evidence.gold)


def _without(evidence: Evidence, fold: np.ndarray) -> Evidence:
    return evidence.take(np.setdiff1d(np.arange(len(evidence.gold)), fold))


def _best_penalty(evidence: Evidence, folds: Sequence[np.ndarray]) -> tuple[float, float]:
    """The strength of the prior with the lowest held-out log loss, and one minus its held-out Brier score."""
    found = []
    for penalty in sorted(PENALTIES, reverse=True):
        chances = np.zeros_like(evidence.chances)
        for fold in folds:
            scale, bias = fit_scaling(_without(evidence, fold), penalty)
            chances[fold] = softmax(scale * evidence.take(fold).logs + bias)
        right = chances[np.arange(len(evidence.gold)), evidence.gold]
        found.append((-float(np.log(np.clip(right, SMALLEST, 1.0)).mean()), penalty, chances))
    _, penalty, chances = min(found, key=lambda item: item[0])
    truth = np.eye(len(evidence.labels))[evidence.gold]
    return penalty, 1.0 - float(((chances - truth) ** 2).sum(axis=1).mean()) / 2


def fit_scaling(evidence: Evidence, penalty: float) -> tuple[float, np.ndarray]:
    """The slope ``1 / T`` and the biases, shape (labels,), of the likeliest scaling under a normal prior around the
    identity.

    The bias of a label that never occurs is lowered by the rows of the others, as far as the prior lets it.
    """
    from scipy.optimize import minimize

    logs, truth = evidence.logs, np.eye(len(evidence.labels))[evidence.gold]

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        slope, bias = np.exp(parameters[0]), parameters[1:]
        chances = softmax(slope * logs + bias)
        error = chances - truth
        cost = -np.log(np.clip((chances * truth).sum(axis=1), 1e-300, 1.0)).sum()
        gradient = np.concatenate([[slope * (error * logs).sum()], error.sum(axis=0)])
        return cost + penalty / 2 * (parameters**2).sum(), gradient + penalty * parameters

    start = np.zeros(len(evidence.labels) + 1)
    bounds = [(-4.0, 4.0)] + [(None, None)] * len(evidence.labels)
    # L-BFGS-B takes thirty times as long beside a busy LM: its linear algebra waits for threads.
    found = minimize(loss, start, jac=True, method="TNC", bounds=bounds)
    return float(np.exp(found.x[0])), found.x[1:]


def scaled_rule(evidence: Evidence, penalty: float) -> Rule:
    """Weights ``exp(b T)``, with which ``argmax(p w)`` is the argmax of the scaled probabilities."""
    slope, bias = fit_scaling(evidence, penalty)
    exponents = (bias - bias.mean()) / slope
    if evidence.two:
        return _rule_at(float(np.clip(exponents[0] - exponents[1], *_reach(evidence))))
    return np.exp(np.clip(exponents, -LARGEST_EXPONENT, LARGEST_EXPONENT))


def plateau_rule(evidence: Evidence, anchor: Rule) -> Rule:
    """The threshold with the highest accuracy: the middle, in log odds, of the interval that has it.

    Of several such intervals the one nearest to ``anchor`` is taken.
    """
    odds = _odds(evidence)
    lowest, highest = _reach(evidence)
    edges = np.concatenate([[lowest], np.unique(odds), [highest]])
    middles = (edges[:-1] + edges[1:]) / 2
    right = np.array([((odds >= middle) == evidence.gold).sum() for middle in middles])
    best = middles[right == right.max()]
    near = np.log(anchor[0]) - np.log(anchor[1])
    return _rule_at(float(best[np.abs(best - near).argmin()]))


def _rule_at(cut: float) -> Rule:
    """The rule whose threshold has these log odds."""
    return np.array([1.0 / (1.0 + np.exp(-cut)), 1.0 / (1.0 + np.exp(cut))])


def _odds(evidence: Evidence) -> np.ndarray:
    return evidence.logs[:, 1] - evidence.logs[:, 0]


def _reach(evidence: Evidence) -> tuple[float, float]:
    """The range of log odds in which a threshold may be: up to one unit beyond those of the rows."""
    odds = _odds(evidence)
    return float(odds.min()) - 1.0, float(odds.max()) + 1.0
