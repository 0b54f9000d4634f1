"""Fits one head: kernels, ridge and scale are chosen on rows left out of their own fit.

Folds are grouped by conversation, so that turns of one conversation never judge each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from . import quadratic
from .features import Seen
from .heads import Head, against_first, softmax
from .ngrams import COLUMNS, FRAME_COLUMNS, as_matrix
from .ridge import CHUNK, Solved, linear, rbf, times

FOLDS = 5
PARTS = (COLUMNS, FRAME_COLUMNS)
WIDTH = 1.0
"""Gamma of the RBF kernel. A log loss within 0.01 was reached with 0.5, 0.7 and 1.5, too; trying only one value halves
the work."""
RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SHARES = ((0.0, 0.0), (0.5, 0.0), (0.8, 0.0), (0.25, 0.25), (0.35, 0.35), (0.45, 0.45))
"""Weights of the linear kernels on n-grams and on frames that are tried; the RBF kernel has the rest, up to one."""
MANY = 1200
"""The most rows for which kernels and ridge are searched. What is best for so few is not for thousands, see below."""
SHARES_OF_MANY = ((0.4, 0.1),)
"""The weights for more rows. Of seven such pairs it had the lowest log loss, or one within 0.004 of it, for every head
of podcast and engineering. Those that 600 rows chose were as good or worse: the podcast's follow-ups are right for
0.845 of 2,356 left-out turns and not 0.815 (engineering 0.863, not 0.861), intent for 0.752 of 3,666 and not 0.745."""
RIDGES_OF_MANY = (0.2, 0.4)
"""The ridges for more rows, chosen on ``MANY``. On so few, 0.003 to 0.01 were often best; 0.1 in their place makes the
podcast's complexity right for 0.825 of left-out rows and not 0.822, decomposition for 0.888 (0.884), and kinds of
information of engineering for up to one row in a hundred more. From 0.1 to 0.4 little changes."""
SCALES = tuple(float(s) for s in np.geomspace(0.5, 40.0, 24))
SHIFTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""Values tried for a bonus on the scores of labels that no made-up row has, since these rows shift the balance."""
MADE_WEIGHT = 0.6
MIN_ROWS = 10
TINY = 1e-6
SEARCHED = 600
"""The most rows on which the kernels' shares are chosen; the work grows with the cube of their number."""


@dataclass(frozen=True)
class Choice:
    """One setting, with its log loss and scores on left-out rows (before scale and shift) and its coefficients.

    ``scores`` has shape (rows that were judged, labels), ``dual`` (rows, labels).
    """

    loss: float
    shares: Sequence[float]
    ridge: float
    scale: float
    shift: float
    scores: np.ndarray
    dual: np.ndarray


class Likeness:
    """The kernels of rows, and the regressions solved with them.

    Args:
        near: the RBF kernel, shape (n, n), in single precision like the next.
        similar: what computes the kernel of each part of the n-grams, shape (n, n); none is that no head needs.
        roots: roots of the rows' weights, shape (n, 1); below one for made-up rows.
        folds: fold of each row.
    """

    def __init__(
        self, near: np.ndarray, similar: Sequence[Callable[[], np.ndarray]], roots: np.ndarray, folds: np.ndarray
    ) -> None:
        self.near, self.similar, self.roots, self.folds = near, tuple(map(cache, similar)), roots, folds
        self._solved: dict[tuple[float, ...], Solved] = {}

    def some(self, rows: np.ndarray, folds: np.ndarray | None = None) -> Likeness:
        """The kernels restricted to these rows; ``folds`` of these, if they change."""
        folds = self.folds[rows] if folds is None else folds
        if len(rows) == len(self.near) and (rows == np.arange(len(rows))).all():
            return Likeness(self.near, self.similar, self.roots, folds)
        similar = [partial(_some_of, kernel, rows) for kernel in self.similar]
        return Likeness(self.near[np.ix_(rows, rows)], similar, self.roots[rows], folds)

    def solved(self, shares: Sequence[float]) -> Solved:
        """The kernels mixed with these shares, times the roots."""
        key = tuple(shares)
        if key not in self._solved:
            # Each solution holds two n-by-n matrices. With many rows few settings are tried, so the last one is enough.
            if len(self.near) > MANY:
                self._solved.clear()
            mixed = _mixed(self.near, self.similar, shares)
            if (self.roots != 1.0).any():
                mixed *= (self.roots * self.roots.T).astype(mixed.dtype)
            self._solved[key] = Solved(mixed, self.folds)
        return self._solved[key]


class Lessons(NamedTuple):
    """The training data of a head: rows, and their one-hot labels, shape (n, labels)."""

    likeness: Likeness
    target: np.ndarray


class Rows:
    """Training rows of heads; what does not depend on the labels is computed once for all heads.

    Args:
        seen: features of each row.
        groups: conversation of each row; rows of one group are never in different folds.
        made: number of made-up rows at the end. They have less weight, and no setting is judged by them.
        parts: numbers of columns of the parts of a row's n-grams, each of which has a linear kernel.
        seed: seed of the folds, and of the conversations on which settings are chosen.
        written_out: whether dense features have the kernel of ``quadratic.py`` and not the RBF kernel.

    Attributes:
        dense: dense features, shape (n, d), in the half precision that support vectors are kept with.
        grams: n-grams, sparse, shape (n, columns).
    """

    def __init__(
        self,
        seen: Sequence[Seen],
        groups: Sequence[str],
        made: int = 0,
        parts: Sequence[int] = PARTS,
        seed: int = 0,
        written_out: bool = False,
    ) -> None:
        self.groups, self.made, self.parts, self.seed, self.written_out = groups, made, parts, seed, written_out
        self.dense = np.stack([row.dense for row in seen]).astype(np.float16)
        self.grams = as_matrix([row.grams for row in seen], sum(parts))
        self._of: tuple[Rows, np.ndarray] | None = None
        self._fewer: dict[int, tuple[np.ndarray, Likeness]] = {}

    def some(self, places: Sequence[int]) -> Rows:
        """Some of these rows, none of which may be made up; kernels are computed once for every such part."""
        few = copy(self)
        rows = np.array(places)
        few._of, few._fewer = (self, rows), {}
        few.groups = [self.groups[place] for place in places]
        few.dense, few.grams = self.dense[rows], self.grams[rows]
        few.__dict__.pop("likeness", None)
        return few

    @cached_property
    def likeness(self) -> Likeness:
        """The kernels of all rows."""
        folds = folds_of(self.groups, self.seed)
        if self._of is not None:
            whole, places = self._of
            return whole.likeness.some(places, folds)
        ends = [0, *np.cumsum(self.parts).tolist()]
        similar = [partial(linear, self.grams[:, a:b]) for a, b in pairwise(ends)]
        # Weighted ridge regression is the unweighted one with kernel and targets multiplied by the weights' roots.
        roots = np.where(np.arange(len(self.groups)) < len(self.groups) - self.made, 1.0, MADE_WEIGHT**0.5)[:, None]
        near = quadratic.kernel(self.dense) if self.written_out else rbf(self.dense.astype(np.float32), WIDTH)
        return Likeness(near, similar, roots, folds)

    def lessons(self, target: np.ndarray, enough: int | None = None) -> Lessons:
        """All rows with their targets, or at least ``enough`` rows of whole conversations that are drawn at random."""
        if enough is None:
            return Lessons(self.likeness, target)
        if enough not in self._fewer:
            rows = _some(self.groups, self.seed, enough)
            self._fewer[enough] = rows, self.likeness.some(rows)
        rows, fewer = self._fewer[enough]
        return Lessons(fewer, target[rows])


class Fitted(NamedTuple):
    """A head, with the results of its fit.

    Attributes:
        head: the head.
        left_out: probabilities of the rows that were judged, none of them made up, by fits without their fold, shape
            (rows, labels).
        penalty: penalty on the squared norm of the RBF part beside the squared errors: the ridge over that kernel's
            share.
        weights: weights of its training rows, in the order of its support vectors.
        said: what its RBF part gives for these rows, shape (rows, labels - 1).
        shares, ridge: the chosen settings, taken over by heads that learn nearly the same.
    """

    head: Head
    left_out: np.ndarray
    penalty: float = 1.0
    weights: np.ndarray | None = None
    said: np.ndarray | None = None
    shares: Sequence[float] = ()
    ridge: float = 0.0


def fit_head(
    name: str,
    seen: Sequence[Seen],
    labels: Sequence[str],
    groups: Sequence[str],
    seed: int = 0,
    shares: Sequence[Sequence[float]] | None = None,
    parts: Sequence[int] = PARTS,
) -> Head | None:
    """Train a head on these rows, see ``fit_and_leave_out``."""
    fitted = fit_and_leave_out(name, seen, labels, groups, seed, shares, parts=parts)
    return fitted.head if fitted else None


def fit_and_leave_out(
    name: str,
    seen: Sequence[Seen],
    labels: Sequence[str],
    groups: Sequence[str],
    seed: int = 0,
    shares: Sequence[Sequence[float]] | None = None,
    made: int = 0,
    parts: Sequence[int] = PARTS,
    ridges: Sequence[float] | None = None,
) -> Fitted | None:
    """Train a head on these rows, see ``Rows`` and ``fit_rows``."""
    return fit_rows(name, Rows(seen, groups, made, parts, seed), labels, shares, ridges) if seen else None


def fit_rows(
    name: str,
    rows: Rows,
    labels: Sequence[str],
    shares: Sequence[Sequence[float]] | None = None,
    ridges: Sequence[float] | None = None,
    *,
    every: bool = False,
) -> Fitted | None:
    """Train a head on these rows; None if there are fewer than two labels or ten rows.

    Args:
        name: the head's name.
        rows: training rows, which other heads may share.
        labels: one for each row.
        shares: shares of the linear kernels to choose from; by default ``SHARES``, or ``SHARES_OF_MANY``.
        ridges: ridges to choose from; by default ``RIDGES``, or ``RIDGES_OF_MANY``.
        every: whether all rows are judged that are not made up. Otherwise, with more than ``MANY``, those of one fold
            are, which is enough to choose the scale.
    """
    classes = tuple(sorted(set(labels)))
    if len(classes) < 2 or len(labels) < MIN_ROWS:
        return None
    target = np.array([[float(label == c) for c in classes] for label in labels])
    # One thread is as fast on an idle machine, and 15 times faster where a language model keeps the cores busy. Only
    # libraries that are already loaded are limited, and scipy has a BLAS of its own: so it is imported before.
    import scipy.linalg  # noqa: F401

    with threadpool_limits(limits=1, user_api="blas"):
        best = _best(rows, target, shares, ridges, every)
        roots = rows.likeness.roots
        dual = against_first(roots * best.dual)
        said = (1 - sum(best.shares)) * times(rows.likeness.near, dual)
    start = best.scale * best.shift * _unmade(target, roots)
    support, of_rows = rows.dense, (1 - sum(best.shares)) * dual
    linear = np.repeat(best.shares, rows.parts)[:, None] * (rows.grams.T @ dual)
    if rows.written_out:
        linear = np.concatenate([linear, _written_out(rows.dense, of_rows)])
        support, of_rows = np.zeros_like(rows.dense[:1]), np.zeros_like(of_rows[:1])
    head = Head(
        name=name,
        labels=classes,
        support=support,
        dual=of_rows.astype(np.float32),
        linear=linear.astype(np.float16),
        width=WIDTH,
        scale=best.scale,
        bias=tuple(start.tolist()) if rows.made else (),
    )
    penalty = best.ridge / max(1 - sum(best.shares), TINY)
    left_out = softmax(best.scale * best.scores + start)
    return Fitted(head, left_out, penalty, roots[:, 0] ** 2, said, best.shares, best.ridge)


def _written_out(dense: np.ndarray, dual: np.ndarray) -> np.ndarray:
    """The weight of each feature of ``quadratic.py``, shape (features, labels), from the coefficients of the rows."""
    weights = np.zeros((quadratic.width(dense.shape[1]), dual.shape[1]))
    for start in range(0, len(dense), CHUNK):
        weights += quadratic.written_out(dense[start : start + CHUNK]).T @ dual[start : start + CHUNK]
    return weights


def _best(
    rows: Rows,
    target: np.ndarray,
    shares: Sequence[Sequence[float]] | None,
    ridges: Sequence[float] | None,
    every: bool,
) -> Choice:
    """The setting with the lowest loss, fitted to all rows.

    The shares are chosen on ``SEARCHED`` rows of whole conversations, the ridge on ``MANY``, and the scale on all.
    """
    many = len(target) > MANY
    shares = shares or (SHARES_OF_MANY if many else SHARES)
    ridges = ridges or (RIDGES_OF_MANY if many else RIDGES)
    if len(shares) > 1:
        shares = [min(_choices(rows.lessons(target, SEARCHED), shares, ridges), key=_loss).shares]
    if len(ridges) > 1 and many:
        ridges = [min(_choices(rows.lessons(target, MANY), shares, ridges), key=_loss).ridge]
    return min(_choices(rows.lessons(target), shares, ridges, every or not many), key=_loss)


def _some(groups: Sequence[str], seed: int, enough: int) -> np.ndarray:
    """Row numbers, ascending, of conversations drawn at random until they have at least ``enough`` rows."""
    names = sorted(set(groups))
    drawn = {names[i]: place for place, i in enumerate(np.random.default_rng(seed).permutation(len(names)))}
    places = np.array([drawn[group] for group in groups])
    return np.flatnonzero(places <= np.sort(places)[min(enough, len(places)) - 1])


def _choices(
    lessons: Lessons, pairs: Sequence[Sequence[float]], ridges: Sequence[float], every: bool = True
) -> list[Choice]:
    """Every pair of shares and ridge with its best scale and shift, and its loss on judged rows, none made up."""
    found = []
    likeness, target = lessons
    true = likeness.roots[:, 0] == 1.0
    shifts, unmade = (SHIFTS, _unmade(target, likeness.roots)) if not true.all() else ((0.0,), 0.0)
    for shares in pairs:
        left_out = likeness.solved(shares).left_out(likeness.roots * target, ridges, every=every)
        for ridge, (rows, weighed, dual) in left_out.items():
            judged = true[rows]
            scores, right = weighed[judged], target[rows[judged]]
            loss, scale, shift = min(
                (log_loss(softmax(s * (scores + shift * unmade)), right), s, shift) for shift in shifts for s in SCALES
            )
            found.append(Choice(loss, shares, ridge, scale, shift, scores, dual))
    return found


def _loss(choice: Choice) -> float:
    return choice.loss


def _unmade(target: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """For each label 1 if no made-up row has it, else 0; shape (labels,)."""
    return 1.0 - target[roots[:, 0] < 1.0].max(axis=0, initial=0.0)


def _some_of(kernel: Callable[[], np.ndarray], rows: np.ndarray) -> np.ndarray:
    return kernel()[np.ix_(rows, rows)]


def _mixed(near: np.ndarray, similar: Sequence[Callable[[], np.ndarray]], shares: Sequence[float]) -> np.ndarray:
    mixed = near * near.dtype.type(1 - sum(shares))
    for share, part in zip(shares, similar, strict=True):
        if share:
            kernel = part()
            for start in range(0, len(mixed), CHUNK):
                mixed[start : start + CHUNK] += kernel[start : start + CHUNK] * mixed.dtype.type(share)
    return mixed


def log_loss(probabilities: np.ndarray, target: np.ndarray) -> float:
    """Mean negative log-probability of the right label."""
    return float(-np.log(np.clip((probabilities * target).sum(axis=1), 1e-9, 1)).mean())


def folds_of(groups: Sequence[str], seed: int) -> np.ndarray:
    """The fold of each row, 0 to ``FOLDS`` - 1; all rows of a group are in one fold."""
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    place = {names[g]: int(i) % FOLDS for i, g in enumerate(order)}
    return np.array([place[g] for g in groups])
