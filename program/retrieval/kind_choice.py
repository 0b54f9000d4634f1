"""Which kinds of information a query wants, chosen together from what several heads say.

A head for each kind says whether it is wanted, a head for all of them which set of kinds is, and a third how many
are. Each looks at the whole query, and each is often wrong in its own way. Of the sets that occur in the training
rows the one with the highest product of the three is taken (Hinton, "Training products of experts", 2002), weighed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np

from ..heads import SOURCE, HeadAnswer, Heads, with_cues
from ..panel import Panel
from ..wish_grams import WITH_WISHES, with_wishes

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


class KindChooser:
    """Chooses kinds of information from what the heads of programs say of a query."""

    def __init__(self) -> None:
        # A program's heads are asked again and again; putting them side by side takes a millisecond.
        self._panels: WeakKeyDictionary[Heads, Panel] = WeakKeyDictionary()

    def choose(
        self, heads: Heads, query: str, cues: np.ndarray, frame: Sequence[str]
    ) -> tuple[dict[str, float], Kinds | None]:
        """How likely each kind is wanted, and those chosen together; None where the heads are each for themselves.

        Args:
            cues: of the card, as the heads were trained with, shape (c,).
            frame: of the query (``wish_grams.py``).
        """
        if not isinstance(heads, Heads) or TOGETHER not in heads.sources:
            return heads.of_sources(query, cues, frame), None
        return together(self._ask(heads, query, cues, frame))

    def _ask(self, heads: Heads, query: str, cues: np.ndarray, frame: Sequence[str]) -> dict[str, HeadAnswer]:
        if (panel := self._panels.get(heads)) is None:
            panel = self._panels[heads] = Panel(list(heads.sources.values()))
        seen = with_cues(heads.features.of_query(query), cues)
        if len(panel.heads[0].linear) == WITH_WISHES:
            seen = seen._replace(grams=with_wishes(seen.grams, frame, heads.features.common or frozenset()))
        given = panel.probabilities(seen)
        return {
            head.name.removeprefix(SOURCE): HeadAnswer(
                head.labels[row.index(max(row))], dict(zip(head.labels, row, strict=True))
            )
            for head, row in zip(panel.heads, given, strict=True)
        }


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
