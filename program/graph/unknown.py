"""A name that the graph does not have: guessed from how it stands in the question, so that a plan can say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .linking import Mention, Reading
from .phrases import phrases_of_plans
from .words import words_of

if TYPE_CHECKING:
    from .answering import Answerer

RARE = 0.95
MOST_WORDS = 4
NEAR = 0.5
"""How near a word is to one of the schema, from which it is not taken for a name: "neighbours", "rarest"."""


def unknown_mention(question: str, mentions: Sequence[Mention], answerer: Answerer) -> tuple[Mention, ...]:
    """The longest run of words that neither questions nor the schema are made of, as a mention of every type.

    Words written with a capital inside the sentence, or between quotation marks, come first. None where
    every word is an ordinary one, or is near the schema, or says what plans do ("fewest").
    """
    words = words_of(question)
    capital = [question[w.start].isupper() and i > 0 for i, w in enumerate(words)]
    runs = _runs([_may_name(w.text, capital[i], answerer) for i, w in enumerate(words)])
    if not runs:
        return ()
    first, last = max(runs, key=lambda run: (sum(capital[run[0] : run[1]]), run[1] - run[0], -run[0]))
    start, end = words[first].start, words[last - 1].end
    text = question[start:end]
    kinds = answerer.ranker.table.types
    readings = tuple(Reading(text, kind, "unknown", 0.0) for kind in kinds)
    return (Mention(text, start, end, first, last, readings),)


def _may_name(word: str, capital: bool, answerer: Answerer) -> bool:
    """Whether a folded word may be the name of something, or a part of it."""
    if word in answerer.ranker.words.vocabulary:
        return False
    rare = answerer.learned.paths.common.get(word, 1.0) >= RARE
    return capital or (rare and not phrases_of_plans().has(word) and answerer.ranker.words.nearest(word) < NEAR)


def _runs(rare: Sequence[bool]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for place, is_rare in enumerate(rare):
        if is_rare and runs and runs[-1][1] == place and place - runs[-1][0] < MOST_WORDS:
            runs[-1] = (runs[-1][0], place + 1)
        elif is_rare:
            runs.append((place, place + 1))
    return runs
