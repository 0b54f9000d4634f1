"""How much the words of a query alone give away of its labels: TF-IDF that never sees the history.

Labels that follow from a few words can be learned without the conversation, and then a good score says little about
planning. The result is a property of the set; no row is edited to lower it.

Measured by cross-validation in folds of whole conversations, on ``train`` and ``dev`` where they exist (``test`` is
for reporting and ``calibrate`` for the bound).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..data.rows import LabelledRow
from ..data.statistics import ASKED, label_of
from ..signatures.types import Frozen
from .statistics import RESAMPLES, Estimate, clustered_interval, estimate_of, grouped, resampling_weights

FOLDS = 5
MEASURED = ("train", "dev")
# Rows that are looked at; more only make the intervals narrower than anyone needs.
MAX_ROWS = 2000
MIN_LATER = 10
_LEVEL = 0.95

Splits = Mapping[str, Sequence[LabelledRow]]


class Giveaway(Frozen):
    """How well TF-IDF on the query alone predicts one label.

    Attributes:
        values: how many values the label has among these rows.
        majority: accuracy of always saying the most frequent value of the training folds.
        tfidf: accuracy of TF-IDF with logistic regression.
        later_rows: number of rows with a history; the next two are about those only.
        balanced_accuracy: mean recall of the values; guessing has one over the number of values.
        auroc: area under the ROC curve, for several values the mean of one against the rest; guessing has 0.5.
    """

    label: str
    values: int
    majority: Estimate
    tfidf: Estimate
    later_rows: int
    balanced_accuracy: Estimate | None
    auroc: Estimate | None


def giveaway(splits: Splits, labels: Sequence[str] = tuple(ASKED), seed: int = 0) -> tuple[Giveaway, ...]:
    """How much the words give away of each label; labels with a single value or too few rows are left out."""
    rows = _sample(measured_rows(splits), seed)
    # With more threads than idle cores, small matrices take many times as long.
    with threadpool_limits(1):
        found = [_one(rows, label, seed) for label in labels]
    return tuple(one for one in found if one is not None)


def measured_rows(splits: Splits) -> list[LabelledRow]:
    """The rows of train and dev, or all rows of a set without them."""
    chosen = [name for name in MEASURED if name in splits] or list(splits)
    return [row for name in chosen for row in splits[name]]


def _sample(rows: Sequence[LabelledRow], seed: int) -> list[LabelledRow]:
    """Whole conversations, drawn at random until there are enough rows."""
    if len(rows) <= MAX_ROWS:
        return list(rows)
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row.conversation] = sizes.get(row.conversation, 0) + 1
    names, kept, total = sorted(sizes), set(), 0
    for number in np.random.default_rng(seed).permutation(len(names)):
        if total >= MAX_ROWS:
            break
        kept.add(names[number])
        total += sizes[names[number]]
    return [row for row in rows if row.conversation in kept]


def _one(rows: Sequence[LabelledRow], label: str, seed: int) -> Giveaway | None:
    asked = [row for row in rows if label_of(row, label) is not None]
    gold = np.array([label_of(row, label) for row in asked], dtype=str)
    groups = [row.conversation for row in asked]
    if len(set(gold.tolist())) < 2 or len(set(groups)) < FOLDS:
        return None
    values, scores, usual = _cross_validated([row.query for row in asked], gold, groups, seed)
    right = values[scores.argmax(axis=1)] == gold
    later = np.array([bool(row.history) for row in asked])
    balanced, auroc = _later(values, scores[later], gold[later], [g for g, m in zip(groups, later, strict=True) if m])
    return Giveaway(
        label=label,
        values=len(values),
        majority=clustered_interval(usual == gold, groups),
        tfidf=clustered_interval(right, groups),
        later_rows=int(later.sum()),
        balanced_accuracy=balanced,
        auroc=auroc,
    )


def _cross_validated(
    queries: Sequence[str], gold: np.ndarray, groups: Sequence[str], seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values, the probability of each for each row, and the most frequent value where it was fitted."""
    values = np.unique(gold)
    scores, usual = np.zeros((len(gold), len(values))), gold.copy()
    fold = _folds(groups, seed)
    texts = np.array(queries, dtype=object)
    for number in range(FOLDS):
        held, kept = fold == number, fold != number
        names, counts = np.unique(gold[kept], return_counts=True)
        usual[held] = names[counts.argmax()]
        places = np.searchsorted(values, names)
        scores[np.ix_(held, places)] = _fitted(texts[kept], gold[kept], texts[held])
    return values, scores, usual


def _fitted(texts: np.ndarray, gold: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Probabilities of the sorted values of ``gold`` for other texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline, make_union

    if len(set(gold.tolist())) < 2:
        return np.ones((len(others), 1))
    # The features and the strength of `baselines.TfidfPlanner`; the dual solver takes a tenth of the time.
    words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b", sublinear_tf=True)
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True)
    logistic = LogisticRegression(C=10, solver="liblinear", dual=True, max_iter=1000, random_state=0)
    model = make_pipeline(make_union(words, characters), OneVsRestClassifier(logistic))
    return model.fit(texts, gold).predict_proba(others)


def _folds(groups: Sequence[str], seed: int) -> np.ndarray:
    """Fold of each row; a conversation is in one."""
    names, index = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    return (np.random.default_rng(seed).permutation(len(names)) % FOLDS)[index]


# -- later turns


def _later(
    values: np.ndarray, scores: np.ndarray, gold: np.ndarray, groups: Sequence[str]
) -> tuple[Estimate | None, Estimate | None]:
    """Balanced accuracy and AUROC; None where the rows are too few or have one value."""
    there = [k for k, value in enumerate(values) if (gold == value).any()]
    if len(gold) < MIN_LATER or len(there) < 2:
        return None, None
    truth = gold[:, None] == values[there][None]
    hits = truth & (values[scores.argmax(axis=1)] == gold)[:, None]
    recall = _bootstrap(lambda w: _mean(_divided(w @ hits, w @ truth)), groups)
    ranked = [_Ranking(scores[:, k], truth[:, n]) for n, k in enumerate(there)]
    auroc = _bootstrap(lambda w: _mean(np.stack([r.areas(w) for r in ranked], axis=1)), groups)
    return recall, auroc


class _Ranking:
    """Rows by the score of one value; areas under its ROC curve for many weightings of the rows at once."""

    def __init__(self, scores: np.ndarray, truth: np.ndarray) -> None:
        self.order = np.argsort(scores, kind="stable")
        _, self.tie = np.unique(scores[self.order], return_inverse=True)
        self.truth = truth[self.order]

    def areas(self, weights: np.ndarray) -> np.ndarray:
        """The probability that a true row is above a false one, ties counted half: shape (resamples,)."""
        ordered = weights[:, self.order]
        true, false = ordered * self.truth, ordered * ~self.truth
        starts = np.flatnonzero(np.diff(self.tie, prepend=-1))
        true, false = np.add.reduceat(true, starts, axis=1), np.add.reduceat(false, starts, axis=1)
        below = np.cumsum(false, axis=1) - false / 2
        return _divided((true * below).sum(axis=1), true.sum(axis=1) * false.sum(axis=1))


def _bootstrap(statistic: Callable[[np.ndarray], np.ndarray], groups: Sequence[str], seed: int = 0) -> Estimate:
    """A statistic of row weights (resamples, rows), with its interval over conversations."""
    _, index, k = grouped(np.zeros(len(groups)), groups)
    point = statistic(np.ones((1, len(groups))))[0]
    step = max(1, 2_000_000 // len(groups))
    blocks = (w[i : i + step] for w in resampling_weights(k, RESAMPLES, seed) for i in range(0, len(w), step))
    draws: Any = np.concatenate([statistic(w[:, index]) for w in blocks])
    return estimate_of(float(point), draws[~np.isnan(draws)], len(groups), k, _LEVEL)


def _divided(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a / b``; nan where a resample has no such row."""
    return np.divide(a, b, out=np.full(np.shape(a), np.nan), where=b > 0)


def _mean(parts: np.ndarray) -> np.ndarray:
    """Mean over values of those that a resample has; nan if it has none."""
    there = ~np.isnan(parts)
    return _divided(np.where(there, parts, 0).sum(axis=1), there.sum(axis=1).astype(float))
