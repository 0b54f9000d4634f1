"""Cuts an ONNX model off behind one of its tensors, so that what comes after it is neither kept nor computed.

An ONNX file is a protobuf message: fields, each a key (number and kind) and a value. Only the list of outputs has to
change, so its other fields are copied as they are, and no ONNX package is needed. The runtime then drops every node on
which the remaining output does not depend.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

# Numbers of fields, from the format's public description (onnx.proto, ModelProto and what it holds).
GRAPH, NODE, OUTPUT, GIVES = 7, 1, 12, 2
NAME, TYPE, TENSOR, KIND, FLOAT = 1, 2, 1, 1, 1
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
WIDTHS = {FIXED64: 8, FIXED32: 4}


class Field(NamedTuple):
    """One field of a message: its number, its content (empty for a number) and all of its bytes."""

    number: int
    content: memoryview
    whole: memoryview


def cut_off(model: bytes, tensor: str) -> bytes:
    """The model with a tensor of floats as its only output.

    Raises:
        ValueError: these are no bytes of a model, or no node of it gives that tensor.
    """
    found, parts = False, []
    for field in _fields(memoryview(model)):
        if field.number != GRAPH:
            parts.append(field.whole)
            continue
        inside = [*_fields(field.content)]
        found = found or any(_gives(node.content, tensor) for node in inside if node.number == NODE)
        kept = [one.whole for one in inside if one.number != OUTPUT]
        parts.append(_message(GRAPH, b"".join([*kept, _output(tensor)])))
    if not found:
        raise ValueError(f"no node of the model gives {tensor!r}")
    return b"".join(parts)


def _gives(node: memoryview, tensor: str) -> bool:
    return any(field.number == GIVES and bytes(field.content) == tensor.encode() for field in _fields(node))


def _output(tensor: str) -> bytes:
    """The declaration of an output: its name, and that it has floats."""
    floats = _varint(KIND << 3 | VARINT) + _varint(FLOAT)
    return _message(OUTPUT, _message(NAME, tensor.encode()) + _message(TYPE, _message(TENSOR, floats)))


def _fields(message: memoryview) -> Iterator[Field]:
    place = 0
    while place < len(message):
        start = place
        key, place = _number(message, place)
        kind = key & 7
        if kind == VARINT:
            content, place = message[:0], _number(message, place)[1]
        elif kind == BYTES:
            length, place = _number(message, place)
            content = message[place : place + length]
            place += length
        elif kind in WIDTHS:
            content = message[place : place + WIDTHS[kind]]
            place += WIDTHS[kind]
        else:
            raise ValueError(f"a field of kind {kind}, which no model has")
        if place > len(message):
            raise ValueError("the model ends in the middle of a field")
        yield Field(key >> 3, content, message[start:place])


def _number(message: memoryview, place: int) -> tuple[int, int]:
    """The number that is written at a place, seven bits a byte, and the place behind it."""
    value = shift = 0
    while place < len(message):
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    raise ValueError("the model ends in the middle of a number")


def _message(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
