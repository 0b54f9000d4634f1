"""Permutation tests between two programs on the same rows, and the smallest difference that could have been detected.

Conversations change sides, never rows: under the hypothesis that the two are alike, what one got in a conversation
might as well be what the other got. Grouping is `grouped`, as for intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..signatures.types import Frozen
from .statistics import BLOCK, LEVEL, NOTHING, RESAMPLES, Bounds, Estimate, clustered_interval, grouped

PERMUTATIONS = 10_000
POWER = 0.8
WORK = 1_000_000_000
"""Multiplications up to which a p-value is exact: a quarter of a second."""
SAME = "no difference shown"
LEAST_CHANGED = math.ceil(1 - math.log2(1 - LEVEL))
"""Conversations that must differ for the test to show anything, even if all differ to one side."""


class PairedDifference(Frozen):
    """How much ``a`` exceeds ``b`` on the same rows, and how surprising that would be if they were alike.

    Attributes:
        changed: number of conversations in which the two differ.
        standard_error: standard error of the difference, over conversations.
        p_value: p-value of this difference alone.
        adjusted_p: p-value corrected for multiple testing, see `corrected`; None if it was tested alone.
        family: by how much the smallest p-value of its family is multiplied.
    """

    difference: Estimate
    p_value: float
    adjusted_p: float | None = None
    family: int = 1
    changed: int = 0
    standard_error: float = 0.0

    @property
    def testable(self) -> bool:
        """Whether as many conversations differ as the test needs to show anything."""
        return self.changed >= LEAST_CHANGED

    @property
    def p(self) -> float:
        """The p-value that counts: the corrected one, if there is one."""
        return self.p_value if self.adjusted_p is None else self.adjusted_p

    def verdict(self, *, higher_is_better: bool = True, level: float = LEVEL) -> str:
        """ "better", "worse" or "no difference shown".

        A difference counts as shown only when both the interval leaves out 0 and the test rejects
        at ``1 - level``, so that the two can never be quoted against each other.
        """
        estimate = self.difference
        if estimate.low <= 0 <= estimate.high or self.p > 1 - level:
            return SAME
        return "better" if (estimate.value > 0) == higher_is_better else "worse"

    def detectable(self, level: float = LEVEL, power: float = POWER) -> float:
        """The smallest difference that rows like these would show with this power, in the family it is in.

        By the normal approximation, ``(z(1 - alpha / 2) + z(power)) * standard_error``, but never less
        than what the test needs at all: so many conversations with one row each, all changed to one side. At most 1.
        """
        from scipy.stats import norm

        alpha = (1 - level) / self.family
        reach = float(norm.ppf(1 - alpha / 2) + norm.ppf(power)) * self.standard_error
        return min(1.0, max(reach, math.ceil(1 - math.log2(alpha)) / self.difference.n))


def paired_difference(
    a: Sequence[float] | Sequence[bool] | np.ndarray,
    b: Sequence[float] | Sequence[bool] | np.ndarray,
    clusters: Sequence[str],
    level: float = LEVEL,
    n: int = RESAMPLES,
    seed: int = 0,
    *,
    shares: bool = False,
) -> PairedDifference:
    """Mean of ``a - b`` over the same rows, its interval, and a p-value; see `sign_flip_p`.

    Args:
        shares: whether numbers are shares of a row, between 0 and 1 as truth values are; without it, the interval of
            numbers that all differ alike has no width.

    Raises:
        ValueError: no rows, or lengths that differ.
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values cannot be paired")
    left, right = np.asarray(a), np.asarray(b)
    differences = left.astype(float) - right.astype(float)
    _, index, k = grouped(differences, clusters)
    shares = shares or left.dtype == right.dtype == bool
    bounds = _bounds(float(differences.mean()), k, level) if shares else None
    estimate = clustered_interval(differences, clusters, level, n, seed, bounds)
    sums, sizes = np.bincount(index, weights=differences), np.bincount(index)
    changed = sums[np.abs(sums) > NOTHING]
    return PairedDifference(
        difference=estimate,
        p_value=sign_flip_p(changed, seed),
        changed=len(changed),
        standard_error=_standard_error(sums - estimate.value * sizes, k) / len(differences),
    )


def _bounds(difference: float, conversations: int, level: float) -> Bounds:
    """How far others may reach where all conversations differ alike; the other side too if no test tells sides."""
    if not difference or 2.0 ** (1 - conversations) > 1 - level:
        return (-1.0, 1.0)
    return (0.0, 1.0) if difference > 0 else (-1.0, 0.0)


def sign_flip_p(sums: np.ndarray, seed: int = 0) -> float:
    """How often flipping the sign of each conversation's difference gives as much or more (Fisher's randomisation).

    Args:
        sums: the difference of each conversation in which there is one, summed over its rows.

    Differences of counts, such as of right and wrong plans, have an exact p-value, from the distribution
    of their signed sum (Pagano & Tritchler 1983); where every conversation changes by one row, that is
    McNemar's exact test. Of other numbers, and of counts so large that this would take more than `WORK`, such as of
    tokens, 10,000 patterns are drawn, the observed one counting as one of them (Phipson & Smyth 2010).
    """
    if not sums.size:
        return 1.0
    whole = np.rint(sums)
    exact = np.abs(sums - whole).max() < NOTHING and _work(whole) <= WORK
    return _exact(whole.astype(int)) if exact else _drawn(sums, seed)


def _work(sums: np.ndarray) -> float:
    """How many multiplications `_exact` takes: the length of each kernel times that of all before it."""
    sizes, counts = np.unique(np.abs(sums), return_counts=True)
    lengths = sizes * counts
    return float(((lengths + 1) * (np.cumsum(lengths) - lengths + 1)).sum())


def _exact(sums: np.ndarray) -> float:
    """By convolution: the sum over conversations that keep a positive sign determines the signed sum."""
    from scipy.stats import binom

    sizes, counts = np.unique(np.abs(sums), return_counts=True)
    chances = np.ones(1)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        kernel = np.zeros(size * count + 1)
        kernel[::size] = binom.pmf(np.arange(count + 1), count, 0.5)
        chances = np.convolve(chances, kernel)
    total = int(np.abs(sums).sum())
    signed = 2 * np.arange(total + 1) - total
    return float(min(1.0, chances[np.abs(signed) >= abs(int(sums.sum()))].sum()))


def _drawn(sums: np.ndarray, seed: int) -> float:
    observed = abs(sums.sum()) - 1e-9
    rng = np.random.default_rng(seed)
    step = max(1, BLOCK // sums.size)
    sizes = [min(step, PERMUTATIONS - i) for i in range(0, PERMUTATIONS, step)]
    hits = sum(int((np.abs((2.0 * rng.integers(0, 2, (m, sums.size)) - 1) @ sums) >= observed).sum()) for m in sizes)
    return (hits + 1) / (PERMUTATIONS + 1)


def corrected(
    found: Sequence[PairedDifference], level: float = LEVEL, *, families: Sequence[str] | None = None
) -> list[PairedDifference]:
    """The same differences, corrected together for how many they are: Holm (1979) within each family.

    Families share the error equally (Bonferroni), so that a few questions that matter most do not pay for
    many that matter less, and the chance of crying any difference at all that is not there stays ``1 - level``.

    Only differences that could have been shown count: where fewer conversations changed than the test needs
    even if all had changed to one side, no pattern of signs would have been surprising (Tarone 1990). The
    number of changed conversations is the same whichever side they changed to, so this favours neither.

    Args:
        families: the family of each difference; one for all if not given.
    """
    families = families or [""] * len(found)
    able: dict[str, list[int]] = {name: [] for name in families}
    for i, one in enumerate(found):
        if 2.0 ** (1 - one.changed) <= 1 - level:
            able[families[i]].append(i)
    sharing = max(1, sum(bool(places) for places in able.values()))
    # What could not have been shown would have been one question more, had it been able to.
    size = {name: sharing * (len(places) + 1) for name, places in able.items()}
    sizes = (size[name] for name in families)
    out = [one.model_copy(update={"adjusted_p": 1.0, "family": n}) for one, n in zip(found, sizes, strict=True)]
    for places in able.values():
        adjusted = holm([found[i].p_value for i in places])
        for i, p in zip(places, adjusted, strict=True):
            out[i] = out[i].model_copy(update={"adjusted_p": min(1.0, p * sharing), "family": sharing * len(places)})
    return out


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the smallest counts as often as there are p-values, the next once less, and so on.

    The same as statsmodels' ``multipletests``, which collects garbage on every call (0.3 s in a process of
    this size, version 0.14).
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted.tolist()


def standard_error(values: Sequence[float] | np.ndarray, clusters: Sequence[str]) -> float:
    """The standard error of the mean of ``values``, over conversations' sums; infinite if there is but one.

    Where each row is a conversation, it is the usual one, ``std(ddof=1) / sqrt(rows)``.

    Raises:
        ValueError: no rows, or lengths that differ.
    """
    data, index, k = grouped(values, clusters)
    if k < 2:
        return math.inf
    return _standard_error(np.bincount(index, weights=data - data.mean()), k) / len(data)


def _standard_error(residuals: np.ndarray, k: int) -> float:
    return math.sqrt(k / max(k - 1, 1) * float((residuals**2).sum()))
