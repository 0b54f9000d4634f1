"""Fits the choice among complete plans, on questions that the rankings behind it have not learned from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ranking.choosing import CHOICE, Chosen
from ..ranking.loglinear import Problem, fit
from .gold import means_the_same
from .labelled import Question

HOLD = 20.0
"""The strength of regularisation, in units of one question's loss, for numbers scaled to a standard deviation of one.
10, 20 and 50 were alike; 1 and 60 were worse."""


def right_options(chosen: Chosen, question: Question) -> np.ndarray:
    """Which options are the labelled plan, shape (options,); for an unsayable question, "cannot be said" is."""
    return np.array(
        [means_the_same(None if o.ending.none else o.plan, question.plan) for o in chosen.options], dtype=bool
    )


def fit_choice(examples: Sequence[tuple[np.ndarray, np.ndarray]], start: np.ndarray) -> np.ndarray:
    """The weights of ``CHOICE``, fitted with regularisation towards ``start``.

    Args:
        examples: for each question, the numbers of its plans, shape (n, len(CHOICE)), and which are right, shape (n,).
    """
    from scipy.sparse import csr_matrix

    told = [(numbers, right) for numbers, right in examples if right.any() and not right.all()]
    if not told:
        return start
    numbers = np.concatenate([n for n, _ in told])
    # Only differences between plans of one question matter, so each number is scaled by its spread within questions.
    spread = np.sqrt(np.mean([((n - n.mean(axis=0)) ** 2).mean(axis=0) for n, _ in told], axis=0))
    scale = np.where(spread > 1e-9, spread, np.inf)
    question = np.repeat(np.arange(len(told)), [len(right) for _, right in told])
    problem = Problem(
        numbers / scale,
        np.zeros((len(numbers), 0), dtype=np.int64),
        np.zeros(len(numbers), dtype=np.int64),
        question,
        np.concatenate([right for _, right in told]),
        csr_matrix((1, 0)),
    )
    base = np.where(np.isfinite(scale), start * np.where(np.isfinite(scale), scale, 0.0), 0.0)
    fitted = fit(problem, base, np.zeros((0, 0)), hold_dense=HOLD, hold_table=1.0)
    assert len(fitted.dense) == len(CHOICE)
    return np.where(np.isfinite(scale), fitted.dense / scale, start)
