"""Words a chosen edit so that it reads as a sentence.

Edits are learned and weighed as sets of words, which is all that labelled forms can teach. "Sleep debt why?" and "the
Priya" have the right words but are no sentences; here they become "sleep debt: why?" and "Priya". Wording chooses no
edit, except that one which cannot be worded is passed over, such as a question put into another question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from ...signatures.types import Turn
from ..text.asking_words import asking_word
from ..text.function_words import function_words
from ..text.number_words import SPELLED
from ..text.unspaced import pieces_of
from ..text.words import Word, is_unspaced
from .referents import ARTICLES, NAMED, Referent

JOINING = frozenset(("and", "or"))
NO_QUESTION = JOINING | {"not", "nobody", "since", "any", "again", "still", "already", "show"}
"""Words of ``asking_words.py`` that may be part of what is new: "not May", "since Monday"."""
TORN = ("run", "piece")
"""Kinds of referents that never replace a pointing word. Of nine labelled follow-ups in which one did, one was right;
without them 87 of 368 are right instead of 85."""
MARKS = "#!"
"""A number with one of them is a name of its own."""
_WRITTEN_ALIKE = ("en", "de", "fr", "es", "pt", "it", "nl", "sv", "pl")
"""Languages with few function words that elsewhere are names, as *Ada* and *Kim* are."""
OTHERS = frozenset(
    "other others another else different andere anderer anderen anderes autre autres otro otra otros otras outro outra"
    " outros outras altro altra altri altre ander anders annan annat andra inny inna inne".split()
)
"""What they are said with is not what was said before: *the other one*, *anyone else*."""
_CHOOSES = frozenset(
    "which who whom whose what either neither each both all any none one some most welche welcher welches wer jeder"
    " beide lequel laquelle lesquels qui cuál cuáles quién cada ambos qual quais quem quale quali chi ciascuno welke"
    " wie elk vilken vilka båda który która oba".split()
)
_SUBJECTS = frozenset(
    "i you he she we they it ich du er sie wir je tu il elle nous vous yo io eu ik jij wij jag".split()
)
_OF_SEVERAL = frozenset("of von de des d del di van av z".split())
_FIGURES = re.compile(r"\d+")
_NUMBERED = re.compile(r"\d[\w.-]*")


def names(referent: Referent) -> bool:
    """Whether a referent is written as a name."""
    return referent.look.kind.startswith((*NAMED, "pair"))


def stands_for_nothing(referent: Referent) -> bool:
    """Whether a referent is a word with a capital only because it began a sentence: *Both*, *Ten*, *You*, *Was*."""
    began = referent.look.kind == "begins" and (referent.low in _empty() or asks_first(referent))
    return began and asking_word(referent.low) != "show"


@cache
def _empty() -> frozenset[str]:
    """Words that hold sentences together, and numbers: one that began a sentence is no name."""
    spoken = map(function_words, _WRITTEN_ALIKE)
    return frozenset().union(*spoken, *(words.split("|") for words in SPELLED.values()))


def is_torn(referent: Referent) -> bool:
    """Whether a referent is only a fragment of a sentence: some of its words, or one that begins with an asking or
    joining word."""
    torn = referent.look.kind in TORN and referent.text[0] not in MARKS
    torn = torn or (referent.look.kind == "wider" and _first(referent.text) in _SUBJECTS)
    return torn or any(_asks(word) or _joins(word) for word in pieces_of(referent.text)[:1])


def asks_first(referent: Referent) -> bool:
    """Whether a referent begins with a word that asks: *wanneer begon ik met cello* is a question and no name."""
    return any(_asks(word) for word in pieces_of(referent.text)[:1])


def led(said: str, query: str) -> str:
    """A query as typed behind a heading and a colon."""
    return f"{said}：{query}" if is_unspaced(query) else f"{said}: {query}"


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
    words, last = pieces_of(new), before.split()[-1:]
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
    return {word.low for word in pieces_of(new)} <= {word.low for word in pieces_of(asked)}


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
    tokens = [word.text.removesuffix("'s").removesuffix("’s") for word in pieces_of(text)]
    return tuple(dict.fromkeys(_whole(surface, tokens) for surface in surfaces))


def _whole(surface: str, tokens: Sequence[str]) -> str:
    if surface in tokens or " " in surface:
        return surface
    return next((token for token in tokens if token.startswith(f"{surface}-")), surface)


def cannot_mean(referent: Referent, words: Sequence[Word], start: int, end: int) -> bool:
    """Whether the words at a site, or those before it, say that what they mean is no such referent.

    *The other one* and *anyone else* are not what was said, and *which of the two* is of several.
    """
    if any(word.low in OTHERS for word in words[max(0, start - 1) : end]):
        return True
    before = [word.low for word in words[:start] if word.low not in ARTICLES]
    of_several = len(before) > 1 and before[-1] in _OF_SEVERAL and before[-2] in _CHOOSES
    return of_several and referent.look.kind != "pair" and referent.look.kind.startswith((*NAMED, "run"))
