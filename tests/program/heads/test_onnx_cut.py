"""Cutting a model off behind one of its tensors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.heads.onnx_cut import cut_off


def varint(value: int) -> bytes:
    more, low = divmod(value, 128)
    return bytes([low | 128]) + varint(more) if more else bytes([low])


def message(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def number(key: int, value: int) -> bytes:
    return varint(key << 3) + varint(value)


def tensor(name: str) -> bytes:
    """A float vector of unknown length, as an input or output is declared."""
    shape = message(2, message(1, message(2, b"n")))
    return message(1, name.encode()) + message(2, message(1, number(1, 1) + shape))


def twice(given: str, gives: str) -> bytes:
    """A node that adds a tensor to itself."""
    return message(1, given.encode()) * 2 + message(2, gives.encode()) + message(4, b"Add")


GRAPH = (
    message(1, twice("x", "middle"))
    + message(1, twice("middle", "end"))
    + message(2, b"doubled")
    + message(11, tensor("x"))
    + message(12, tensor("end"))
)
MODEL = number(1, 8) + message(7, GRAPH) + message(8, message(1, b"") + number(2, 17))


def test_the_runtime_computes_no_further_than_the_cut() -> None:
    runtime = pytest.importorskip("onnxruntime")
    x = np.array([1.0, 2.0], dtype=np.float32)
    for model, name, expected in ((MODEL, "end", 4 * x), (cut_off(MODEL, "middle"), "middle", 2 * x)):
        session = runtime.InferenceSession(model)
        assert [output.name for output in session.get_outputs()] == [name]
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], expected)


def test_a_cut_at_the_end_changes_the_declaration_alone() -> None:
    assert cut_off(MODEL, "end").count(b"Add") == 2


def test_a_tensor_that_no_node_gives_is_an_error() -> None:
    for name in ("x", "nowhere"):
        with pytest.raises(ValueError, match="no node of the model gives"):
            cut_off(MODEL, name)


@given(st.integers(0, len(MODEL) - 1))
def test_half_a_model_is_an_error_or_no_model(length: int) -> None:
    try:
        cut_off(MODEL[:length], "middle")
    except ValueError:
        return
    assert length >= len(MODEL) - len(message(8, message(1, b"") + number(2, 17)))


@given(st.binary(max_size=60))
def test_no_bytes_are_another_error(given_bytes: bytes) -> None:
    with pytest.raises(ValueError):
        cut_off(given_bytes, "middle")
