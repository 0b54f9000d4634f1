"""Reads and replaces the weights of an ONNX model, without a package for it.

Weights that were quantised are eight-bit whole numbers, with a scale for each column or row: ``NAME_q`` and
``NAME_scale``, of which nodes make ``NAME``. A weight that is replaced is a tensor of floats, and no node makes it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from .onnx_cut import GRAPH, NODE, given_by
from .protobuf import Field, fields, with_bytes, with_number

# Numbers of fields, from the format's public description (onnx.proto, GraphProto and TensorProto).
WEIGHT, SIZES, KIND, NAME, RAW = 5, 1, 2, 8, 9
FLOATS = 1
KINDS = {FLOATS: np.dtype("<f4"), 3: np.dtype("i1")}
WHOLE, SCALE = "_q", "_scale"


def weights_of(model: bytes, names: Collection[str]) -> dict[str, np.ndarray]:
    """Weights by name, float32, those that were quantised multiplied by their scales.

    Raises:
        ValueError: these are no bytes of a model, or it has no such weights.
    """
    wanted = {*names, *(f"{name}{part}" for name in names for part in (WHOLE, SCALE))}
    held = {name: field for field in _graph(model) if field.number == WEIGHT and (name := _name(field)) in wanted}
    found = dict[str, np.ndarray]()
    for name in names:
        if name in held:
            found[name] = _values(held[name])
        elif f"{name}{WHOLE}" in held and f"{name}{SCALE}" in held:
            found[name] = _values(held[f"{name}{WHOLE}"]) * _values(held[f"{name}{SCALE}"])
        else:
            raise ValueError(f"the model has no weights {name!r}")
    return found


def quantised(model: bytes) -> list[str]:
    """The names of the weights that were quantised, in the order of the file.

    Raises:
        ValueError: these are no bytes of a model.
    """
    names = [_name(field) for field in _graph(model) if field.number == WEIGHT]
    return [name.removesuffix(WHOLE) for name in names if name.endswith(WHOLE)]


def with_weights(model: bytes, weights: Mapping[str, np.ndarray]) -> bytes:
    """The model with these weights in place of its own of the same names.

    Args:
        weights: by name; ``weights_of`` says whether the model has them.

    Raises:
        ValueError: these are no bytes of a model.
    """
    parts = []
    for field in fields(memoryview(model)):
        if field.number != GRAPH:
            parts.append(bytes(field.whole))
            continue
        kept = [bytes(one.whole) for one in fields(field.content) if not _gives_one_of(one, weights)]
        parts.append(with_bytes(GRAPH, b"".join([*kept, *(_weight(name, w) for name, w in weights.items())])))
    return b"".join(parts)


def _graph(model: bytes) -> list[Field]:
    return [one for field in fields(memoryview(model)) if field.number == GRAPH for one in fields(field.content)]


def _gives_one_of(field: Field, weights: Mapping[str, np.ndarray]) -> bool:
    if field.number == NODE:
        return any(name in weights for name in given_by(field.content))
    return field.number == WEIGHT and _name(field) in weights


def _name(weight: Field) -> str:
    return next((field.text for field in fields(weight.content) if field.number == NAME), "")


def _values(weight: Field) -> np.ndarray:
    """The numbers of a weight, float32, in its shape."""
    sizes, kind, raw = list[int](), 0, memoryview(b"")
    for field in fields(weight.content):
        if field.number == SIZES:
            sizes.append(field.value)
        elif field.number == KIND:
            kind = field.value
        elif field.number == RAW:
            raw = field.content
    if kind not in KINDS:
        raise ValueError(f"weights of kind {kind}, which are not read")
    return np.frombuffer(raw, KINDS[kind]).reshape(sizes).astype(np.float32)


def _weight(name: str, values: np.ndarray) -> bytes:
    sizes = b"".join(with_number(SIZES, size) for size in values.shape)
    raw = with_bytes(RAW, np.ascontiguousarray(values, dtype="<f4").tobytes())
    return with_bytes(WEIGHT, sizes + with_number(KIND, FLOATS) + with_bytes(NAME, name.encode()) + raw)
