"""Words and character sequences of a text as a sparse vector, with known names masked by their type.

"How does *Ilse* differ from *Takeda*" and "How does *Aoife* differ from *Gareth*" ask the same kind of
question; masked, both read "how does _guest_ differ from _guest_". N-grams are hashed into a fixed
number of columns (Weinberger et al., 2009), so that a program needs no vocabulary; the weights are
tf-idf with sublinear term frequency.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from zlib import crc32

import numpy as np

from .linker import Linker

COLUMNS = 2**14
WORD = re.compile(r"\w+|[?,，、？]")
CHARACTERS = range(2, 6)
MAX_CHARACTERS = 600


@dataclass(frozen=True)
class Grams:
    """A sparse row of unit length: columns and their values."""

    columns: np.ndarray
    values: np.ndarray


def count_grams(text: str, linker: Linker) -> dict[int, float]:
    """Sublinear counts of the n-grams of a text, by column; words and characters weigh the same."""
    masked = mask_names(text[:MAX_CHARACTERS], linker).lower()
    words = WORD.findall(masked)
    pairs = [f"{a} {b}" for a, b in pairwise(words)]
    counts = Counter([_column("w" + gram) for gram in (*words, *pairs)])
    counts.update(chain.from_iterable(map(_columns_within, masked.split())))
    return {column: 1 + math.log(count) for column, count in counts.items()}


def mask_names(text: str, linker: Linker) -> str:
    """The text with each known name replaced by its type."""
    for link in sorted(linker.links(text), key=lambda found: -len(found.surface)):
        text = text.replace(link.surface, f"_{link.name.type}_")
    return text


@lru_cache(maxsize=8192)  # words come back; without it, hashing them is a third of a decision's time
def _columns_within(word: str) -> tuple[int, ...]:
    """Columns of the character sequences of a word, its two ends among them."""
    return tuple(_column("c" + piece) for piece in _pieces(f" {word} "))


def _pieces(word: str) -> list[str]:
    return [word[i : i + n] for n in CHARACTERS for i in range(len(word) - n + 1)]


def _column(gram: str) -> int:
    return crc32(gram.encode("utf-8", "surrogatepass")) % COLUMNS


def inverse_frequencies(counted: Sequence[dict[int, float]]) -> np.ndarray:
    """Smoothed idf of every column over some texts, shape (COLUMNS,), float32."""
    seen = np.zeros(COLUMNS)
    for counts in counted:
        seen[list(counts)] += 1
    return (np.log((1 + len(counted)) / (1 + seen)) + 1).astype(np.float32)


def weigh(counts: dict[int, float], idf: np.ndarray) -> Grams:
    """Counts as a tf-idf row of unit length."""
    columns = np.fromiter(counts.keys(), dtype=np.int32, count=len(counts))
    values = np.fromiter(counts.values(), dtype=np.float32, count=len(counts)) * idf[columns]
    norm = float(np.sqrt((values**2).sum()))
    return Grams(columns, values / norm if norm else values)


def as_matrix(rows: Sequence[Grams]) -> np.ndarray:
    """Rows as a dense matrix, shape (rows, COLUMNS), float32; for training on some hundred rows."""
    dense = np.zeros((len(rows), COLUMNS), dtype=np.float32)
    for i, row in enumerate(rows):
        dense[i, row.columns] = row.values
    return dense
