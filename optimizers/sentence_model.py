"""The first layers of MiniLM as a PyTorch module whose weights can be adapted; needs the extra ``adapt``.

The architecture is BERT's (Devlin et al., "BERT", 2019). Weights are read from the file that
``program/heads/minilm.py`` runs. For each matrix a change of low rank is learned, for each bias and scale one of its
own (``program/heads/adapter.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch  # type: ignore[import-not-found]
from torch import Tensor, nn  # type: ignore[import-not-found]
from torch.nn import functional  # type: ignore[import-not-found]

from ..program.heads.adapter import DOWN, PLUS, UP
from ..program.heads.onnx_weights import quantised, weights_of

WIDTH, ATTENTIONS, LAYERS = 384, 12, 4
EPSILON = 1e-12
DROPPED = 0.1
"""The share of a layer's numbers that is left out at random while changes are learned."""
FACTOR = 2.0
"""Factor of the changes of low rank while they are learned; afterwards it is part of ``NAME.up``."""
LENGTH = 6.0
"""Length of the vectors that the tasks see; with one, their weights would have to be large."""
MATRICES = ("query", "key", "value", "output", "wide", "narrow")
"""The matrices of a layer, in the order in which the file numbers them."""
BIASES = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
BIASES += ("intermediate.dense", "output.dense")
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")
EMBEDDINGS = "inner.embeddings"


class Sentences(nn.Module):
    """Vectors of texts, shape (texts, 384), of length ``LENGTH``, with changes that are learned.

    Args:
        model: an ONNX file of MiniLM.
        rank: the rank of the changes of matrices.
    """

    def __init__(self, model: bytes, rank: int) -> None:
        super().__init__()
        words, places, *matrices = quantised(model)
        self._matrices = [matrices[i * len(MATRICES) : (i + 1) * len(MATRICES)] for i in range(LAYERS)]
        self._names = [name for layer in self._matrices for name in layer]
        changed = [f"{EMBEDDINGS}.LayerNorm.{part}" for part in ("weight", "bias")]
        for layer in range(LAYERS):
            changed += [f"{_layer(layer)}.{stem}.bias" for stem in BIASES]
            changed += [f"{_layer(layer)}.{stem}.{part}" for stem in NORMS for part in ("weight", "bias")]
        types = f"{EMBEDDINGS}.token_type_embeddings.weight"
        known = weights_of(model, [words, places, types, *self._names, *changed])
        self._words, self._places, self._types = words, places, types
        self._fixed = {name: torch.from_numpy(values) for name, values in known.items()}
        self.down, self.up, self.plus = nn.ParameterDict(), nn.ParameterDict(), nn.ParameterDict()
        for name in self._names:
            inputs, outputs = self._fixed[name].shape
            self.down[_key(name)] = nn.Parameter(torch.randn(inputs, rank) / math.sqrt(inputs))
            self.up[_key(name)] = nn.Parameter(torch.zeros(rank, outputs))
        for name in changed:
            self.plus[_key(name)] = nn.Parameter(torch.zeros_like(self._fixed[name]))
        self._changed = changed

    def forward(self, tokens: Tensor, there: Tensor) -> Tensor:
        """The vectors of texts.

        Args:
            tokens: numbers of the texts' tokens, shape (texts, length).
            there: 1 for a token and 0 behind the last one, same shape.
        """
        seen = self._fixed[self._words][tokens] + self._fixed[self._places][: tokens.shape[1]]
        seen = self._dropped(self._normal(seen + self._fixed[self._types][0], f"{EMBEDDINGS}.LayerNorm"))
        mask = there[:, None, None, :] > 0
        for number, matrices in enumerate(self._matrices):
            seen = self._through(seen, mask, number, matrices)
        return functional.normalize((seen * there[:, :, None]).sum(1), dim=1) * LENGTH

    def changes(self) -> dict[str, np.ndarray]:
        """The learned changes, as an adapter's tensors in half precision."""
        found = dict[str, Tensor]()
        for name in self._names:
            found |= {name + DOWN: self.down[_key(name)], name + UP: self.up[_key(name)] * FACTOR}
        found |= {name + PLUS: self.plus[_key(name)] for name in self._changed}
        return {name: values.detach().numpy().astype(np.float16) for name, values in found.items()}

    def _through(self, seen: Tensor, mask: Tensor, number: int, matrices: Sequence[str]) -> Tensor:
        """What a layer makes of each token, shape (texts, length, 384)."""
        biases = [f"{_layer(number)}.{stem}.bias" for stem in BIASES]
        (query, key, value, output, wide, narrow), norms = zip(matrices, biases, strict=True), NORMS
        many = (*seen.shape[:2], ATTENTIONS, WIDTH // ATTENTIONS)
        parts = [self._linear(seen, *of).view(many).transpose(1, 2) for of in (query, key, value)]
        read = functional.scaled_dot_product_attention(*parts, attn_mask=mask).transpose(1, 2).reshape(seen.shape)
        read = self._dropped(self._linear(read, *output))
        seen = self._normal(seen + read, f"{_layer(number)}.{norms[0]}")
        inner = functional.gelu(self._linear(seen, *wide))
        return self._normal(seen + self._dropped(self._linear(inner, *narrow)), f"{_layer(number)}.{norms[1]}")

    def _linear(self, seen: Tensor, matrix: str, bias: str) -> Tensor:
        change = (seen @ self.down[_key(matrix)]) @ self.up[_key(matrix)]
        return seen @ self._fixed[matrix] + self._now(bias) + FACTOR * change

    def _normal(self, seen: Tensor, stem: str) -> Tensor:
        return functional.layer_norm(seen, (WIDTH,), self._now(f"{stem}.weight"), self._now(f"{stem}.bias"), EPSILON)

    def _now(self, name: str) -> Tensor:
        return self._fixed[name] + self.plus[_key(name)]

    def _dropped(self, seen: Tensor) -> Tensor:
        return functional.dropout(seen, DROPPED, self.training)


def _layer(number: int) -> str:
    return f"inner.encoder.layer.{number}"


def _key(name: str) -> str:
    """A name without points, which parameters' names may not have."""
    return name.replace(".", "/")
