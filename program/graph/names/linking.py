"""Finds the names of a graph in a question: exact, by alias, then by edit distance, with every reading kept.

An inverted index from first words to name lengths makes an exact search a few dictionary look-ups for each question,
whatever the size of the graph. Only words that belong to no exact name, and that are not common words of questions,
are compared by edit distance (rapidfuzz), and only with names that share character trigrams with them. What is found
need not be meant: "It" and "The Hours" are names, and so is "Hours" inside the latter. Mentions may overlap, and each
keeps all its readings; the ranking decides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from rapidfuzz import fuzz, process

from ....data.card import KnownName
from ....data.element_words import UNSAYABLE
from ....data.other_words import each_word
from ....signatures.graph_steps import ElementWords
from ..question.words import Word, fold, folded_words, words_of
from .spelling import as_said, is_code, is_coded, trigrams

How = Literal["exact", "alias", "id", "value", "fuzzy", "unknown"]
FUZZY_SCORE = 72.0
"""The least similarity of a fuzzy reading, 0 to 100. It only keeps the list short: the ranking weighs similarity."""
OTHER_SCORE = 85.0
"""The same for a card's other words: of thousands in many languages, some are always a little like any word.

Of 1,578 anchors of labelled questions 1,515 are found with it, beside 592 fuzzy mentions of something else. With 72 it
would be 1,525 beside 1,642, with 90 1,506 beside 547, and without other words 1,276 beside 609.
"""
BEGUN, LONGER = 5, 0.3
"""Where a word begins with a name: the name's least length in letters; what the score loses with the word's rest.

Of 2,326 anchors of labelled questions 2,263 are found with such words and 2,252 without, beside 41 wrong fuzzy
mentions either way.
"""
JOINED = 3
"""The least length in letters of a name behind which a word for a type is written in one word."""
LINKS = ("", "s", "n", "en", "er")
"""The letters that German and related languages put between such a name and the word for its type."""
FUZZY_LETTERS = 4
FUZZY_WORDS = 4
READINGS = 6
SHORTLIST = 48
RAREST = 8
"""Number of a text's trigrams that are looked up, its rarest: common ones cost milliseconds and tell nothing."""
NEAR = 5
REMEMBERED = 8192
"""Number of questions whose mentions are cached, 2 kB each: learning links each labelled question five times."""
APPOSED = re.compile(r"\s*[(（]\s*")
"""What stands between a name and another one for the same thing."""
BETWEEN = 2  # the most words between a shortened name and the later name that has its end, as "and the"
MOST_VALUES, LEAST_VALUE = 60, 3  # with more values each is one node's own text; shorter ones are numbers or letters


@dataclass(frozen=True)
class Reading:
    """One node, or all nodes of one type with this name or value, that a mention may mean.

    Attributes:
        name: as the graph writes it; the node's id if ``how`` is ``id``, a property's value if it is ``value``.
        score: similarity of the words to the name, 0 to 1; 1 unless ``how`` is ``fuzzy``.
        field: what it is the name, id or value of.
    """

    name: str
    type: str
    how: How
    score: float = 1.0
    field: str = "name"


@dataclass(frozen=True)
class Mention:
    """Words of a question that may name nodes.

    Attributes:
        start, end: characters of the question.
        first, last: words of the question, ``last`` not included.
        rest: what follows the name in its last word, folded: "mittel" of "Epilepsiemittel".
        outright: whether the word for the type or property that it names stands beside it ("phase II").
    """

    text: str
    start: int
    end: int
    first: int
    last: int
    readings: tuple[Reading, ...]
    rest: str = ""
    outright: bool = False

    def overlaps(self, other: Mention) -> bool:
        """Whether a word belongs to both."""
        return self.first < other.last and other.first < self.last

    def inside(self, other: Mention) -> bool:
        """Whether all words belong to a longer one."""
        return (
            other.first <= self.first
            and self.last <= other.last
            and (self.last - self.first) < (other.last - other.first)
        )


class NameIndex:
    """Finds the names of a graph in questions. Built once a graph; safe to share between threads.

    Args:
        names: (id, name, type) of every node; streamed once.
        aliases: names with further spellings, such as a card's; one that the graph does not have is left out.
        values: values of properties, by (type, property): "the cancers" names all nodes of the category cancer.
        words: how people say types, properties and values, as a schema has it.
    """

    def __init__(
        self,
        names: Iterable[tuple[str, str, str]],
        aliases: Iterable[KnownName] = (),
        values: Mapping[tuple[str, str], Sequence[str]] | None = None,
        words: Sequence[ElementWords] = (),
    ) -> None:
        self._spelled: dict[str, list[Reading]] = {}
        self._ids: dict[str, Reading] = {}
        self._other: set[str] = set()
        self._lengths: dict[str, set[int]] = defaultdict(set)
        known: dict[tuple[str, str], Reading] = {}
        for node_id, name, kind in names:
            reading = known.setdefault((name.casefold(), kind), Reading(name, kind, "exact"))
            if node_id.casefold() not in (name.casefold(), f"{kind}::{name}".casefold()):
                self._ids[node_id] = Reading(node_id, kind, "id", field="id")
            if reading.name is name:
                self._add(name, reading)
                for spelling in as_said(name):
                    self._add(spelling, Reading(name, kind, "alias"))
        for alias in aliases:
            self._add_aliases(alias, known.get((alias.name.casefold(), alias.type)))
        said = {line.element: each_word(line.words) for line in words if not line.side and line.element != UNSAYABLE}
        for (kind, field), texts in (values or {}).items():
            self._add_values(kind, field, texts, said)
        self._kinds = frozenset(_kind_words(said))
        self._ordered = {first: sorted(lengths, reverse=True) for first, lengths in self._lengths.items()}
        self._folded = list(self._spelled)
        self._grams: dict[str, list[int]] | None = None
        self._mentions = lru_cache(maxsize=REMEMBERED)(self._find)

    def __len__(self) -> int:
        """How many spellings are known."""
        return len(self._spelled)

    def knows(self, folded: str) -> bool:
        """Whether a folded text is a spelling of some name."""
        return folded in self._spelled

    def _add_aliases(self, alias: KnownName, node: Reading | None) -> None:
        if node is not None:
            reading = Reading(node.name, node.type, "alias")
            for spelling in alias.aliases:
                self._add(spelling, reading)
            for spelling in each_word(alias.other_words):
                self._add(spelling, reading, other=True)

    def _add_values(self, kind: str, field: str, texts: Sequence[str], said: Mapping[str, Sequence[str]]) -> None:
        """Add values as names; those of one or two letters only beside a word for the property ("chromosome X")."""
        if len(texts) > MOST_VALUES:
            return
        beside = (field, *said.get(f"{kind}.{field}", ()))
        for text in texts:
            reading = Reading(text, kind, "value", field=field)
            short = [f"{word} {text}" for word in beside]
            short += [] if text.isdecimal() else [f"{text} {word}" for word in beside]
            for spelling in (text, f"{text}s") if len(text) >= LEAST_VALUE else short:
                self._add(spelling, reading)
            for spelling in said.get(f"{kind}.{field}={text}", ()):
                self._add(spelling, reading, other=True)

    def _add(self, spelling: str, reading: Reading, other: bool = False) -> None:
        words = folded_words(spelling)
        if not words:
            return
        folded = " ".join(words)
        if other and folded not in self._spelled:
            self._other.add(folded)
        readings = self._spelled.setdefault(folded, [])
        if not any((r.name, r.type) == (reading.name, reading.type) for r in readings):
            readings.append(reading)
        self._lengths[words[0]].add(len(words))

    def mentions(self, question: str, common: Collection[str] = frozenset()) -> tuple[Mention, ...]:
        """Every mention in a question, overlapping ones too, in order of their first words, longer ones first.

        Args:
            common: folded words that questions are made of; they are not compared by edit distance.
        """
        return self._mentions(question, common if isinstance(common, frozenset) else frozenset(common))

    def _find(self, question: str, common: frozenset[str]) -> tuple[Mention, ...]:
        words = words_of(question)
        found = [*self._exact(question, words), *self._by_id(question, words)]
        covered = {place for mention in found for place in range(mention.first, mention.last)}
        left = [word.text not in common and place not in covered for place, word in enumerate(words)]
        found += _nearer(self._fuzzy(question, words, left, covered), self._begun(question, words, left))
        found += self._shortened(question, words, found)
        return _apposed(question, sorted(found, key=lambda m: (m.first, -m.last)))

    def _exact(self, question: str, words: Sequence[Word]) -> list[Mention]:
        found = []
        for first, word in enumerate(words):
            for length in self._ordered.get(word.text, ()):
                text = " ".join(w.text for w in words[first : first + length])
                if first + length <= len(words) and (readings := self._readings(text, length)):
                    found.append(_mention(question, words, first, first + length, readings))
        return found

    def _readings(self, text: str, length: int) -> Sequence[Reading]:
        """The readings of a folded text; for several words also names that have an s at the end more or less.

        For one word the fuzzy search finds these.
        """
        if (readings := self._spelled.get(text)) or length == 1:
            return readings or ()
        spelled = self._spelled.get(text[:-1] if text.endswith("s") else f"{text}s", ())
        return [replace(reading, how="alias") for reading in spelled if reading.how in ("exact", "alias")]

    def _shortened(self, question: str, words: Sequence[Word], found: Sequence[Mention]) -> list[Mention]:
        """Names without the end that a later name has: "*type 1* and type 2 diabetes", "*breast* or lung cancer"."""
        shortened = []
        for later in found:
            for length in range(1, later.last - later.first):
                end = [w.text for w in words[later.last - length : later.last]]
                shortened += self._ending_in(question, words, later, end)
        return shortened

    def _ending_in(self, question: str, words: Sequence[Word], later: Mention, end: Sequence[str]) -> Iterator[Mention]:
        """The names that are a run of words shortly before a mention, followed by this end of it."""
        own = {(r.name, r.type) for r in later.readings}
        for last in range(max(1, later.first - BETWEEN), later.first):
            for first in range(max(0, last - FUZZY_WORDS), last):
                spelled = self._spelled.get(" ".join([*(w.text for w in words[first:last]), *end]), ())
                readings = [replace(r, how="alias") for r in spelled if (r.name, r.type) not in own]
                if readings:
                    yield _mention(question, words, first, last, readings)

    def _begun(self, question: str, words: Sequence[Word], left: Sequence[bool]) -> list[Mention]:
        """Words that begin with a name: compounds ("Epilepsiemittel"), and names with particles written behind."""
        found = []
        for place, word in enumerate(words):
            for length in range(len(word.text) - 1, JOINED - 1, -1) if left[place] else ():
                readings, joined = self._spelled.get(word.text[:length]), self._joined(word.text[length:])
                if readings is None or not (joined or length >= BEGUN):
                    continue
                if joined or fuzz.ratio(word.text, word.text[:length]) < OTHER_SCORE:  # else a fuzzy search finds it
                    score = 1.0 if joined else 1 - LONGER * (1 - length / len(word.text))
                    how: How = "alias" if joined else "fuzzy"
                    begun = [replace(r, how=how, score=score) for r in readings if joined or r.how != "value"]
                    mention = _mention(question, words, place, place + 1, begun) if begun else None
                    found += [replace(mention, rest=joined or word.text[length:])] if mention else []
                break
        return found

    def _joined(self, rest: str) -> str:
        """The word for a type that is written behind a name: "krankheit" of "Herzkrankheit"; empty if there is none."""
        return next((end for link in LINKS if (end := rest.removeprefix(link)) in self._kinds), "")

    def _by_id(self, question: str, words: Sequence[Word]) -> list[Mention]:
        """Mentions of ids, which are compared as typed, unfolded, up to the next white space."""
        found = []
        place = 0
        for piece in question.split() if self._ids else ():
            place = question.index(piece, place)
            bare = piece.strip("\"'`“”‘’()[]<>,;?!")
            reading = self._ids.get(bare) or self._ids.get(bare.rstrip(".:"))
            inside = [i for i, w in enumerate(words) if place <= w.start < place + len(piece)]
            if reading is not None and inside:
                found.append(_mention(question, words, inside[0], inside[-1] + 1, [reading]))
            place += len(piece)
        return found

    def _fuzzy(
        self, question: str, words: Sequence[Word], left: Sequence[bool], covered: Collection[int]
    ) -> list[Mention]:
        """Fuzzy mentions among words that are in no exact name, without overlaps: the most similar ones are kept."""
        found: list[Mention] = []
        for first, last in _spans(left, covered):
            text = " ".join(w.text for w in words[first:last])
            if len(text) < FUZZY_LETTERS:
                continue
            typed = question[words[first].start : words[last - 1].end]
            if readings := [r for r in self._nearest(text) if not is_code(r.name) or is_coded(typed)]:
                found.append(_mention(question, words, first, last, readings))
        best = sorted(found, key=lambda m: (-m.readings[0].score, m.first - m.last))
        kept: list[Mention] = []
        for mention in best:
            if not any(mention.overlaps(other) for other in kept):
                kept.append(mention)
        return kept

    def _nearest(self, text: str) -> list[Reading]:
        shortlist = self._sharing(text)
        matches = process.extract(
            text, shortlist, scorer=fuzz.ratio, score_cutoff=FUZZY_SCORE, limit=None, processor=None
        )
        found = [
            Reading(reading.name, reading.type, "fuzzy", score / 100, reading.field)
            for spelling, score, _ in matches
            if score >= OTHER_SCORE or spelling not in self._other
            for reading in self._spelled[spelling]
        ]
        return list({(r.name, r.type): r for r in reversed(found)}.values())[::-1][:READINGS]

    def _sharing(self, text: str) -> list[str]:
        """The spellings that share most trigrams with a text."""
        index = self._trigram_index()
        places = sorted((index[gram] for gram in trigrams(text) if gram in index), key=len)[:RAREST]
        if not places:
            return []
        shared = np.bincount(np.concatenate([np.array(p, dtype=np.int32) for p in places]))
        candidates = np.flatnonzero(shared >= min(2, len(places)))
        best = candidates[np.argsort(-shared[candidates], kind="stable")[:SHORTLIST]]
        return [self._folded[i] for i in best]

    def _trigram_index(self) -> dict[str, list[int]]:
        """Places of the spellings that have a trigram; made at the first fuzzy search, 0.2 s for 47,000 names."""
        if self._grams is None:
            postings: dict[str, list[int]] = defaultdict(list)
            for place, spelling in enumerate(self._folded):
                for gram in trigrams(spelling):
                    postings[gram].append(place)
            self._grams = postings
        return self._grams

    def near(self, text: str, limit: int = NEAR) -> tuple[Reading, ...]:
        """The names most like a text, however unlike it, to tell a person what the graph does have."""
        shortlist = self._sharing(fold(text))
        matches = process.extract(fold(text), shortlist, scorer=fuzz.WRatio, limit=limit, processor=None)
        return tuple(
            Reading(r.name, r.type, "fuzzy", score / 100) for name, score, _ in matches for r in self._spelled[name][:1]
        )


def _apposed(question: str, found: Sequence[Mention]) -> tuple[Mention, ...]:
    """The mentions; where one stands in brackets behind another, each also gets the other's first reading.

    So "hERG (KCNH2)" is one name, whichever of the two the graph knows.
    """
    readings = [mention.readings for mention in found]
    for place, mention in enumerate(found):
        for later, other in enumerate(found):
            if other.first == mention.last and APPOSED.fullmatch(question[mention.end : other.start]):
                readings[place] = _with_those(readings[place], other.readings)
                readings[later] = _with_those(readings[later], mention.readings)
    return tuple(replace(mention, readings=some) for mention, some in zip(found, readings, strict=True))


def _with_those(own: Sequence[Reading], others: Sequence[Reading]) -> tuple[Reading, ...]:
    """A mention's readings, with the first of another mention's that is not among them in the second place."""
    nodes = {(reading.name, reading.type) for reading in own}
    more = [replace(reading, how="alias") for reading in others if (reading.name, reading.type) not in nodes]
    return (*own[:1], *more[:1], *own[1:])


def _kind_words(said: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The folded single words for types that are long enough to be recognized at the end of a word."""
    for element, phrases in said.items():
        words = [folded_words(phrase) for phrase in phrases] if "." not in element else []
        yield from (found[0] for found in words if len(found) == 1 and len(found[0]) >= FUZZY_LETTERS)


def _mention(question: str, words: Sequence[Word], first: int, last: int, readings: Sequence[Reading]) -> Mention:
    start, end = words[first].start, words[last - 1].end
    # A node spelled exactly as the question has it comes before others of the same folded name.
    ordered = sorted(readings, key=lambda r: (-r.score, r.name != question[start:end]))
    return Mention(question[start:end], start, end, first, last, tuple(ordered[: 2 * READINGS]))


def _nearer(*several: Sequence[Mention]) -> list[Mention]:
    """Of mentions of the same words, the one whose name is most similar; the first where several are."""
    best: dict[tuple[int, int], Mention] = {}
    for mention in (one for some in several for one in some):
        known = best.setdefault((mention.first, mention.last), mention)
        if mention.readings[0].score > known.readings[0].score:
            best[mention.first, mention.last] = mention
    return list(best.values())


def _spans(left: Sequence[bool], covered: Collection[int]) -> list[tuple[int, int]]:
    """Runs (first, last) of uncovered words that begin or end with an uncommon one, which ``left`` marks."""
    return [
        (first, last)
        for first in range(len(left))
        for last in range(first + 1, min(len(left), first + FUZZY_WORDS) + 1)
        if (left[first] or left[last - 1]) and not any(place in covered for place in range(first, last))
    ]
