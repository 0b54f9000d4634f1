"""Names of one or two characters that a question states outright: "chromosome 17", "phase II", "line A".

Such a text names many things, or nothing. It is read as a name where the word for its type, or for the property that
it is a value of, stands right beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from ..question.words import Word, folded_name, words_of
from .linking import Mention, Reading

SHORT = 3
"""The most letters of a short name."""


def with_outright(question: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """The mentions; one with short names whose type or property stands beside it keeps only these readings."""
    if not any(map(_is_short, mentions)):
        return tuple(mentions)
    words = words_of(question)
    return tuple(_outright(mention, words) if _is_short(mention) else mention for mention in mentions)


def _is_short(mention: Mention) -> bool:
    return any(len(reading.name) <= SHORT or reading.name.isdecimal() for reading in mention.readings)


def _outright(mention: Mention, words: Sequence[Word]) -> Mention:
    beside = {words[place].text for place in (mention.first - 1, mention.last) if 0 <= place < len(words)}
    inside = {word.text for word in words[mention.first : mention.last]}
    said = [r for r in mention.readings if _says(r, beside | inside if mention.last - mention.first > 1 else beside)]
    return replace(mention, readings=tuple(said), outright=True) if said else mention


def _says(reading: Reading, words: Iterable[str]) -> bool:
    if len(reading.name) > SHORT and not reading.name.isdecimal():
        return False
    own = _words_for(reading.type if reading.field in ("name", "id") else reading.field)
    return any(word in own for word in words)


@lru_cache(maxsize=1024)
def _words_for(element: str) -> frozenset[str]:
    """The last word of a type's or a property's name, folded, in singular and plural."""
    folded = folded_name(element)
    last = folded[-1] if folded else ""
    return frozenset({last, f"{last}s", last.removesuffix("s")} - {""})
