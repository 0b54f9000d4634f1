"""Chooses the kinds of information that a query wants, together, from what several heads say.

One head for each kind says whether it is wanted, one head says which set of kinds is, and one how many are. Each
looks at the whole query, and each is often wrong in its own way. The set with the highest weighted product of the
three is taken (Hinton, "Training products of experts", 2002). Sets that few training rows have share one label, whose
probability is also shared with sets that no row has.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations

from ...heads.heads import SOURCE, HeadAnswer

TOGETHER = f"{SOURCE}+kinds"
COUNT = f"{SOURCE}+count"
"""Names of the heads for sets of kinds and for their number; no kind has a name with a plus."""
JOIN, NONE, RARE = "+", "none", "rare+"
MOST = 3
# Twice cross-validated on 923 rows, the kinds were exactly right for 0.662 so, for 0.640 with the heads of kinds alone,
# and for 0.654 with weights of one and a half.
SET_WEIGHT, COUNT_WEIGHT = 0.25, 0.5
FLOOR = 1e-6
LEAST, LEAST_SHARE = 5, 0.025
"""The least number and share of rows with which a set is a label of its own; each label takes 23 kB of a program. With
0.006, 0.01, 0.015 and 0.02 (17, 15, 14 and 12 labels) 737, 736, 735 and 737 of 1,233 rows were exactly right that were
left out of learning. With 4,300 rows, 0.02 and 0.025 (12 and 10 labels) both have 619 of 961 right."""

Kinds = tuple[str, ...]


def set_label(kinds: Iterable[str]) -> str:
    """A set of kinds as a label, in the order given."""
    return JOIN.join(kinds) or NONE


def set_labels(wanted: Sequence[Sequence[str]]) -> list[str]:
    """The set of each row as a label; sets of several kinds that too few rows have share one label."""
    labels = [set_label(kinds) for kinds in wanted]
    rows, least = Counter(labels), max(LEAST, LEAST_SHARE * len(labels))
    return [
        label if len(kinds) < 2 or rows[label] >= least else RARE for label, kinds in zip(labels, wanted, strict=True)
    ]


def count_label(count: int) -> str:
    """A number of kinds as a label; that of three also stands for more."""
    return str(min(count, MOST))


def choose_kinds(said: Mapping[str, HeadAnswer]) -> tuple[dict[str, float], Kinds | None]:
    """The probability of each kind, and the set that is chosen; None for the set in older programs.

    Args:
        said: the answers of the heads for sources (``Heads.of_sources``). Older programs only have one for each kind.
    """
    if TOGETHER.removeprefix(SOURCE) not in said:
        return {kind: answer.probabilities["true"] for kind, answer in said.items()}, None
    return together(said)


def together(said: Mapping[str, HeadAnswer]) -> tuple[dict[str, float], Kinds]:
    """The probability of each kind under the product of the heads' answers, and the likeliest set.

    Args:
        said: the heads' answers, by their names without prefix.
    """
    sets, count = said[TOGETHER.removeprefix(SOURCE)].probabilities, said[COUNT.removeprefix(SOURCE)].probabilities
    pairs = {kind: (_log(a.probabilities["false"]), _log(a.probabilities["true"])) for kind, a in _kinds(said)}
    none = sum([false for false, _ in pairs.values()])
    gain = {kind: true - false for kind, (false, true) in pairs.items()}
    counted = [COUNT_WEIGHT * _log(count.get(count_label(number), 0.0)) + none for number in range(MOST + 1)]
    known = _known(tuple(sets), tuple(gain))
    scores = [
        SET_WEIGHT * (_log(sets[label]) - sharing)
        + counted[min(len(kinds), MOST)]
        + sum([gain[kind] for kind in kinds])
        for label, kinds, sharing in known
    ]
    most = max(scores)
    shares = [math.exp(score - most) for score in scores]
    likely, total = dict.fromkeys(gain, 0.0), sum(shares)
    for share, (_, kinds, _) in zip(shares, known, strict=True):
        for kind in kinds:
            likely[kind] += share / total
    return likely, known[scores.index(most)][1]


def _kinds(said: Mapping[str, HeadAnswer]) -> list[tuple[str, HeadAnswer]]:
    return [(name, answer) for name, answer in said.items() if JOIN not in name]


@lru_cache(maxsize=64)
def _known(labels: Kinds, kinds: Kinds) -> tuple[tuple[str, Kinds, float], ...]:
    """Each set that can be chosen: its label, its kinds, and the logarithm of the number of sets with this label.

    The empty set is not among them, nor are sets with kinds that have no head.
    """
    own = [(label, tuple(label.split(JOIN))) for label in labels if label not in (NONE, RARE)]
    known = [(label, wanted, 0.0) for label, wanted in own if {*wanted} <= {*kinds}]
    if RARE not in labels:
        return tuple(known)
    taken = {frozenset(wanted) for _, wanted in own}
    every = [some for size in range(2, MOST + 1) for some in combinations(kinds, size) if frozenset(some) not in taken]
    return (*known, *((RARE, some, math.log(len(every))) for some in every))


def _log(probability: float) -> float:
    return math.log(max(probability, FLOOR))
