"""Stores heads: tensors for a program's safetensors file and settings for its manifest, and restores heads from both.

Most of the file is weights of n-grams, which are kept as whole numbers of one byte, with one step size for each
label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..decomposing.decomposer import load_decomposer
from ..rewriting.rewriter import load_rewriter
from ..text.greetings import Greetings
from ..text.linker import Linker
from ..text.mending import Mending
from .encoder import Encoder
from .features import AS_TYPED, Features
from .heads import NO_GREETINGS, Head, Heads, against_first, sees
from .joint import Joint
from .ngrams import Vocabulary
from .panel import shared_rows

IDF = "ngrams.idf"
COMMON = "ngrams.common"
VOCABULARY = "ngrams.vocabulary"
NESTED = "vector.nested"
BARE = "text.bare"
WORDS = "text.words"
# Support vectors are shared by heads that see the same: a query alone, a turn, a query with cues.
SHARED = {"query": "support.query", "turn": "support.turn", "source": "support.source"}
LARGEST = 127


def compact(head: Head) -> Head:
    """The head with the types in which it is stored, so that it answers exactly as after loading.

    Most weights are a tenth of the largest, so their roots are evenly spaced. Of 3,055 answers on the podcast's ``dev``
    and ``calibrate`` two change against weights of two bytes, and no probability by more than 0.013.
    """
    weights = head.weights()
    largest = np.abs(weights).max(axis=0, initial=0.0)
    steps = np.where(largest > 0, largest / LARGEST**2, 1.0).astype(np.float32)
    roots = np.rint(np.sign(weights) * np.sqrt(np.abs(weights) / steps)).astype(np.int8)
    return replace(head, dual=head.dual.astype(np.float16), linear=roots, steps=steps)


def tensors_of(heads: Heads) -> dict[str, np.ndarray]:
    """Everything numeric, for safetensors; support vectors that heads share are stored once."""
    features = heads.features
    held: dict[str, np.ndarray] = {IDF: features.idf.astype(np.float16)}
    if features.common is not None:
        held[COMMON] = np.array(sorted(features.common), dtype=np.uint32)
    if features.vocabulary is not None:
        held[VOCABULARY] = features.vocabulary.packed()
    if features.reads:
        held[BARE] = np.array([features.reads], dtype=np.uint8)
    if features.mending is not None:
        held[WORDS] = features.mending.packed()
    if features.nested is not None:
        held[NESTED] = np.array([features.nested], dtype=np.uint32)
    if heads.rewriter is not None:
        held |= heads.rewriter.tensors()
    if heads.decomposer is not None:
        held |= heads.decomposer.tensors()
    # Where no n-gram speaks to a head, it has as many noughts as others have weights: they are not kept.
    with_grams = {sees(name) for name, head in heads.every().items() if head.linear.any()}
    for name, head in heads.every().items():
        nought = not head.linear.any() and sees(name) in with_grams
        held |= {f"{name}.dual": head.dual, f"{name}.linear": head.linear[:0] if nought else head.linear}
        if head.steps is not None:
            held[f"{name}.steps"] = head.steps
    for shown, shared in SHARED.items():
        alike = {name: head for name, head in heads.every().items() if sees(name) == shown}
        if alike:
            held[shared], rows = shared_rows([head.support for head in alike.values()])
            kind = np.uint16 if len(held[shared]) <= np.iinfo(np.uint16).max else np.uint32
            held |= {f"{name}.rows": row.astype(kind) for name, row in zip(alike, rows, strict=True)}
    return held


def settings_of(heads: Heads) -> dict[str, dict[str, Any]]:
    """Everything else, for the manifest."""
    return {name: _settings(head) for name, head in heads.every().items()}


def _settings(head: Head) -> dict[str, Any]:
    bias = {"bias": list(head.bias)} if head.bias else {}
    levels = {"together_below": head.below, "below": head.each_below}
    below = {name: value for name, value in levels.items() if value is not None}
    return {"labels": list(head.labels), "width": head.width, "scale": head.scale, **bias, **below}


def load_features(tensors: Mapping[str, np.ndarray], encoder: Encoder, linker: Linker) -> Features:
    """Features from what ``tensors_of`` gave."""
    common = frozenset(tensors[COMMON].tolist()) if COMMON in tensors else None
    nested = int(tensors[NESTED][0]) if NESTED in tensors else None
    vocabulary = Vocabulary.unpacked(tensors[VOCABULARY]) if VOCABULARY in tensors else None
    reads = int(tensors[BARE][0]) if BARE in tensors else AS_TYPED
    mending = Mending.unpacked(tensors[WORDS], encoder.knows_whole) if WORDS in tensors else None
    return Features(encoder, linker, tensors[IDF], common, nested, vocabulary, reads, mending)


def load_heads(
    tensors: Mapping[str, np.ndarray],
    settings: Mapping[str, Mapping[str, Any]],
    features: Features,
    joint: Joint | None = None,
    greetings: Greetings = NO_GREETINGS,
) -> Heads:
    """Heads from what ``tensors_of`` and ``settings_of`` gave; ``features`` must be those of ``load_features``."""
    heads = {
        name: Head(
            name=name,
            labels=tuple(s["labels"]),
            support=_support(tensors, name),
            dual=_by_label(tensors[f"{name}.dual"], s["labels"]),
            linear=_linear(tensors, name, s["labels"]),
            width=float(s["width"]),
            scale=float(s["scale"]),
            bias=tuple(s.get("bias", ())),
            below=s.get("together_below"),
            each_below=s.get("below"),
            steps=tensors.get(f"{name}.steps"),  # programs of before have weights of two bytes
        )
        for name, s in settings.items()
    }
    return Heads(heads, features, joint, greetings, load_rewriter(tensors), load_decomposer(tensors, features.encoder))


def _support(tensors: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """A head's support vectors: rows of the shared ones, or its own in older programs."""
    if (own := tensors.get(f"{name}.support")) is not None:
        return own
    shared, rows = tensors[SHARED[sees(name)]], tensors[f"{name}.rows"]
    return shared if np.array_equal(rows, np.arange(len(shared))) else shared[rows]


def _linear(tensors: Mapping[str, np.ndarray], name: str, labels: Sequence[str]) -> np.ndarray:
    """A head's weights of n-grams; zeros if none were stored, in the shape of other heads with the same features."""
    found = _by_label(tensors[f"{name}.linear"], labels)
    if len(found):
        return found
    others = (key.removesuffix(".linear") for key in tensors if key.endswith(".linear"))
    columns = max(len(tensors[f"{other}.linear"]) for other in others if sees(other) == sees(name))
    return np.zeros((columns, found.shape[1]), dtype=found.dtype)


def _by_label(given: np.ndarray, labels: Sequence[str]) -> np.ndarray:
    """Coefficients as a head holds them; older programs had a column for the first label, too."""
    return against_first(given) if given.shape[1] == len(labels) else given
