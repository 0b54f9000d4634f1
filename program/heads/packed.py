"""Packs tables of words and other bytes into a program's file: compressed, as a tensor of bytes."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np

MOST_BYTES = 1 << 24
"""The most bytes of an unpacked table. A program's has a hundredth of that; a larger one was not made here."""


def packed(table: dict[str, Any]) -> np.ndarray:
    """A table as compressed bytes, about a third of its JSON; shape (bytes,), uint8."""
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
    return deflated(text)


def deflated(raw: bytes) -> np.ndarray:
    """Compressed bytes; shape (bytes,), uint8."""
    return np.frombuffer(zlib.compress(raw, 9), dtype=np.uint8)


def inflated(raw: bytes) -> bytes:
    """The bytes that were compressed.

    Raises:
        ValueError: they are no compressed bytes, too many, or not all there.
    """
    opened = zlib.decompressobj()
    try:
        found = opened.decompress(raw, MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"a packed table cannot be read: {error}") from error
    if not opened.eof:
        raise ValueError("a packed table is too large, or not all there")
    return found


def unpacked(tensor: np.ndarray) -> dict[str, Any]:
    """The table that was packed; older programs have it as uncompressed JSON.

    Raises:
        ValueError: the bytes are no such table.
    """
    raw = tensor.tobytes()
    if not raw.startswith(b"{"):
        raw = inflated(raw)
    table = json.loads(raw)
    if not isinstance(table, dict):
        raise ValueError("a table of words is no table")
    return table
