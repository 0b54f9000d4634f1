"""Word statistics of labelled rows for cutting queries: which words are common, which join, which point back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...data.rows import LabelledRow
from ..retrieval.sources.asking_words import asking_word
from ..rewriting.lexicon import learned_lexicon
from ..rewriting.words import words_of

COMMON, LEAST = 0.003, 3
"""Share of the decomposed queries from which a word is common, and queries that must have it."""
JOINS, OFTEN = 0.4, 6
"""Of the queries that have a word, the share in which it stands between two sub-queries' words, from which it joins,
and how many these must be: with a quarter and three, *treatments* and *sitting* joined."""
DENYING = ("not", "nobody")
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
        between.update(set(_between(row)))
    enough = max(LEAST, COMMON * len(decomposed))
    common = (word for word, count in having.items() if count >= enough and word[0].isalpha())
    known, pointing = frozenset(common), learned_lexicon([rows]).pointing
    often = (word for word, count in between.items() if count >= max(OFTEN, JOINS * having[word]))
    return Lexicon(known, frozenset(word for word in often if _may_join(word, known, pointing)), pointing)


def _may_join(word: str, common: frozenset[str], pointing: frozenset[str]) -> bool:
    """Not what asks, denies or points: it says something of a part. Words for *and* and *or* join without this."""
    plain = len(word) > 1 or word.isascii()
    return plain and word in common and word not in pointing and "'" not in word and asking_word(word) is None


def denials(words: Iterable[str]) -> int:
    """How many words, in small letters, deny."""
    return sum(asking_word(word) in DENYING or word.endswith(("n't", "n’t")) for word in words)


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
