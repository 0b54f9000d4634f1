"""A query is rejected only if two looks at it agree: at what its words mean, and at the words themselves.

"Why does the market charge you for needing to be sure" has a word that elsewhere says "not ours", and one look
at everything together took three of fifty-eight such queries of the podcast for strangers. To refuse a good question
costs its user more than to search for a stranger's. So beside the relevance head, which sees vectors and n-grams
together, there are two more: one sees vectors and surface features alone, one n-grams and frames alone. Where the
head says "not ours", the larger of their two probabilities of "ours" must lie below a level; otherwise the rejection
is withheld and the query taken to be ours, with the head's probability as it was.

**The level** is one below which an estimated one in a hundred queries of ours lies (a quota as of Larson et al., "An
Evaluation Dataset for Intent Classification and Out-of-Scope Prediction", 2019, who give recall at such a share).
Of three hundred training rows of ours that were left out of the fit, three say where that quantile is; so it is read
off an exponential tail that is fitted to the log-odds of the lowest tenth of them, thirty rows (peaks over a threshold:
Pickands, "Statistical inference using extreme order statistics", 1975). Below the lowest of them it does not go: with
some dozen rows nobody would be rejected.

**What it costs.** Of the 210 trap words among the podcast's 2,879 rows, cross-validated six times, 1.4 % are rejected;
with one in eighty counted instead of one in a hundred read off the tail 2.1 %, with three in two hundred 2.6 %. None of
63 of ``dev`` and ``calibrate`` is (the head alone rejects 2), and relevance is right for 0.902 of their 611 rows, not
0.951. On ``test`` one of 13 is rejected, counted or not.

**With few rows of ours** one in a hundred cannot be seen: the lowest of forty rows lies at one in forty on average, and
one odd row decides alone. So the share is never less than two rows, if two are a tenth of them; from two hundred rows
on that changes nothing. CLINC150 with 40 of 400 rows ours (ten trainings): 7 % of ours and 91 % of strangers are
rejected, with one in a hundred 3 and 73 %, by the head alone 29 and 99.6 %.
No list of words is behind it, and no tag of a row.
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
QUOTA = 0.01
"""Of the queries of ours so many may be rejected."""
FEWEST = 2
"""Left-out rows of ours that this share is at least."""
TAIL = 0.1
"""The share of left-out rows of ours that the tail is fitted to; with a fifth hardly anybody was rejected."""
FLOOR = 1e-6
WITHHELD = "a rejection was withheld, as two looks at the query do not agree on it"


def level(ours: Sequence[float]) -> float:
    """The level below which both looks must be, of what they say at most of left-out rows of ours."""
    said = np.clip(np.sort(np.asarray(ours, dtype=float)), FLOOR, 1 - FLOOR)
    odds = np.log(said) - np.log1p(-said)
    count = max(1, int(TAIL * len(odds)))
    start = float(odds[min(count, len(odds) - 1)])
    mean_below = start - float(odds[:count].mean())
    quota = max(QUOTA, FEWEST / len(odds)) if count >= FEWEST else QUOTA
    tail = start - mean_below * math.log(TAIL / quota)
    return 1 / (1 + math.exp(-max(tail, float(odds[0]))))


def agree(ours: Sequence[float], below: float) -> bool:
    """Whether the looks agree to reject a query that they give these probabilities of being ours."""
    return max(ours) < below
