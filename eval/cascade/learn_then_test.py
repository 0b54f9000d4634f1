"""Learn then Test with one parameter: how far a threshold may be lowered before the error can no longer be bounded.

Thresholds are tested in one fixed order, the strictest first, each with an exact binomial test of the hypothesis "the
loss is above ``error``". The walk stops at the first threshold where this cannot be rejected, and the one before is
used. Since the order is fixed beforehand, multiple testing needs no correction (Angelopoulos et al., "Learn then Test",
2021, section 3.2; Bauer, 1991). Losses are 0 or 1 and rows are independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from scipy.stats import binom

ERROR, CONFIDENCE = 0.05, 0.9
"""By default, the share of queries that heads may answer wrongly, and the confidence with which it holds."""
STEPS = 200
GRID = tuple(1 - step / STEPS for step in range(1, STEPS + 1))
"""The certainties tested, in the order of testing: 0.995 down to 0."""


def p_value(wrong: int, rows: int, error: float) -> float:
    """The probability of at most ``wrong`` wrong rows out of ``rows`` if the true share of wrong ones is ``error``."""
    return float(binom.cdf(wrong, rows, error))


def smallest_error(rows: int, confidence: float) -> float:
    """The smallest error that can be shown with ``rows`` rows, which takes that none of them is wrong."""
    return 1.0 if rows == 0 else 1 - (1 - confidence) ** (1 / rows)


def rows_needed(error: float, confidence: float) -> int:
    """The fewest rows with which this error can be shown, none of them being wrong."""
    return math.ceil(math.log(1 - confidence) / math.log(1 - error))


def errors_allowed(rows: int, error: float, confidence: float) -> int:
    """The most rows out of ``rows`` that may be wrong; -1 if there are too few rows even with none wrong."""
    allowed = -1
    while allowed < rows and p_value(allowed + 1, rows, error) <= 1 - confidence:
        allowed += 1
    return allowed


def lowest_safe(
    wrong_at: Callable[[float], int], rows: int, error: float, confidence: float, grid: Sequence[float] = GRID
) -> float | None:
    """The last threshold of the walk that passes; None if the first does not.

    Args:
        wrong_at: gives the number of wrong rows at a threshold.
    """
    allowed, safe = errors_allowed(rows, error, confidence), None
    for threshold in grid:
        if wrong_at(threshold) > allowed:
            return safe
        safe = threshold
    return safe
