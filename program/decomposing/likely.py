"""Preselection of cuts: which ones are scored with all features, by a score from a part of the features.

A query of four segments has some hundred cuts, and computing the features of each takes nearly all of the time.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from .family import Choice, Division, Outline, Seen, Side
from .traits import Own

KEPT_SUMS = 5000
"""So many sums of weights are kept of each class of traits, together some 20 MB at most."""
SIDES = 3
"""So many beginnings and ends of each list are looked at together: with four 0.180 and not 0.173 of the podcast's
left-out queries were right, in 1.3 times the time, with two 0.168 in 0.8 times."""
OUTLINES, DIVISIONS = 3, 6
"""So many lists, and so many ways to have several clauses: as many left-out queries were right as with all of them
(podcast 0.165, engineering 0.272), in three quarters of the time, and 0.6 at the 99th percentile."""


class Likely(Choice):
    """The likeliest by weights of traits.

    Attributes:
        weights: of each trait by name; others weigh nothing.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = dict(weights)
        # Apart by class, since tuples of different classes may be equal.
        self._sums: dict[type[Own], dict[Own, float]] = {kind: {} for kind in Own.__args__}

    def divisions(self, found: Sequence[Division]) -> Sequence[Division]:
        """By joints and clauses."""
        return found if len(found) <= DIVISIONS else heapq.nlargest(DIVISIONS, found, key=self._of_division)

    def outlines(self, found: Sequence[Outline]) -> Sequence[Outline]:
        """By joints, and the likeliest sides by themselves."""
        return found if len(found) <= OUTLINES else heapq.nlargest(OUTLINES, found, key=self._of_outline)

    def sides(self, found: Sequence[Side]) -> Sequence[Side]:
        """Each by itself."""
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
        """The sum of the weights of what is seen."""
        own = self.own
        return sum([own(one) for one in group])

    def own(self, own: Own) -> float:
        """The sum of the weights of what is seen of a cut in one respect."""
        sums = self._sums[own.__class__]
        score = sums.get(own)
        if score is None:
            if len(sums) >= KEPT_SUMS:
                sums.clear()
            score = sums[own] = sum(self.weights.get(name, 0.0) for name in own.traits())
        return score


class CutAt(Likely):
    """Clauses that begin at given units, and no list.

    Args:
        starts: those units.
    """

    def __init__(self, weights: Mapping[str, float], starts: Sequence[int]) -> None:
        super().__init__(weights)
        self._starts = tuple(starts)

    def divisions(self, found: Sequence[Division]) -> Sequence[Division]:
        """The one that begins there."""
        return [one for one in found if tuple(start for start, _ in one.spans) == self._starts]

    def outlines(self, found: Sequence[Outline]) -> Sequence[Outline]:
        """None."""
        return ()
