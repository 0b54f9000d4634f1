"""The features that heads see of a query: a vector, a few surface features, its n-grams and its frame."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...signatures.types import Turn
from ..text.in_english import in_english
from ..text.languages import ENGLISH, language_of
from ..text.linker import Linker
from ..text.mending import Mending, learned_words, mended
from ..text.openers import without_openers
from ..text.spelling import bare, folded, simple
from .back_references import back_references
from .composition import NUMBERS, composition
from .encoder import Encoder
from .ngrams import (
    COLUMNS,
    Common,
    Grams,
    Vocabulary,
    common_words,
    frame_columns,
    gram_columns,
    gram_places,
    inverse_frequencies,
    is_common,
    learned_vocabulary,
    mask_folded,
    mask_names,
    weigh,
    words_of,
)

SURFACE_WEIGHT = 0.5
QUERY_WEIGHT = 0.75
"""Weight of a query's numbers beside its vector, from ``WEIGHED`` on: with 0.5, decomposition is right for 0.888,
not 0.891, of the podcast's left-out rows and 0.916, not 0.922, of engineering's. For turns 0.5 is as good or better."""
QUERIES = 16
"""How many queries are kept: one plan reads its own several times (as a turn, as a query), the next has other texts."""
TURNS = 256
"""How many earlier turns are kept, which are read again with every later query of their conversation."""
SURFACE = 6
"""How many numbers ``_surface`` gives."""
AS_TYPED, BARE, SIMPLE, IN_ENGLISH, NAMES_INSIDE, COMPOSED, WEIGHED = range(7)
DIGIT = re.compile(r"\d")


def _asked(text: str) -> str:
    return without_openers(simple(text))


_SPELLED: tuple[Callable[[str], str], ...] = (str, bare, *[_asked] * (WEIGHED - 1))


class Seen(NamedTuple):
    """One query as the heads see it: dense features, shape (d,), and weighted n-grams.

    ``readable`` is false if the encoder knows none of its words; then the heads' answers mean nothing.
    """

    dense: np.ndarray
    grams: Grams
    readable: bool = True


class Look(NamedTuple):
    """The features of a text without its conversation.

    ``vector`` is that of ``asked``, the text with its names masked; ``text`` and ``words`` still have the names,
    ``masked`` are the words without them.
    """

    asked: str
    vector: np.ndarray
    surface: list[float]
    names: frozenset[str]
    text: str
    words: list[str]
    masked: list[str]
    seen: Seen


class Earlier(NamedTuple):
    """The features of an earlier turn: its vector, the card's names in it, and its words."""

    vector: np.ndarray
    names: frozenset[str]
    words: frozenset[str]


class Features:
    """Computes features of queries, with or without their conversation.

    Attributes:
        idf: inverse document frequency of each n-gram column, learned from the training queries.
        common: the words that frames keep, also learned from the training queries; None in programs older than frames,
            whose vectors are of the text with its names.
        vocabulary: the n-grams that have a column of their own; None in older programs, where all share columns.
        reads: how a text is normalised before it is read, the same as when the heads were trained. ``AS_TYPED`` (the
            first programs): not at all; ``BARE``: without signs at its end; ``SIMPLE``: also in lower case and without
            list markers (``text/spelling.py``) and opening words (``text/openers.py``);
            ``IN_ENGLISH``: also with the function words of other languages in English (``text/in_english.py``);
            ``NAMES_INSIDE``: names are found inside what is written without spaces, too (``text/linker.py``);
            ``COMPOSED``: counts and places of function words and names are features, too (``composition.py``), and of
            a later turn what may point back (``back_references.py``); ``WEIGHED``: a query's numbers weigh more.
        mending: corrects typing slips (``mending.py``); None in older programs.
        nested: number of leading dimensions of the vector that are features; None for all, as in older programs.
        written_out: whether heads that see these features of a query have the kernel of ``quadratic.py``.
    """

    written_out = False

    def __init__(
        self,
        encoder: Encoder,
        linker: Linker,
        idf: np.ndarray | None = None,
        common: Common | None = None,
        nested: int | None = None,
        vocabulary: Vocabulary | None = None,
        reads: int = WEIGHED,
        mending: Mending | None = None,
    ) -> None:
        self.reads = reads
        self.mending = mending
        self.encoder = encoder
        self.linker = linker if reads >= NAMES_INSIDE else Linker(linker.names, inside=False)
        self.nested = nested
        self._composed = reads >= COMPOSED and common is not None
        self._weight = QUERY_WEIGHT if reads >= WEIGHED else SURFACE_WEIGHT
        self.idf = np.ones(COLUMNS, dtype=np.float32) if idf is None else idf.astype(np.float32)
        self.common = common
        self.vocabulary = vocabulary
        self.remember()

    @property
    def vector_length(self) -> int:
        """Number of leading columns of the dense features that are the text's vector; the rest is surface features."""
        return len(self._vector("")) if self.nested is None else self.nested

    def remember(self, texts: int | None = QUERIES, earlier: int | None = TURNS) -> None:
        """Set how many texts are kept of queries and of earlier turns, None for all; what was kept is forgotten."""
        self._look = lru_cache(texts)(self._look_at)
        self._spelled = lru_cache(texts)(_SPELLED[self.reads])
        self._earlier = lru_cache(earlier)(self._look_back)
        # A training reads the rows of a domain several times.
        self._reading = lru_cache(None if texts is None else 0)(self._read_with)
        self._keeps = texts, earlier

    def reading(self, linker: Linker) -> Features:
        """The same features with another linker, to read rows of another domain, whose card has other names."""
        return self._reading(linker)

    def _read_with(self, linker: Linker) -> Features:
        learned = self.idf, self.common, self.nested, self.vocabulary
        found = Features(self.encoder, linker, *learned, self.reads, self.mending)
        found.remember(*self._keeps)
        return found

    def read_texts(self, query: str) -> tuple[str, str]:
        """The two texts of a query whose vectors heads see: of a query its names are masked, of a turn they are not."""
        look = self._look(self._spelled(query))
        return look.asked, look.text if self.common is not None else look.asked

    def look(self, spelled: str) -> Look:
        """The features of a text that is spelled as heads read it, without its conversation."""
        return self._look(spelled)

    def of_query(self, query: str) -> Seen:
        """Features of a query that stands alone."""
        return self._look(self._spelled(query)).seen

    def of_wishes(self, query: str) -> Seen:
        """The same for heads of structured sources, without how the query is composed: their frames say that better.

        With it the kinds were exactly right for 14 fewer of 1,381 rows of ``engineering`` that were left out.
        """
        seen = self.of_query(query)
        return seen._replace(dense=seen.dense[:-NUMBERS]) if self._composed else seen

    def of_turn(self, query: str, turns: Sequence[Turn]) -> Seen:
        """Features of a query after earlier turns: similarity to them, new and repeated names and rare words, and what
        may point back.
        """
        query = self._spelled(query)
        # A follow-up leaves names out, so whether there are any tells: this vector is of the text with its names.
        look, vector = self._look(query), self._named(query)
        before = [self._earlier(turn.content) for turn in turns]
        nearness = [float(turn.vector @ vector) for turn in before[-3:]]
        last, best = (nearness[-1], max(nearness)) if nearness else (0.0, 0.0)
        names = frozenset[str]().union(*(turn.names for turn in before))
        extra = [last, best, len(look.names & names), len(look.names - names)]
        if self.common is not None:
            extra += [
                *_rare_words(look.words, [turn.words for turn in before], self.common),
                float(bool(look.names - names)),
            ]
        if self._composed:
            extra += back_references(look.masked)
        return self._seen(vector, look.surface + extra, look.seen.grams, SURFACE_WEIGHT)

    def forget(self) -> None:
        """Empty the caches of texts, so that a measurement starts cold."""
        for kept in (self._look, self._spelled, self._earlier, self._reading):
            kept.cache_clear()
        self.linker.forget()

    def _look_back(self, text: str) -> Earlier:
        text = self._spelled(text)
        names = frozenset(link.name.name for link in self.linker.links(text))
        small = self._small(text)
        if self.reads >= IN_ENGLISH and (language := language_of(self._masked(text) if names else small)) != ENGLISH:
            small = text = in_english(small, language)
        return Earlier(self._vector(small), names, frozenset(words_of(text)))

    def _small(self, text: str) -> str:
        return folded(text) if self.reads >= SIMPLE else text

    def _vector(self, text: str) -> np.ndarray:
        return self.encoder.encode([text])[0]

    def _look_at(self, query: str) -> Look:
        names = frozenset([link.name.name for link in self.linker.links(query)])
        small = self._small(query)
        masked = self._masked(query) if names else small
        # Names are masked: "Ada" is a word of Indonesian.
        words = words_of(masked)
        language = language_of(masked, words) if self.reads >= IN_ENGLISH else ENGLISH
        if language != ENGLISH:
            masked, small = in_english(masked, language), in_english(small, language)
            words = words_of(masked)
        # A word of another language is no slip of an English one.
        if language == ENGLISH and self.mending is not None and (slips := self.mending.slips(words)):
            masked, small = mended(masked, slips), mended(small, slips)
            words = words_of(masked)
        asked = small if self.common is None else masked
        vector = self._vector(asked)
        surface = _surface(small, len(names))
        if self._composed:
            surface += composition(words, self.common or frozenset())
        seen = self._seen(
            vector, surface, weigh(_columns(masked, words, self.common, self.vocabulary), self.idf), self._weight
        )
        return Look(asked, vector, surface, names, small, words_of(small) if names else words, words, seen)

    def _masked(self, query: str) -> str:
        return (mask_folded if self.reads >= SIMPLE else mask_names)(query, self.linker)

    def _named(self, query: str) -> np.ndarray:
        """The vector of a query with its names unmasked; that of its look where it has no names."""
        look = self._look(query)
        return self._vector(look.text) if look.names and self.common is not None else look.vector

    def _seen(self, vector: np.ndarray, surface: Sequence[float], grams: Grams, weight: float) -> Seen:
        readable = bool(vector.dot(vector))
        if self.nested is not None:
            vector = vector[: self.nested]
            vector = vector / (math.sqrt(float(vector.dot(vector))) or 1.0)
        width = len(vector)
        dense = np.empty(width + len(surface), dtype=np.float32)
        dense[:width] = vector
        dense[width:] = surface
        dense[width:] *= weight
        return Seen(dense, grams, readable)


def _surface(query: str, names: int) -> list[float]:
    """Six features of length, punctuation, digits and the number of known names, which mean the same in any language.

    Each is scaled to about the range from 0 to 1.
    """
    return [
        math.log1p(len(query.split())) / 2,
        math.log1p(len(query)) / 4,
        min(query.count("?") + query.count("？"), 3) / 2,
        min(query.count(",") + query.count("，") + query.count("、"), 4) / 4,
        min(len(DIGIT.findall(query)), 6) / 6,
        min(names, 4) / 2,
    ]


def learned_features(
    texts: Sequence[str], encoder: Encoder, linker: Linker, lent: Sequence[tuple[Sequence[str], Linker]] = ()
) -> Features:
    """Features whose idf weights, vocabulary, common words and spelling correction are learned from these queries.

    The weights are rounded to half precision, as when saved, so that a loaded head gives exactly the answers of the
    trained one.

    Args:
        lent: queries of other domains, with those domains' linkers.
    """
    every = ((texts, linker), *lent)
    masked = [mask_folded(_asked(text), names) for some, names in every for text in some]
    spoken = [language_of(text) for text in masked]
    masked = [in_english(text, language) for text, language in zip(masked, spoken, strict=True)]
    mending = Mending(learned_words(words_of(text) for text in masked), encoder.knows_whole)
    masked = [
        mended(text, slips) if language == ENGLISH and (slips := mending.slips(words_of(text))) else text
        for text, language in zip(masked, spoken, strict=True)
    ]
    common = common_words(words_of(text) for text in masked)
    vocabulary = learned_vocabulary(gram_places(text, words_of(text)) for text in masked)
    idf = inverse_frequencies([_columns(text, words_of(text), common, vocabulary) for text in masked])
    return Features(encoder, linker, idf.astype(np.float16), common, encoder.nested, vocabulary, mending=mending)


def _columns(masked: str, words: Sequence[str], common: Common | None, vocabulary: Vocabulary | None) -> np.ndarray:
    more = () if common is None else (frame_columns(words, common),)
    return gram_columns(masked, words, *more, vocabulary=vocabulary)


def _rare_words(words: Sequence[str], before: Sequence[frozenset[str]], common: Common) -> list[float]:
    """The logarithms of one plus the numbers of new and of repeated rare words, and 1.0 if none is new.

    With these and whether a name is new, 0.78 of the podcast's later turns were right instead of 0.75
    (train and dev, three cross-validations by conversation).
    """
    rare = [word for word in words if word[0].isalnum() and not is_common(word, common)]
    new = sum(all(word not in turn for turn in before) for word in rare)
    return [math.log1p(new), math.log1p(len(rare) - new), float(not new)]
