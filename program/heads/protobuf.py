"""Reads and writes the fields of protobuf messages, as ONNX files are made of them, without a package for it.

A message is a sequence of fields, each a key (a number and a kind) and a value. Only what editing an ONNX file needs is
here (``onnx_cut.py``, ``onnx_weights.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
WIDTHS = {FIXED64: 8, FIXED32: 4}
LONGEST = 10
"""The most bytes of a number."""


class Field(NamedTuple):
    """One field of a message: its number, its content (empty for a number) and all of its bytes."""

    number: int
    content: memoryview
    whole: memoryview

    @property
    def value(self) -> int:
        """The value of a field that is a number.

        Raises:
            ValueError: it is none.
        """
        key, place = number_at(self.whole, 0)
        if key & 7 != VARINT:
            raise ValueError(f"field {self.number} is no number")
        return number_at(self.whole, place)[0]

    @property
    def text(self) -> str:
        """The value of a field that is a text."""
        return bytes(self.content).decode()


def fields(message: memoryview) -> Iterator[Field]:
    """The fields of a message, in its order.

    Raises:
        ValueError: these are no bytes of a message.
    """
    place = 0
    while place < len(message):
        start = place
        key, place = number_at(message, place)
        kind = key & 7
        if kind == VARINT:
            content, place = message[:0], number_at(message, place)[1]
        elif kind == BYTES:
            length, place = number_at(message, place)
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


def number_at(message: memoryview, place: int) -> tuple[int, int]:
    """The number that is written at a place, seven bits a byte, and the place behind it.

    Raises:
        ValueError: there is none.
    """
    value = shift = 0
    for byte in message[place : place + LONGEST]:
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    raise ValueError("the model ends in the middle of a number")


def with_bytes(number: int, content: bytes) -> bytes:
    """A field of that number that holds bytes: a text, a message, raw data."""
    return varint(number << 3 | BYTES) + varint(len(content)) + content


def with_number(number: int, value: int) -> bytes:
    """A field of that number that holds a number."""
    return varint(number << 3 | VARINT) + varint(value)


def varint(value: int) -> bytes:
    """A number as it is written, seven bits a byte."""
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
