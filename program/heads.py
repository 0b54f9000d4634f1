"""Learned heads: label probabilities of a query in microseconds, without a language model.

Each head is a kernel ridge classifier with an RBF kernel over the query's vector and a few
language-neutral surface features, followed by a scaled softmax. The kernel width, the ridge and
the softmax scale are chosen on out-of-fold scores, folds grouped by conversation, so that turns of
one conversation never judge each other (kernel ridge: Saunders, Gammerman and Vovk, 1998;
temperature scaling: Guo et al., 2017). Inference is one small matrix product in numpy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..signatures.types import Turn
from .encoder import Encoder
from .linker import Linker

HEADS = ("is_follow_up", "is_relevant", "rejection_kind", "complexity", "intent", "needs_decomposition")
FOLDS = 5
WIDTHS = (0.5, 1.0, 2.0)
RIDGES = (0.1, 0.3, 1.0, 3.0)
SCALES = tuple(float(s) for s in np.geomspace(0.5, 16.0, 16))
SURFACE_WEIGHT = 0.5


@dataclass(frozen=True)
class Head:
    """One trained head.

    ``support`` (n, d) and ``dual`` (n, labels) are the kernel expansion; ``width`` the RBF gamma;
    ``scale`` multiplies the scores before the softmax. ``labels`` are in column order.
    """

    name: str
    labels: tuple[str, ...]
    support: np.ndarray
    dual: np.ndarray
    width: float
    scale: float

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """Label probabilities, shape (rows, labels), each row summing to one."""
        return _softmax(self.scale * (_kernel(features, self.support, self.width) @ self.dual))


class Features:
    """What the heads see of a query: vectors and surface, with or without its conversation."""

    def __init__(self, encoder: Encoder, linker: Linker) -> None:
        self.encoder = encoder
        self.linker = linker

    def of_query(self, query: str) -> np.ndarray:
        """Features of a query that stands alone, shape (1, d)."""
        vector = self.encoder.encode([query])
        return np.concatenate([vector, SURFACE_WEIGHT * self._surface(query)[None]], axis=1).astype(np.float32)

    def of_turn(self, query: str, turns: Sequence[Turn]) -> np.ndarray:
        """Features of a query after earlier turns, shape (1, d)."""
        texts = [query, *(turn.content for turn in turns[-3:])]
        vectors = self.encoder.encode(texts)
        nearness = vectors[1:] @ vectors[0]
        last = float(nearness[-1]) if len(nearness) else 0.0
        best = float(nearness.max()) if len(nearness) else 0.0
        known = {link.name.name for link in self.linker.links(query)}
        before = {link.name.name for turn in turns for link in self.linker.links(turn.content)}
        extra = np.array([last, best, len(known & before), len(known - before)], dtype=np.float32)
        surface = np.concatenate([self._surface(query), extra])
        return np.concatenate([vectors[:1], SURFACE_WEIGHT * surface[None]], axis=1).astype(np.float32)

    def _surface(self, query: str) -> np.ndarray:
        """Length, punctuation and known names: the same in every language."""
        words = query.split()
        return np.array(
            [
                math.log1p(len(words)) / 2,
                math.log1p(len(query)) / 4,
                min(query.count("?"), 3) / 2,
                min(query.count(",") + query.count("，") + query.count("、"), 4) / 4,
                min(sum(c.isdigit() for c in query), 6) / 6,
                min(len(self.linker.links(query)), 4) / 2,
            ],
            dtype=np.float32,
        )


def fit_head(name: str, features: np.ndarray, labels: Sequence[str], groups: Sequence[str], seed: int = 0) -> Head | None:
    """A head trained on these rows; None where they have fewer than two labels or ten rows.

    Args:
        features: shape (rows, d).
        labels: one a row.
        groups: conversation of each row; rows of one group are never in different folds.
    """
    classes = tuple(sorted(set(labels)))
    if len(classes) < 2 or len(labels) < 10:
        return None
    target = np.array([[1.0 if label == c else 0.0 for c in classes] for label in labels])
    folds = _folds(groups, seed)
    best = min(
        (_out_of_fold(features, target, folds, width, ridge) for width in WIDTHS for ridge in RIDGES),
        key=lambda tried: tried[0],
    )
    _, width, ridge, scale = best
    dual = _solve(_kernel(features, features, width), target, ridge)
    return Head(name, classes, features.astype(np.float16), dual.astype(np.float32), width, scale)


def _out_of_fold(
    features: np.ndarray, target: np.ndarray, folds: np.ndarray, width: float, ridge: float
) -> tuple[float, float, float, float]:
    """(log loss at the best scale, width, ridge, that scale) on rows left out of their own fit."""
    kernel = _kernel(features, features, width)
    scores = np.zeros_like(target)
    for fold in range(FOLDS):
        held, kept = folds == fold, folds != fold
        if held.any() and kept.any():
            dual = _solve(kernel[np.ix_(kept, kept)], target[kept], ridge)
            scores[held] = kernel[np.ix_(held, kept)] @ dual
    losses = [(_log_loss(_softmax(s * scores), target), s) for s in SCALES]
    loss, scale = min(losses)
    return loss, width, ridge, scale


def _solve(kernel: np.ndarray, target: np.ndarray, ridge: float) -> np.ndarray:
    return np.linalg.solve(kernel + ridge * np.eye(len(kernel)), target)


def _kernel(a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    left, right = a.astype(np.float64), b.astype(np.float64)
    squared = (left**2).sum(1)[:, None] + (right**2).sum(1)[None] - 2 * left @ right.T
    return np.exp(-width * np.maximum(squared, 0.0))


def _softmax(scores: np.ndarray) -> np.ndarray:
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def _log_loss(probabilities: np.ndarray, target: np.ndarray) -> float:
    return float(-np.log(np.clip((probabilities * target).sum(1), 1e-9, 1)).mean())


def _folds(groups: Sequence[str], seed: int) -> np.ndarray:
    """Fold of each row; whole groups together."""
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    place = {names[g]: int(i) % FOLDS for i, g in enumerate(order)}
    return np.array([place[g] for g in groups])


@dataclass(frozen=True)
class HeadAnswer:
    """The label a head gives, and every label's probability."""

    label: str
    probabilities: Mapping[str, float]

    @property
    def confidence(self) -> float:
        """Probability of the label given."""
        return self.probabilities[self.label]


class Heads:
    """The heads of a program, asked by name."""

    def __init__(self, heads: Mapping[str, Head], features: Features) -> None:
        self.heads = dict(heads)
        self.features = features

    def of_query(self, query: str) -> dict[str, HeadAnswer]:
        """What every head but follow-up says of a query that stands alone."""
        features = self.features.of_query(query)
        return {name: _answer(head, features) for name, head in self.heads.items() if name != "is_follow_up"}

    def of_turn(self, query: str, turns: Sequence[Turn]) -> HeadAnswer | None:
        """Whether a query after these turns is a follow-up."""
        head = self.heads.get("is_follow_up")
        return _answer(head, self.features.of_turn(query, turns)) if head else None

    def tensors(self) -> dict[str, np.ndarray]:
        """Everything numeric, for safetensors."""
        return {f"{n}.{part}": getattr(h, part) for n, h in self.heads.items() for part in ("support", "dual")}

    def settings(self) -> dict[str, dict[str, Any]]:
        """Everything else, for the manifest."""
        return {n: {"labels": list(h.labels), "width": h.width, "scale": h.scale} for n, h in self.heads.items()}


def load_heads(tensors: Mapping[str, np.ndarray], settings: Mapping[str, Mapping[str, Any]], features: Features) -> Heads:
    """Heads from what ``tensors()`` and ``settings()`` gave."""
    heads = {
        name: Head(
            name=name,
            labels=tuple(s["labels"]),
            support=tensors[f"{name}.support"],
            dual=tensors[f"{name}.dual"],
            width=float(s["width"]),
            scale=float(s["scale"]),
        )
        for name, s in settings.items()
    }
    return Heads(heads, features)


def _answer(head: Head, features: np.ndarray) -> HeadAnswer:
    row = head.probabilities(features)[0]
    return HeadAnswer(head.labels[int(row.argmax())], dict(zip(head.labels, map(float, row), strict=True)))
