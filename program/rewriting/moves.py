"""The three moves that a query's words allow, each with its ways of inserting something said before.

A *way* is one place and form in which a move can insert a referent. A move splits the features of a referent into the
*part* that the ways depend on, which many referents share, and the rest. So the best way is searched for once for each
part, and not once for each referent.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, Protocol, TypeVar

from ..text.asking_words import asking_word, denials
from ..text.linker import Linker
from ..text.unspaced import pieces_of
from ..text.words import Word, between, is_unspaced
from .lexicon import END, Lexicon
from .pointing import as_in_english
from .referents import ARTICLES, NAMED, Referent, written_small
from .traits import Add, Added, Filled, Filler, Keep, Own, Put, Replaced, Turned
from .wording import (
    asks_first,
    cannot_mean,
    figures,
    is_torn,
    led,
    names,
    new_in,
    owned,
    stands_for_nothing,
    takes_no_article,
    told,
    within,
)

WHOSE = frozenset("his her its their hers theirs whose".split())
OF_THINGS = frozenset("that this it the those these".split())
OF_ONE = frozenset(("that", "this"))
PIECES = ("piece", "wider")
"""Kinds of referents that are put but not added; with that, 0.225 of the podcast's left-out follow-ups were right
instead of 0.209."""
SORTS = dict.fromkeys(("run", "article", "wider", "piece"), "small") | {"begins": "capital", "pair": "capital"}
"""Of which sort a referent of a kind is; other kinds are sorts themselves."""
OPENERS = 4
"""The most words at the beginning of an elliptic question that are not part of what is new."""


class Typed(NamedTuple):
    """A query with its words, the number of them before its closing signs, and its pointing words.

    ``sites`` has the first word, the word after the last, and the text of each pointing word or pair.
    """

    text: str
    words: list[Word]
    end: int
    sites: list[tuple[int, int, str]]

    def keep(self) -> Keep:
        """The features of leaving the query as it is."""
        return Keep(self.end, tuple(dict.fromkeys(said for _, _, said in self.sites)))


def typed_query(query: str, lexicon: Lexicon) -> Typed:
    """A query read for editing."""
    words = pieces_of(query)
    end = len(words)
    while end and not words[end - 1].spoken:
        end -= 1
    lows, sites = as_in_english(words, query), []
    for start, low in enumerate(lows[:end]):
        pair = f"{low} {lows[start + 1]}" if start + 1 < len(lows) else ""
        sites += [(start, start + 2, pair)] * (pair in lexicon.pointing)
        sites += [(start, start + 1, low)] * (low in lexicon.pointing)
    return Typed(query, words, end, sites)


Part = TypeVar("Part", bound=Hashable)


class Move(Protocol[Part]):
    """One move on one query.

    Attributes:
        name: its name in the names of weights.
        seen: everything that its ways depend on beside the part; equal for queries that are alike in this respect.
    """

    name: str

    @property
    def seen(self) -> tuple[Hashable, ...]: ...

    def part(self, referent: Referent) -> Part | None:
        """The features of a referent that the ways depend on; None if there is no way to insert it."""
        ...

    def ways(self, part: Part) -> list[tuple[int, tuple[Own, ...]]]:
        """The number of every way, with its features for referents of that part."""
        ...

    def text(self, way: int, referent: Referent) -> str:
        """The query after the edit as plain words, from which the choice is learned."""
        ...

    def worded(self, way: int, referent: Referent) -> str | None:
        """The query after the edit, worded as a sentence (``wording.py``); None if it cannot be one."""
        ...


class Putting:
    """Puts a referent in the place of a pointing word, plain or as a possessive."""

    name = "put"

    def __init__(self, typed: Typed, lexicon: Lexicon) -> None:
        likeness, self._common, self._pairs = lexicon.likeness, lexicon.ordinary, lexicon.pointing
        self._typed, others, self._likeness = typed, len(typed.sites) - 1, likeness
        self._said = tuple(dict.fromkeys(said for _, _, said in typed.sites))
        self._sites: list[tuple[int, int]] = []
        seen: list[Put] = []
        for start, end, said in typed.sites:
            inside = end < typed.end
            for shape in ("plain",) if is_unspaced(typed.text) else _shapes(said, inside):
                self._sites.append((start, end))
                seen.append(Put(said, not inside, shape, others))
        self.seen = tuple(seen)

    def part(self, referent: Referent) -> Filler | None:
        """The referent's features as a replacement; None if the query has no pointing word."""
        if not self.seen:
            return None
        look = referent.look
        name = referent.low if look.kind.startswith("name") else ""
        like: tuple[tuple[str, int], ...] = ()
        if look.kind.startswith(NAMED):
            like = tuple([(said, self._likeness.of(referent.text, said)) for said in self._said])
        return Filler(name, look.kind, look.turn, min(look.words, 4), look.small, look.first, referent.order, like)

    def ways(self, part: Filler) -> list[tuple[int, tuple[Own, ...]]]:
        """Each pointing word, with the referent in each shape."""
        return [(way, (seen, Filled(seen.said, part))) for way, seen in enumerate(self.seen)]

    def text(self, way: int, referent: Referent) -> str:
        """The query with the referent in that pointing word's place."""
        said = owned(referent.text) if self.seen[way].shape == "owner" else referent.text
        return self._put(*self._sites[way], said)

    def worded(self, way: int, referent: Referent) -> str | None:
        """As ``text``, but reading as a sentence; None if the referent is only a fragment of one.

        None where the referent is torn out of a sentence, stands for nothing, or is not what the words there mean.
        """
        start, end = self._sites[way]
        words, last = self._typed.words, self._typed.end
        if is_torn(referent) or stands_for_nothing(referent) or cannot_mean(referent, words, start, end):
            return None
        if is_unspaced(self._typed.text) and not names(referent):
            return None
        end += end < last and f"{words[end - 1].low} {words[end].low}" in self._pairs
        start -= start > 0 and words[start - 1].low in ARTICLES and takes_no_article(referent)
        said = within(referent) if start else referent.text
        owns = self.seen[way].shape == "owner" or (names(referent) and self._owns(way))
        return self._put(start, end, owned(said) if owns else said)

    def _owns(self, way: int) -> bool:
        """Whether an uncommon word follows, which the referent would own: "her book", "on that wall"."""
        start, end = self._sites[way]
        said, words = self.seen[way].said, self._typed.words
        if end >= self._typed.end or words[end].low in self._common or not words[end].spoken:
            return False
        if is_unspaced(self._typed.text):
            return False
        # "That strikes me" and "did that prevent" own nothing.
        return said in WHOSE or (said in OF_ONE and start > 0 and asking_word(words[start - 1].low) is None)

    def _put(self, start: int, end: int, said: str) -> str:
        text, words = self._typed.text, self._typed.words
        return text[: words[start].start] + said + text[words[end - 1].end :]


def _shapes(said: str, inside: bool) -> tuple[str, ...]:
    """The shapes of a referent: plain, and possessive if the pointing word may be one."""
    last = said.split()[-1]
    return ("plain", "owner") if last in WHOSE or (inside and last in OF_THINGS) else ("plain",)


class Adding:
    """Adds a referent at the front or the end of a query, behind a joint such as *of* or *about*."""

    name = "add"

    def __init__(self, typed: Typed, lexicon: Lexicon) -> None:
        last = typed.words[typed.end - 1]
        self._whole, self._before, self._after = typed.text, typed.text[: last.end], typed.text[last.end :]
        self._joints = lexicon.joints
        closing = last.low if last.low in lexicon.ordinary else "*"
        query = closing, len(typed.words), len(typed.sites)
        self.seen = tuple([Add(f"{place} {joint}".strip(), *query) for place, joint in lexicon.joints])

    def part(self, referent: Referent) -> tuple[str, int] | None:
        """The referent's kind and turn; None for kinds that are never added."""
        return None if referent.look.kind in PIECES else (referent.look.kind, referent.look.turn)

    def ways(self, part: tuple[str, int]) -> list[tuple[int, tuple[Own, ...]]]:
        """Each joint, at the front or the end."""
        return [(way, (seen, Added(seen.joint, *part))) for way, seen in enumerate(self.seen)]

    def text(self, way: int, referent: Referent) -> str:
        """The query with the referent behind that joint."""
        place, joint = self._joints[way]
        said = f"{joint} {referent.text}" if joint else referent.text
        return f"{self._before} {said}{self._after}" if place == END else f"{said} {self._whole}"

    def worded(self, way: int, referent: Referent) -> str | None:
        """The same; what nothing joins to the query is its heading, and so is a name where an article would.

        None where the referent stands for nothing, or asks.
        """
        if stands_for_nothing(referent) or asks_first(referent):
            return None
        if is_unspaced(self._whole) and not names(referent):
            return None
        _, joint = self._joints[way]
        if not joint or (joint.split()[-1] in ARTICLES and takes_no_article(referent)):
            return led(referent.text, self._whole)
        return self.text(way, referent)


FEW = 3
"""At most so many words before a name are no part of what is new."""


class New(NamedTuple):
    """What may be new in an elliptic question: its text, its sort (``_sort``), and its features."""

    text: str
    sort: str
    seen: Turned


class Turning:
    """Turns the question before to what is new: this replaces a referent of the same sort in it."""

    name = "turn"

    def __init__(self, typed: Typed, asked: str, lexicon: Lexicon, linker: Linker) -> None:
        self._typed, self._asked, self._common, self._linker = typed, asked, lexicon.ordinary, linker
        self._news = _news(typed, lexicon, linker)
        self.seen = tuple([(new.sort, new.seen) for new in self._news])

    def part(self, referent: Referent) -> str | None:
        """The referent's kind; None if the question before does not have it word by word, or it mixes sorts."""
        look = referent.look
        mixed = SORTS.get(look.kind) == "small" and not look.small
        return look.kind if referent.text in self._asked and not mixed else None

    def ways(self, part: str) -> list[tuple[int, tuple[Own, ...]]]:
        """Each new text of the referent's sort."""
        sort = SORTS.get(part, part)
        return [
            (way, (new.seen, Replaced(part, sort, new.sort)))
            for way, new in enumerate(self._news)
            if _alike(new.sort, sort)
        ]

    def text(self, way: int, referent: Referent) -> str:
        """The question before, with the new text in the referent's place."""
        at, new = self._asked.find(referent.text), self._news[way].text
        before, first = self._asked[:at], new.partition(" ")[0]
        if " " in new and before.split()[-1:] and before.split()[-1].lower() == first.lower():
            new = new[len(first) :].lstrip()  # no word twice: "open tickets in" and "in borealis"
        return before + new + self._asked[at + len(referent.text) :]

    def worded(self, way: int, referent: Referent) -> str | None:
        """As ``text``, without the words that joined the query to the conversation ("and").

        None where what is replaced stands for nothing or asks, and where what is new asks by itself, is not new, leaves
        a figure of the query out, or stands for a name and begins with a word that no name begins with ("write about
        **in German**").
        """
        if stands_for_nothing(referent) or asks_first(referent):
            return None
        at = self._asked.find(referent.text)
        new = new_in(self._asked[:at], self._news[way].text)
        if new and names(referent):
            new = self._name_alone(new)
        if not new or not figures(new) >= figures(self._typed.text) or told(new, self._asked):
            return None
        if names(referent) and (pieces_of(new)[0].low in self._common - ARTICLES):
            return None
        return self._asked[:at] + new + self._asked[at + len(referent.text) :]

    def _name_alone(self, new: str) -> str:
        """A text that ends with its only name of the card, without the few words before it: "no, I **meant Dario**".

        What denies the name stays. Of 56 labelled follow-ups that this changes 30 are right so, and 20 were; of
        engineering's 18, 9 are and 11 were.
        """
        links = self._linker.links(new)
        if len(links) != 1 or links[0].start + len(links[0].surface) != len(new):
            return new
        before = [word.low for word in pieces_of(new[: links[0].start]) if word.spoken]
        return new if len(before) > FEW or denials(before) else new[links[0].start :]


def _news(typed: Typed, lexicon: Lexicon, linker: Linker) -> list[New]:
    rare = [place for place in range(typed.end) if typed.words[place].low not in lexicon.ordinary]
    if not rare:
        return []
    body = rare[0], rare[-1] + 1
    spans = [(start, typed.end) for start in range(min(OPENERS, typed.end)) if start <= rare[-1]]
    if is_unspaced(typed.text):  # where words are guessed, only what is written in one piece is surely one thing
        spans = [body] if body[1] - body[0] == len(rare) else []
    elif body not in spans:
        spans.append(body)
    first = typed.words[0].low
    opener = first if first in lexicon.ordinary else "*"
    texts = [between(typed.text, typed.words, *span) for span in spans]
    query = typed.end, len(typed.sites)
    return [
        New(text, _sort(text, linker), Turned(*query, min(len(text.split()), 5), span[0], opener, span == body))
        for text, span in zip(texts, spans, strict=True)
    ]


def _sort(text: str, linker: Linker) -> str:
    """The sort of a text: the type of its name of the card, ``capital``, or ``small`` for lower-case words."""
    name = next((f"name {link.name.type}" for link in linker.links(text)), "")
    return name or ("small" if written_small(text) else "capital")


def _alike(new: str, old: str) -> bool:
    """Whether texts of these sorts may replace each other; a capital may be a name of any type."""
    return new == old or ("capital" in (new, old) and "small" not in (new, old))
