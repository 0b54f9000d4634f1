"""Names that a question excludes together, read by form: "neither A, B nor C", "none of A and B", "ni A ni B"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ....data.grammar_words import read_grammar
from ..names.linking import Mention
from ..ranking.paths import NOTHING
from ..ranking.pool import COMBINES, TAIL, Pool
from .clauses import STOPS
from .spoken import phrases_in, spoken_in
from .words import folded_words, spelled_out, words_of

BEFORE, BETWEEN = 5, 2
"""Words at most from one that says so to the first name, and from one name to the next."""
REACH = 7
"""The same from one that says so to a value, another value between: "weder im Dead Sea noch im Red Sea"."""
TOLD, ASKED = 1e4, 1e7
"""The factors on the probability of a plan that takes these names away together; and of one that also answers with the
type asked for.

They are this large because rankings learned "neither" from questions whose names are of the answers' own type, and
hardly from others: their odds are e to the 12th apart. They have also seldom met a negated name before the others
("without garlic by Marta"), and then take the others away from it.
"""


def taken_together(question: str, mentions: Sequence[Mention]) -> frozenset[int]:
    """The places, in ``mentions``, of the names that are excluded together; empty unless there are at least two."""
    words = words_of(question)
    folded = spelled_out([word.text for word in words])
    lines = _lines()
    begun = next((i for i in range(len(folded)) if _is_at(folded, i, lines["neither"])), None)
    if begun is None:
        return frozenset()
    found: list[int] = []
    last = begun
    for place in sorted(range(len(mentions)), key=lambda i: mentions[i].first):
        mention = mentions[place]
        if mention.first <= begun:
            continue
        gap = folded[last : mention.first] if found else folded[begun : mention.first]
        if len(gap) > (BETWEEN if found else BEFORE):
            break
        comma = bool(found) and "," in question[words[last - 1].end : words[mention.first].start]
        if found and not comma and not any(word in lines["joins"] for word in gap):
            break
        found.append(place)
        last = mention.last
    return frozenset(found) if len(found) > 1 else frozenset()


def is_excluded(question: str, text: str) -> bool:
    """Whether a text in a question stands behind a word for "neither" or "nor", and so does what lacks it: "neither
    *wooden* nor stone".
    """
    words = words_of(question)
    folded, wanted = spelled_out([word.text for word in words]), folded_words(text)
    spoken = spoken_in(folded)
    neither = {phrase[0] for phrase in phrases_in("neither", spoken) if len(phrase) == 1}
    for place in range(len(folded) - len(wanted) + 1 if wanted and neither else 0):
        if folded[place : place + len(wanted)] != wanted:
            continue
        for before in range(place - 1, max(-1, place - 1 - REACH), -1):
            if STOPS.search(question[words[before].end : words[before + 1].start]):
                break
            if folded[before] in neither:
                return True
    return False


def takes_away(pool: Pool, taken: frozenset[int]) -> np.ndarray:
    """Whether each candidate takes away exactly these names and then follows no further edge; shape (n,), bool."""
    first, rest = pool.groups[0], pool.groups[1:]
    places = {place for group in rest for place in group.places}
    fits = places == taken and not any(group.every for group in rest) and not taken & set(first.places)
    followed = (pool.hops[:, pool.branch == TAIL] != NOTHING).any(axis=1)
    return (pool.combine == COMBINES.index("difference")) & fits & ~followed


def _is_at(words: Sequence[str], place: int, phrases: frozenset[str]) -> bool:
    return any(" ".join(words[place : place + count]) in phrases for count in (1, 2, 3))


@lru_cache(maxsize=1)
def _lines() -> dict[str, frozenset[str]]:
    return {
        line: frozenset(" ".join(folded_words(phrase.text)) for phrase in read_grammar() if phrase.line == line)
        for line in ("neither", "joins")
    }
