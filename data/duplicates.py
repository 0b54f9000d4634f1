"""Near-duplicate queries, exactly, for sets small enough to compare all pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    """How many distinct words of a query are likely to carry content."""
    return sum(len(t) >= CONTENT_LENGTH or bool(UNSPACED.match(t)) for t in tokens(text))


def comparable(row: LabelledRow) -> frozenset[str]:
    """What a row is compared by: its query, with the last turn where the query is short."""
    if content_words(row.query) >= MIN_CONTENT_WORDS or not row.history:
        return tokens(row.query)
    return tokens(row.history[-1].content + " " + row.query)


def near_duplicates(rows: Sequence[LabelledRow], threshold: float) -> Iterator[NearDuplicate]:
    """Pairs of rows of different conversations with a token Jaccard over ``threshold``.

    First turns too short to say anything ("hi") are not compared.
    """
    seen = [(row, comparable(row)) for row in rows]
    seen = [(row, words) for row, words in seen if row.history or content_words(row.query) >= MIN_CONTENT_WORDS]
    for i, (first, a) in enumerate(seen):
        for second, b in seen[i + 1 :]:
            if first.conversation == second.conversation or min(len(a), len(b)) < threshold * max(len(a), len(b)):
                continue
            jaccard = len(a & b) / len(a | b)
            if jaccard > threshold:
                yield NearDuplicate(first, second, jaccard)
