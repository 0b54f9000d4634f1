"""Questions that negate all their names: no plan gives what is left, and plans from these names mean the opposite."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ....signatures.graph_steps import GraphSchema
from ..names.itself import is_itself
from ..names.linking import Mention
from ..ranking.completing import Option
from ..ranking.paths import NOTHING, PathTable
from ..values import Values
from .asked_type import TypeWords, is_form
from .clauses import Told, Words
from .denied import denied_names, denies
from .words import folded_name, folded_words, name_words

OTHERWISE = 0.02
"""The least probability of all other plans together at which the denied plans' share goes to them, and not to none."""


class Denying:
    """Tells which plans over one schema start only from names that the question negates ("denies")."""

    def __init__(self, table: PathTable, values: Values, types: TypeWords) -> None:
        """Read the words of properties and edges.

        Args:
            types: the words for types.
        """
        self._table = table
        self.words = told_words(values, types)
        self._edges = denying_edges(table.schema)
        # One question's names are asked about before its paths are weighed, and after.
        self._read = lru_cache(maxsize=64)(lambda question, mentions: denied_names(question, mentions, self.words))

    def names(self, question: str, mentions: Sequence[Mention]) -> frozenset[int]:
        """The places, in ``mentions``, of the names that a question negates."""
        return self._read(question, tuple(mentions))

    def only_denied(self, question: str, mentions: Sequence[Mention]) -> bool:
        """Whether a question negates each of these names, and there are any."""
        return bool(mentions) and len(self.names(question, mentions)) == len(mentions)

    def unsayable(self, question: str, options: Sequence[Option]) -> np.ndarray:
        """Whether each plan starts only from negated names, so that it means the opposite; shape (options,), bool."""
        found = np.zeros(len(options), dtype=bool)
        for place, option in enumerate(options):
            only = self.only_denied(question, option.hypothesis.mentions)
            found[place] = only and not option.ending.none and not self._says_itself(option)
        return found

    def without(self, question: str, options: Sequence[Option], chances: np.ndarray) -> np.ndarray:
        """The probabilities of the options, with 0 for plans that start only from negated names; they sum to one.

        What these had goes to the option that there is no plan. Where other plans are likely enough, which take the
        negated names from something else, all options share it.
        """
        denied = self.unsayable(question, options)
        none = next((i for i, option in enumerate(options) if option.ending.none), None)
        if none is None or not denied.any():
            return chances
        kept = np.where(denied, 0.0, chances)
        if kept.sum() - kept[none] < OTHERWISE:
            kept[none] += chances[denied].sum()
        return kept / kept.sum()

    def _says_itself(self, option: Option) -> bool:
        """Whether a plan means what is asked, though its names are negated.

        It does where it tests a name itself, or follows an edge whose own words negate.
        """
        pool = option.ranked.pool
        edges = {self._table.hops[hop].edge.name for hop in pool.hops[option.place] if hop != NOTHING}
        return is_itself(pool) or bool(edges & self._edges)


def told_words(values: Values, types: TypeWords) -> Words:
    """The tests for words of properties, values and types of one schema."""
    flags = [word for _, name in values.flags for word in folded_name(name)]
    texts = {word for spelled in values.texts.values() for text in spelled for word in folded_words(text)}
    return Words(_told(flags, texts), lambda word: bool(types.of(word)))


def _told(flags: Sequence[str], texts: set[str]) -> Told:
    own = [word for word in flags if len(word) > 2]
    return lambda word: word in texts or any(is_form(word, flag) for flag in own)


def denying_edges(schema: GraphSchema) -> frozenset[str]:
    """The names of edges whose own name or description negates, such as "must not be taken with"."""
    return frozenset(
        edge.name for edge in schema.edges if denies(" ".join(name_words(edge.name))) or denies(edge.description)
    )
