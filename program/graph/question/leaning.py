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
"""A function to the places, among a question's names, of those that it negates."""


class Leaning:
    """Weighs the ranked paths of one question by what it states outright."""

    def __init__(self, question: str, types: TypeWords, places: dict[str, int], denied: Denied) -> None:
        """Read a question.

        Args:
            types: the words for types.
            places: the number of each type of the schema, by its name.
            denied: finds the names that the question negates.
        """
        self._question, self._types, self._places, self._denied = question, types, places, denied
        self._asked: dict[int, tuple[View, frozenset[int], frozenset[int]]] = {}

    def asked(self, ranked: Ranked) -> frozenset[int]:
        """The numbers of the types that are asked for; empty where that is not said."""
        return self._read(ranked)[1]

    def weights(self, ranked: Ranked) -> np.ndarray:
        """The factor on the ranking's probability of each path, shape (n,)."""
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
        if id(view) not in self._asked:  # the view is kept in the value, so that no other object gets its id
            kinds = [self._places[reading.type] for reading in hypothesis.readings]
            taken = taken_together(self._question, hypothesis.mentions) or self._left_out(hypothesis.mentions)
            self._asked[id(view)] = view, self._types.asked(view, kinds), taken
        return self._asked[id(view)]

    def _left_out(self, mentions: Sequence[Mention]) -> frozenset[int]:
        """The places of negated names, if others are not negated; where all are there is no plan (``denying.py``)."""
        denied = self._denied(self._question, mentions)
        return denied if len(denied) < len(mentions) else frozenset()
