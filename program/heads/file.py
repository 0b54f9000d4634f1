"""Stores heads: tensors for a program's safetensors file and settings for its manifest, and restores heads from both.

Most of the file is weights of n-grams and the vectors of support rows. Both are stored as integers of one byte that are
multiplied by a step size: the weights have one step for each label, the vectors share one. Weights of n-grams that no
training row has are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..decomposing.decomposer import load_decomposer
from ..rewriting.rewriter import load_rewriter
from ..text.greetings import NO_GREETINGS, Greetings
from ..text.linker import Linker
from ..text.mending import Mending
from .closer_features import CloserFeatures
from .encoder import Encoder
from .features import AS_TYPED, Features
from .heads import Head, Heads, against_first, sees
from .joint import Joint
from .looks import MEANING, WORDS, is_seen_closer, seen_closer
from .narrowed import Axes, Narrowed
from .ngrams import Vocabulary
from .panel import shared_rows

IDF = "ngrams.idf"
COMMON = "ngrams.common"
VOCABULARY = "ngrams.vocabulary"
NESTED = "vector.nested"
BARE = "text.bare"
MENDED = "text.words"
# Heads with the same input (a query alone, a turn, or a query with cues) share their support vectors.
SHARED = {"query": "support.query", "turn": "support.turn", "source": "support.source"}
VECTORS, REST, STEP = "vectors", "rest", "step"
USED = "used"
CLOSER = "closer."
CENTRE, DIRECTIONS = "axes.centre", "axes.directions"
LARGEST = 127


def compact(heads: Mapping[str, Head], vector: int) -> dict[str, Head]:
    """Heads rounded to the types in which they are stored, so that they answer exactly as after loading.

    Args:
        heads: by name.
        vector: number of leading columns of their support rows that are vectors; the rest is surface features.
    """
    largest = max((float(np.abs(head.support[:, :vector]).max(initial=0.0)) for head in heads.values()), default=0.0)
    return {name: _compact(head, vector, vector_step(largest)) for name, head in heads.items()}


def vector_step(largest: float) -> float:
    """The step size for vectors whose largest magnitude is ``largest``; 0 for vectors of zeros.

    It is the smallest power of two of which ``largest`` is at most 127 times. With a power of two the rounded numbers
    are exact in half precision, too, and rounding them again changes nothing.
    """
    return 2.0 ** math.ceil(math.log2(largest / LARGEST)) if largest > 0 else 0.0


def _compact(head: Head, vector: int, step: float) -> Head:
    """One head with its vectors rounded to multiples of ``step``, and its weights as the integers nearest their roots.

    Most weights are about a tenth of the largest, so signed square roots use the 255 integers more evenly. Of 3,055
    answers on the podcast's ``dev`` and ``calibrate`` two differ from those with weights of two bytes, and no
    probability by more than 0.013.
    """
    support = head.support.astype(np.float32)
    if step:
        support[:, :vector] = np.rint(support[:, :vector] / step) * step
    weights = head.weights()
    largest = np.abs(weights).max(axis=0, initial=0.0)
    steps = np.where(largest > 0, largest / LARGEST**2, 1.0).astype(np.float32)
    roots = np.rint(np.sign(weights) * np.sqrt(np.abs(weights) / steps)).astype(np.int8)
    kept = support.astype(np.float16)
    return replace(head, support=kept, dual=head.dual.astype(np.float16), linear=roots, steps=steps)


def tensors_of(heads: Heads) -> dict[str, np.ndarray]:
    """Everything numeric of the heads by name, for safetensors; support vectors that heads share are stored once."""
    features = heads.features
    held: dict[str, np.ndarray] = {IDF: features.idf.astype(np.float16)}
    if features.common is not None:
        held[COMMON] = np.array(sorted(features.common), dtype=np.uint32)
    if features.vocabulary is not None:
        held[VOCABULARY] = features.vocabulary.packed()
    if features.reads:
        held[BARE] = np.array([features.reads], dtype=np.uint8)
    if features.mending is not None:
        held[MENDED] = features.mending.packed()
    if features.nested is not None:
        held[NESTED] = np.array([features.nested], dtype=np.uint32)
    if heads.rewriter is not None:
        held |= heads.rewriter.tensors()
    if heads.decomposer is not None:
        held |= heads.decomposer.tensors()
    held |= _head_tensors(heads.every(), features)
    if heads.closer is not None:
        held |= {f"{CLOSER}{name}": tensor for name, tensor in _closer_tensors(heads, heads.closer).items()}
    return held


def _closer_tensors(heads: Heads, closer: Heads) -> dict[str, np.ndarray]:
    """The tensors of heads that look closer, with the axes of their vectors."""
    encoder = closer.features.encoder
    axes = {CENTRE: encoder.axes.centre, DIRECTIONS: encoder.axes.directions} if isinstance(encoder, Narrowed) else {}
    return {**_head_tensors(_stored_closer(heads), closer.features), **axes}


def _stored_closer(heads: Heads) -> dict[str, Head]:
    """The heads that look closer, without a look at words that is the first heads'."""
    closer = heads.closer.every() if heads.closer is not None else {}
    again = is_seen_closer(closer.get(WORDS), heads.looks.get(WORDS))
    return {name: head for name, head in closer.items() if not (again and name == WORDS)}


def _head_tensors(heads: Mapping[str, Head], features: Features) -> dict[str, np.ndarray]:
    """The tensors of the heads themselves."""
    held: dict[str, np.ndarray] = {}
    # A head without any weight of an n-gram has a zero wherever others have weights: these zeros are not stored.
    with_grams = {sees(name) for name, head in heads.items() if head.linear.any()}
    for name, head in heads.items():
        nought = not head.linear.any() and sees(name) in with_grams
        held |= {f"{name}.dual": head.dual, **_linear_tensors(name, head.linear[:0] if nought else head.linear)}
        if head.steps is not None:
            held[f"{name}.steps"] = head.steps
    for shown, shared in SHARED.items():
        alike = {name: head for name, head in heads.items() if sees(name) == shown}
        if alike:
            support, rows = shared_rows([head.support for head in alike.values()])
            kind = np.uint16 if len(support) <= np.iinfo(np.uint16).max else np.uint32
            held |= _support_tensors(shared, support, features.vector_length)
            held |= {f"{name}.rows": row.astype(kind) for name, row in zip(alike, rows, strict=True)}
    return held


def _linear_tensors(name: str, linear: np.ndarray) -> dict[str, np.ndarray]:
    """Weights of n-grams, without those that are zero for every label where leaving them out makes the file smaller.

    A second tensor then has the number of all n-grams in four bytes, and one bit for each: whether it was kept.
    """
    used = np.asarray(linear.any(axis=1))
    bits = np.concatenate([np.frombuffer(np.uint32(len(used)).tobytes(), np.uint8), np.packbits(used)])
    if bits.nbytes + linear[used].nbytes >= linear.nbytes:
        return {f"{name}.linear": linear}
    return {f"{name}.linear": linear[used], f"{name}.{USED}": bits}


def _support_tensors(shared: str, support: np.ndarray, vector: int) -> dict[str, np.ndarray]:
    """Support rows, with their vectors in one byte if they were rounded so; those of older programs were not."""
    vectors = support[:, :vector].astype(np.float32)
    step = vector_step(float(np.abs(vectors).max(initial=0.0)))
    whole = np.rint(vectors / step) if step else vectors
    if not step or not np.array_equal(whole * step, vectors):
        return {shared: support}
    rest = {f"{shared}.{STEP}": np.array([step], np.float32), f"{shared}.{REST}": support[:, vector:]}
    return {f"{shared}.{VECTORS}": whole.astype(np.int8), **rest}


def settings_of(heads: Heads) -> dict[str, dict[str, Any]]:
    """The settings of each head (everything that is no tensor), for the manifest."""
    every = {**heads.every(), **{f"{CLOSER}{name}": head for name, head in _stored_closer(heads).items()}}
    return {name: _settings(head) for name, head in every.items()}


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
    mending = Mending.unpacked(tensors[MENDED], encoder.knows_whole) if MENDED in tensors else None
    return Features(encoder, linker, tensors[IDF], common, nested, vocabulary, reads, mending)


def load_heads(
    tensors: Mapping[str, np.ndarray],
    settings: Mapping[str, Mapping[str, Any]],
    features: Features,
    joint: Joint | None = None,
    greetings: Greetings = NO_GREETINGS,
    closer: Encoder | None = None,
) -> Heads:
    """Heads from what ``tensors_of`` and ``settings_of`` gave; ``features`` must be those of ``load_features``.

    Args:
        closer: the encoder of the heads that look closer, if there are such heads.
    """
    near = {name: s for name, s in settings.items() if not name.startswith(CLOSER)}
    written = load_rewriter(tensors), load_decomposer(tensors, features.encoder)
    if closer is None:
        return Heads(_loaded(tensors, near), features, joint, greetings, *written)
    stored = {name.removeprefix(CLOSER): one for name, one in tensors.items() if name.startswith(CLOSER)}
    tensors = {name: one for name, one in tensors.items() if not name.startswith(CLOSER)}
    further = {name.removeprefix(CLOSER): s for name, s in settings.items() if name.startswith(CLOSER)}
    if CENTRE in stored:
        seen = CloserFeatures(features, Narrowed(closer, Axes(stored[CENTRE], stored[DIRECTIONS])))
    else:  # an older program, whose heads have support vectors with all of MiniLM's numbers
        seen = CloserFeatures(features, closer, written_out=None)
    first, second = _loaded(tensors, near), _loaded(stored, further)
    if MEANING in second and WORDS not in second:
        second[WORDS] = seen_closer(first[WORDS], second[MEANING])
    return Heads(first, features, joint, greetings, *written, Heads(second, seen))


def looks_closer(settings: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether there are heads that look closer among those with these settings."""
    return any(name.startswith(CLOSER) for name in settings)


def _loaded(tensors: Mapping[str, np.ndarray], settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Head]:
    supports = _supports(tensors)
    found = {
        name: Head(
            name=name,
            labels=tuple(s["labels"]),
            support=_support(tensors, name, supports),
            dual=_by_label(tensors[f"{name}.dual"], s["labels"]),
            linear=_linear(tensors, name, s["labels"]),
            width=float(s["width"]),
            scale=float(s["scale"]),
            bias=tuple(s.get("bias", ())),
            below=s.get("together_below"),
            each_below=s.get("below"),
            steps=tensors.get(f"{name}.steps"),  # missing in older programs, whose weights have two bytes
        )
        for name, s in settings.items()
    }
    _check(found)
    return found


def _check(heads: Mapping[str, Head]) -> None:
    """Check that the heads can be asked: they are laid out only when they are (``Heads``).

    Raises:
        ValueError: arrays do not fit each other.
    """
    widths: dict[str, set[tuple[int, int]]] = {}
    for name, head in heads.items():
        scored = len(head.labels) - 1
        fits = head.dual.shape == (len(head.support), scored) and head.linear.shape[1:] == (scored,)
        if not fits or scored < 1 or (head.steps is not None and head.steps.shape != (scored,)):
            raise ValueError(f"the weights of {name!r} are not those of its labels")
        widths.setdefault(sees(name), set()).add((head.support.shape[1], len(head.linear)))
    if any(len(of_input) > 1 for of_input in widths.values()):
        raise ValueError("heads with the same input see features of different lengths")


def _supports(tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The support rows by what heads see (``sees``), put together again from stored vectors and surface features."""
    found = {}
    for shown, shared in SHARED.items():
        if shared in tensors:
            found[shown] = tensors[shared]
        elif f"{shared}.{VECTORS}" in tensors:
            vectors = tensors[f"{shared}.{VECTORS}"].astype(np.float32) * tensors[f"{shared}.{STEP}"]
            found[shown] = np.concatenate([vectors.astype(np.float16), tensors[f"{shared}.{REST}"]], axis=1)
    return found


def _support(tensors: Mapping[str, np.ndarray], name: str, supports: Mapping[str, np.ndarray]) -> np.ndarray:
    """A head's support rows: some of those that are shared, or its own in older programs."""
    if (own := tensors.get(f"{name}.support")) is not None:
        return own
    shared, rows = supports[sees(name)], tensors[f"{name}.rows"]
    return shared if np.array_equal(rows, np.arange(len(shared))) else shared[rows]


def _linear(tensors: Mapping[str, np.ndarray], name: str, labels: Sequence[str]) -> np.ndarray:
    """A head's weights of n-grams, shape (columns, labels - 1); zeros if none were stored.

    The number of columns is then that of the other heads with the same features.
    """
    found = _by_label(_all_columns(tensors, name), labels)
    if len(found):
        return found
    others = (key.removesuffix(".linear") for key in tensors if key.endswith(".linear"))
    columns = max(_columns(tensors, other) for other in others if sees(other) == sees(name))
    return np.zeros((columns, found.shape[1]), dtype=found.dtype)


def _all_columns(tensors: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """The weights that were stored, with zeros for the n-grams that were left out."""
    kept = tensors[f"{name}.linear"]
    if (bits := tensors.get(f"{name}.{USED}")) is None:
        return kept
    filled = np.zeros((_columns(tensors, name), kept.shape[1]), dtype=kept.dtype)
    filled[np.unpackbits(bits[4:], count=len(filled)).astype(bool)] = kept
    return filled


def _columns(tensors: Mapping[str, np.ndarray], name: str) -> int:
    """The number of n-grams that a head has weights of, including those that were left out of the file."""
    bits = tensors.get(f"{name}.{USED}")
    return len(tensors[f"{name}.linear"]) if bits is None else int(np.frombuffer(bits[:4].tobytes(), np.uint32)[0])


def _by_label(given: np.ndarray, labels: Sequence[str]) -> np.ndarray:
    """Coefficients as a head holds them; older programs had a column for the first label, too."""
    return against_first(given) if given.shape[1] == len(labels) else given
