"""Words, character sequences and frames of a text as a sparse vector, with known names masked by their type.

"How does *Ilse* differ from *Takeda*" and "How does *Aoife* differ from *Gareth*" ask the same kind of
question; masked, both read "how does _guest_ differ from _guest_". A *frame* goes further: every run of
words that few of the training queries have becomes one star, "how does _guest_ differ on *".

N-grams are hashed into a fixed number of columns (Weinberger et al., 2009), so that a program needs no
vocabulary but the list of its common words; the weights are tf-idf with sublinear term frequency. Frames
have columns of their own, after the others, and each of the two parts has length one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from zlib import crc32

import numpy as np

from .linker import Linker

COLUMNS = 2**14
FRAME_COLUMNS = 2**12
WIDTH = COLUMNS + FRAME_COLUMNS
WORD = re.compile(r"\w+|[?,，、？]")
CHARACTERS = range(2, 6)
MAX_CHARACTERS = 600
# A word is common if it is in one of fifty queries, and in three at least. One of a hundred and one of
# twenty-five were as good on the podcast within the noise of two cross-validations.
COMMON_SHARE = 0.02
COMMON_LEAST = 3
FRAME_LENGTH = 4
STAR = "*"

Common = frozenset[int]
"""Hashes of the words that frames keep."""


@dataclass(frozen=True)
class Grams:
    """A sparse row: columns and their values."""

    columns: np.ndarray
    values: np.ndarray


def mask_names(text: str, linker: Linker) -> str:
    """The text with each known name replaced by its type."""
    for link in sorted(linker.links(text), key=lambda found: -len(found.surface)):
        text = text.replace(link.surface, f"_{link.name.type}_")
    return text


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


def count_grams(masked: str, words: Sequence[str]) -> dict[int, float]:
    """Sublinear counts of the n-grams of a text, by column; words and characters weigh the same."""
    counts = Counter(map(_word_column, words))
    counts.update([_column(f"w{a} {b}") for a, b in pairwise(words)])
    counts.update(chain.from_iterable(map(_columns_within, masked[:MAX_CHARACTERS].lower().split())))
    return _sublinear(counts)


def count_frames(words: Sequence[str], common: Common) -> dict[int, float]:
    """Sublinear counts of the sequences of one to four words of a text's frame, its two ends among them."""
    frame = ["^"]
    for word in words:
        kept = word if is_common(word, common) else STAR
        if kept != STAR or frame[-1] != STAR:
            frame.append(kept)
    frame.append("$")
    pieces = (" ".join(frame[i : i + n]) for n in range(1, FRAME_LENGTH + 1) for i in range(len(frame) - n + 1))
    return _sublinear(Counter(map(_frame_column, pieces)))


def _sublinear(counts: Counter[int]) -> dict[int, float]:
    return {column: 1.0 if count == 1 else 1 + math.log(count) for column, count in counts.items()}


# Words and pieces of frames come back; without caches, hashing them is a third of a decision's time.
@lru_cache(maxsize=8192)
def _columns_within(word: str) -> tuple[int, ...]:
    """Columns of the character sequences of a word, its two ends among them."""
    padded = f" {word} "
    return tuple(_column("c" + padded[i : i + n]) for n in CHARACTERS for i in range(len(padded) - n + 1))


@lru_cache(maxsize=8192)
def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _column(gram: str) -> int:
    return crc32(gram.encode("utf-8", "surrogatepass")) % COLUMNS


@lru_cache(maxsize=8192)
def _word_column(word: str) -> int:
    return _column("w" + word)


@lru_cache(maxsize=8192)
def _frame_column(piece: str) -> int:
    return COLUMNS + crc32(piece.encode("utf-8", "surrogatepass")) % FRAME_COLUMNS


def inverse_frequencies(counted: Sequence[dict[int, float]], width: int = WIDTH) -> np.ndarray:
    """Smoothed idf of every column over some texts, shape (width,), float32."""
    seen = np.zeros(width)
    for counts in counted:
        seen[list(counts)] += 1
    return (np.log((1 + len(counted)) / (1 + seen)) + 1).astype(np.float32)


def weigh(counts: dict[int, float], idf: np.ndarray) -> Grams:
    """Counts as a tf-idf row of unit length."""
    columns = np.fromiter(counts.keys(), dtype=np.int32, count=len(counts))
    values = np.fromiter(counts.values(), dtype=np.float32, count=len(counts)) * idf[columns]
    norm = math.sqrt(float(values @ values))
    return Grams(columns, values / norm if norm else values)


def beside(one: Grams, other: Grams) -> Grams:
    """Two rows that share no column as one."""
    return Grams(np.concatenate([one.columns, other.columns]), np.concatenate([one.values, other.values]))


def as_matrix(rows: Sequence[Grams], width: int = WIDTH) -> np.ndarray:
    """Rows as a dense matrix, shape (rows, width), float32; for training on some hundred rows."""
    dense = np.zeros((len(rows), width), dtype=np.float32)
    for i, row in enumerate(rows):
        dense[i, row.columns] = row.values
    return dense
