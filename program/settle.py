"""Combines the language model's label probabilities with a learned head's into one answer.

Where a compile fitted a ``Combination`` for an output, both are weighed by it. Otherwise the model decides with its
own thresholds, or a head where there is no model. The combination is logarithmic pooling with a bias for each label
(Genest and Zidek, 1986), fitted on ``dev``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..signatures.types import DecidedBy, Frozen
from .heads.heads import HeadAnswer

FLOOR = 1e-6


class Combination(Frozen):
    """How the model's and the head's opinion on one output are weighed.

    ``score(label) = lm_weight * log p_lm + head_weight * log p_head + bias[label]``; the label with
    the highest score is taken and the softmax of the scores is its confidence. A weight of zero
    for the model means that it is not asked for this output.

    Attributes:
        surer: for a written output, the certainty from which the head writes it instead of the model; None if the head
            never does.
    """

    lm_weight: float
    head_weight: float
    bias: dict[str, float]
    surer: float | None = None

    def probabilities(self, lm: Mapping[str, float] | None, head: Mapping[str, float] | None) -> dict[str, float]:
        """Pooled probabilities; a missing opinion counts as no opinion."""
        if head is not None and self.is_the_head(head):
            return dict(head)
        scores = {label: self._score(label, lm, head) for label in self.bias}
        top = max(scores.values())
        weights = {label: math.exp(score - top) for label, score in scores.items()}
        total = sum(weights.values())
        return {label: weight / total for label, weight in weights.items()}

    def is_the_head(self, head: Mapping[str, float]) -> bool:
        """Whether the head's probabilities are taken as they are."""
        alone = not self.lm_weight and self.head_weight == 1.0
        return alone and not any(self.bias.values()) and head.keys() == self.bias.keys()

    def _score(self, label: str, lm: Mapping[str, float] | None, head: Mapping[str, float] | None) -> float:
        score = self.bias[label]
        for weight, opinion in ((self.lm_weight, lm), (self.head_weight, head)):
            if opinion is not None:
                score += weight * math.log(max(opinion.get(label, 0.0), FLOOR))
        return score


def head_alone(labels: Iterable[str]) -> Combination:
    """The weighing of an output that the head decides alone."""
    return Combination(lm_weight=0.0, head_weight=1.0, bias=dict.fromkeys(labels, 0.0))


class Settled(NamedTuple):
    """The chosen label, the probability of each label, and who decided.

    ``by_thresholds`` is true if the model decided alone, by its own thresholds.
    """

    label: str
    probabilities: Mapping[str, float]
    by: DecidedBy
    reason: str
    by_thresholds: bool = False

    @property
    def confidence(self) -> float:
        """The probability of the label."""
        return self.probabilities.get(self.label, 0.0)

    @property
    def truth(self) -> bool:
        """The label of a yes/no output."""
        return self.label == "true"


def settle(answer: Any, head: HeadAnswer | None, combination: Combination | None) -> Settled | None:
    """Settle the label of one output; None if neither has an opinion.

    Args:
        answer: the decision that DSPy returned (``Noul`` or ``Choice``), or None.
        head: the head's answer, or None.
        combination: how to weigh the two, or None.
    """
    if combination is not None and head is not None and (answer is not None or not combination.lm_weight):
        if combination.is_the_head(head.probabilities):
            return _of_head(head)
        pooled = combination.probabilities(
            label_probabilities(answer) if answer is not None else None, head.probabilities
        )
        label = max(pooled, key=lambda name: pooled[name])
        by: DecidedBy = "lm" if combination.lm_weight else "head"
        why = "model and head, weighed" if by == "lm" else "learned head"
        # A rejection on which the two looks do not agree is withheld, whatever model and head say together.
        return Settled(head.label if head.withheld else label, pooled, by, why + head.besides)
    if answer is not None:
        probabilities = label_probabilities(answer)
        label = ("true" if answer.value else "false") if isinstance(answer.value, bool) else str(answer.value)
        return Settled(label, probabilities, "lm", "label probability", by_thresholds=True)
    return _of_head(head) if head is not None else None


def _of_head(head: HeadAnswer) -> Settled:
    return Settled(head.label, head.probabilities, "head", f"learned head{head.besides}")


def label_probabilities(answer: Any) -> dict[str, float]:
    """The probabilities in a ``Noul`` (as true and false) or a ``Choice``."""
    probability = getattr(answer, "probability", None)
    if probability is not None:
        return {"true": float(probability), "false": 1.0 - float(probability)}
    return {str(label): float(p) for label, p in (answer.probabilities or {}).items()}
