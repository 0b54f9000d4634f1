"""Preselects the cuts that are scored with all features, by a score from a part of the features.

A query of four segments has some hundred cuts, and computing all features of each takes nearly all of the time.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from .family import Choice, Division, Outline, Seen, Side
from .traits import Own

KEPT_SUMS = 5000
"""The most sums of weights that are cached for each class of traits; together they take some 20 MB at most."""
SIDES = 3
"""The number of beginnings and of ends of each list that are kept. With four, 0.180 of the podcast's left-out queries
were right instead of 0.173, in 1.3 times the time; with two 0.168 in 0.8 times."""
OUTLINES, DIVISIONS = 3, 6
"""The number of lists, and of divisions into clauses, that are kept. As many left-out queries were right as with all of
them (podcast 0.165, engineering 0.272), in three quarters of the time, and in 0.6 of it at the 99th percentile."""


class Likely(Choice):
    """Selects the likeliest by the weights of traits.

    Attributes:
        weights: the weight of each trait by name; others weigh 0.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = dict(weights)
        # One cache for each class, since named tuples of different classes may be equal.
        self._sums: dict[type[Own], dict[Own, float]] = {kind: {} for kind in Own.__args__}

    def divisions(self, found: Sequence[Division]) -> Sequence[Division]:
        """The likeliest divisions, by their joints and clauses."""
        return found if len(found) <= DIVISIONS else heapq.nlargest(DIVISIONS, found, key=self._of_division)

    def outlines(self, found: Sequence[Outline]) -> Sequence[Outline]:
        """The likeliest lists, by their joints and their likeliest sides."""
        return found if len(found) <= OUTLINES else heapq.nlargest(OUTLINES, found, key=self._of_outline)

    def sides(self, found: Sequence[Side]) -> Sequence[Side]:
        """The likeliest sides, each scored by itself."""
        return found if len(found) <= SIDES else heapq.nlargest(SIDES, found, key=self._of_side)

    def _of_division(self, division: Division) -> float:
        fronts = max([self.added(seen) for _, seen in division.fronts])
        return self.added(division.joints) + self.added(division.seen) + fronts

    def _of_outline(self, outline: Outline) -> float:
        sides = (max(map(self._of_side, of)) for of in (outline.lefts, outline.rights))
        return self.added(outline.around) + sum(sides)

    def _of_side(self, side: Side) -> float:
        return self.own(side.own) + max([self.added(seen) for _, seen in side.around])

    def added(self, group: Seen) -> float:
        """The sum of the weights of a group of features."""
        own = self.own
        return sum([own(one) for one in group])

    def own(self, own: Own) -> float:
        """The sum of the weights of one description's traits."""
        sums = self._sums[own.__class__]
        score = sums.get(own)
        if score is None:
            if len(sums) >= KEPT_SUMS:
                sums.clear()
            score = sums[own] = sum(self.weights.get(name, 0.0) for name in own.traits())
        return score


class CutAt(Likely):
    """Selects the division into clauses that begin at given units, and no list.

    Args:
        starts: the units at which clauses must begin.
    """

    def __init__(self, weights: Mapping[str, float], starts: Sequence[int]) -> None:
        super().__init__(weights)
        self._starts = tuple(starts)

    def divisions(self, found: Sequence[Division]) -> Sequence[Division]:
        """The divisions whose clauses begin at these units."""
        return [one for one in found if tuple(start for start, _ in one.spans) == self._starts]

    def outlines(self, found: Sequence[Outline]) -> Sequence[Outline]:
        """No list."""
        return ()
