"""Candidate referents of a follow-up: names, capitalised words and runs of uncommon words in the earlier turns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ...signatures.types import Turn
from ..text.linker import Linker
from ..text.unspaced import pieces_of
from ..text.words import Word, between, is_unspaced
from .pointing import joining_word
from .traits import Look

PAIRS = 4
"""The most pairs of names of a turn."""
LONGEST = 4
"""The most words of a piece of a run; the whole run may be longer."""
MOST = 60
"""The most referents of a conversation, the latest turns first: three turns of 200 characters have some 30."""
_WITHIN_NAMES = frozenset("of the de von and & la in - du le van der del al".split())
_BETWEEN_NAMES = frozenset("and & in".split())
"""Words inside names that as often stand between two names, so that the whole and its parts are both referents."""
ALONE, COUNTED = "alone", 3
NAMED, LISTED = ("name", "capital", "begins"), ("run", "article")
"""The kinds that are numbered together, so that *the second* or *the latter* can mean one of them."""
_FIGURE = re.compile(r"\d")
_ARTICLES = frozenset(("the", "a", "an", "this", "that"))
ARTICLES = frozenset(("the", "a", "an"))


class Referent(NamedTuple):
    """Something said before that a follow-up may point to.

    Attributes:
        text: as it was written.
        low: the same in lower case.
        place: the number of words of its turn before it.
        look: its features apart from its place. ``look.kind`` is ``name`` and the type for a name of the card, ``pair``
            for two successive names, ``capital``, ``begins`` (a single capitalised word that begins a sentence),
            ``run`` of uncommon words, ``article`` and ``wider`` (a run with an article or the word before it), or
            ``piece`` of a run. ``look.turn`` is the number of turns back, 0 for the last one, and ``look.times`` the
            number of turns that have it.
        order: its place among similar referents of the turn, as ``2 of 3`` or ``last``; ``alone`` if there is no other.
    """

    text: str
    low: str
    place: int
    look: Look
    order: str = ALONE


class _Said(NamedTuple):
    """A referent of one turn, without what depends on the turn's place in the conversation."""

    text: str
    low: str
    kind: str
    place: int
    words: int
    small: bool
    figures: bool
    order: str = ALONE


def referents(turns: Sequence[Turn], shown: str, linker: Linker, common: frozenset[str]) -> list[Referent]:
    """Everything that a query after these turns may point to, each text once.

    Args:
        shown: what the application shows the user, or empty. Few labelled rows have it, so it is treated as a name that
            the user has just said.
        common: words that many labelled texts have; they end a run.
    """
    found: dict[str, tuple[_Said, int, str]] = {}
    times: dict[str, int] = {}
    if shown:
        type_of = next((f"name {link.name.type}" for link in linker.links(shown)), "capital")
        found[shown.lower()] = _as_said(shown, type_of, 0), 0, "user"
    for back, turn in enumerate(reversed(turns)):
        for one in _said(turn.content, linker, common):
            if one.low in found:
                times[one.low] = times.get(one.low, 1) + 1
            elif len(found) < MOST:
                found[one.low] = one, back, turn.role
    return [
        Referent(
            one.text,
            one.low,
            one.place,
            Look(one.kind, back, role, one.words, min(times.get(one.low, 1), 3), not one.place, one.small, one.figures),
            one.order,
        )
        for one, back, role in found.values()
    ]


@lru_cache(maxsize=256)  # earlier turns are read again with every later query of their conversation
def _said(text: str, linker: Linker, common: frozenset[str]) -> tuple[_Said, ...]:
    """The referents in one turn, each text once, with the first kind that finds it."""
    found: dict[str, _Said] = {}
    for said, kind, place in _found(text, linker, common):
        one = _as_said(said, kind, place)
        found.setdefault(one.low, one)
    return tuple(_in_order(list(found.values())))


def _in_order(found: Sequence[_Said]) -> list[_Said]:
    """The referents with their ``order`` among those that are numbered together."""
    orders = dict[str, str]()
    for kinds in (NAMED, LISTED):
        like = sorted((one for one in found if one.kind.startswith(kinds)), key=lambda one: one.place)
        places = sorted({one.place for one in like})
        for one in like:
            orders[one.low] = _order(places.index(one.place), len(places))
    return [one._replace(order=orders.get(one.low, ALONE)) for one in found]


def _order(place: int, of: int) -> str:
    if of == 1:
        return ALONE
    if of <= COUNTED:
        return f"{place + 1} of {of}"
    return "last" if place == of - 1 else f"{min(place + 1, COUNTED)} of more"


def _as_said(text: str, kind: str, place: int) -> _Said:
    figures = _FIGURE.search(text) is not None
    return _Said(text, text.lower(), kind, place, min(len(text.split()), 5), written_small(text), figures)


def written_small(text: str) -> bool:
    """Whether a text has no capital of a name: it is in small letters, or of a script that has no capitals."""
    return text.islower() or is_unspaced(text)


def _found(text: str, linker: Linker, common: frozenset[str]) -> Iterator[tuple[str, str, int]]:
    """(text, kind, place) of all referents, names first."""
    words = pieces_of(text)
    links = linker.links(text)
    names = [(link.surface, f"name {link.name.type}", sum(w.end <= link.start for w in words)) for link in links]
    capitals = list(_capitals(text, words, common))
    yield from names
    yield from _pairs(names or _apart(capitals), text)
    yield from capitals
    yield from _runs(text, words, common)


def _pairs(named: Sequence[tuple[str, str, int]], text: str) -> Iterator[tuple[str, str, int]]:
    """Each two successive names of a text as one referent, since *they* may mean them."""
    joined = joining_word(text) if len(named) > 1 else ""
    for (first, _, place), (second, _, _) in pairwise(named[: PAIRS + 1]):
        yield f"{first}{joined}{second}", "pair", place


def _apart(capitals: Sequence[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """The capitalised texts that may be names by themselves; of one that has parts, only the parts."""
    named = [one for one in capitals if one[1] == "capital"]
    wholes = {one for one, part in pairwise(named) if part[2] == one[2]}
    return [one for one in named if one not in wholes]


def _capitals(text: str, words: list[Word], common: frozenset[str]) -> Iterator[tuple[str, str, int]]:
    start, unspaced = 0, is_unspaced(text)
    while start < len(words):
        if not words[start].capital:
            start += 1
            continue
        end = start + 1
        while end < len(words) and _goes_on(words, end):
            end += 1
        # What is Latin in such a script begins no sentence with a capital: it is a name.
        opens = not unspaced and (start == 0 or words[start - 1].text in '.!?…"')
        if opens and end - start > 1 and words[start].low in common and words[start + 1].capital:
            start += 1  # the first word of "Did Dario" is no part of the name
            continue
        yield between(text, words, start, end), "begins" if opens and end - start == 1 else "capital", start
        yield from _parts(text, words, start, end)
        start = end


def _parts(text: str, words: list[Word], start: int, end: int) -> Iterator[tuple[str, str, int]]:
    """The parts of a capitalised text around words that may stand between two names ("and")."""
    joints = [place for place in range(start, end) if words[place].low in _BETWEEN_NAMES]
    bounds = [start - 1, *joints, end]
    for before, behind in pairwise(bounds if joints else ()):
        if behind - before > 1:
            yield between(text, words, before + 1, behind), "capital", before + 1


def _goes_on(words: list[Word], end: int) -> bool:
    """Whether a name goes on with the word at ``end``: a capital, a figure, or a small word before a capital."""
    word = words[end]
    if word.text[0].isupper() or word.text[0].isdigit():
        return True
    return word.low in _WITHIN_NAMES and end + 1 < len(words) and words[end + 1].text[0].isupper()


def _runs(text: str, words: list[Word], common: frozenset[str]) -> Iterator[tuple[str, str, int]]:
    start = 0
    while start < len(words):
        end = start
        while end < len(words) and words[end].spoken and words[end].low not in common:
            end += 1
        if end > start:
            yield from _of_run(text, words, start, end)
        start = max(end, start + 1)


def _of_run(text: str, words: list[Word], start: int, end: int) -> Iterator[tuple[str, str, int]]:
    run = between(text, words, start, end)
    if is_unspaced(run):  # its pieces are guessed, and mostly no nouns: of 45 follow-ups they made as many right
        return
    yield run, "run", start
    if start and words[start - 1].low in _ARTICLES:
        yield "the " + between(text, words, start, end), "article", start
    if start > 1 and words[start - 1].spoken:
        yield between(text, words, start - 1, end), "wider", start - 1
    for first in range(start, end):
        for last in range(first + 1, min(end, first + LONGEST) + 1):
            if (first, last) != (start, end):
                yield between(text, words, first, last), "piece", first
