"""How much worse one program may be than another on the same rows, and how many rows would tell."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..statistics import LEVEL, Estimate, grouped

POWER = 0.8
# Closer than this to the limit, no set that anybody would label decides.
_TOO_CLOSE = 0.001


def difference_of_shares(
    a: np.ndarray, b: np.ndarray, conversations: Sequence[str], level: float = LEVEL
) -> tuple[Estimate, float]:
    """``a`` minus ``b`` as shares of the same rows, with an interval that holds where few rows differ, and its error.

    Half a row is added to each of the four cells (Agresti & Min 2005), so that programs without a difference
    on 50 rows are not taken for the same for ever, which is what a bootstrap says. Conversations are what varies,
    with a t distribution for their number.

    Args:
        a: truth values, shape (rows,).
        b: truth values of the same rows.
    """
    from scipy.stats import t

    differences = a.astype(float) - b.astype(float)
    _, index, k = grouped(differences, conversations)
    sums, sizes = np.bincount(index, weights=differences), np.bincount(index)
    n = len(differences) + 2
    middle = sums.sum() / n
    spread = k / max(k - 1, 1) * float(((sums - middle * sizes) ** 2).sum()) + 1
    error = math.sqrt(spread) / n
    reach = float(t.ppf((1 + level) / 2, max(k - 1, 1))) * error
    low, high = max(-1.0, middle - reach), min(1.0, middle + reach)
    return Estimate(value=float(differences.mean()), low=low, high=high, n=len(differences), clusters=k), error


def rows_needed(rows: int, error: float, distance: float, level: float = LEVEL) -> int | None:
    """How many rows would show, with a power of 0.8, that a figure lies on its side of a limit.

    Args:
        error: the standard error on ``rows`` rows; it falls with their square root.
        distance: of the figure from the limit.

    Returns:
        None where the figure is so close to the limit that rows do not help.
    """
    from scipy.stats import norm

    if abs(distance) < _TOO_CLOSE:
        return None
    reach = float(norm.ppf((1 + level) / 2) + norm.ppf(POWER)) * error
    return max(rows + 1, math.ceil(rows * (reach / distance) ** 2))
