"""``Decomposer``: splits a query that needs several searches into its likeliest sub-queries, with their probability.

It is a log-linear model over the cuts of ``cuts.py`` (Berger, Della Pietra and Della Pietra 1996), as that for
follow-ups (``rewriting/``) is over edits. Its features (*traits*) are joints, kinds of words and lengths, so each
weight can be looked up by name.
"""

from __future__ import annotations

import heapq
import math
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from ...signatures.types import SubQuery
from ..heads.encoder import Encoder
from ..heads.packed import packed, unpacked
from ..retrieval.placeholders import REFERENCE
from ..rewriting.wording import led
from ..text.linker import Linker
from .analogies import Analogies, from_table
from .cuts import families
from .family import Cut, Family
from .lexicon import Lexicon
from .likely import CutAt, Likely
from .reading import Reading

JOINT = "; "
"""Joins listed questions into one text, so that they can be cut apart like clauses."""
TABLE, WEIGHTS = "decompose.table", "decompose.weights"
_SIGNS = re.compile(r"[^\w\s]|_")
PAIRS = ("()", "[]", "{}", "“”", "«»", "「」")
SURE = 0.62
"""How likely a cut is right by its share of all cuts: this times the root of the share.

Of sixths of the podcast's left-out queries, by rising share, 0.13, 0.20, 0.21, 0.26, 0.25 and 0.36 were right where it
says 0.12, 0.15, 0.18, 0.21, 0.25 and 0.33; of engineering's 0.09, 0.22, 0.27, 0.52, 0.39 and 0.53 where it says 0.16,
0.21, 0.25, 0.28, 0.33 and 0.43.
"""
LEAST = 0.03
"""A query whose likeliest cut has a smaller share is not cut. Of the podcast's left-out queries below it, one in fifty
was cut rightly."""
TRIED = 12
"""How many of the likeliest cuts are tried at most, until one passes the check."""
SAID = {"clauses": "cut at {}", "list": "what is said of a list, of each of its {} items"}


class Decomposed(NamedTuple):
    """The sub-queries of the chosen cut.

    Attributes:
        certainty: the probability that they are right, 0 to 1: from the share of the chosen cut among those scored or,
            after a pattern, the share of left-out queries of that similarity that were right.
        reason: what was done, in words, for a plan's trace.
    """

    sub_queries: tuple[SubQuery, ...]
    certainty: float
    reason: str

    def under(self, heading: str) -> Decomposed:
        """The sub-queries behind a heading; without it where they need an answer, which says what they are about."""
        parts = (one if one.depends_on else one.model_copy(update={"text": led(heading, one.text)}) for one in self[0])
        return self._replace(sub_queries=tuple(parts))


class Decomposer:
    """Chooses a cut by weights of its traits.

    Attributes:
        lexicon: the common, joining and pointing words.
        likely: the weights of traits, and the preselection of cuts by them.
        analogies: the patterns of labelled queries, which are tried first; None where these do not resemble each other.
    """

    def __init__(self, lexicon: Lexicon, weights: Mapping[str, float], analogies: Analogies | None = None) -> None:
        self.lexicon, self.analogies = lexicon, analogies
        self.likely = Likely(weights)

    def decompose(self, query: str, linker: Linker) -> Decomposed | None:
        """The likeliest sub-queries of a standalone query; None if no cut is likely enough.

        A query in which the user typed a number in braces is not cut, since ``{1}`` would mean an answer.
        """
        if REFERENCE.search(query):
            return None
        return self._after_a_pattern(query, linker) or self._cut(query, linker)

    def _after_a_pattern(self, query: str, linker: Linker) -> Decomposed | None:
        found = self.analogies.find(query, linker) if self.analogies is not None else None
        if found is None or not may_be(query, [text for text, _ in found.parts]):
            return None
        asked = tuple(SubQuery(id=at, text=text, depends_on=needs) for at, (text, needs) in enumerate(found.parts, 1))
        return Decomposed(asked, found.certainty, f"as a labelled query was: {found.pattern.text!r}")

    def of_questions(self, questions: Sequence[str], linker: Linker) -> tuple[SubQuery, ...]:
        """The questions that a query lists, as sub-queries that stand alone.

        What points back in one is replaced as in a cut at these places; if no cut has them, they are taken as typed.
        """
        query, starts = JOINT.join(questions), accumulate((len(one) + len(JOINT) for one in questions[:-1]), initial=0)
        if REFERENCE.search(query):
            return as_asked(questions)
        reading = Reading(query, self.lexicon, linker)
        units = tuple(bisect_left([unit.start for unit in reading.units], start) for start in starts)
        found = self._of(reading, CutAt(self.likely.weights, units))
        return found.sub_queries if found is not None else as_asked(questions)

    def _cut(self, query: str, linker: Linker) -> Decomposed | None:
        return self._of(Reading(query, self.lexicon, linker), self.likely)

    def _of(self, reading: Reading, chosen: Likely) -> Decomposed | None:
        """The likeliest cut that passes the check, of those that ``chosen`` selects; None if none is likely enough."""
        query, found = reading.query, list(families(reading, chosen))
        scored = self._scored(found)
        if not scored:
            return None
        best = heapq.nlargest(TRIED, scored)
        top = best[0][0]
        together = sum([math.exp(score - top) for score, _, _, _ in scored])
        for score, family, front, end in best:
            share = math.exp(score - top) / together
            if share < LEAST:
                break
            cut = found[family].cut(front, end)
            sub_queries = checked(query, cut, reading)
            if sub_queries:
                return Decomposed(sub_queries, SURE * math.sqrt(share), _reason(cut))
        return None

    def _scored(self, found: Sequence[Family]) -> list[tuple[float, int, int, int]]:
        """(Score, family, front, end) of each cut, the last three as numbers; what cuts share is summed only once."""
        added, sums, sides = self.likely.added, dict[int, float](), dict[int, list[float]]()
        scored: list[tuple[float, int, int, int]] = []
        for number, family in enumerate(found):
            shared = 0.0
            for group in family.seen:
                known = sums.get(id(group))
                if known is None:
                    known = sums[id(group)] = added(group)
                shared += known
            fronts, ends = sides.get(id(family.fronts)), sides.get(id(family.ends))
            if fronts is None:
                fronts = sides[id(family.fronts)] = [added(seen) for _, seen in family.fronts]
            if ends is None:
                ends = sides[id(family.ends)] = [added(seen) for _, seen in family.ends]
            for place, front in enumerate(fronts):
                score = shared + front
                scored += [(score + end, number, place, other) for other, end in enumerate(ends)]
        return scored

    def tensors(self) -> dict[str, np.ndarray]:
        """The decomposer as tensors by name, for safetensors: the weights, and a table of names and the lexicon."""
        words = {name: sorted(getattr(self.lexicon, name)) for name in ("common", "joining", "pointing")}
        patterns = {"analogies": self.analogies.table()} if self.analogies is not None else {}
        return {
            TABLE: packed({"traits": list(self.likely.weights), **words, **patterns}),
            WEIGHTS: np.array(list(self.likely.weights.values()), dtype=np.float16),
        }


def as_asked(questions: Sequence[str]) -> tuple[SubQuery, ...]:
    """Questions as typed, as sub-queries that need no other."""
    return tuple(SubQuery(id=at, text=text) for at, text in enumerate(questions, 1))


def may_be(query: str, texts: Sequence[str]) -> bool:
    """Whether all sub-queries ask something, differ from each other and from the whole query, and are well formed."""
    asked = {_letters(text) for text in texts}
    return len(asked) == len(texts) and not asked & {"", _letters(query)} and all(map(_well_formed, texts))


@lru_cache(maxsize=1024)
def _letters(text: str) -> str:
    """A text without case and signs, for comparison."""
    return " ".join(_SIGNS.sub(" ", text.casefold()).split())


def _well_formed(text: str) -> bool:
    """Whether a text has no bracket or quotation mark without its other half, and no word twice in a row."""
    words = text.casefold().split()
    halves = all(text.count(one) == text.count(other) for one, other in PAIRS) and text.count('"') % 2 == 0
    return halves and not any(one == other and one.isalpha() for one, other in pairwise(words))


def loses(reading: Reading, texts: Sequence[str]) -> bool:
    """Whether a name, a quotation or a code of the query is in none of its parts."""
    said = "\n".join(texts).lower()
    return any(one not in said for one in reading.kept)


def checked(query: str, cut: Cut, reading: Reading) -> tuple[SubQuery, ...]:
    """The sub-queries of a cut if they may enter a plan; none otherwise."""
    texts = asked_alike(cut, reading).texts(reading)
    if not may_be(query, texts) or loses(reading, texts):
        return ()
    numbered = enumerate(zip(texts, cut.needs, strict=True), 1)
    return tuple(SubQuery(id=at, text=text, depends_on=(need,) if need else ()) for at, (text, need) in numbered)


def asked_alike(cut: Cut, reading: Reading) -> Cut:
    """A list of names in which the asking words of the first item are repeated with every other.

    "What does Ada say and Bruno" then asks "what does" of both. This only words a cut that was chosen, and is no part
    of what is learned, so it makes no cut likelier.
    """
    spans = [reading.trimmed(span) for span, *_ in cut.parts if isinstance(span, tuple)]
    if cut.kind != "list" or not all(reading.names(start) for start, _ in spans[1:]):
        return cut
    start, end = spans[0]
    lead = start, next((place for place in range(start, end) if reading.names(place)), start)
    if reading.stretch(lead).sort != "asks":
        return cut
    return cut._replace(parts=[(spans[0],), *((lead, span) for span in spans[1:])])


def _reason(cut: Cut) -> str:
    joints = len(cut.parts) - 1
    return SAID[cut.kind].format(len(cut.parts) if cut.kind == "list" else f"{joints} joint{'s' * (joints > 1)}")


def load_decomposer(tensors: Mapping[str, np.ndarray], encoder: Encoder) -> Decomposer | None:
    """The decomposer from the tensors of ``tensors()``; None if a program has none."""
    if TABLE not in tensors:
        return None
    table = unpacked(tensors[TABLE])
    lexicon = Lexicon(*(frozenset(table[name]) for name in ("common", "joining", "pointing")))
    weights = dict(zip(table["traits"], tensors[WEIGHTS].astype(float).tolist(), strict=True))
    analogies = from_table(table["analogies"], encoder) if "analogies" in table else None
    return Decomposer(lexicon, weights, analogies)
