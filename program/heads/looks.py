"""Rejects a query only if two views of it (*looks*) agree: the meaning of its words, and the words themselves.

"Why does the market charge you for needing to be sure" has a word that elsewhere says "not ours", and one look at
everything together took three of fifty-eight such queries of the podcast for strangers. To refuse a good question
costs its user more than to search for a stranger's. So beside the relevance head, which sees vectors and n-grams
together, there are two more: one sees vectors and surface features alone, the other n-grams and frames alone. Where
the relevance head says "not ours", the mean of the two heads' log-odds of "ours" (logarithmic pooling, Genest and
Zidek, 1986) must lie below a level. Otherwise the rejection is withheld and the query taken to be ours, with the
head's probability as it was.

**The level** is one that an estimated three in four hundred of our queries lie below (a quota as in Larson et al.,
"An Evaluation Dataset for Intent Classification and Out-of-Scope Prediction", 2019, who give recall at such a share).
Of three hundred training rows of ours that were left out of the fit, two or three say where that quantile is. So it
is read off an exponential tail that is fitted to the log-odds of the lowest tenth of them, thirty rows (peaks over a
threshold: Pickands, "Statistical inference using extreme order statistics", 1975). It never goes below the lowest of
them; with some dozen rows nothing would be rejected.

**What it costs.** Of the 210 trap words among the podcast's 2,879 rows, cross-validated six times, 0.6 % are rejected
[0.0, 1.4], and relevance is right for 0.880 of the rows; with one in a hundred 1.4 % [0.5, 2.7] and 0.891. Earlier
programs compared the larger of the two probabilities with the level: 1.4 % and 0.885 with one in a hundred, 1.0 % and
0.875 with three in four hundred. By the head alone 5.2 % are rejected, and relevance is right for 0.917.

**With few rows of ours** one in a hundred cannot be estimated: the lowest of forty rows lies at one in forty on
average, and one odd row decides alone. So the share is never less than two rows, if two are a tenth of them; from
some 270 rows on that changes nothing. CLINC150 with 40 of 400 rows ours (ten trainings, when the larger look
counted): 7 % of ours and 91 % of strangers were rejected; with one in a hundred 3 % and 73 %; by the head alone 29 %
and 99.6 %. No list of words is behind it, and no tag of a row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

PREFIX = "look."
MEANING = f"{PREFIX}meaning"
WORDS = f"{PREFIX}words"
# Of the linear kernels on n-grams and on frames, as in ``fit_head.SHARES``: nothing of one, and everything.
KERNELS = {MEANING: ((0.0, 0.0),), WORDS: ((0.5, 0.5), (0.8, 0.2), (0.95, 0.05))}
QUOTA = 0.0075
"""Share of the queries of ours that may be rejected."""
FEWEST = 2
"""Number of left-out rows of ours that this share is at least."""
TAIL = 0.1
"""The share of left-out rows of ours that the tail is fitted to; with a fifth hardly anybody was rejected."""
FLOOR = 1e-6
WITHHELD = "a rejection was withheld, as two looks at the query do not agree on it"


def together(ours: Sequence[float]) -> float:
    """The pooled probability of two looks that a query is ours."""
    return _probability(sum(map(_log_odds, ours)) / len(ours))


def level(ours: Sequence[float]) -> float:
    """The level below which queries are rejected, from the pooled probabilities of left-out rows of ours."""
    odds = np.sort([_log_odds(one) for one in ours])
    count = max(1, int(TAIL * len(odds)))
    start = float(odds[min(count, len(odds) - 1)])
    mean_below = start - float(odds[:count].mean())
    quota = max(QUOTA, FEWEST / len(odds)) if count >= FEWEST else QUOTA
    tail = start - mean_below * math.log(TAIL / quota)
    return _probability(max(tail, float(odds[0])))


def agree(read: Sequence[Sequence[float]], below: float) -> bool:
    """Whether the looks agree to reject a query.

    Args:
        read: the looks' probabilities of "ours" for each text of the query, one or two.
        below: the level.
    """
    return all(together(ours) < below for ours in read)


def each_agrees(read: Sequence[Sequence[float]], below: float) -> bool:
    """The same in older programs, whose level is for the look with the higher probability."""
    return max(map(max, read)) < below


def _log_odds(probability: float) -> float:
    kept = min(max(probability, FLOOR), 1 - FLOOR)
    return math.log(kept) - math.log1p(-kept)


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))
