"""True-or-false properties (*flags*) that a question states by their own word: "approved", "not blinded", "unlisted".

A property is stated where all words of its name are in the question. It is denied where a negation stands shortly
before them, or one of them has a prefix. An ending that tests it the other way is reversed. An ending that compares or
orders is also given the flags as tests, so that it applies to the nodes that pass them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ....data.grammar_words import read_grammar
from ....signatures.graph_steps import Condition
from ..ranking.endings import Ending, conditions_of
from .spoken import phrases_in, spoken_in
from .words import Word, folded_words, name_words, shared_start, spelled_out, words_of

CLOSED = frozenset({"is", "has", "was", "are", "can", "does", "be"})
"""Words in a property's name that a question need not have, as in ``is_active``."""
NEAR, FAR = 3, 6
"""Within how many words before a property's word a "not" denies it, and an "except" excludes what has it."""
STEM = 4
"""The least number of first letters that two forms of a word share."""
ENDINGS = frozenset("|s|es|e|d|ed|ing|er|ers|al|y|n|en|t|te".split("|"))
"""The endings of forms of one word behind the shared letters: "recruits", "recruiting"."""
UNUSED_FLAG = 0.3
"""The factor on the probability of a plan that ignores a stated property which its nodes have."""
PREFIX, PREFIXED = 3, 4
"""The most letters of a prefix that denies ("unpaid"), and the least of the word behind it."""


@dataclass(frozen=True)
class Flags:
    """What a question states of true-or-false properties.

    Attributes:
        said: for each stated property, whether it is said to be true.
        words: the words of each such property's name.
    """

    said: Mapping[str, bool]
    words: Mapping[str, frozenset[str]]

    def __bool__(self) -> bool:
        return bool(self.said)

    def ending(self, ending: Ending, own: Collection[str]) -> Ending:
        """The ending with its tests of flags as the question states them.

        One that compares or orders also gets the other stated flags as tests.

        Args:
            own: the stated properties that the nodes it is for have.
        """
        ending = self._turned(ending)
        final = ending.final
        tested = {condition.property for condition in final.filters}
        compared = final.filters and not any(isinstance(condition.value, bool) for condition in final.filters)
        if ending.none or ending.where is not None or not (compared or final.kind in ("order", "degree")):
            return ending
        others = [name for name in self.said if name in own and not self._is_word_of(name, {*tested, final.key})]
        more = tuple(Condition(property=name, value=self.said[name]) for name in others)
        return replace(ending, final=replace(final, filters=(*final.filters, *more))) if more else ending

    def unused(self, ending: Ending, own: Collection[str]) -> bool:
        """Whether the ending ignores a stated property in ``own``, and uses no other one that shares a word with it."""
        used = {condition.property for condition in conditions_of(ending)} | {ending.final.key}
        return any(name in own and not self._is_word_of(name, used) for name in self.said)

    def _is_word_of(self, name: str, used: Collection[str]) -> bool:
        """Whether a used property shares a word with this one: "approved before 2010" is about the year."""
        return any(self.words[name] & set(name_words(other)) for other in used)

    def _turned(self, ending: Ending) -> Ending:
        conditions = conditions_of(ending)
        turned = tuple(
            condition.model_copy(update={"value": self.said[condition.property]})
            if isinstance(condition.value, bool) and condition.property in self.said
            else condition
            for condition in conditions
        )
        if turned == conditions:
            return ending
        if ending.where is not None:
            return replace(ending, where=(ending.where[0], turned))
        return replace(ending, final=replace(ending.final, filters=turned))


NO_FLAGS = Flags({}, {})


def said_flags(question: str, spans: Sequence[tuple[int, int]], names: Collection[str]) -> Flags:
    """What a question states of true-or-false properties.

    Args:
        spans: the (start, end) characters of its names, which are not read.
        names: the names of the properties.
    """
    if not names:
        return NO_FLAGS
    words = words_of(question)
    folded = spelled_out([word.text for word in words])
    named = [any(a < word.end and word.start < b for a, b in spans) for word in words]
    found: dict[str, bool] = {}
    own = {name: _own_words(name) for name in names}
    for name, wanted in own.items():
        places = _places(wanted, folded, named)
        if places:
            found[name] = not _is_denied(question, words, folded, named, places, wanted)
    return Flags(found, {name: frozenset(own[name]) for name in found}) if found else NO_FLAGS


@lru_cache(maxsize=1024)
def _own_words(name: str) -> tuple[str, ...]:
    return tuple(folded for word in name_words(name) for folded in folded_words(word) if folded not in CLOSED)


def _places(wanted: Sequence[str], folded: Sequence[str], named: Sequence[bool]) -> list[int]:
    """The first place of each word of a property's name in the question; empty unless all are there."""
    places = [
        next((i for i, word in enumerate(folded) if not named[i] and _is_form(word, other)), -1) for other in wanted
    ]
    return [] if not places or -1 in places else places


def _is_form(word: str, other: str) -> bool:
    """Whether a word is another one, an inflected form of it, or has it behind a short prefix."""
    if word == other or _is_prefixed(word, other):
        return True
    shared = shared_start(word, other)
    return shared >= STEM and {word[shared:], other[shared:]} <= ENDINGS


def _is_prefixed(word: str, other: str) -> bool:
    return len(other) >= PREFIXED and word.endswith(other) and 0 < len(word) - len(other) <= PREFIX


def _is_denied(
    question: str,
    words: Sequence[Word],
    folded: Sequence[str],
    named: Sequence[bool],
    places: Sequence[int],
    wanted: Sequence[str],
) -> bool:
    if any(_is_prefixed(folded[place], other) for place, other in zip(places, wanted, strict=True)):
        return True
    first, denials = min(places), _denials(spoken_in(folded))
    for place in range(first - 1, max(-1, first - FAR - 1), -1):
        between = question[words[place].end : words[place + 1].start]
        if named[place] or any(sign in between for sign in ",;:.?!，；。"):
            return False
        if folded[place] in denials and (first - place <= NEAR or denials[folded[place]]):
            return True
    return False


@lru_cache(maxsize=64)
def _denials(languages: frozenset[str]) -> dict[str, bool]:
    """The words that deny, and whether they leave out all that they stand before.

    Args:
        languages: that the question may be of; what is "neither" in one asks something in another ("ne").
    """
    lines = {"not": False, "except": True}
    neither = {words[0]: True for words in phrases_in("neither", languages) if len(words) == 1}
    return neither | {
        word: lines[phrase.line]
        for phrase in read_grammar()
        if phrase.line in lines
        for word in folded_words(phrase.text)
    }
