"""Every edit of a follow-up that may make it stand alone, each with what speaks for it.

Three moves and none: *put* something said before in the place of a word that points to it ("did **he** win" - "did
Kwabena win"), *add* it at the front or the end ("how many" - "how many on Chiamaka's stuck wall"), *turn* the question
before to what is new ("and Priya?" after "what does Ansei say about sleep" - "what does Priya say about sleep").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...signatures.types import Turn
from ..linker import Linker
from .lexicon import END, Lexicon
from .referents import Referent, referents
from .words import Word, between, is_unspaced, words_of

Traits = tuple[tuple[str, float], ...]
"""What is seen of something: names of traits, each with its size."""
WHOSE = frozenset("his her its their hers theirs whose".split())
OF_THINGS = frozenset("that this it the those these".split())
PIECES = ("piece", "wider")
"""Kinds that are put but not added: so 0.225 and not 0.209 of the podcast's left-out follow-ups were right."""
SORTS = dict.fromkeys(("run", "article", "wider", "piece"), "small") | {"begins": "capital", "pair": "capital"}
"""Of which sort a referent of a kind is; other kinds are sorts themselves."""
OPENERS = 4
"""So many first words at most are no part of what is new in an elliptic question."""


class Edit(NamedTuple):
    """One way of saying a follow-up.

    Attributes:
        text: the query after it.
        move: ``keep``, ``put``, ``add`` or ``turn``.
        referent: what it speaks of; None where nothing is changed.
        shared: traits of the referent under this move, which many edits share.
        own: traits of this edit alone.
    """

    text: str
    move: str
    referent: Referent | None
    shared: Traits
    own: Traits


class Typed(NamedTuple):
    """A query with its words, how many of them stand before the closing signs, and where it points back."""

    text: str
    words: list[Word]
    end: int
    sites: list[tuple[int, int, str]]


def edits(query: str, turns: Sequence[Turn], shown: str, lexicon: Lexicon, linker: Linker) -> list[Edit]:
    """All edits of a query after these turns; the first leaves it as it was typed."""
    typed = _typed(query, lexicon)
    found = [_kept(typed)]
    if is_unspaced(query) or not typed.end:
        return found
    folded, putting, adding = query.lower(), Putting(typed), Adding(typed, lexicon)
    for referent in referents(turns, shown, linker, lexicon.common):
        if referent.text.lower() in folded:
            continue
        traits = _traits(referent)
        found += putting.edits(referent, traits)
        if referent.kind not in PIECES:
            found += adding.edits(referent, traits)
    return found + list(_turns(typed, turns, lexicon, linker))


def _typed(query: str, lexicon: Lexicon) -> Typed:
    words = words_of(query)
    end = len(words)
    while end and not words[end - 1].spoken:
        end -= 1
    sites = [
        (start, start + length, said)
        for start in range(end)
        for length in (2, 1)
        if start + length <= len(words)
        and (said := " ".join(word.low for word in words[start : start + length])) in lexicon.pointing
    ]
    return Typed(query, words, end, sites)


def _kept(typed: Typed) -> Edit:
    points = tuple((f"keep {said}", 1.0) for said in dict.fromkeys(said for _, _, said in typed.sites))
    return Edit(typed.text, "keep", None, (), (("keep", 1.0), (f"keep words {min(typed.end, 8)}", 1.0), *points))


def _traits(referent: Referent) -> Traits:
    text, kind = referent.text, referent.kind
    return (
        (f"kind {kind}", 1.0),
        (f"turn {referent.turn}", 1.0),
        (f"kind {kind} turn {referent.turn}", 1.0),
        (f"role {referent.role}", 1.0),
        (f"words {_words(text)}", 1.0),
        (f"times {min(referent.times, 3)}", 1.0),
        ("first", float(referent.place == 0)),
        ("place", min(referent.place, 20) / 20),
        ("small", float(text.islower())),
        ("figures", float(any(sign.isdigit() for sign in text))),
    )


def _words(text: str) -> int:
    return min(len(text.split()), 5)


class Put(NamedTuple):
    """What is seen of a referent in the place of a pointing word; alike for many referents."""

    said: str
    closes: bool
    shape: str
    name: str
    kind: str
    turn: int
    length: int
    small: bool
    first: bool


class Putting:
    """Puts referents in the place of the words of one query that point; what is seen of like ones is made once."""

    def __init__(self, typed: Typed) -> None:
        self._typed = typed
        self._seen: dict[Put, Traits] = {}

    def edits(self, referent: Referent, traits: Traits) -> Iterator[Edit]:
        """The referent in the place of each pointing word, as it is and as an owner."""
        typed, words = self._typed, self._typed.words
        known = referent.kind, referent.turn, min(_words(referent.text), 4), referent.text.islower(), not referent.place
        name = referent.text.lower() if referent.kind.startswith("name") else ""
        for start, end, said in typed.sites:
            for text, shape in _shapes(referent.text, said, end < typed.end):
                put = Put(said, end == typed.end, shape, name, *known)
                if put not in self._seen:
                    self._seen[put] = _put(put, len(typed.sites) - 1)
                whole = typed.text[: words[start].start] + text + typed.text[words[end - 1].end :]
                yield Edit(whole, "put", referent, traits, self._seen[put])


def _put(put: Put, others: int) -> Traits:
    at = f"put for {put.said}"
    seen = (
        (at, 1.0),
        (f"{at} kind {put.kind}", 1.0),
        (f"{at} turn {put.turn}", 1.0),
        (f"{at} words {put.length}", 1.0),
        (f"{at} small", float(put.small)),
        (f"{at} first", float(put.first)),
        (f"{at} others", float(others)),
        (f"{at} at the end", float(put.closes)),
        (f"{at} {put.shape}", 1.0),
    )
    return (*seen, (f"{at} {put.name}", 1.0)) if put.name else seen


def _shapes(text: str, said: str, inside: bool) -> Iterator[tuple[str, str]]:
    """A referent as it is, and as an owner where the word that it is put for may be one."""
    yield text, "plain"
    last = said.split()[-1]
    if last in WHOSE or (inside and last in OF_THINGS):
        yield text + ("'" if text.endswith("s") else "'s"), "owner"


class Adding:
    """Adds referents to one query. What is seen of it is the same for all of one kind and turn, and made once."""

    def __init__(self, typed: Typed, lexicon: Lexicon) -> None:
        last = typed.words[typed.end - 1]
        self._before, self._after = typed.text[: last.end], typed.text[last.end :]
        self._whole, self._joints = typed.text, lexicon.joints
        self._closing = last.low if last.low in lexicon.common else "*"
        self._words, self._points = min(len(typed.words), 10), float(len(typed.sites))
        self._seen: dict[tuple[str, int], list[Traits]] = {}

    def edits(self, referent: Referent, traits: Traits) -> Iterator[Edit]:
        """The referent behind each joint, at the front or the end."""
        key = referent.kind, referent.turn
        if key not in self._seen:
            self._seen[key] = [self._own(f"{place} {joint}".strip(), *key) for place, joint in self._joints]
        for (place, joint), own in zip(self._joints, self._seen[key], strict=True):
            said = f"{joint} {referent.text}" if joint else referent.text
            text = f"{self._before} {said}{self._after}" if place == END else f"{said} {self._whole}"
            yield Edit(text, "add", referent, traits, own)

    def _own(self, at: str, kind: str, turn: int) -> Traits:
        return (
            (f"add {at}", 1.0),
            (f"add {at} kind {kind}", 1.0),
            (f"add {at} turn {turn}", 1.0),
            (f"add {at} after {self._closing}", 1.0),
            (f"add after {self._closing}", 1.0),
            (f"add to words {self._words}", 1.0),
            ("add beside pointing", self._points),
        )


def _turns(typed: Typed, turns: Sequence[Turn], lexicon: Lexicon, linker: Linker) -> Iterator[Edit]:
    """The question before, with something in it replaced by what is new and of the same sort."""
    question = [turn for turn in turns if turn.role == "user"][-1:]
    asked, news = "".join(turn.content for turn in question), _news(typed, lexicon, linker)
    seen: dict[tuple[str, str], Traits] = {}
    for referent in referents(question, "", linker, lexicon.common):
        at = asked.find(referent.text)
        if at < 0:
            continue
        traits = _traits(referent)
        for new in news:
            if not _alike(new.sort, SORTS.get(referent.kind, referent.kind)):
                continue
            key = new.text, referent.kind
            if key not in seen:
                seen[key] = _turned(typed, new, referent.kind)
            yield Edit(asked[:at] + new.text + asked[at + len(referent.text) :], "turn", referent, traits, seen[key])


class New(NamedTuple):
    """What may be new in an elliptic question: the words cut before it, the query's first word if that is common,
    whether it is just what stands from the first to the last uncommon word, and of which sort it is (`_sort`)."""

    text: str
    cut: int
    opener: str
    body: bool
    sort: str


def _turned(typed: Typed, new: New, kind: str) -> Traits:
    sort = SORTS.get(kind, kind)
    return (
        ("turn", 1.0),
        (f"turn words {min(typed.end, 8)}", 1.0),
        (f"turn new {_words(new.text)}", 1.0),
        (f"turn kind {kind}", 1.0),
        (f"turn from {new.opener} cut {new.cut}", 1.0),
        (f"turn cut {new.cut}", 1.0),
        ("turn body", float(new.body)),
        ("turn beside pointing", float(len(typed.sites))),
        (f"turn {new.sort} for {sort}", 1.0),
    )


def _sort(text: str, linker: Linker) -> str:
    """What a text names, to be replaced by its like: a name of the card with its type, a capital, or small words."""
    name = next((f"name {link.name.type}" for link in linker.links(text)), "")
    return name or ("small" if text.islower() else "capital")


def _alike(new: str, old: str) -> bool:
    """Whether one may stand where the other stood: both of a sort, or a capital, which may be a name of any type."""
    return new == old or ("capital" in (new, old) and "small" not in (new, old))


def _news(typed: Typed, lexicon: Lexicon, linker: Linker) -> list[New]:
    rare = [place for place in range(typed.end) if typed.words[place].low not in lexicon.common]
    body = (rare[0], rare[-1] + 1) if rare else None
    spans = [(start, typed.end) for start in range(min(OPENERS, typed.end))]
    if body is not None and body not in spans:
        spans.append(body)
    first = typed.words[0].low
    opener = first if first in lexicon.common else "*"
    spans = [span for span in spans if any(span[0] <= place < span[1] for place in rare)]
    texts = [between(typed.text, typed.words, *span) for span in spans]
    return [
        New(text, span[0], opener, span == body, _sort(text, linker)) for text, span in zip(texts, spans, strict=True)
    ]
