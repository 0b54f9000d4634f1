"""Resamples the bound: fits it on many random draws of conversations and counts how often it fails on the others.

The conversations that no head learned from are split at random. The bound is fitted on some, with one row of each, as
a compile does; it is measured on every row of the others, each conversation weighing the same. A draw breaks the bound
if the measured share of wrong queries is above it. Draws share rows, so the count is only indicative; and the measured
share scatters around the true one, so it is above the bound somewhat more often than the true one is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import binom

from ...signatures.types import Frozen
from .head_answers import RowAnswers, one_of_each
from .learn_then_test import CONFIDENCE, ERROR, GRID, lowest_safe, smallest_error

DRAWS = 200

Progress = Callable[[int, int], None]


class Resampled(Frozen):
    """How often a bound was broken, and how much heads decided under it.

    Attributes:
        error: the bound: heads get at most this share of queries wrong, each conversation weighing the same.
        confidence: the probability with which the bound has to hold.
        fitted: number of conversations that the bound was fitted on in each draw.
        measured: number of conversations that it was measured on in each draw.
        supports: the smallest error that can be shown with this many fitted conversations.
        broken: number of draws in which the measured share of wrong queries was above ``error``.
        allowed: the most broken draws that are plausible (97.5 % quantile) if the bound holds.
        abstained: number of draws in which no certainty could be allowed; in these heads answer nothing.
        wrong: mean share of queries that heads got wrong.
        coverage: mean share of queries that needed no model to decide.
    """

    name: str
    error: float
    confidence: float
    draws: int
    fitted: int
    measured: int
    supports: float
    broken: int
    allowed: int
    abstained: int
    wrong: float
    coverage: float

    @property
    def holds(self) -> bool:
        """Whether it was broken no more often than chance allows."""
        return self.broken <= self.allowed


def resample(
    name: str,
    answers: Sequence[RowAnswers] | Sequence[Sequence[RowAnswers]],
    draws: int = DRAWS,
    seed: int = 0,
    error: float = ERROR,
    confidence: float = CONFIDENCE,
    fit: float = 0.5,
    progress: Progress = lambda done, total: None,
) -> Resampled:
    """Split the conversations of these answers ``draws`` times.

    Args:
        answers: head answers on rows that no head learned from; or several such lists, by heads that learned from
            different rows, which are used in turn.
        fit: the number of conversations to fit the bound on, if at least 1; else their share of all.
    """
    lists = [_by_conversation(some) for some in _lists(answers)]
    found = []
    for draw in range(draws):
        progress(draw, draws)
        found.append(_draw(lists[draw % len(lists)], fit, np.random.default_rng((seed, draw)), error, confidence))
    progress(draws, draws)
    shares = np.array([share for share in found if share is not None]).reshape(-1, 2)
    conversations = min(len(some) for some in lists)
    count = _count(fit, conversations)
    return Resampled(
        name=name,
        error=error,
        confidence=confidence,
        draws=draws,
        fitted=count,
        measured=conversations - count,
        supports=smallest_error(count, confidence),
        broken=int((shares[:, 0] > error).sum()),
        allowed=int(binom.ppf(0.975, draws, 1 - confidence)),
        abstained=draws - len(shares),
        wrong=float(shares[:, 0].sum() / draws),
        coverage=float(shares[:, 1].sum() / draws),
    )


def only(answers: Sequence[RowAnswers], stages: Sequence[str]) -> list[RowAnswers]:
    """The same rows with these stages only, for sets that label nothing else."""
    return [
        replace(
            row,
            answers={name: answer for name, answer in row.answers.items() if name in stages},
            arises=tuple(name for name in row.arises if name in stages),
        )
        for row in answers
    ]


Conversation = tuple[list[RowAnswers], np.ndarray]
"""The rows of one conversation; and for each certainty of ``GRID`` the share of them that are wrong and the share that
need no model, shape (grid, 2)."""


def _lists(answers: Sequence[RowAnswers] | Sequence[Sequence[RowAnswers]]) -> list[Sequence[RowAnswers]]:
    several = [some for some in answers if not isinstance(some, RowAnswers)]
    return several or [[row for row in answers if isinstance(row, RowAnswers)]]


def _by_conversation(answers: Sequence[RowAnswers]) -> list[Conversation]:
    rows: dict[str, list[RowAnswers]] = {}
    for answer in answers:
        rows.setdefault(answer.conversation, []).append(answer)
    return [(some, np.array([_shares(some, at) for at in GRID])) for _, some in sorted(rows.items())]


def _shares(rows: Sequence[RowAnswers], certainty: float) -> tuple[float, float]:
    return float(np.mean([r.wrong(certainty) for r in rows])), float(np.mean([r.whole(certainty) for r in rows]))


def _count(fit: float, conversations: int) -> int:
    return min(round(fit) if fit >= 1 else int(fit * conversations), conversations - 1)


def _draw(
    conversations: Sequence[Conversation], fit: float, rng: np.random.Generator, error: float, confidence: float
) -> tuple[float, float] | None:
    """Share wrong and share that needs no model, in the conversations that the bound is measured on.

    None if no certainty can be allowed.
    """
    order = rng.permutation(len(conversations))
    count = _count(fit, len(order))
    rows = [row for i in order[:count] for row in conversations[i][0]]
    fitted = one_of_each(rows, int(rng.integers(2**31)))
    certainty = lowest_safe(lambda at: sum(r.wrong(at) for r in fitted), len(fitted), error, confidence)
    if certainty is None:
        return None
    wrong, whole = np.mean([conversations[i][1][GRID.index(certainty)] for i in order[count:]], axis=0)
    return float(wrong), float(whole)
