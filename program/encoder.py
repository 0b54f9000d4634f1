"""Texts as vectors, from static embeddings whose weights ship in the ``wordllama`` wheel.

A text's vector is the mean of its tokens' rows, scaled to length one: 0.03 ms a query. The
weights are read directly, because ``wordllama``'s own loader looks for its tokenizer on the
network even when told not to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np

DIMENSIONS = 256
MAX_TOKENS = 512


class Encoder(Protocol):
    """Anything that turns texts into rows of unit length."""

    name: str

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors, shape (texts, dimensions), float32; an unreadable text is a row of zeros."""
        ...


class StaticEncoder:
    """WordLlama's 256-dimensional vectors (MIT), averaged over tokens."""

    name = "wordllama-l2-256"

    def __init__(self) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        home = _wordllama_home()
        self._weights_file = home / "weights" / "l2_supercat_256.safetensors"
        tensors = load_file(self._weights_file)
        self._table = np.asarray(next(iter(tensors.values())), dtype=np.float32)
        self._tokenizer = Tokenizer.from_file(str(home / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def fingerprint(self) -> str:
        """Hash of the weights, 16 hex digits."""
        return hashlib.sha256(self._weights_file.read_bytes()).hexdigest()[:16]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors, shape (texts, 256), float32, each of length one or zero."""
        out = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        for i, encoding in enumerate(self._tokenizer.encode_batch(list(texts), add_special_tokens=False)):
            if encoding.ids:
                out[i] = self._table[encoding.ids].mean(axis=0)
        norms = np.linalg.norm(out, axis=1, keepdims=True)
        return out / np.where(norms == 0, 1.0, norms)


def _wordllama_home() -> Path:
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("the package 'wordllama' is not installed; run: pip install queryplan")
    return Path(spec.origin).parent


@lru_cache(maxsize=1)
def default_encoder() -> StaticEncoder:
    """The encoder of this process, loaded once."""
    return StaticEncoder()
