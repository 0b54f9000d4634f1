"""Estimates with intervals, grouped by conversation.

Rows of one conversation are not independent, so conversations are resampled, never rows. All grouping goes through
`grouped` and all resampling through `resampling_weights`, so that intervals and tests (``eval/significance.py``)
cannot disagree about them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from ..signatures.types import Frozen

LEVEL = 0.95
RESAMPLES = 2000
# Entries of one block of resampling weights: 8 MB of float64.
BLOCK = 1_000_000
FEW = 500
# Resamples that differ by less than this do not differ.
NOTHING = 1e-12

Bounds = tuple[float, float]
SHARE: Bounds = (0.0, 1.0)


class Estimate(Frozen):
    """A value and the interval that it probably lies in.

    Attributes:
        n: number of rows behind it.
        clusters: number of conversations among them.
    """

    value: float
    low: float
    high: float
    n: int
    clusters: int

    def bracketed(self, spec: str) -> str:
        """Value and interval in a format of numbers: ``0.72 [0.60, 0.80]`` for ``".2f"``."""
        return f"{self.value:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"

    def spelled(self, spec: str) -> str:
        """As `bracketed`, for a sentence: ``0.72 (0.60 to 0.80)``."""
        return f"{self.value:{spec}} ({self.low:{spec}} to {self.high:{spec}})"

    @property
    def in_percent(self) -> str:
        """A share as ``72.4% [60, 80]``."""
        return f"{self.value:.1%} [{100 * self.low:.0f}, {100 * self.high:.0f}]"

    @property
    def in_points(self) -> str:
        """A difference of shares as ``+5.0 points (-1.0 to +11.0)``."""
        return f"{100 * self.value:+.1f} points ({100 * self.low:+.1f} to {100 * self.high:+.1f})"


def clustered_interval(
    values: Sequence[float] | Sequence[bool] | np.ndarray,
    clusters: Sequence[str],
    level: float = LEVEL,
    n: int = RESAMPLES,
    seed: int = 0,
    bounds: Bounds | None = None,
) -> Estimate:
    """The mean of ``values`` with a percentile bootstrap interval over clusters (Davison & Hinkley 1997, 3.8).

    Args:
        values: one number or boolean for each row, shape (rows,).
        clusters: the conversation of each row.
        n: number of resamples.
        bounds: the range of a value, for clusters that are all alike, see `alike`; by default `SHARE` for booleans, and
            the smallest and largest value for numbers.

    Raises:
        ValueError: no rows, or lengths that differ.
    """
    data, index, k = grouped(values, clusters)
    if bounds is None:
        bounds = SHARE if data.dtype == bool else (float(data.min()), float(data.max()))
    sums, sizes = np.bincount(index, weights=data.astype(float)), np.bincount(index).astype(float)
    if np.ptp(sums / sizes) < NOTHING:
        return alike(float(data.mean()), bounds, len(data), k, level)
    draws = np.concatenate([(w @ sums) / (w @ sizes) for w in resampling_weights(k, n, seed)])
    return estimate_of(float(data.mean()), draws, len(data), k, level)


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
    data, index, k = grouped(values, clusters)
    order = np.argsort(data, kind="stable")
    data, index = data[order].astype(float), index[order]
    wanted = np.asarray(quantiles, dtype=float)
    point = _weighted_quantiles(data, np.ones((1, len(data))), wanted)[0]
    step = max(1, BLOCK // len(data))
    blocks = (w[i : i + step] for w in resampling_weights(k, n, seed) for i in range(0, len(w), step))
    draws = np.concatenate([_weighted_quantiles(data, w[:, index], wanted) for w in blocks])
    bounds = (float(data[0]), float(data[-1]))
    return tuple(estimate_of(float(p), draws[:, i], len(data), k, level, bounds) for i, p in enumerate(point))


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
    _, index, k = grouped(np.zeros(len(gold)), clusters)
    names = sorted({*gold, *predicted})
    place = {name: i for i, name in enumerate(names)}
    cell = np.array([place[g] * len(names) + place[p] for g, p in zip(gold, predicted, strict=True)])
    flat = np.bincount(index * len(names) ** 2 + cell, minlength=k * len(names) ** 2).reshape(k, -1)
    square = (-1, len(names), len(names))
    draws = np.concatenate([_macro_f1((w @ flat).reshape(square)) for w in resampling_weights(k, n, seed)])
    return estimate_of(float(_macro_f1(flat.sum(axis=0).reshape(square))[0]), draws, len(gold), k, level, SHARE)


class Confusion(Frozen):
    """How often gold ``labels[i]`` was planned as ``labels[j]``: ``counts[i][j]``."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def confusion(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str] = ()) -> Confusion:
    """Counts of gold against predicted; ``labels`` fixes the order, others follow sorted."""
    names = (*labels, *sorted({*gold, *predicted} - set(labels)))
    pairs = Counter(zip(gold, predicted, strict=True))
    return Confusion(labels=names, counts=tuple(tuple(pairs[g, p] for p in names) for g in names))


def grouped(values: Sequence[float] | np.ndarray, clusters: Sequence[str]) -> tuple[np.ndarray, np.ndarray, int]:
    """The one way to group: ``values`` as an array, the number of each row's cluster, how many clusters there are.

    Both arrays have shape (rows,).

    Raises:
        ValueError: no rows, or lengths that differ.
    """
    data = np.asarray(values)
    if len(data) != len(clusters):
        raise ValueError(f"{len(data)} values have {len(clusters)} clusters")
    if not len(data):
        raise ValueError("there are no rows to estimate from")
    names, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    return data, index, len(names)


def resampling_weights(k: int, n: int, seed: int) -> Iterator[np.ndarray]:
    """How often each of ``k`` clusters is drawn in each of ``n`` resamples, in blocks (resamples, k)."""
    step = max(1, BLOCK // k)
    drawn = (_drawn_few if k <= FEW else _drawn_many)(k, n, seed)
    for start in range(0, n, step):
        yield drawn[start : start + step].astype(float)


def _drawn(k: int, n: int, seed: int) -> np.ndarray:
    """All resamples of ``k`` clusters, two bytes each: every measure of a set draws the same, and drawing is slow."""
    rng = np.random.default_rng(seed)
    drawn = np.empty((n, k), dtype=np.uint16)
    step, chances = max(1, BLOCK // k), np.full(k, 1 / k)
    for start in range(0, n, step):
        size = min(step, n - start)
        if k <= FEW:
            drawn[start : start + size] = rng.multinomial(k, chances, size=size)
        else:  # the same distribution; a binomial for each cluster takes twenty times as long as a draw
            places = rng.integers(0, k, (size, k), dtype=np.int32) + k * np.arange(size, dtype=np.int32)[:, None]
            drawn[start : start + size] = np.bincount(places.ravel(), minlength=size * k).reshape(size, k)
    return drawn


# Slices have clusters of their own, so several sets of resamples are in use at once, of 2 MB at most; of 2,500
# conversations they are 10 MB.
_drawn_few = lru_cache(maxsize=32)(_drawn)
_drawn_many = lru_cache(maxsize=2)(_drawn)


def estimate_of(
    value: float, draws: np.ndarray, rows: int, clusters: int, level: float, bounds: Bounds | None = None
) -> Estimate:
    """``value`` with the percentile interval of ``draws``, or that of `alike` if the draws do not differ.

    Args:
        bounds: the range of the value; without it, draws that do not differ give an interval without width.
    """
    if bounds is not None and np.ptp(draws) < NOTHING:
        return alike(value, bounds, rows, clusters, level)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value=value, low=float(low), high=float(high), n=rows, clusters=clusters)


def alike(value: float, bounds: Bounds, rows: int, clusters: int, level: float) -> Estimate:
    """The interval if no conversation differs from the others, or there is only one.

    Resamples would then show no uncertainty. It is bounded exactly instead: the share of conversations that would
    differ, with each conversation as one trial of which none did (Clopper & Pearson 1934), as far as ``bounds`` allow.
    """
    others = 1 - ((1 - level) / 2) ** (1 / clusters)
    low, high = value - others * (value - bounds[0]), value + others * (bounds[1] - value)
    return Estimate(value=value, low=low, high=high, n=rows, clusters=clusters)


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
