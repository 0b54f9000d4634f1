"""Tables of words in a program's file."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from queryplan.program.heads import packed as module
from queryplan.program.heads.packed import packed, unpacked

TABLE = {"traits": ["cut and", "和"], "common": []}


def as_tensor(raw: bytes) -> np.ndarray:
    return np.frombuffer(raw, dtype=np.uint8)


def test_a_table_comes_back_as_it_was() -> None:
    assert unpacked(packed(TABLE)) == TABLE


def test_a_table_of_before_is_read() -> None:
    assert unpacked(as_tensor(b'{"traits": []}')) == {"traits": []}


def test_other_bytes_are_no_table() -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        unpacked(as_tensor(b"\x00nothing"))


def test_a_table_that_unfolds_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="too large"):
        unpacked(as_tensor(zlib.compress(b"{" + b" " * 5000 + b"}")))
