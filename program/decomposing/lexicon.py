"""What labelled rows show of how queries are put together: which words are common, which join, which point back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...data.rows import LabelledRow
from ..rewriting.lexicon import learned_lexicon
from ..rewriting.words import words_of

COMMON, LEAST = 0.003, 3
"""Share of the decomposed queries from which a word is common; and rows that must show anything."""
JOINS = 0.25
"""Of the queries that have a word, the share in which it stands between two sub-queries' words, from which it joins."""
NEAR = 4
"""Words of two sub-queries are neighbours up to this distance."""


@dataclass(frozen=True)
class Lexicon:
    """Words in small letters.

    Attributes:
        common: those that many decomposed queries have.
        joining: those that join what is asked for, beside signs and words for *and* and *or*.
        pointing: words and pairs of words that stand for something said before.
    """

    common: frozenset[str]
    joining: frozenset[str]
    pointing: frozenset[str]


def learned(rows: Sequence[LabelledRow]) -> Lexicon:
    """From decomposed rows what is common and what joins, from follow-ups what points."""
    decomposed = [row for row in rows if row.labels.sub_queries]
    having, between = Counter[str](), Counter[str]()
    for row in decomposed:
        having.update({word.low for word in words_of(row.labels.standalone_query)})
        between.update(_between(row))
    enough = max(LEAST, COMMON * len(decomposed))
    common = (word for word, count in having.items() if count >= enough and word[0].isalpha())
    joining = (word for word, count in between.items() if count >= max(LEAST, JOINS * having[word]))
    return Lexicon(frozenset(common), frozenset(joining), learned_lexicon(rows).pointing)


def _between(row: LabelledRow) -> Iterator[str]:
    """Words between one that only one sub-query has and the next that only another has."""
    words = [word.low for word in words_of(row.labels.standalone_query)]
    asked = [{word.low for word in words_of(one.text)} for one in row.labels.sub_queries]
    owner, last = -1, 0
    for place, word in enumerate(words):
        having = [number for number, one in enumerate(asked) if word in one]
        if len(having) != 1:
            continue
        if owner not in (-1, having[0]) and place - last <= NEAR:
            yield from (between for between in words[last + 1 : place] if between[0].isalpha())
        owner, last = having[0], place
