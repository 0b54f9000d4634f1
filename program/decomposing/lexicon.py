"""Word statistics of labelled rows for cutting queries: which words are common, which join, which point back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...data.rows import LabelledRow
from ..rewriting.lexicon import learned_lexicon
from ..text.asking_words import asking_word
from ..text.words import words_of

COMMON, LEAST = 0.003, 3
"""A word is common if this share of the decomposed queries has it, and at least this number."""
JOINS, OFTEN = 0.4, 6
"""A word joins if it stands between the words of two sub-queries in this share of the queries that have it, and in at
least this number. With 0.25 and 3, *treatments* and *sitting* would join."""
NEAR = 4
"""The largest distance at which words of two sub-queries count as neighbours."""


@dataclass(frozen=True)
class Lexicon:
    """Sets of words, in lower case.

    Attributes:
        common: those that many decomposed queries have.
        joining: those that join parts of a query, beside signs and words for *and* and *or*.
        pointing: words and pairs of words that stand for something said before.
    """

    common: frozenset[str]
    joining: frozenset[str]
    pointing: frozenset[str]


def learned(rows: Sequence[LabelledRow]) -> Lexicon:
    """The common and joining words of decomposed rows, and the pointing words of follow-ups."""
    decomposed = [row for row in rows if row.labels.sub_queries]
    having, between = Counter[str](), Counter[str]()
    for row in decomposed:
        having.update({word.low for word in words_of(row.labels.standalone_query)})
        between.update(set(_between(row)))
    enough = max(LEAST, COMMON * len(decomposed))
    common = (word for word, count in having.items() if count >= enough and word[0].isalpha())
    known, pointing = frozenset(common), learned_lexicon([rows]).pointing
    often = (word for word, count in between.items() if count >= max(OFTEN, JOINS * having[word]))
    return Lexicon(known, frozenset(word for word in often if _may_join(word, known, pointing)), pointing)


def _may_join(word: str, common: frozenset[str], pointing: frozenset[str]) -> bool:
    """Whether a word can be learned as joining: one that asks, negates or points belongs to a part of the query.

    Words for *and* and *or* need not be learned.
    """
    plain = len(word) > 1 or word.isascii()
    return plain and word in common and word not in pointing and "'" not in word and asking_word(word) is None


def _between(row: LabelledRow) -> Iterator[str]:
    """The words of a query between a word that only one sub-query has and the next that only another has."""
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
