"""Texts as vectors, from static embeddings whose weights ship in the ``wordllama`` wheel.

A text's vector is the mean of its tokens' rows, scaled to length one: 0.03 ms a query. The
weights are read directly, because ``wordllama``'s own loader looks for its tokenizer on the
network even when told not to.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np

from ...data.fingerprints import bytes_fingerprint

DIMENSIONS = 256
MAX_TOKENS = 512
BATCH = 32
WORDS = 8192
LONG = 1000
"""Length from which a text is tokenised in one go, which is quicker if all of its words are new."""
BYTE = re.compile(r"<0x[0-9A-F]{2}>")


class Encoder(Protocol):
    """Anything that turns texts into rows of unit length."""

    name: str

    @property
    def nested(self) -> int | None:
        """Number of leading dimensions that are used as a vector by themselves; None for all of them."""
        ...

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors, shape (texts, dimensions), float32; an unreadable text is a row of zeros."""
        ...

    def knows_whole(self, word: str) -> bool:
        """Whether a word is one token, as common words are; names and rare words are spelled in several."""
        ...

    def fingerprint(self) -> str:
        """Hash of the weights, 16 hex digits."""
        ...


class StaticEncoder:
    """WordLlama's 256-dimensional vectors (MIT), averaged over tokens.

    They were trained so that their first 64 or 128 dimensions are usable vectors by themselves (Kusupati et al.,
    "Matryoshka Representation Learning", 2022).
    """

    name = "wordllama-l2-256"
    nested = 128

    def __init__(self) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        home = _wordllama_home()
        self._fingerprint: str | None = None
        self._weights_file = home / "weights" / "l2_supercat_256.safetensors"
        tensors = load_file(self._weights_file)
        self._table = np.asarray(next(iter(tensors.values())), dtype=np.float32)
        self._tokenizer = Tokenizer.from_file(str(home / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        # The tokenizer spells a script that it does not know byte by byte, and single bytes mean nothing.
        # The same words occur again and again, and tokenising them took half of a vector's time.
        self._ids_of_word = lru_cache(maxsize=WORDS)(self._spelled)
        means = np.ones(max(len(self._table), self._tokenizer.get_vocab_size()), dtype=bool)
        empty = ("▁", "<unk>")
        means[[i for t, i in self._tokenizer.get_vocab().items() if t in empty or BYTE.fullmatch(t)]] = False
        self._means = means.tobytes()

    def fingerprint(self) -> str:
        """Hash of the weights, 16 hex digits."""
        if self._fingerprint is None:  # 33 MB: read and hashed once a process, not once a program
            self._fingerprint = bytes_fingerprint(self._weights_file.read_bytes())
        return self._fingerprint

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors, shape (texts, 256), float32, each of length one or zero."""
        out = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        for row, ids in zip(out, self._ids(texts), strict=True):
            self._fill(row, ids)
        return out

    def knows_whole(self, word: str) -> bool:
        """Whether a word is one token, as common words are; names and rare words are spelled in several."""
        return len(self._ids_of_word(word)) == 1

    def _fill(self, row: np.ndarray, ids: list[int]) -> None:
        """Write the unit vector of the sum of the tokens' rows into ``row``; zeros stay if no token has a meaning."""
        if not any(map(self._means.__getitem__, ids)):  # quick: the first token nearly always has a meaning
            return
        np.add.reduce(self._table.take(ids, axis=0), axis=0, out=row)
        row /= math.sqrt(float(row @ row)) or 1.0

    def _ids(self, texts: Sequence[str]) -> Iterable[list[int]]:
        """The tokens of each text. A batch uses several threads, which pays from some dozen texts on."""
        if len(texts) < BATCH:
            return map(self._ids_of, texts)
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return (encoding.ids for encoding in encodings)

    def _ids_of(self, text: str) -> list[int]:
        """The token ids of a text, from cached words where that gives the same: no token crosses a single space."""
        words = text.split(" ")
        if len(text) > LONG or "" in words or "<" in text or "▁" in text:
            return self._spelled(text)
        return [token for word in words for token in self._ids_of_word(word)][:MAX_TOKENS]

    def _spelled(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids


def _wordllama_home() -> Path:
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("the package 'wordllama' is not installed; run: pip install queryplan")
    return Path(spec.origin).parent


@lru_cache(maxsize=1)
def default_encoder() -> StaticEncoder:
    """The encoder of this process, loaded once."""
    return StaticEncoder()
