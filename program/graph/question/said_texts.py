"""Pieces of text that a name or a text property must contain: "with *amulet* on the label", "names in *-ette*".

A piece stands in quotation marks, or is a part of a word with a hyphen, or else is one of the few words that name
nothing and resemble nothing in the schema. Which property has to contain it, if any, is ranked as any ending is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .words import stands_alone, words_of

QUOTED = re.compile(
    r'"([^"]{1,60})"|“([^”]{1,60})”|„([^“”"]{1,60})[“”"]|«\s?([^»]{1,60}?)\s?»|「([^」]{1,60})」|『([^』]{1,60})』'
    r"|`([^`]{1,60})`|(?<!\w)['‘]([^'’]{1,60})['’](?!\w)"
)
PART = re.compile(r"(?<![\w-])[-‐–](\w{2,})(?![\w-])|(?<![\w-])(\w{2,})[-‐](?![\w-])")
MOST_WORDS = 2
RARE = 0.5
"""The least weight of an unmarked word times the share that the schema does not explain, for it to be a piece."""
MOST_LETTERS = 24


class Piece(NamedTuple):
    """A piece of text.

    Attributes:
        marked: whether it stands in quotation marks or has a hyphen.
        rare: for a word without marks, its weight times the share that the schema does not explain, 0 to 1.
    """

    text: str
    marked: bool
    rare: float = 0.0


def said_texts(
    question: str, spans: Sequence[tuple[int, int]], says: Mapping[str, float], explained: Mapping[str, float]
) -> tuple[Piece, ...]:
    """The pieces of a question, those with marks first.

    Args:
        spans: the (start, end) characters of its names; no piece is there.
        says: the weight of each folded word, 0 for a common one to 1.
        explained: how near each word is to something in the schema, 0 to 1.
    """

    def free(start: int, end: int) -> bool:
        return not any(a < end and start < b for a, b in spans)

    marked: dict[str, tuple[int, int]] = {}
    for match in (*QUOTED.finditer(question), *PART.finditer(question)):
        text = next(group for group in match.groups() if group is not None).strip()
        if text and free(match.start(), match.end()):
            marked.setdefault(text, match.span())
    rare = [
        (says[word.text] * (1 - explained.get(word.text, 0.0)), question[word.start : word.end])
        for word in words_of(question)
        if word.text in says
        and not word.text.isdecimal()
        and not stands_alone(word.text)
        and word.end - word.start <= MOST_LETTERS
        and free(word.start, word.end)
        and not any(a <= word.start < b for a, b in marked.values())
    ]
    likely = sorted(((score, text) for score, text in rare if score >= RARE), key=lambda one: -one[0])[:MOST_WORDS]
    return (*(Piece(text, True) for text in marked), *(Piece(text, False, score) for score, text in likely))
