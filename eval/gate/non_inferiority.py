"""Tests of non-inferiority of one program to another on the same rows, and the number of rows that would decide."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..significance import POWER
from ..statistics import LEVEL, Estimate, grouped

# Closer than this to the limit, no set that anybody would label decides.
_TOO_CLOSE = 0.001


def difference_of_shares(
    a: np.ndarray, b: np.ndarray, conversations: Sequence[str], level: float = LEVEL
) -> tuple[Estimate, float]:
    """``a`` minus ``b`` as shares of the same rows, with an interval that holds where few rows differ, and its error.

    Half a conversation of average length is added to each of the four cells (Agresti & Min 2005, of whom it is
    where each row is a conversation), so that programs without a difference on 50 rows are not taken for the same
    for ever, which is what a bootstrap says. Conversations are what varies, with a t distribution for their number:
    a handful of them shows nothing, however many rows they have. A candidate that loses whole conversations of four
    rows and is worse by just the margin passes in 9 % of the sets of 77 conversations, 5 % of 150 and 4 % of 400
    instead of 2.5 %; one that is two points beyond it in 2 % of 77.

    Args:
        a: truth values, shape (rows,).
        b: truth values of the same rows.
    """
    differences = a.astype(float) - b.astype(float)
    _, index, k = grouped(differences, conversations)
    sums, sizes = np.bincount(index, weights=differences), np.bincount(index)
    average = len(differences) / k
    n = len(differences) + 2 * average
    middle = sums.sum() / n
    spread = k / max(k - 1, 1) * float(((sums - middle * sizes) ** 2).sum()) + average**2
    error = math.sqrt(spread) / n
    reach = _quantile(k, level) * error
    low, high = max(-1.0, middle - reach), min(1.0, middle + reach)
    return Estimate(value=float(differences.mean()), low=low, high=high, n=len(differences), clusters=k), error


def smallest_margin(conversations: int, level: float = LEVEL) -> float:
    """The largest margin that two programs without any difference on so many conversations could not show."""
    return _quantile(conversations, level) / (conversations + 2)


def _quantile(conversations: int, level: float) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, max(conversations - 1, 1)))


def rows_needed(rows: int, error: float, distance: float, level: float = LEVEL) -> int | None:
    """The number of rows that would show, with a power of 0.8, that a figure lies on its side of a limit.

    Args:
        error: the standard error on ``rows`` rows; it falls with their square root.
        distance: distance of the figure from the limit.

    Returns:
        The number, or None if the figure is so close to the limit that rows do not help.
    """
    from scipy.stats import norm

    if abs(distance) < _TOO_CLOSE:
        return None
    reach = float(norm.ppf((1 + level) / 2) + norm.ppf(POWER)) * error
    return max(rows + 1, math.ceil(rows * (reach / distance) ** 2))
