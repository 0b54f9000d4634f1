"""Bounds on numbers in a question, read by form: "fewer than 4", "4 or more", "not before 1987", "zwischen 3 und 5".

The comparatives of 28 languages are data (``data/grammar_words.py``). The longest phrase around a number decides the
comparison, strict or not; a negation of the phrase reverses it. A number without such a phrase gets no bound here: the
ranking decides what it is for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

from ....data.grammar_words import read_grammar
from .said_numbers import Placed, placed_numbers
from .spoken import phrases_in, spoken_in
from .words import folded_words, spelled_out, stands_alone, words_of

BOUNDS = ("lt", "le", "gt", "ge")
COMPARED = (*BOUNDS, "eq", "ne")
TURNED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
AGES = {"older": ("gt", "lt"), "older or": ("ge", "le"), "younger": ("lt", "gt"), "younger or": ("le", "ge")}
"""The comparison of an age, and that of a year: what is older has a larger age, but an earlier year."""
RANGE, DENIED, EXCEPTED = "range", "not", "except"
LINES = (*COMPARED, RANGE, *AGES)
YEARS = (1000, 2100)
GAP, SHORT = 2, 3
"""Words between a phrase and its number at most; and the letters of a phrase that must stand beside it: "do 30"."""
ARTICLES, NO_YEAR = 1, 0.5
"""The most words between a phrase and a name that it compares with; and the number, no year, that stands for the
name."""
FAR = 5
"""Words from one that leaves something out to what it does, at most: "except the ones on floor 2"."""
SIGNED = {
    **{"<": "lt", ">": "gt", "=": "eq", "==": "eq", "!=": "ne", "<>": "ne", "≠": "ne", "+": "ge"},
    **dict.fromkeys(("<=", "=<", "≤", "⩽", "≦"), "le"),
    **dict.fromkeys((">=", "=>", "≥", "⩾", "≧"), "ge"),
}
SIGN = re.compile(r"(<=|=<|>=|=>|!=|<>|==|[<>=≤≥⩽⩾≦≧≠])\s*[€$£¥]?$")
PLUS = re.compile(r"\+(?!\s*\d)")
DASH = re.compile(r"\s*[-‐–—~〜～]\s*")
BREAK = re.compile(r"[,;:.?!()，；。？！、]")
KANA = re.compile(r"[\u3040-\u30ff]")
JAPANESE = "ja"
ANY = "*"
Key = TypeVar("Key")


@dataclass(frozen=True)
class Bound:
    """How one number of a question is compared.

    Attributes:
        op: the comparison, as in a condition.
        between: whether the number is one of the two ends of a range.
    """

    value: float
    op: str
    between: bool = False


def said_bounds(question: str, spans: Sequence[tuple[int, int]]) -> tuple[Bound, ...]:
    """The bounds that a question states, in the order of their numbers.

    Args:
        spans: the (start, end) characters of its names; no phrase extends over one.

    Raises:
        DataError: the package's own table cannot be read.
    """
    numbers = placed_numbers(question, spans)
    return tuple(_Reading(question, spans, numbers).bounds()) if numbers else ()


def compared_word(question: str, start: int, end: int) -> str | None:
    """The word by which a question compares something with a name, or None: "*harder* than AC/DC", "more *genes* than".

    The name stands where a phrase has a number. A bare amount compares nothing, since "more than AC/DC" means others
    beside it; nor does "rather than".

    Args:
        start, end: the characters of the name.
    """
    best, words = _Reading(question, (), [Placed(start, end, NO_YEAR)]).before()
    if best is None or best.line not in (*BOUNDS, *AGES) or best.before in _amounts():
        return None
    phrases = [one for one in phrases_in("than", frozenset()) if best.before[-len(one) :] == one]
    word = words[-1 - max(map(len, phrases))] if phrases else None
    return None if (word,) in phrases_in("rather", frozenset()) else word


class _Phrase(NamedTuple):
    """The words of a phrase before a number, between two numbers, and behind the last.

    ``line`` is the comparison that it means, as the grammar names it; with ``year`` its number is a year.
    """

    line: str
    before: tuple[str, ...]
    behind: tuple[str, ...]
    between: tuple[str, ...] | None = None
    year: bool = False

    @property
    def weight(self) -> int:
        """Twice the number of words, less one if one of them may be any word: the heaviest phrase decides."""
        words = (*self.before, *self.behind, *(self.between or ()))
        return 2 * len(words) - any(word.startswith(ANY) for word in words)


@dataclass(frozen=True)
class _Table:
    """Phrases by the words next to the number, so that few have to be compared.

    Attributes:
        before: by the last two words before the number.
        behind: by the first word behind it.
        ranges: by the first word between two numbers.
        denials: negating words, with the most words from each to what it negates; 0 for the usual limit.
    """

    before: Mapping[tuple[str, str], tuple[_Phrase, ...]]
    behind: Mapping[str, tuple[_Phrase, ...]]
    ranges: Mapping[str, tuple[_Phrase, ...]]
    denials: Mapping[str, int]


class _Piece(NamedTuple):
    """A word of the question beside a number.

    ``stops`` is true for a word of a name, over which no phrase extends; ``breaks`` if punctuation follows the word.
    """

    text: str
    stops: bool = False
    breaks: bool = False


class _Reading:
    """Reads the bounds of one question."""

    def __init__(self, question: str, spans: Sequence[tuple[int, int]], numbers: Sequence[Placed]) -> None:
        self._question, self._spans, self._numbers = question, spans, numbers
        self._table = _table(bool(KANA.search(question)))
        self._denials = dict(self._table.denials) | _neither(spoken_in(folded_words(question)))
        ends = [0, *(number.end for number in numbers)]
        starts = [*(number.start for number in numbers), len(question)]
        self._parts = [self._pieces(start, end) for start, end in zip(ends, starts, strict=True)]

    def before(self) -> tuple[_Phrase | None, Sequence[str]]:
        """The phrase before the first number and its words in the question; (None, ()) if there is none.

        At most an article, and no punctuation, may stand between the phrase and the number.
        """
        before = self._parts[0]
        best, gap, _ = self._longest(before, (), self._numbers[0].value, True)
        if best is None or gap > ARTICLES or any(piece.breaks for piece in before[-1 - gap :]):
            return None, ()
        told = before[len(before) - gap - len(best.before) : len(before) - gap]
        return best, [piece.text for piece in told]

    def bounds(self) -> Iterator[Bound]:
        ranges = dict(self._ranges())
        for place, number in enumerate(self._numbers):
            weight, op = self._single(place, number)
            ranged = next(((w, o) for at, o, w in self._ends(ranges) if at == place), None)
            if ranged is not None and ranged[0] >= weight:
                yield Bound(number.value, ranged[1], True)
            elif op:
                yield Bound(number.value, op)

    def _ends(self, ranges: Mapping[int, int]) -> Iterator[tuple[int, str, int]]:
        for first, weight in ranges.items():
            yield first, "ge", weight
            yield first + 1, "le", weight

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """For each two numbers that are the ends of a range: the place of the first, and the weight of the phrase."""
        for place, (low, high) in enumerate(pairwise(self._numbers)):
            if low.value >= high.value:
                continue
            if DASH.fullmatch(self._question[low.end : high.start]):
                yield place, 1
                continue
            between = self._parts[place + 1]
            found = [
                phrase
                for gap, piece in _near(between)
                for phrase in self._table.ranges.get(piece.text, ())
                if self._is_range(phrase, place, gap)
            ]
            if found:
                yield place, max(phrase.weight for phrase in found)

    def _is_range(self, phrase: _Phrase, place: int, gap: int) -> bool:
        between, rest = phrase.between or (), self._parts[place + 1]
        inside = [piece.text for piece in rest[gap:]]
        bare = not phrase.before and not phrase.behind
        if tuple(inside[: len(between)]) != between or len(inside) > len(between) + (0 if bare else GAP):
            return False
        return (
            (not bare or gap == 0)
            and _told_before(self._parts[place], phrase.before)
            and _told_behind(self._parts[place + 2], phrase.behind)
        )

    def _single(self, place: int, number: Placed) -> tuple[int, str]:
        """The weight of the phrase that bounds a number, and its comparison; empty if there is none."""
        before, behind = self._parts[place], self._parts[place + 1]
        if sign := SIGN.search(self._question[: number.start]):
            return 9, SIGNED[sign[1]]
        if PLUS.match(self._question, number.end):
            return 9, SIGNED["+"]
        final = place + 1 == len(self._numbers)
        best, gap, length = self._longest(before, behind, number.value, final)
        if best is None:
            return 0, "ne" if self._is_denied(before, 0, GAP + 1) else ""
        op = _compared(best.line, number.value)
        held = len(best.before) + gap if best.before else 0
        return length, TURNED[op] if self._is_denied(before, held, GAP if best.before else GAP + 1) else op

    def _longest(
        self, before: Sequence[_Piece], behind: Sequence[_Piece], value: float, final: bool
    ) -> tuple[_Phrase | None, int, int]:
        """The heaviest phrase around a number, of equals the nearest; its distance before the number; and its weight.

        Args:
            before, behind: the words on both sides, up to the next numbers.
            final: whether no number follows.
        """
        year = value.is_integer() and YEARS[0] <= value <= YEARS[1]
        found: list[tuple[int, int, int, _Phrase]] = []
        for gap, piece in _near(before[::-1]):
            for phrase in self._before(before, gap, piece.text):
                far = gap and sum(map(_length, phrase.before)) <= SHORT
                told = _ends_with(before[: len(before) - gap], phrase.before) and _told_behind(behind, phrase.behind)
                if told and not far and (year or not phrase.year):
                    found.append((phrase.weight, -gap, gap, phrase))
        for gap, piece in _near(behind):
            for key in (piece.text, ANY):  # a phrase right before another number is that one's: "above 3 and below 8"
                for phrase in self._table.behind.get(key, ()):
                    ends = not final and gap + len(phrase.behind) == len(behind)
                    if not ends and (year or not phrase.year) and _begins_with(behind[gap:], phrase.behind):
                        found.append((phrase.weight, -gap, 0, phrase))
        best = max(found, key=lambda one: one[:2], default=None)
        return (None, 0, 0) if best is None else (best[3], best[2], best[0])

    def _before(self, before: Sequence[_Piece], gap: int, last: str) -> Iterator[_Phrase]:
        """The phrases that end with the word ``last`` and, if they have two words, with the one before it."""
        held = before[-gap - 2].text if len(before) > gap + 1 else ""
        for key in dict.fromkeys(("", held, ANY)):
            yield from self._table.before.get((key, last), ())

    def _is_denied(self, before: Sequence[_Piece], held: int, most: int) -> bool:
        """Whether a negating word stands shortly before a phrase, or before the number itself.

        Args:
            before: the words before the number.
            held: how many of these, from the number back, the phrase takes.
            most: the most words between.
        """
        for far, piece in enumerate([*before][: len(before) - held][::-1]):
            if piece.stops or (piece.breaks and far):
                return False
            if far <= max(most, self._denials.get(piece.text, -1)) and piece.text in self._denials:
                return True
        return False

    def _pieces(self, start: int, end: int) -> list[_Piece]:
        """The words between two characters of the question, as pieces."""
        text = self._question[start:end]
        words = words_of(text)
        spelled = spelled_out([word.text for word in words])
        found: list[_Piece] = []
        for place, (word, folded) in enumerate(zip(words, spelled, strict=True)):
            named = any(a < start + word.end and start + word.start < b for a, b in self._spans)
            after = words[place + 1].start if place + 1 < len(words) else len(text)
            found.append(_Piece(folded, named, bool(BREAK.search(text[word.end : after]))))
        return found


def _near(pieces: Sequence[_Piece]) -> Iterator[tuple[int, _Piece]]:
    """The first ``GAP`` + 1 pieces, up to one that stops, each with the number of pieces before it."""
    for gap, piece in enumerate(pieces[: GAP + 1]):
        if piece.stops:
            return
        yield gap, piece


def _length(word: str) -> int:
    """The number of letters of a word; a sign that is a word by itself counts as ``SHORT``."""
    return SHORT if stands_alone(word) else len(word)


def _is_word(wanted: str, said: str) -> bool:
    return said.endswith(wanted[1:]) if wanted.startswith(ANY) else wanted == said


def _ends_with(pieces: Sequence[_Piece], words: Sequence[str]) -> bool:
    if len(pieces) < len(words):
        return False
    last = pieces[len(pieces) - len(words) :]
    return all(not piece.stops and _is_word(word, piece.text) for piece, word in zip(last, words, strict=True))


def _begins_with(pieces: Sequence[_Piece], words: Sequence[str]) -> bool:
    if len(pieces) < len(words):
        return False
    return all(not piece.stops and _is_word(word, piece.text) for piece, word in zip(pieces, words, strict=False))


def _told_before(pieces: Sequence[_Piece], words: Sequence[str]) -> bool:
    return not words or any(_ends_with(pieces[: len(pieces) - gap], words) for gap, _ in _near(pieces[::-1]))


def _told_behind(pieces: Sequence[_Piece], words: Sequence[str]) -> bool:
    return not words or any(_begins_with(pieces[gap:], words) for gap, _ in _near(pieces))


def _compared(line: str, value: float) -> str:
    """The comparison that a line of the grammar means for this number: for ages it depends on whether it is a year."""
    if line not in AGES:
        return line
    return AGES[line][value.is_integer() and YEARS[0] <= value <= YEARS[1]]


@lru_cache(maxsize=2)
def _table(japanese: bool) -> _Table:
    """The phrases of all languages; ``japanese`` decides how those are read that mean something else in Chinese."""
    before: dict[tuple[str, str], list[_Phrase]] = defaultdict(list)
    behind: dict[str, list[_Phrase]] = defaultdict(list)
    ranges: dict[str, list[_Phrase]] = defaultdict(list)
    denials: dict[str, int] = {}
    known: set[tuple[object, ...]] = set()
    for line, text, _ in sorted(read_grammar(), key=lambda one: (one.language == JAPANESE) != japanese):
        if line in (DENIED, EXCEPTED):
            denials |= dict.fromkeys(folded_words(text), FAR if line == EXCEPTED else 0)
        if line not in LINES:
            continue
        phrase = _phrase(line, text)
        if phrase[1:] in known:
            continue
        known.add(phrase[1:])
        if phrase.between is not None:
            ranges[phrase.between[0]].append(phrase)
        elif phrase.before:
            held, last = ("", *phrase.before)[-2:]
            before[ANY if held.startswith(ANY) else held, last].append(phrase)
        else:
            first = phrase.behind[0]
            behind[ANY if first.startswith(ANY) else first].append(phrase)
    return _Table(_frozen(before), _frozen(behind), _frozen(ranges), denials)


@lru_cache(maxsize=64)
def _neither(languages: frozenset[str]) -> dict[str, int]:
    """The words for "neither" and "nor" of some languages, which deny; in another they may say "still" ("noch")."""
    return {words[0]: 0 for words in phrases_in("neither", languages) if len(words) == 1}


@lru_cache(maxsize=1)
def _amounts() -> frozenset[tuple[str, ...]]:
    """The phrases that have an open word, without it: "more than" for "more * than"."""
    phrases = (_phrase(line, text) for line, text, _ in read_grammar() if line in BOUNDS)
    return frozenset(tuple(word for word in one.before if word != ANY) for one in phrases if ANY in one.before)


def _frozen(part: Mapping[Key, Sequence[_Phrase]]) -> dict[Key, tuple[_Phrase, ...]]:
    return {key: tuple(some) for key, some in part.items()}


def _phrase(line: str, text: str) -> _Phrase:
    parts = re.split(r"[NY]", text)
    words = [_words(part) for part in parts]
    year = "Y" in text
    if len(parts) == 3:
        return _Phrase(line, words[0], words[2], words[1], year)
    return _Phrase(line, words[0], words[1], None, year)


def _words(text: str) -> tuple[str, ...]:
    """The folded words of a phrase; a star stands for any word, or for any beginning of one."""
    found: list[str] = []
    for word in text.split():
        star = ANY if word.startswith(ANY) else ""
        folded = folded_words(word.removeprefix(ANY))
        found += [star + folded[0], *folded[1:]] if folded else [star] if star else []
    return tuple(spelled_out(found))
