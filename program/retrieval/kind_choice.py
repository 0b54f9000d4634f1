"""Which kinds of information a query wants, chosen together from what several heads say.

A head for each kind says whether it is wanted, a head for all of them which set of kinds is, and a third how many
are. Each looks at the whole query, and each is often wrong in its own way. Of the sets that occur in the training
rows the one with the highest product of the three is taken (Hinton, "Training products of experts", 2002), weighed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache

from ..heads import SOURCE, HeadAnswer

TOGETHER = f"{SOURCE}+kinds"
COUNT = f"{SOURCE}+count"
"""Names of the heads for sets of kinds and for their number; no kind has a name with a plus."""
JOIN, NONE = "+", "none"
MOST = 3
# Twice cross-validated on 923 rows, the kinds were exactly right for 0.662 so, for 0.640 with the heads of kinds alone,
# and for 0.654 with weights of one and a half.
SET_WEIGHT, COUNT_WEIGHT = 0.25, 0.5
FLOOR = 1e-6

Kinds = tuple[str, ...]


def set_label(kinds: Iterable[str]) -> str:
    """A set of kinds as a label, in the order given."""
    return JOIN.join(kinds) or NONE


def count_label(count: int) -> str:
    """A number of kinds as a label; three stand for more."""
    return str(min(count, MOST))


def choose_kinds(said: Mapping[str, HeadAnswer]) -> tuple[dict[str, float], Kinds | None]:
    """How likely each kind is wanted, and those chosen together; None where the heads are each for themselves.

    Args:
        said: by the heads for sources (``Heads.of_sources``); those of before have a head for each kind alone.
    """
    if TOGETHER.removeprefix(SOURCE) not in said:
        return {kind: answer.probabilities["true"] for kind, answer in said.items()}, None
    return together(said)


def together(said: Mapping[str, HeadAnswer]) -> tuple[dict[str, float], Kinds]:
    """Probability of each kind under the product of what the heads say, and the likeliest set.

    Args:
        said: by name without prefix.
    """
    sets, count = said[TOGETHER.removeprefix(SOURCE)].probabilities, said[COUNT.removeprefix(SOURCE)].probabilities
    pairs = {kind: (_log(a.probabilities["false"]), _log(a.probabilities["true"])) for kind, a in _kinds(said)}
    none = sum([false for false, _ in pairs.values()])
    gain = {kind: true - false for kind, (false, true) in pairs.items()}
    counted = [COUNT_WEIGHT * _log(count.get(count_label(number), 0.0)) + none for number in range(MOST + 1)]
    known = _known(tuple(sets), tuple(gain))
    scores = [
        SET_WEIGHT * _log(sets[label]) + counted[min(len(kinds), MOST)] + sum([gain[kind] for kind in kinds])
        for label, kinds in known
    ]
    most = max(scores)
    shares = [math.exp(score - most) for score in scores]
    likely, total = dict.fromkeys(gain, 0.0), sum(shares)
    for share, (_, kinds) in zip(shares, known, strict=True):
        for kind in kinds:
            likely[kind] += share / total
    return likely, known[scores.index(most)][1]


def _kinds(said: Mapping[str, HeadAnswer]) -> list[tuple[str, HeadAnswer]]:
    return [(name, answer) for name, answer in said.items() if JOIN not in name]


@lru_cache(maxsize=64)
def _known(labels: Kinds, kinds: Kinds) -> tuple[tuple[str, Kinds], ...]:
    """The sets that are labels, without the empty one and those with kinds that have no head."""
    sets = [(label, tuple(label.split(JOIN))) for label in labels if label != NONE]
    return tuple((label, wanted) for label, wanted in sets if {*wanted} <= {*kinds})


def _log(probability: float) -> float:
    return math.log(max(probability, FLOOR))
