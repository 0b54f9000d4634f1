"""Types of which a question wants no neighbour, read by form: "asthma drugs *without side effects*", "routes that have
*no gear*", "*without* any *rare* side effects".

There is no name in it, and a path from the names alone gives all of them. So what an edge joins to any node of that
type is taken away, where one edge joins it to the answers or the question has the word of one. Of 12,739 labelled
questions none asks so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ....signatures.graph_steps import Condition, EdgeType, GraphSchema
from ..names.linking import Mention
from ..ranking.completing import Option
from ..ranking.paths import PathTable
from ..sketch import Hop
from ..values import Values
from .asked_type import TypeWords, is_form
from .clauses import ARTICLE, SENTENCE_END, STOPS, Words, begins_at, clause_words
from .spoken import phrases_in, spoken_in
from .words import fold, folded_name, folded_words, is_whole_in, spelled_out, words_of

BETWEEN, BEHIND = 2, 3
"""Words between what leaves a type out and its word at most, and behind that to the end of the clause."""
NEVER_MET = 0.1
"""How much less likely it is that no plan says what is asked, since the ranking has met no plan that says this."""


@dataclass(frozen=True)
class Lacked:
    """A type of which none is wanted.

    Attributes:
        kinds: the places of the types that it may be.
        said: what is said of it, folded: the words beside its own.
    """

    kinds: frozenset[int]
    said: str


def lacked_type(question: str, mentions: Sequence[Mention], told: Words, types: TypeWords) -> Lacked | None:
    """The first type of which a question wants none; None where it says so of no type."""
    words = words_of(question)
    folded = spelled_out([word.text for word in words])
    named = {place for one in mentions for place in range(one.first, one.last)}
    free = ["" if place in named else word for place, word in enumerate(folded)]
    spoken = spoken_in(filter(None, free))
    apart = [bool(STOPS.search(question[a.end : b.start])) for a, b in pairwise(words)]
    ends = [place for place, stops in enumerate(apart, 1) if stops] + [len(folded)]
    told_first = [
        place for place, (a, b) in enumerate(pairwise(words)) if SENTENCE_END.search(question[a.end : b.start])
    ]
    behind = {place for place in range(len(free)) if begins_at(free, place, phrases_in("lacks any behind", spoken))}
    for place in range(max(told_first, default=-1) + 1, len(folded)):  # what is told before a question asks nothing
        if not _is_subject(free, place, clause_words(spoken)) and (
            count := begins_at(free, place, phrases_in("lacks any", spoken))
        ):
            begin = place + count
            closed = next(end for end in ends if end >= begin)
            found = _type_from(free[:closed], begin, told, types, clause_words(spoken))
            if found is not None and _is_closed(free[found[1] : closed], told):
                between = (*free[begin : found[1] - found[2]], *free[found[1] : closed])
                return Lacked(found[0], f" {' '.join(between)} ")
        if not behind or not free[place] or not all(free[max(0, place - BETWEEN) : place]):
            continue
        kinds, count = types.at(free, place)
        if kinds and place + count in behind:
            return Lacked(kinds, " ")
    return None


def _is_subject(free: Sequence[str], place: int, clauses: frozenset[str]) -> bool:
    """Whether a name right before a place begins a clause, and so has none of what follows itself: "A has no part"."""
    begin = place
    while begin and not free[begin - 1]:
        begin -= 1
    return begin < place and (begin == 0 or free[begin - 1] in clauses)


def _type_from(
    free: Sequence[str], begin: int, told: Words, types: TypeWords, clauses: frozenset[str]
) -> tuple[frozenset[int], int, int] | None:
    """The types that a denial is of, where their word ends, and how many words it has."""
    for place in range(begin, min(len(free), begin + BETWEEN + 1)):
        word = free[place]
        kinds, count = types.at(free, place) if word else (frozenset[int](), 0)
        if kinds:
            return kinds, place + count, count
        if not word or word in clauses or not (told.values(word) or len(word) <= ARTICLE or types.begins(word)):
            return None
    return None


def _is_closed(behind: Sequence[str], told: Words) -> bool:
    """Whether nothing but a value, or a few words without a name, follow to the end of the clause."""
    return len(behind) <= BEHIND and all(behind) and (len(behind) < BEHIND or any(map(told.values, behind)))


class Lacking:
    """Takes away from answers what is joined to any node of a type that is not wanted."""

    def __init__(self, table: PathTable, values: Values, told: Words, types: TypeWords) -> None:
        """Read the edges of a schema.

        Args:
            told: what tells the words of properties and types.
            types: the words for types.
        """
        self._schema: GraphSchema = table.schema
        self._kinds, self._places = table.types, table.place
        self._values, self._told, self._types = values, told, types

    def said(self, question: str, options: Sequence[Option], chances: np.ndarray) -> tuple[list[Option], np.ndarray]:
        """The plans as the question says them, with their chances; those that leave the type out have none."""
        found, kept, says = list(options), chances.copy(), np.zeros(len(options), dtype=bool)
        for place, option in enumerate(options):
            if option.ending.none:
                continue
            lacked = lacked_type(question, option.hypothesis.mentions, self._told, self._types)
            if lacked is None:
                says[place] = True
                continue
            hop = self._hop(question, option, lacked)
            if hop is not None and hop.edge != option.sketch.final.key:
                final = replace(option.sketch.final, lacks=(hop,))
                found[place], says[place] = replace(option, sketch=replace(option.sketch, final=final)), True
        none = next((i for i, option in enumerate(options) if option.ending.none), None)
        changed = any(one is not other for one, other in zip(found, options, strict=True))
        if none is None or not (
            changed or any(not s and not o.ending.none for s, o in zip(says, options, strict=True))
        ):
            return found, kept
        lost = ~says & (np.arange(len(options)) != none)
        if changed:
            kept[none] *= NEVER_MET
            kept[lost] = 0.0
            return found, kept / kept.sum()
        kept[none] += kept[lost].sum()
        kept[lost] = 0.0
        return found, kept

    def _hop(self, question: str, option: Option, lacked: Lacked) -> Hop | None:
        """The edge to the type from the plan's answers; None if none is, or several and the question names no one."""
        end = self._kinds[int(option.ranked.pool.end[option.place])]
        if self._places[end] in lacked.kinds:
            return None
        kinds = {self._kinds[kind] for kind in lacked.kinds}
        joined = [(e, e.source, e.target) for e in self._schema.edges]
        edges = [e for e, one, other in joined if (one == end and other in kinds) or (other == end and one in kinds)]
        said = folded_words(question)
        named = [e for e in edges if any(is_form(word, own) for own in folded_name(e.name) for word in said)]
        one = edges if len(edges) == 1 else named
        if len(one) != 1:
            return None
        return Hop(one[0].name, "out" if one[0].source == end else "in", where=self._tests(one[0], lacked))

    def _tests(self, edge: EdgeType, lacked: Lacked) -> tuple[Condition, ...]:
        """The values of the edge's properties that are said of the type: "no *rare* side effects"."""
        return tuple(
            Condition(property=name, value=text)
            for (of, name), texts in self._values.texts.items()
            for text in texts
            if of == edge.name and is_whole_in(fold(text), lacked.said)
        )
