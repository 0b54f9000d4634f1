"""A second tier of heads, which read the whole sentence where the first ones are in doubt.

Static vectors know words one by one, so "what is a good river cruise company" is near a domain that speaks of rivers,
and "due to what did it fall" has no word of a cause. A model of sentences knows better (``minilm.py``), at two hundred
times the price. So heads with its vectors are asked only where the first ones leave a doubt, about one of three
things:

* **Relevance**: the first heads would reject the query and their looks (``looks.py``) do not agree, or they are less
  sure than ``DOUBT``. A second relevance head and two looks then decide instead.
* **Complexity, intent, decomposition**: the product of the first heads' probabilities is below ``UNSURE``. The
  probabilities of both are then pooled, half and half. The second heads see no n-grams, which the first ones do: so
  they are small, and pooled they are as good as heads that see everything. They have no support vectors either
  (``quadratic.py``).
* **Follow-up**: the first head is less sure than ``SURE_TURN``. A second one decides instead.

**Kinds of information** that a card declares (``source_heads.py``) are read from these vectors alone. They are exactly
right for 805 of 1,219 queries of engineering that were left out of learning, with static vectors for 770, with both
pooled for 802.

A query that is read at all is pooled for all its labels, since reading it is what takes time. ``docs/heads.md`` has
what that is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .joint import COMPLEXITY_OUTPUTS

if TYPE_CHECKING:
    from .heads import HeadAnswer

RELEVANT = "is_relevant"
LOOKED_CLOSER = "after a closer look at the whole sentence"
DOUBT = 0.8
"""A head for relevance that is less sure than this leaves a doubt."""
SURE_TURN = 0.9
"""The same for follow-ups. Of 441 later turns in the four domains' ``dev`` and ``calibrate`` the first heads tell 387
rightly; with a closer look below 0.8 it is 408, below 0.9 412, below 0.95 or always 413, and with both pooled 411."""
UNSURE = 0.8
"""Labels whose probabilities multiply to less than this leave a doubt; they are about two queries in three. All labels
are right for 1,135 of 1,464 queries of engineering that were left out of learning (1,120 with 0.4, at which two in five
are read), and for 1,144 of 1,523 of the journal's (1,131). With a weight of 0.7 in place of a half the second heads
give 1,130 and 1,144."""


def leaves_doubt(said: Mapping[str, HeadAnswer]) -> bool:
    """Whether a closer look at a query is worth its milliseconds, given what the first heads say of it."""
    relevance = said.get(RELEVANT)
    if relevance is not None and (relevance.withheld or relevance.confidence < DOUBT):
        return True
    return math.prod(said[name].confidence for name in COMPLEXITY_OUTPUTS if name in said) < UNSURE


def combined(first: HeadAnswer, closer: HeadAnswer) -> HeadAnswer:
    """The answer of two heads: their probabilities' geometric mean, scaled to a sum of one.

    Heads of one program learned from the same rows. If they know different labels all the same, the first one answers.
    """
    if first.probabilities.keys() != closer.probabilities.keys():
        return first
    both = {label: math.sqrt(p * closer.probabilities[label]) for label, p in first.probabilities.items()}
    total = sum(both.values())
    shares = {label: p / total for label, p in both.items()}
    return first._replace(label=max(shares, key=shares.__getitem__), probabilities=shares, closer=True)
