"""Words, character sequences and frames of a text as a sparse vector, with known names masked by their type.

"How does *Ilse* differ from *Takeda*" and "How does *Aoife* differ from *Gareth*" ask the same kind of question;
masked, both read "how does _guest_ differ from _guest_". A *frame* goes further: every run of words that few of the
training queries have becomes one star, "how does _guest_ differ on *".

N-grams are hashed into a fixed number of places (Weinberger et al., 2009), and those that most training queries have
get a column each, so that a program needs no words, but one bit for each place and the hashes of its common words.
The weights are tf-idf with sublinear term frequency. Frames have columns of their own, after the others, and each of
the two parts has length one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from ..text.linker import Linker
from ..text.spelling import folded

if TYPE_CHECKING:
    from scipy.sparse import csr_array

HASHED = 2**17
"""N-grams are hashed into so many places."""
COLUMNS = 2**14
"""So many of these have a column: those that most of the training queries have."""
FRAME_COLUMNS = 2**12
WIDTH = COLUMNS + FRAME_COLUMNS
WORD = re.compile(r"\w+|[?,，、？]")
CHARACTERS = range(2, 6)
MAX_CHARACTERS = 600
# A word is common if it is in one of fifty queries, and in three at least. One of a hundred and one of
# twenty-five were as good on the podcast within the noise of two cross-validations.
COMMON_SHARE = 0.02
COMMON_LEAST = 3
FEWEST_TEXTS = 2
FRAME_LENGTH = 4
STAR = 0
"""Stands for words that are not common; no word that is one hashes to it."""
MIXER = np.uint32(0x9E3779B1)
FIRST_FRAME = np.uint32(COLUMNS)
FRAME_SHIFT = np.uint32(32 - int(math.log2(FRAME_COLUMNS)))

# A text that is cut off has no column more often than this.
FREQUENCY = np.concatenate([[0], 1 + np.log(np.arange(1, 8 * MAX_CHARACTERS), dtype=np.float32)]).astype(np.float32)
"""The sublinear frequency of what a text has so many times."""

Common = frozenset[int]
"""Hashes of the words that frames keep."""


class Grams(NamedTuple):
    """A sparse row: columns and their values."""

    columns: np.ndarray
    values: np.ndarray


def mask_names(text: str, linker: Linker) -> str:
    """The text with each known name replaced by its type."""
    for link in sorted(linker.links(text), key=lambda found: -len(found.surface)):
        text = text.replace(link.surface, f"_{link.name.type}_")
    return text


def mask_folded(text: str, linker: Linker) -> str:
    """The text in small letters with each known name, however often it is there, replaced by its type."""
    small = folded(text)
    for link in sorted(linker.links(text), key=lambda found: -len(found.surface)):
        small = small.replace(folded(link.surface), f"_{link.name.type.lower()}_")
    return small


def words_of(masked: str) -> list[str]:
    """The words and question marks of a masked text."""
    return WORD.findall(masked[:MAX_CHARACTERS].lower())


def common_words(texts: Iterable[Sequence[str]]) -> Common:
    """The words that enough of these texts have, as hashes."""
    counts, total = Counter[int](), 0
    for words in texts:
        counts.update({_hash(word) for word in words})
        total += 1
    enough = max(COMMON_LEAST, COMMON_SHARE * total)
    return frozenset(word for word, count in counts.items() if count >= enough)


def is_common(word: str, common: Common) -> bool:
    """Whether frames keep this word."""
    return _hash(word) in common


def gram_columns(
    masked: str, words: Sequence[str], *more: np.ndarray, vocabulary: Vocabulary | None = None
) -> np.ndarray:
    """Columns of the n-grams of a text, one for each time it has them; words and characters weigh the same.

    Args:
        more: other columns of the text, to come after them.
        vocabulary: which n-grams have a column; without, as in programs of before, all share them by their hash.
    """
    if vocabulary is None:
        return np.concatenate([gram_places(masked, words) % COLUMNS, *more])
    column = vocabulary.column
    of_words = [*map(column, words), *map(vocabulary.pair, words, words[1:])]
    known = np.array([one for one in of_words if one >= 0], dtype=np.int32)
    within = map(vocabulary.within, masked[:MAX_CHARACTERS].lower().split())
    return np.concatenate([known, *within, *more])


def gram_places(masked: str, words: Sequence[str]) -> np.ndarray:
    """Where the n-grams of a text are hashed to, one for each time it has them."""
    of_words = [*map(_word_place, words), *(_word_place(f"{a} {b}") for a, b in pairwise(words))]
    within = map(_places_within, masked[:MAX_CHARACTERS].lower().split())
    return np.concatenate([np.array(of_words, dtype=np.int32), *within])


class Vocabulary:
    """The n-grams that have a column of their own.

    Hashed into 2**14 columns, every n-gram of some thousand queries shared its column with a dozen others. With a
    column each for the 2**14 that most of them have, all labels were right for 0.486 of 364 queries by other writers
    instead of 0.475, of 131 follow-ups as typed for 0.687 instead of 0.664; with all 2**17 columns no better, in five
    times the size.

    Attributes:
        kept: their places, ascending; the column of each is its rank.
        column_of: the column of every place, shape (HASHED,); -1 for none.
    """

    def __init__(self, kept: np.ndarray) -> None:
        self.kept = kept.astype(np.int64)
        self.column_of = np.full(HASHED, -1, dtype=np.int32)
        self.column_of[self.kept] = np.arange(len(self.kept), dtype=np.int32)
        # Words come back, as below.
        self.within = lru_cache(maxsize=8192)(self._within)
        self.column = lru_cache(maxsize=8192)(self._column)
        self.pair = lru_cache(maxsize=8192)(lambda one, other: self._column(f"{one} {other}"))

    def _column(self, gram: str) -> int:
        """The column of a word or a pair of words; -1 for none."""
        return int(self.column_of[_word_place(gram)])

    def _within(self, word: str) -> np.ndarray:
        """Columns of the character sequences of a word."""
        columns = self.column_of.take(_places_within(word))
        return columns[columns >= 0]

    def packed(self) -> np.ndarray:
        """One bit a place, shape (HASHED / 8,), for a file."""
        return np.packbits(self.column_of >= 0)

    @classmethod
    def unpacked(cls, bits: np.ndarray) -> Vocabulary:
        """From what ``packed`` gave."""
        return cls(np.flatnonzero(np.unpackbits(bits)))


def learned_vocabulary(texts: Iterable[np.ndarray]) -> Vocabulary:
    """The n-grams that most texts have, of those that two have at least.

    Args:
        texts: places of the n-grams of each.
    """
    counts = np.zeros(HASHED, dtype=np.int64)
    for places in texts:
        counts[np.unique(places)] += 1
    likeliest = np.argsort(-counts, kind="stable")[:COLUMNS]
    return Vocabulary(np.sort(likeliest[counts[likeliest] >= FEWEST_TEXTS]))


def frame_columns(words: Sequence[str], common: Common) -> np.ndarray:
    """Columns of the sequences of one to four words of a text's frame, its two ends among them."""
    frame = [_hash("^")]
    for word in words:
        hashed = _hash(word)
        kept = hashed if hashed in common else STAR
        if kept != STAR or frame[-1] != STAR:
            frame.append(kept)
    ones = longer = np.array([*frame, _hash("$")], dtype=np.uint32)
    found = [ones]
    for length in range(1, FRAME_LENGTH):
        longer = longer[:-1] * MIXER
        longer += ones[length:]
        found.append(longer)
    columns = np.concatenate(found)
    columns *= MIXER  # the upper bits of a product depend on all of its bits
    columns >>= FRAME_SHIFT
    columns += FIRST_FRAME
    return columns.view(np.int32)


# Words come back; without caches, hashing them is a third of a decision's time.
@lru_cache(maxsize=8192)
def _places_within(word: str) -> np.ndarray:
    """Places of the character sequences of a word, its two ends among them."""
    padded = f" {word} "
    pieces = (padded[i : i + n] for n in CHARACTERS for i in range(len(padded) - n + 1))
    return np.fromiter((hashed("c" + piece) % HASHED for piece in pieces), dtype=np.int32)


@lru_cache(maxsize=8192)
def _word_place(gram: str) -> int:
    return hashed("w" + gram) % HASHED


@lru_cache(maxsize=8192)
def _hash(word: str) -> int:
    return hashed(word)


def hashed(text: str) -> int:
    """A text as 32 bits, the same in every process."""
    return crc32(text.encode("utf-8", "surrogatepass"))


def inverse_frequencies(texts: Sequence[np.ndarray], width: int = WIDTH) -> np.ndarray:
    """Smoothed idf of every column over the columns of some texts, shape (width,), float32."""
    seen = np.zeros(width)
    for columns in texts:
        seen[np.unique(columns)] += 1
    return (np.log((1 + len(texts)) / (1 + seen)) + 1).astype(np.float32)


def weigh(columns: np.ndarray, idf: np.ndarray) -> Grams:
    """The columns of a text as a tf-idf row, its n-grams and its frame each of length one."""
    ordered = np.sort(columns)
    first = np.empty(len(ordered) + 1, dtype=bool)
    first[0] = first[-1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
    places = first.nonzero()[0]
    columns = ordered[places[:-1]]
    values = FREQUENCY.take(places[1:] - places[:-1], mode="clip")
    values *= idf.take(columns)
    split = int(columns.searchsorted(COLUMNS))
    for part in (values[:split], values[split:]):
        part /= math.sqrt(float(part @ part)) or 1.0
    return Grams(columns, values)


def as_matrix(rows: Sequence[Grams], width: int = WIDTH) -> csr_array:
    """Rows as one sparse matrix, shape (rows, width), float64; of a hundred columns a row has one."""
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *(len(row.columns) for row in rows)])
    columns, values = (np.concatenate(part) for part in zip(*rows, strict=True))
    return csr_array((values.astype(np.float64), columns, ends), shape=(len(rows), width))
