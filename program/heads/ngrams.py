"""Words, character sequences and frames of a text as a sparse vector, with known names masked by their type.

"How does *Ilse* differ from *Takeda*" and "How does *Aoife* differ from *Gareth*" ask the same kind of question;
masked, both read "how does _guest_ differ from _guest_". A *frame* goes further: every run of words that few of the
training queries have becomes one star, "how does _guest_ differ on *".

N-grams are hashed into a fixed number of places (Weinberger et al., 2009), and those that most training queries have
get a column each. So a program stores no words, only one bit for each place and the hashes of its common words. The
weights are tf-idf with sublinear term frequency. Frames have columns of their own, after those of the n-grams, and each
of the two parts is scaled to length one.
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
from ..text.words import is_unspaced
from .packed import deflated, inflated

if TYPE_CHECKING:
    from scipy.sparse import csr_array

HASHED = 2**17
"""Number of places that n-grams are hashed into."""
COLUMNS = 2**14
"""Number of places that have a column: those of the n-grams that most training queries have."""
FRAME_COLUMNS = 2**12
WIDTH = COLUMNS + FRAME_COLUMNS
WORD = re.compile(r"\w+|[?,，、？]")
CHARACTERS = range(2, 6)
MAX_CHARACTERS = 600
# A word is common if one in fifty queries has it, and three at least. One in a hundred and one in twenty-five were as
# good on the podcast within the noise of two cross-validations.
COMMON_SHARE = 0.02
COMMON_LEAST = 3
FEWEST_TEXTS = 2
FRAME_LENGTH = 4
STAR = 0
"""Stands in a frame for a run of words that are not common; no common word hashes to it."""
MIXER = np.uint32(0x9E3779B1)
FIRST_FRAME = np.uint32(COLUMNS)
FRAME_SHIFT = np.uint32(32 - int(math.log2(FRAME_COLUMNS)))

# Texts are cut off at ``MAX_CHARACTERS``, so that no column can occur in one more often than this.
FREQUENCY = np.concatenate([[0], 1 + np.log(np.arange(1, 8 * MAX_CHARACTERS), dtype=np.float32)]).astype(np.float32)
"""The sublinear term frequency, 1 + log(count), by count; 0 for none."""

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
    """The text in lower case with every occurrence of each known name replaced by its type."""
    small = folded(text)
    around = " " if is_unspaced(small) else ""  # so that a type is a word by itself there, too
    for link in sorted(linker.links(text), key=lambda found: -len(found.surface)):
        small = small.replace(folded(link.surface), f"{around}_{link.name.type.lower()}_{around}")
    return " ".join(small.split()) if around else small


def is_mask(word: str) -> bool:
    """Whether a word stands for a name that was masked: ``_guest_``."""
    return len(word) > 2 and word[0] == word[-1] == "_"


def words_of(masked: str) -> list[str]:
    """The words and question marks of a masked text."""
    return WORD.findall(masked[:MAX_CHARACTERS].lower())


def common_words(texts: Iterable[Sequence[str]]) -> Common:
    """The hashes of the words that enough of these texts have; each text is given as its words."""
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
    """Columns of the n-grams of a text, repeated as often as they occur; those of words and of characters count alike.

    Args:
        masked: the text with its names masked; only its first ``MAX_CHARACTERS`` are read.
        words: its words.
        more: other columns of the text, which are appended.
        vocabulary: which n-grams have a column of their own; without it, as in older programs, all share columns by
            their hash.
    """
    if vocabulary is None:
        return np.concatenate([gram_places(masked, words) % COLUMNS, *more])
    column = vocabulary.column
    of_words = [*map(column, words), *map(vocabulary.pair, words, words[1:])]
    known = np.array([one for one in of_words if one >= 0], dtype=np.int32)
    within = map(vocabulary.within, masked[:MAX_CHARACTERS].lower().split())
    return np.concatenate([known, *within, *more])


def gram_places(masked: str, words: Sequence[str]) -> np.ndarray:
    """The places that the n-grams of a text are hashed to, repeated as often as they occur."""
    of_words = [*map(_word_place, words), *(_word_place(f"{a} {b}") for a, b in pairwise(words))]
    within = map(_places_within, masked[:MAX_CHARACTERS].lower().split())
    return np.concatenate([np.array(of_words, dtype=np.int32), *within])


class Vocabulary:
    """The n-grams that have a column of their own.

    Where n-grams are hashed straight into 2**14 columns, each of those in some thousand queries shares its column with
    a dozen others. With a column each for the 2**14 most frequent, all labels were right for 0.486 of 364 queries by
    other writers instead of 0.475, and for 0.687 of 131 follow-ups as typed instead of 0.664. All 2**17 columns were no
    better, at five times the size.

    Attributes:
        kept: their places, ascending; an n-gram's column is the rank of its place.
        column_of: the column of every place, shape (HASHED,); -1 for none.
    """

    def __init__(self, kept: np.ndarray) -> None:
        self.kept = kept.astype(np.int64)
        self.column_of = np.full(HASHED, -1, dtype=np.int32)
        self.column_of[self.kept] = np.arange(len(self.kept), dtype=np.int32)
        # The same words occur again and again, so what is computed for each is cached.
        self.within = lru_cache(maxsize=8192)(self._within)
        self.column = lru_cache(maxsize=8192)(self._column)
        self.pair = lru_cache(maxsize=8192)(lambda one, other: self._column(f"{one} {other}"))

    def _column(self, gram: str) -> int:
        """The column of a word or a pair of words; -1 for none."""
        return int(self.column_of[_word_place(gram)])

    def _within(self, word: str) -> np.ndarray:
        """Columns of the character sequences of a word, without those that have none."""
        columns = self.column_of.take(_places_within(word))
        return columns[columns >= 0]

    def packed(self) -> np.ndarray:
        """One bit a place, compressed, shape (bytes,), for a file."""
        bits = np.packbits(self.column_of >= 0)
        fewer = deflated(bits.tobytes())
        return fewer if len(fewer) < len(bits) else bits

    @classmethod
    def unpacked(cls, packed: np.ndarray) -> Vocabulary:
        """From what ``packed`` gave; older programs have the bits as they are, which are more bytes.

        Raises:
            ValueError: the bytes are no such bits.
        """
        bits = packed if len(packed) == HASHED // 8 else np.frombuffer(inflated(packed.tobytes()), np.uint8)
        return cls(np.flatnonzero(np.unpackbits(bits, count=HASHED)))


def learned_vocabulary(texts: Iterable[np.ndarray]) -> Vocabulary:
    """The ``COLUMNS`` n-grams that most texts have, of those that at least two texts have.

    Args:
        texts: places of the n-grams of each text, see ``gram_places``.
    """
    counts = np.zeros(HASHED, dtype=np.int64)
    for places in texts:
        counts[np.unique(places)] += 1
    likeliest = np.argsort(-counts, kind="stable")[:COLUMNS]
    return Vocabulary(np.sort(likeliest[counts[likeliest] >= FEWEST_TEXTS]))


def frame_columns(words: Sequence[str], common: Common) -> np.ndarray:
    """Columns of the sequences of one to four words of a text's frame, where its beginning and end count as words."""
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


# The same words occur again and again; without caches, hashing them takes a third of a decision's time.
@lru_cache(maxsize=8192)
def _places_within(word: str) -> np.ndarray:
    """Places of the sequences of two to five characters of a word, where a space stands for its beginning and end."""
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
    """The smoothed idf of every column, shape (width,), float32; ``texts`` has the columns of each text."""
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
    """Rows as one sparse matrix, shape (rows, width), float64; about one number in a hundred is not zero."""
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *(len(row.columns) for row in rows)])
    columns, values = (np.concatenate(part) for part in zip(*rows, strict=True))
    return csr_array((values.astype(np.float64), columns, ends), shape=(len(rows), width))
