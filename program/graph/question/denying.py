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
from .denied import Told, Words, denied_names, denies
from .words import folded_words, name_words

OTHERWISE = 0.02
"""How likely plans from other names must be together to be looked at in place of those that are denied."""


class Denying:
    """Tells the plans of one schema that a question denies."""

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
        """The places of the names that a question denies."""
        return self._read(question, tuple(mentions))

    def only_denied(self, question: str, mentions: Sequence[Mention]) -> bool:
        """Whether a question denies each of these names."""
        return bool(mentions) and len(self.names(question, mentions)) == len(mentions)

    def unsayable(self, question: str, options: Sequence[Option]) -> np.ndarray:
        """Of every plan, whether it only says what the question denies, shape (options,)."""
        found = np.zeros(len(options), dtype=bool)
        for place, option in enumerate(options):
            only = self.only_denied(question, option.hypothesis.mentions)
            found[place] = only and not option.ending.none and not self._says_itself(option)
        return found

    def without(self, question: str, options: Sequence[Option], chances: np.ndarray) -> np.ndarray:
        """Chances where plans that only say what the question denies have none.

        Theirs are for no plan, but where other plans take these names from something else.
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
        """Whether a plan asks of a name itself, or goes over an edge whose own words deny."""
        pool = option.ranked.pool
        edges = {self._table.hops[hop].edge.name for hop in pool.hops[option.place] if hop != NOTHING}
        return is_itself(pool) or bool(edges & self._edges)


def told_words(values: Values, types: TypeWords) -> Words:
    """What tells the words of properties and types from others."""
    flags = [word for _, name in values.flags for part in name_words(name) for word in folded_words(part)]
    texts = {word for spelled in values.texts.values() for text in spelled for word in folded_words(text)}
    return Words(_told(flags, texts), lambda word: bool(types.of(word)))


def _told(flags: Sequence[str], texts: set[str]) -> Told:
    own = [word for word in flags if len(word) > 2]
    return lambda word: word in texts or any(is_form(word, flag) for flag in own)


def denying_edges(schema: GraphSchema) -> frozenset[str]:
    """The names of edges whose own words deny: what lacks something is found by what does not."""
    return frozenset(
        edge.name for edge in schema.edges if denies(" ".join(name_words(edge.name))) or denies(edge.description)
    )
