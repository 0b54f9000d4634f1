"""Words a chosen edit so that it reads as a sentence.

Edits are learned and weighed as sets of words, which is all that labelled forms can teach. "Sleep debt why?" and "the
Priya" have the right words but are no sentences; here they become "sleep debt: why?" and "Priya". Wording chooses no
edit, except that one which cannot be worded is passed over, such as a question put into another question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...signatures.types import Turn
from ..retrieval.sources.asking_words import asking_word
from .referents import ARTICLES, NAMED, Referent
from .words import Word, words_of

JOINING = frozenset(("and", "or"))
NO_QUESTION = JOINING | {"not", "nobody", "since", "any", "again", "still", "already", "show"}
"""Words of ``asking_words.py`` that may be part of what is new: "not May", "since Monday"."""
TORN = ("run", "piece")
"""Kinds of referents that never replace a pointing word. Of nine labelled follow-ups in which one did, one was right;
without them 87 of 368 are right instead of 85."""
MARKS = "#!"
"""A number with one of them is a name of its own."""
_FIGURES = re.compile(r"\d+")
_NUMBERED = re.compile(r"\d[\w.-]*")


def names(referent: Referent) -> bool:
    """Whether a referent is written as a name."""
    return referent.look.kind.startswith((*NAMED, "pair"))


def is_torn(referent: Referent) -> bool:
    """Whether a referent is only a fragment of a sentence: some of its words, or one that begins with an asking or
    joining word."""
    torn = referent.look.kind in TORN and referent.text[0] not in MARKS
    return torn or any(_asks(word) or _joins(word) for word in words_of(referent.text)[:1])


def led(said: str, query: str) -> str:
    """A query as typed behind a heading and a colon."""
    return f"{said}: {query}"


def takes_no_article(referent: Referent) -> bool:
    """Whether an article must not stand before a referent."""
    return names(referent) or not referent.text[0].islower() or _first(referent.text) in ARTICLES


def within(referent: Referent) -> str:
    """A referent for the middle of a sentence: a capital that only began its own sentence becomes small ("The bar")."""
    said, rest = referent.text, referent.text.partition(" ")[2]
    begins = referent.look.first and rest.islower()
    return said[0].lower() + said[1:] if begins or (_first(said) in ARTICLES and rest[:1].islower()) else said


def owned(said: str) -> str:
    """A name as a possessive."""
    return said + ("'" if said.endswith("s") else "'s")


def new_in(before: str, new: str) -> str | None:
    """The new text of an elliptic question as it continues ``before``, or None if it asks by itself.

    "And in borealis" after "open tickets in" is "borealis", "and the cake" after "who wrote the" is "cake".
    """
    words, last = words_of(new), before.split()[-1:]
    start = next((place for place, word in enumerate(words) if word.spoken and not _joins(word)), len(words))
    if start == len(words) or any(_asks(word) for word in words[start:]):
        return None
    first = words[start].low
    again = bool(last) and (last[0].lower() == first or {last[0].lower(), first} <= ARTICLES)
    start += again and start + 1 < len(words)
    return new[words[start].start :]


def figures(text: str) -> frozenset[str]:
    """The numbers of a text."""
    return frozenset(_FIGURES.findall(text))


def told(new: str, asked: str) -> bool:
    """Whether the question before has every word of a text that may be new."""
    return {word.low for word in words_of(new)} <= {word.low for word in words_of(asked)}


def _joins(word: Word) -> bool:
    return asking_word(word.low) in JOINING


def _asks(word: Word) -> bool:
    return (asking_word(word.low) or "not") not in NO_QUESTION


def _first(text: str) -> str:
    return text.partition(" ")[0].lower()


def with_its_mark(referent: Referent, turns: Sequence[Turn]) -> Referent:
    """The referent; a number with the mark that it has in the conversation: "!90" instead of "90"."""
    if not _NUMBERED.fullmatch(referent.text):
        return referent
    marked = re.compile(rf"(?<!\S)[{MARKS}]{re.escape(referent.text)}(?!\w)")
    found = next((match for turn in reversed(turns) if (match := marked.search(turn.content))), None)
    return referent._replace(text=found.group()) if found else referent


def named_in(text: str, surfaces: Iterable[str]) -> tuple[str, ...]:
    """The names in a text as whole words, each once: "BOR-212", though the card's name in it is "BOR"."""
    tokens = [word.text.removesuffix("'s").removesuffix("’s") for word in words_of(text)]
    return tuple(dict.fromkeys(_whole(surface, tokens) for surface in surfaces))


def _whole(surface: str, tokens: Sequence[str]) -> str:
    if surface in tokens or " " in surface:
        return surface
    return next((token for token in tokens if token.startswith(f"{surface}-")), surface)
