"""Rejects a query only if two views of it (*looks*) agree: the meaning of its words, and the words themselves.

In-domain queries are called *ours*, out-of-domain ones *strangers*. "Why does the market charge you for needing to be
sure" is ours, but has a *trap word*, one that elsewhere says "not ours". A single head that sees everything took three
of fifty-eight such queries of the podcast for strangers. To refuse a good question costs its user more than to search
for a stranger's. So beside the relevance head, which sees vectors and n-grams together, there are two more: one sees
vectors and surface features alone, the other n-grams and frames alone. Where the relevance head says "not ours", the
mean of these two heads' log-odds of "ours" (logarithmic pooling, Genest and Zidek, 1986) must lie below a level.
Otherwise the rejection is withheld: the query is taken to be ours, with the relevance head's probabilities as they are.

**The level** is set so that an estimated three in four hundred of our queries lie below it (a quota as in Larson et
al., "An Evaluation Dataset for Intent Classification and Out-of-Scope Prediction", 2019, who give recall at such a
share). It is estimated from training rows of ours that were left out of the fit. Of three hundred rows, only two or
three lie below that quantile. So it is read off an exponential tail that is fitted to the log-odds of the lowest tenth,
thirty rows (peaks over a threshold: Pickands, "Statistical inference using extreme order statistics", 1975). The level
is never below the lowest of these rows, since with some dozen rows nothing would be rejected then.

**What it costs.** Of the 210 queries with trap words among the podcast's 2,879 rows, cross-validated six times, 0.6 %
[0.0, 1.4] are rejected, and relevance is right for 0.880 of all rows. With a quota of one in a hundred it is 1.4 %
[0.5, 2.7] and 0.891. Earlier programs compared the larger of the two probabilities with the level: 1.4 % and 0.885 with
one in a hundred, 1.0 % and 0.875 with three in four hundred. By the relevance head alone 5.2 % are rejected, and
relevance is right for 0.917. ``docs/trap-words.md`` has the tables.

**With few rows of ours** one in a hundred cannot be estimated: of forty rows the lowest is at one in forty on average,
and one odd row decides alone. So the quota is never less than two rows, where two rows are at most a tenth of them;
from some 270 rows on that changes nothing. On CLINC150 with 40 of 400 rows ours (ten trainings, when the larger
probability counted), 7 % of ours and 91 % of strangers were rejected; with one in a hundred 3 % and 73 %; by the
relevance head alone 29 % and 99.6 %. The rule uses no list of words, and no tag of a row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .heads import Head

PREFIX = "look."
MEANING = f"{PREFIX}meaning"
WORDS = f"{PREFIX}words"
# The shares of the linear kernels on n-grams and frames, as in ``fit_head.SHARES``: they have nothing in the look at
# meaning, and everything in the look at words. The frames' fifth has the lowest log loss of 0.5, 0.2, 0.1 and 0.05.
KERNELS = {MEANING: ((0.0, 0.0),), WORDS: ((0.8, 0.2),)}
QUOTA = 0.0075
"""The share of in-domain queries that may be rejected."""
FEWEST = 2
"""The quota is at least this number of left-out rows of ours."""
TAIL = 0.1
"""The share of left-out rows of ours that the tail is fitted to; with a fifth hardly any stranger was rejected."""
FLOOR = 1e-6
WITHHELD = "a rejection was withheld, as two looks at the query do not agree on it"


def together(ours: Sequence[float]) -> float:
    """The probability that a query is ours, pooled from those of the two looks."""
    return _probability(sum(map(_log_odds, ours)) / len(ours))


def level(ours: Sequence[float]) -> float:
    """The probability below which queries are rejected, from the pooled probabilities of left-out rows of ours."""
    odds = np.sort([_log_odds(one) for one in ours])
    count = max(1, int(TAIL * len(odds)))
    start = float(odds[min(count, len(odds) - 1)])
    mean_below = start - float(odds[:count].mean())
    quota = max(QUOTA, FEWEST / len(odds)) if count >= FEWEST else QUOTA
    tail = start - mean_below * math.log(TAIL / quota)
    return _probability(max(tail, float(odds[0])))


def seen_closer(words: Head, meaning: Head) -> Head:
    """The first heads' look at words, as heads that look closer ask it beside their look at meaning.

    Both tiers see the same n-grams, and the look at words sees nothing else. So it is trained and stored once.
    """
    linear = np.zeros((len(meaning.linear), words.linear.shape[1]), dtype=words.linear.dtype)
    linear[: len(words.linear)] = words.linear
    dual = np.zeros((len(meaning.support), words.dual.shape[1]), dtype=words.dual.dtype)
    return replace(words, linear=linear, dual=dual, support=meaning.support, width=meaning.width, below=meaning.below)


def is_seen_closer(look: Head | None, words: Head | None) -> bool:
    """Whether a look at words of the heads that look closer is the first heads' one; not so in older programs."""
    if look is None or words is None or look.scale != words.scale or look.steps is None or words.steps is None:
        return False
    same = np.array_equal(look.linear[: len(words.linear)], words.linear) and np.array_equal(look.steps, words.steps)
    return same and not look.dual.any()


def agree(read: Sequence[Sequence[float]], below: float) -> bool:
    """Whether the looks agree to reject a query.

    Args:
        read: the looks' probabilities of "ours" for each text of the query, one or two.
        below: the level.
    """
    return all(together(ours) < below for ours in read)


def each_agrees(read: Sequence[Sequence[float]], below: float) -> bool:
    """As ``agree``, for older programs: the higher of the looks' probabilities must lie below the level."""
    return max(map(max, read)) < below


def _log_odds(probability: float) -> float:
    kept = min(max(probability, FLOOR), 1 - FLOOR)
    return math.log(kept) - math.log1p(-kept)


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))
