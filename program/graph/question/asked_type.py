"""The node type that a question asks for by its word: "which genes …", "asthma drugs", "hospitals that …".

It is read by form: a word for a type shortly behind a question word, near the beginning of the question, or right
behind the name that the question begins with. A word for a type is an inflected form of the last word of its name, of
the noun that its description begins with, or of a phrase that the schema has for it. Adjacent words are read together
("drug classes"), and a plan may answer with any of their types. The evidence only changes probabilities, since people
ask for one type and mean another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile

import numpy as np

from ....data.grammar_words import read_grammar
from ....data.word_tables import BETWEEN
from ....signatures.graph_steps import GraphSchema
from .view import View
from .words import folded_name, folded_words, name_words, shared_start

OTHER = 0.1
"""The factor on the probability of a plan that answers with another type."""
TOLD = 0.8
"""The least match, 0 to 1, of a word with a phrase for a type."""
BEHIND, BEGINS = 3, 5
"""Within how many words the type stands behind a question word, and from the beginning of the question."""
STEM, START = 4, 3
"""The least number of first letters that two forms of a word share, and that those of a short word do."""
ENDINGS = frozenset("|s|es|e|n|en|er|ne|i|a|r|x|os|as|y|ies|um|us".split("|"))
"""The endings of nouns behind the shared letters, in languages that inflect nouns by endings."""
HEAD = re.compile(
    r"[^;:.()]*?(?=\b(?:where|that|who|which|whom|of|in|on|at|for|with|by|to|from|used|made)\b|[;:.()]|$)"
)
"""The beginning of a type's description that says what it is ("a small molecule"), before what is said of it."""
ARTICLES = frozenset({"a", "an", "the", "or", "and", "its", "their", "kind", "type", "sort", "named", "one"})
MOST = 6


class TypeWords:
    """The words for the types of one schema."""

    def __init__(self, schema: GraphSchema) -> None:
        """Read the names and descriptions of its types."""
        self._names = [_last_word(node.name) for node in schema.nodes]
        self._heads = [_heads(node.description) for node in schema.nodes]
        self._said = _by_start(_said(schema))
        names = [folded_name(node.name) for node in schema.nodes]
        self._parts = {word for words in names for word in words[:-1]}
        self.of = lru_cache(maxsize=8192)(self._types)

    def _types(self, word: str) -> frozenset[int]:
        """The numbers of the types that a word is for: those named so, or else those described so."""
        named = frozenset(i for i, own in enumerate(self._names) if own and is_form(word, own))
        return named or frozenset(i for i, own in enumerate(self._heads) if any(is_form(word, one) for one in own))

    def at(self, folded: Sequence[str], place: int) -> tuple[frozenset[int], int]:
        """The types that words from a place on are for, by their names or the schema's phrases, and how many words."""
        if kinds := self.of(folded[place]):
            return kinds, 1
        said = [
            (len(phrase), kind)
            for phrase, kind in self._said.get(folded[place][:START], ())
            if len(folded) >= place + len(phrase) and all(map(is_form, folded[place : place + len(phrase)], phrase))
        ]
        most = max((count for count, _ in said), default=0)
        return frozenset(kind for count, kind in said if count == most), most

    def begins(self, word: str) -> bool:
        """Whether a folded word is of a type's name, before its last: "side" of ``SideEffect``."""
        return word in self._parts

    def asked(self, view: View, kinds: Sequence[int]) -> frozenset[int]:
        """The numbers (in the schema) of the types that a question asks for; empty where no word says it.

        Args:
            kinds: the numbers of the types of its names, in their order.
        """
        types = [set(self.of(word)) for word in view.words]
        if view.near.told is not None:
            for row, kind in np.argwhere(view.near.told.types >= TOLD).tolist():
                types[row].add(kind)
        at = {int(place): types[row] for row, place in enumerate(view.place) if types[row]}
        if not at:
            return frozenset()
        firsts = _firsts(view, at, dict(zip(view.names, kinds, strict=True)))
        return frozenset(kind for first in firsts for kind in _run(at, first))


def _run(at: Mapping[int, set[int]], first: int) -> Iterator[int]:
    """The types of the words from ``first`` on, as long as each is a word for a type; ``at`` has them by place."""
    while first in at:
        yield from at[first]
        first += 1


def _firsts(view: View, at: Mapping[int, set[int]], names: Mapping[int, int]) -> list[int]:
    """The places of the words with which what is asked for begins.

    Args:
        at: for each place with a word for a type, these types.
        names: for each place of a name, the name's type.
    """

    def within(begin: int, count: int) -> int | None:
        if begin in names and begin + 1 in at and names[begin] not in at[begin + 1]:  # "which Lisbon novels"
            return begin + 1
        reached = takewhile(lambda place: place not in names, range(begin, begin + count))
        found = next((place for place in reached if place in at), None)
        # In "the gene BRCA1" the word says what the name is, and asks for nothing.
        return None if found is None or names.get(found + 1) in at[found] else found

    said = {int(place): word for place, word in zip(view.place, view.words, strict=True)}
    asking = [place for place, word in said.items() if word in _line("which")]
    if found := [first for place in asking if (first := within(place + 1, BEHIND)) is not None]:
        return found
    # "Genes which …" begins a relative clause. Any other question word asks for something else than the type that the
    # question begins with.
    asks = _line("which") | _line("who")
    if any(word in asks and not (word in _line("relates") and place - 1 in at) for place, word in said.items()):
        return []
    if (first := within(0, BEGINS)) is not None:
        return [first]
    return [1] if 0 in names and 1 in at and names[0] not in at[1] else []


def is_form(word: str, other: str) -> bool:
    """Whether two folded words are inflected forms of one word: "study" and "studies", "gene" and "genes"."""
    if word == other:
        return True
    if word[:START] != other[:START]:
        return False
    shared = shared_start(word, other)
    return shared >= max(START, min(STEM, len(other) - 1, len(word) - 1)) and {word[shared:], other[shared:]} <= ENDINGS


def _last_word(name: str) -> str:
    return next((folded for word in name_words(name)[::-1] for folded in folded_words(word)[::-1]), "")


def _said(schema: GraphSchema) -> list[tuple[tuple[str, ...], ...]]:
    """Of each type, the phrases that the schema has for it in any language, folded."""
    found: dict[str, list[tuple[str, ...]]] = {node.name: [] for node in schema.nodes}
    for one in schema.words:
        if one.element in found and not one.side:
            phrases = map(tuple, map(folded_words, one.words.split(BETWEEN)))
            found[one.element] += filter(None, phrases)
    return [tuple(dict.fromkeys(phrases)) for phrases in found.values()]


def _by_start(said: Sequence[Sequence[tuple[str, ...]]]) -> dict[str, list[tuple[tuple[str, ...], int]]]:
    """The phrases with the numbers of their types, by what two forms of their first words share at least.

    Hetionet's types have some 1,700 phrases, and comparing each with every word took 40 ms a question.
    """
    found: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for kind, phrases in enumerate(said):
        for phrase in phrases:
            found.setdefault(phrase[0][:START], []).append((phrase, kind))
    return found


def _heads(description: str) -> frozenset[str]:
    """The nouns with which a description says what a type is, folded."""
    found = HEAD.match(description)
    head = [part.split() for part in re.split(r",|\bor\b|\band\b", found[0] if found else "")]
    ends = [folded_words(words[-1])[-1:] for words in head if words]
    said = [word for end in ends for word in end if word not in ARTICLES and len(word) > 2]
    return frozenset(said[:MOST])


@lru_cache(maxsize=8)
def _line(name: str) -> frozenset[str]:
    return frozenset(word for phrase in read_grammar() if phrase.line == name for word in folded_words(phrase.text))
