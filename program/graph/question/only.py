"""Names that a question says are the only ones, read by form: "that need only cams", "who climbed just Salt Road",
"caused by this and nothing else", "camsだけ".

A plan for what needs cams finds more than that. So where the word for "only" is right before the names, one verb,
preposition or article between, and nothing or another demand follows, what is joined to other nodes as well is taken
away (``Branch.alone``). "Only" says many other things: of 12,739 labelled questions some hundred have such a word, and
hardly any means this. So it is passed over before what is asked for ("only the asthma drugs"), behind a word for a type
("genes only for asthma"), before a name that is followed by more, and where a sentence tells and another asks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..names.linking import Mention
from ..ranking.completing import Option
from ..ranking.paths import NOTHING, PathTable
from ..sketch import Branch, Sketch
from .asked_type import TypeWords
from .clauses import ARTICLE, SENTENCE, SENTENCE_END, ClauseReading, Words, begins_at, ends_at
from .denied import denied_names
from .spoken import ends_in, phrases_in, spoken_in
from .words import folded_words, spelled_out, stands_alone

MOST, SIGNS = 2, 4
"""Words between the one that says so and a name at most, and signs of a script without spaces."""
NEXT = 3
"""Words at most from such a name to another one, of what is demanded beside it."""


@dataclass(frozen=True)
class OnlyNames:
    """The names that are the only ones.

    Attributes:
        places: of the names among the mentions.
        kinds: the places of the types that the word before says ("*routes* that need only cams"); empty if none does.
    """

    places: frozenset[int] = frozenset()
    kinds: frozenset[int] = frozenset()


NOBODY_ALONE = OnlyNames()


def only_names(question: str, mentions: Sequence[Mention], told: Words, types: TypeWords) -> OnlyNames:
    """Read the names that a question says are the only ones, one or several that are joined."""
    return _Reading(question, mentions, told, types).read()


class _Reading(ClauseReading):
    def __init__(self, question: str, mentions: Sequence[Mention], told: Words, types: TypeWords) -> None:
        super().__init__(question, mentions, told)
        self._types = types

    def read(self) -> OnlyNames:
        if denied_names(self._question, self._mentions, self._told):
            return NOBODY_ALONE  # "binds only A and not B" takes B away
        for run in self._runs():
            first, last = self._mentions[run[0]], self._mentions[run[-1]]
            if self._goes_on(last.last):
                continue
            begun = first.first
            told = self._is_alone_behind(last) or self._is_closed(last.last)
            if not told and (place := self._told_before(first.first)) is not None and self._ends(last, place):
                told, begun = True, place
            if told:
                return OnlyNames(frozenset(run), self._kinds_before(begun))
        return NOBODY_ALONE

    def _runs(self) -> list[list[int]]:
        """Names in their order; those with nothing but a joining word or a comma between them together."""
        order = sorted(range(len(self._mentions)), key=lambda i: self._mentions[i].first)
        runs: list[list[int]] = []
        for place in order:
            if runs and self._is_joined(self._mentions[runs[-1][-1]], self._mentions[place]):
                runs[-1].append(place)
            else:
                runs.append([place])
        return runs

    def _is_joined(self, one: Mention, other: Mention) -> bool:
        between = self._folded[one.last : other.first]
        if between:
            return len(between) == 1 and (between[0],) in self._line("joins")
        return "," in self._question[one.end : other.start]

    def _told_before(self, start: int) -> int | None:
        """Where the word for "only" begins that is of a name beginning here; None if none is."""
        signs = start > 0 and stands_alone(self._folded[start - 1])
        for gap in range((SIGNS if signs else MOST) + 1):
            place = start - gap
            if place < 0 or (place < start and self._stops(place)) or self._is_apart(place - 1, place):
                return None
            right_before = gap == 0 or (gap == 1 and len(self._folded[place]) <= ARTICLE)
            lines = self._line("sole") | (self._line("sole right before") if right_before else frozenset())
            if count := ends_at(self._folded, place, lines):
                between = self._folded[place:start]
                if not signs and len(between) == MOST and all(len(word) > ARTICLE for word in between):
                    return None
                return place - count if self._may_say_so(place - count, signs) else None
        return None

    def _stops(self, place: int) -> bool:
        """Whether "only" before this word is not of a name behind it."""
        word = self._folded[place]
        apart = place + 1 < len(self._folded) and self._is_apart(place, place + 1)
        return apart or place in self._named or word.isdecimal() or word in self._clauses or self._is_ours(word)

    def _is_ours(self, word: str) -> bool:
        """Whether a word is for a type, or of a property or a value."""
        return self._told.values(word) or self._told.kinds(word)

    def _may_say_so(self, begin: int, signs: bool) -> bool:
        """Whether a verb, or what relates one, stands before "only": not a noun, a denial, or nothing."""
        if signs:
            return True
        before = begin - 1
        if before < 0 or self._is_apart(before, begin):
            return False
        denied = ends_at(self._folded, begin, self._line("denies")) or ends_at(self._folded, begin, self._line("lacks"))
        # "who cooks only with tofu", where there are cooks
        verb = before > 0 and (self._folded[before - 1],) in self._line("who")
        return not denied and (verb or not self._is_ours(self._folded[before])) and not self._is_linked(begin)

    def _relates(self, place: int) -> bool:
        """Whether a word relates a clause to what is before it: "dishes that", "Gerichte, die"."""
        lines = self._line("relates") | self._line("who") | self._line("clause")
        return (self._folded[place],) in lines or self._is_apart(place - 1, place)

    def _is_linked(self, begin: int) -> bool:
        """Whether what joins two parts of a sentence stands before: "…, but only asthma"."""
        return (self._folded[begin - 1],) in self._line("joins") | self._line("rather")

    def _ends(self, name: Mention, begin: int) -> bool:
        """Whether nothing is said of a name behind it: its clause ends there, or another demand follows.

        Args:
            begin: where the word for "only" begins; right behind what relates, the verb may be the clause's last word.
        """
        at = name.last
        if at >= len(self._folded) or self._is_apart(at - 1, at):
            return True
        last = at + 1 == len(self._folded) or self._is_apart(at, at + 1)
        if last and begin and self._relates(begin - 1) and not self._is_ours(self._folded[at]):
            return True
        if stands_alone(self._folded[at]):
            return True
        if name.rest or begins_at(self._folded, at, self._line("joins")) or self._is_ours(self._folded[at]):
            return False
        after = [i for i in range(at, min(len(self._folded), at + NEXT)) if i in self._named]
        return bool(after) and not any(
            self._is_ours(self._folded[i]) or self._is_apart(i, i + 1) or self._folded[i] in self._clauses
            for i in range(at, after[0])
        )

    def _is_alone_behind(self, name: Mention) -> bool:
        """Whether the word for "only" is written behind a name: "camsだけ", "cams만"."""
        if name.rest and any(name.rest.startswith(end) for end in ends_in("sole behind", self._spoken)):
            return True
        at = name.last
        return bool(begins_at(self._folded, at, self._line("sole behind"))) and not self._is_apart(at - 1, at)

    def _is_closed(self, at: int) -> bool:
        """Whether a name is followed by "and nothing else"."""
        return bool(begins_at(self._folded, at, self._line("nothing else")))

    def _kinds_before(self, begin: int) -> frozenset[int]:
        """The types that the last word for one says before a place, none of whose names lies between."""
        for place in range(begin - 1, -1, -1):
            if place in self._named:
                return frozenset()
            if kinds := self._types.of(self._folded[place]):
                return kinds
        return frozenset()

    def _goes_on(self, at: int) -> bool:
        """Whether another sentence follows, so that this one tells and does not ask."""
        rest = range(at, len(self._words) - SENTENCE + 1)
        return any(
            SENTENCE_END.search(self._question[self._words[i - 1].end : self._words[i].start])
            or ";" in self._question[self._words[i - 1].end : self._words[i].start]
            for i in rest
            if i
        )


class Only:
    """Leaves out what is joined to others than the only names."""

    def __init__(self, table: PathTable, told: Words, types: TypeWords) -> None:
        """Read the edges whose own words say "only".

        Args:
            told: what tells the words of properties and types.
            types: the words for types.
        """
        self._hops = table.hops
        self._edges = {edge.name for edge in table.schema.edges if _says_only(edge.description)}
        # They are asked for every plan of one question.
        self._names = lru_cache(maxsize=64)(lambda question, mentions: only_names(question, mentions, told, types))

    def said(self, question: str, options: Sequence[Option], chances: np.ndarray) -> tuple[list[Option], np.ndarray]:
        """The plans as the question says them, with their chances; what cannot say it counts for none."""
        none = next((i for i, option in enumerate(options) if option.ending.none), None)
        found, kept = list(options), chances.copy()
        for place, option in enumerate(options):
            only = self._names(question, option.hypothesis.mentions)
            if option.ending.none or not only.places or self._says_it(option):
                continue
            sketch = _alone(option, only)
            if sketch is not None:
                found[place] = replace(option, sketch=sketch)
            elif none is not None:
                kept[none] += kept[place]
                kept[place] = 0.0
        return found, kept

    def _says_it(self, option: Option) -> bool:
        """Whether a plan goes over an edge whose own words say "only"."""
        hops = option.ranked.pool.hops[option.place]
        return any(self._hops[hop].edge.name in self._edges for hop in hops if hop != NOTHING)


def _says_only(description: str) -> bool:
    folded = spelled_out(folded_words(description))
    phrases = phrases_in("sole", spoken_in(folded))
    return any(begins_at(folded, place, phrases) for place in range(len(folded)))


def _alone(option: Option, only: OnlyNames) -> Sketch | None:
    """The plan whose one branch from these names keeps what is joined to no others; None if it has no such branch."""
    pool, sketch = option.ranked.pool, option.sketch
    groups = [group.places for group in pool.groups]
    if pool.separate and sketch.combine != "alone":
        groups = [(place,) for group in pool.groups for place in group.places]
    own = [i for i, places in enumerate(groups) if set(places) <= only.places]
    if {place for i in own for place in groups[i]} != only.places or sketch.combine == "symmetric":
        return None
    branches = [sketch.branches[i] for i in own]
    if len({branch.hops for branch in branches}) != 1 or not branches[0].hops or any(h.back for h in branches[0].hops):
        return None
    if len(own) > 1 and (sketch.combine == "difference" or len(own) < len(groups)):
        return None
    every = branches[0].every or (len(own) > 1 and sketch.combine == "intersect")
    nodes = tuple(dict.fromkeys(node for branch in branches for node in branch.anchors))
    alone = Branch(nodes, branches[0].hops, every, _after(option, own[0], only.kinds))
    if len(own) > 1:
        return replace(sketch, branches=(alone,), combine="alone")
    return replace(sketch, branches=tuple(alone if i == own[0] else b for i, b in enumerate(sketch.branches)))


def _after(option: Option, branch: int, kinds: Collection[int]) -> int:
    """After how many hops of a branch the nodes are of the types that are said, or at its end."""
    pool = option.ranked.pool
    slots = pool.branch == (0 if pool.separate else branch)
    used = pool.hops[option.place, slots] != NOTHING
    reached = pool.types[option.place, slots][used].tolist()
    return next((i for i, kind in enumerate(reached, 1) if kind in kinds), len(reached))
