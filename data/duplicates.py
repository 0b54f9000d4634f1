"""Finds near-duplicate queries, exactly: rows whose words overlap."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product

from .overlap import WordSets
from .rows import LabelledRow

WORD = re.compile(r"[^\W_]+")
MIN_CONTENT_WORDS = 4
# Words of four letters and more carry content in the alphabetic languages of our sets; a script
# without spaces is compared character by character.
CONTENT_LENGTH = 4
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class NearDuplicate:
    """Two rows whose words overlap, and how far (token Jaccard, 0 to 1)."""

    first: LabelledRow
    second: LabelledRow
    jaccard: float


def tokens(text: str) -> frozenset[str]:
    """The distinct words of a text, case folded; of unspaced scripts, the characters."""
    folded = text.casefold()
    words = (w for w in WORD.findall(UNSPACED.sub(" ", folded)))
    return frozenset(words) | frozenset(UNSPACED.findall(folded))


def content_words(text: str) -> int:
    """The number of distinct words in a query that are likely to carry content."""
    return sum(len(t) >= CONTENT_LENGTH or bool(UNSPACED.match(t)) for t in tokens(text))


def comparable(row: LabelledRow) -> frozenset[str]:
    """The text by which a row is compared: its query, with the last turn if the query is short."""
    if content_words(row.query) >= MIN_CONTENT_WORDS or not row.history:
        return tokens(row.query)
    return tokens(row.history[-1].content + " " + row.query)


def word_sets(rows: Sequence[LabelledRow]) -> tuple[list[LabelledRow], WordSets]:
    """The rows to compare and their words, without first turns that are too short to say anything ("hi")."""
    used = [row for row in rows if row.history or content_words(row.query) >= MIN_CONTENT_WORDS]
    return used, WordSets(comparable(row) for row in used)


def near_duplicates(rows: Sequence[LabelledRow], threshold: float) -> Iterator[NearDuplicate]:
    """Pairs of rows of different conversations with a token Jaccard over ``threshold``, exactly."""
    used, sets = word_sets(rows)
    return duplicates_in(used, sets, threshold)


def duplicates_in(used: Sequence[LabelledRow], sets: WordSets, threshold: float) -> Iterator[NearDuplicate]:
    """As ``near_duplicates``, from the result of ``word_sets``."""
    for g, h, jaccard in alike(sets, threshold):
        first, second = ([used[n] for n in sets.groups[k]] for k in (g, h))
        for one, other in combinations(first, 2) if g == h else product(first, second):
            if one.conversation != other.conversation:
                yield NearDuplicate(one, other, jaccard)


def alike(sets: WordSets, threshold: float) -> Iterator[tuple[int, int, float]]:
    """(g, h, Jaccard) of every two groups of ``sets.groups`` above the threshold, groups of equal rows first."""
    equal = ((g, g, 1.0) for g, group in enumerate(sets.groups) if threshold < 1 and len(group) > 1)
    return chain(equal, sets.pairs(threshold))


def same_words(rows: Sequence[LabelledRow]) -> list[list[LabelledRow]]:
    """First turns too short for ``word_sets`` whose words are the same, in the same order; greetings may repeat."""
    found: dict[tuple[str, ...], list[LabelledRow]] = {}
    for row in rows:
        if not row.history and content_words(row.query) < MIN_CONTENT_WORDS and row.labels.intent != "greeting":
            found.setdefault(tuple(WORD.findall(row.query.casefold())), []).append(row)
    return [same for words, same in found.items() if words and len(same) > 1]
