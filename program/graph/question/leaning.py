"""Weighs paths by what a question states outright: the type that it asks for, and the names that it excludes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..names.itself import LIKELY, is_itself
from ..names.linking import Mention
from ..ranking.ranking import Ranked
from .asked_type import OTHER, TypeWords
from .neither import ASKED, TOLD, taken_together, takes_away
from .view import View

Denied = Callable[[str, Sequence[Mention]], frozenset[int]]
"""The places of the names that a question denies."""


class Leaning:
    """Weighs the paths of one question."""

    def __init__(self, question: str, types: TypeWords, places: dict[str, int], denied: Denied) -> None:
        """Read a question.

        Args:
            places: of the types of the schema, by name.
        """
        self._question, self._types, self._places, self._denied = question, types, places, denied
        self._asked: dict[int, tuple[View, frozenset[int], frozenset[int]]] = {}

    def asked(self, ranked: Ranked) -> frozenset[int]:
        """The places of the types that are asked for; none where that is not said."""
        return self._read(ranked)[1]

    def weights(self, ranked: Ranked) -> np.ndarray:
        """How likely each path is beside what the ranking says, shape (n,)."""
        _, asked, taken = self._read(ranked)
        weights = np.ones(len(ranked.scores))
        if is_itself(ranked.pool):
            return weights * LIKELY
        answers = np.isin(ranked.pool.end, list(asked)) if asked else np.ones(len(weights), dtype=bool)
        weights[~answers] *= OTHER
        if taken:
            weights[answers & takes_away(ranked.pool, taken)] *= ASKED if asked else TOLD
        return weights

    def _read(self, ranked: Ranked) -> tuple[View, frozenset[int], frozenset[int]]:
        view, hypothesis = ranked.view, ranked.hypothesis
        if id(view) not in self._asked:  # the view is kept beside, so its id is not given again
            kinds = [self._places[reading.type] for reading in hypothesis.readings]
            taken = taken_together(self._question, hypothesis.mentions) or self._left_out(hypothesis.mentions)
            self._asked[id(view)] = view, self._types.asked(view, kinds), taken
        return self._asked[id(view)]

    def _left_out(self, mentions: Sequence[Mention]) -> frozenset[int]:
        """The names that are denied beside others that are not; what all are denied of has no plan (``denying.py``)."""
        denied = self._denied(self._question, mentions)
        return denied if len(denied) < len(mentions) else frozenset()
