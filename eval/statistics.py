"""Numbers with their doubt: intervals, paired differences and tests, grouped by conversation.

Rows of one conversation are not independent, so conversations are what is drawn again and what
changes sides, never rows. All resampling goes through `_weights`, so that intervals of different
statistics cannot disagree about the grouping.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from ..signatures.types import Frozen

LEVEL = 0.95
RESAMPLES = 2000
PERMUTATIONS = 10_000
# Up to so many differing conversations all sign patterns are tried (2**12 = 4096).
_EXACT_UP_TO = 12
# Entries of one block of resampling weights: 32 MB of float64.
_BLOCK = 4_000_000


class Estimate(Frozen):
    """A value and the interval that it probably lies in.

    Attributes:
        n: rows that it stands on.
        clusters: conversations among them.
    """

    value: float
    low: float
    high: float
    n: int
    clusters: int


class PairedDifference(Frozen):
    """How much ``a`` exceeds ``b`` on the same rows, and how surprising that is if they are alike."""

    difference: Estimate
    p_value: float

    def verdict(self, *, higher_is_better: bool = True, level: float = LEVEL) -> str:
        """ "better", "worse" or "no difference shown".

        A difference counts as shown only when both the interval leaves out 0 and the test rejects
        at ``1 - level``, so that the two can never be quoted against each other.
        """
        estimate = self.difference
        if estimate.low <= 0 <= estimate.high or self.p_value > 1 - level:
            return "no difference shown"
        return "better" if (estimate.value > 0) == higher_is_better else "worse"


def clustered_interval(
    values: Sequence[float] | Sequence[bool] | np.ndarray,
    clusters: Sequence[str],
    level: float = LEVEL,
    n: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """The mean of ``values`` with a percentile bootstrap interval over clusters (Davison & Hinkley 1997, 3.8).

    Booleans that all agree would get an interval of no width; there the bound is the exact binomial
    one (Clopper & Pearson 1934) with each conversation as one trial.

    Args:
        values: one number or boolean a row, shape (rows,).
        clusters: the conversation of each row.
        n: resamples.

    Raises:
        ValueError: no rows, or lengths that differ.
    """
    data, index, k = _grouped(values, clusters)
    if data.dtype == bool and (data.all() or not data.any()):
        return _unanimous(bool(data[0]), len(data), k, level)
    sums, sizes = np.bincount(index, weights=data.astype(float)), np.bincount(index).astype(float)
    draws = np.concatenate([(w @ sums) / (w @ sizes) for w in _weights(k, n, seed)])
    return _estimate(float(data.mean()), draws, len(data), k, level)


def clustered_quantiles(
    values: Sequence[float] | np.ndarray,
    clusters: Sequence[str],
    quantiles: Sequence[float],
    level: float = LEVEL,
    n: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Quantiles of ``values`` (the smallest value that so many rows do not exceed), with intervals.

    Raises:
        ValueError: no rows, or lengths that differ.
    """
    data, index, k = _grouped(values, clusters)
    order = np.argsort(data, kind="stable")
    data, index = data[order].astype(float), index[order]
    wanted = np.asarray(quantiles, dtype=float)
    point = _weighted_quantiles(data, np.ones((1, len(data))), wanted)[0]
    step = max(1, _BLOCK // len(data))
    blocks = (w[i : i + step] for w in _weights(k, n, seed) for i in range(0, len(w), step))
    draws = np.concatenate([_weighted_quantiles(data, w[:, index], wanted) for w in blocks])
    return tuple(_estimate(float(p), draws[:, i], len(data), k, level) for i, p in enumerate(point))


def macro_f1(
    gold: Sequence[str],
    predicted: Sequence[str],
    clusters: Sequence[str],
    level: float = LEVEL,
    n: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Unweighted mean of the F1 of each label that occurs in gold or prediction, with its interval.

    Raises:
        ValueError: no rows, or lengths that differ.
    """
    _, index, k = _grouped(np.zeros(len(gold)), clusters)
    names = sorted({*gold, *predicted})
    place = {name: i for i, name in enumerate(names)}
    cell = np.array([place[g] * len(names) + place[p] for g, p in zip(gold, predicted, strict=True)])
    flat = np.bincount(index * len(names) ** 2 + cell, minlength=k * len(names) ** 2).reshape(k, -1)
    square = (-1, len(names), len(names))
    draws = np.concatenate([_macro_f1((w @ flat).reshape(square)) for w in _weights(k, n, seed)])
    return _estimate(float(_macro_f1(flat.sum(axis=0).reshape(square))[0]), draws, len(gold), k, level)


class Confusion(Frozen):
    """How often gold ``labels[i]`` was planned as ``labels[j]``: ``counts[i][j]``."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def confusion(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str] = ()) -> Confusion:
    """Counts of gold against predicted; ``labels`` fixes the order, others follow sorted."""
    names = (*labels, *sorted({*gold, *predicted} - set(labels)))
    pairs = Counter(zip(gold, predicted, strict=True))
    return Confusion(labels=names, counts=tuple(tuple(pairs[g, p] for p in names) for g in names))


def paired_difference(
    a: Sequence[float] | Sequence[bool],
    b: Sequence[float] | Sequence[bool],
    clusters: Sequence[str],
    level: float = LEVEL,
    n: int = RESAMPLES,
    seed: int = 0,
) -> PairedDifference:
    """Mean of ``a - b`` over the same rows, its interval, and a p-value.

    The test flips the sign of a whole conversation's differences (Fisher's randomisation): exactly
    if at most 12 conversations differ, otherwise 10,000 times at random, where the observed
    pattern counts as one of them (Phipson & Smyth 2010).

    Raises:
        ValueError: no rows, or lengths that differ.
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values cannot be paired")
    differences = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    estimate = clustered_interval(differences, clusters, level, n, seed)
    _, index, _ = _grouped(differences, clusters)
    sums = np.bincount(index, weights=differences)
    return PairedDifference(difference=estimate, p_value=_sign_flip(sums[np.abs(sums) > 1e-12], seed))


def _sign_flip(sums: np.ndarray, seed: int) -> float:
    if not sums.size:
        return 1.0
    observed = abs(sums.sum()) - 1e-9
    if sums.size <= _EXACT_UP_TO:
        signs = np.array(list(product((1.0, -1.0), repeat=sums.size)))
        return float((np.abs(signs @ sums) >= observed).mean())
    rng = np.random.default_rng(seed)
    step = max(1, _BLOCK // sums.size)
    sizes = [min(step, PERMUTATIONS - i) for i in range(0, PERMUTATIONS, step)]
    hits = sum(int((np.abs(rng.choice((1.0, -1.0), (m, sums.size)) @ sums) >= observed).sum()) for m in sizes)
    return (hits + 1) / (PERMUTATIONS + 1)


def _grouped(values: Sequence[float] | np.ndarray, clusters: Sequence[str]) -> tuple[np.ndarray, np.ndarray, int]:
    """``values`` as an array, the number of each row's cluster, and how many clusters there are."""
    data = np.asarray(values)
    if len(data) != len(clusters):
        raise ValueError(f"{len(data)} values have {len(clusters)} clusters")
    if not len(data):
        raise ValueError("there are no rows to estimate from")
    names, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    return data, index, len(names)


def _weights(k: int, n: int, seed: int) -> Iterator[np.ndarray]:
    """How often each of ``k`` clusters is drawn in each of ``n`` resamples, in blocks (resamples, k)."""
    rng = np.random.default_rng(seed)
    step = max(1, _BLOCK // k)
    for start in range(0, n, step):
        yield rng.multinomial(k, np.full(k, 1 / k), size=min(step, n - start)).astype(float)


def _estimate(value: float, draws: np.ndarray, rows: int, clusters: int, level: float) -> Estimate:
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value=value, low=float(low), high=float(high), n=rows, clusters=clusters)


def _unanimous(value: bool, rows: int, clusters: int, level: float) -> Estimate:
    reach = ((1 - level) / 2) ** (1 / clusters)
    low, high = (reach, 1.0) if value else (0.0, 1 - reach)
    return Estimate(value=float(value), low=low, high=high, n=rows, clusters=clusters)


def _weighted_quantiles(ordered: np.ndarray, weights: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """Shape (resamples, quantiles), of ``ordered`` values with ``weights`` (resamples, values)."""
    reached = np.cumsum(weights, axis=1)
    places = [np.searchsorted(line, quantiles * line[-1] - 1e-9) for line in reached]
    return ordered[np.array(places)]


def _macro_f1(cells: np.ndarray) -> np.ndarray:
    """Of confusions, shape (…, gold, predicted); a label without a row or a prediction is left out."""
    hits = np.einsum("...ii->...i", cells)
    total = cells.sum(axis=-1) + cells.sum(axis=-2)
    f1 = np.divide(2 * hits, total, out=np.zeros_like(hits, dtype=float), where=total > 0)
    return f1.sum(axis=-1) / (total > 0).sum(axis=-1)
