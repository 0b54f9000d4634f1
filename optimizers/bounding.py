"""Fits the certainty above which heads may answer without a language model; see ``program/bound.py``.

The rows are those of ``calibrate``, one of each conversation, drawn at random; they are used to fit nothing else. The
heads are those of the program, trained on ``train`` alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..data.card import DomainCard
from ..data.rows import LabelledRow
from ..errors import UserError
from ..eval.cascade.head_answers import HEAD_STAGES, RowAnswers, head_answers, one_of_each
from ..eval.cascade.learn_then_test import (
    CONFIDENCE,
    ERROR,
    GRID,
    errors_allowed,
    lowest_safe,
    rows_needed,
    smallest_error,
)
from ..program.bound import Bound
from ..program.heads.heads import Heads


def fit_bound(
    heads: Heads,
    rows: Sequence[LabelledRow],
    card: DomainCard,
    error: float = ERROR,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Bound:
    """Fit the bound of these heads on these rows.

    If the rows are too few or heads err too often, the bound has no certainty, and ``reason`` says why.

    Raises:
        UserError: ``error`` or ``confidence`` is not a share between 0 and 1.
    """
    for name, value in (("error", error), ("confidence", confidence)):
        if not 0 < value < 1:
            raise UserError(f"the {name} of a bound must lie between 0 and 1, not {value}")
    found = bound_of(one_of_each(head_answers(heads, rows, card), seed), error, confidence)
    return found.model_copy(update={"closely": True})


def bound_of(answers: Sequence[RowAnswers], error: float = ERROR, confidence: float = CONFIDENCE) -> Bound:
    """As ``fit_bound``, from answers on rows that are each of a different conversation."""
    count = len(answers)
    bound = Bound(error=error, confidence=confidence, conversations=count, supports=smallest_error(count, confidence))
    if errors_allowed(count, error, confidence) < 0:
        needed = rows_needed(error, confidence)
        return bound.model_copy(update={"reason": f"{count} conversations are too few: label {needed} or more"})
    if not any(answer.answers for answer in answers):
        return bound.model_copy(update={"reason": "no head says anything of them: label more rows to train on"})
    certainty = lowest_safe(lambda at: _wrong(answers, at), count, error, confidence)
    if certainty is None:
        wrong = _wrong(answers, GRID[0])
        why = f"even from certainty {GRID[0]:.3f} heads answer {wrong} of {count} wrongly"
        return bound.model_copy(update={"reason": why})
    found = {"certainty": certainty, "errors": _wrong(answers, certainty), "coverage": coverage(answers, certainty)}
    return bound.model_copy(update=found)


def coverage(answers: Sequence[RowAnswers], certainty: float) -> dict[str, float]:
    """By stage the share of the rows in which it arises that its head answers; as ``joint``, the share that needs no
    model.
    """
    shares = {}
    for stage in HEAD_STAGES:
        some = [answer for answer in answers if stage in answer.arises]
        if some:
            shares[stage] = round(sum(stage in answer.used(certainty) for answer in some) / len(some), 6)
    shares["joint"] = round(sum(answer.whole(certainty) for answer in answers) / len(answers), 6)
    return shares


def _wrong(answers: Sequence[RowAnswers], certainty: float) -> int:
    return sum(answer.wrong(certainty) for answer in answers)
