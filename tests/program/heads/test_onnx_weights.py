"""Reading and replacing the weights of an ONNX model, as a runtime sees them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.heads.onnx_weights import quantised, weights_of, with_weights
from queryplan.program.heads.protobuf import Field, fields, with_bytes, with_number

WHOLE = np.array([[1, -2], [3, 127]], dtype=np.int8)
SCALE = np.array([[0.5, 0.25]], dtype=np.float32)
BIAS = np.array([10.0, 20.0], dtype=np.float32)


def weight(name: str, values: np.ndarray) -> bytes:
    sizes = b"".join(with_number(1, size) for size in values.shape)
    kind = with_number(2, 3 if values.dtype == np.int8 else 1)
    return with_bytes(5, sizes + kind + with_bytes(8, name.encode()) + with_bytes(9, values.tobytes()))


def node(kind: str, inputs: str, gives: str, extra: bytes = b"") -> bytes:
    read = b"".join(with_bytes(1, name.encode()) for name in inputs.split())
    return with_bytes(1, read + with_bytes(2, gives.encode()) + with_bytes(4, kind.encode()) + extra)


def declared(number: int, name: str) -> bytes:
    shape = with_bytes(2, with_bytes(1, with_bytes(2, b"n")) * 2)
    return with_bytes(number, with_bytes(1, name.encode()) + with_bytes(2, with_bytes(1, with_number(1, 1) + shape)))


TO_FLOAT = with_bytes(5, with_bytes(1, b"to") + with_number(3, 1) + with_number(20, 2))
MODEL = with_number(1, 8) + with_bytes(
    7,
    node("Cast", "w_q", "w_f", TO_FLOAT)
    + node("Mul", "w_f w_scale", "w")
    + node("MatMul", "x w", "xw")
    + node("Add", "xw bias", "y")
    + with_bytes(2, b"one layer")
    + weight("w_q", WHOLE)
    + weight("w_scale", SCALE)
    + weight("bias", BIAS)
    + declared(11, "x")
    + declared(12, "y"),
)
MODEL += with_bytes(8, with_bytes(1, b"") + with_number(2, 17))
X = np.array([[1.0, 1.0]], dtype=np.float32)


def through(model: bytes) -> np.ndarray:
    runtime = pytest.importorskip("onnxruntime")
    return np.asarray(runtime.InferenceSession(model).run(None, {"x": X})[0])


def test_weights_are_read_with_their_scales() -> None:
    read = weights_of(MODEL, ["w", "bias"])
    np.testing.assert_array_equal(read["w"], [[0.5, -0.5], [1.5, 31.75]])
    np.testing.assert_array_equal(read["bias"], BIAS)
    assert quantised(MODEL) == ["w"]


def test_the_runtime_computes_with_the_weights_that_were_put_in() -> None:
    np.testing.assert_array_equal(through(MODEL), X @ weights_of(MODEL, ["w"])["w"] + BIAS)
    other = {"w": np.array([[1.0, 2.0], [3.0, 4.0]]), "bias": np.array([0.0, 1.0])}
    np.testing.assert_array_equal(through(with_weights(MODEL, other)), [[4.0, 7.0]])


def test_the_same_weights_change_nothing() -> None:
    np.testing.assert_array_equal(through(with_weights(MODEL, weights_of(MODEL, ["w", "bias"]))), through(MODEL))


def test_weights_that_are_not_there_are_an_error() -> None:
    with pytest.raises(ValueError, match="the model has no weights 'v'"):
        weights_of(MODEL, ["v"])


def test_weights_of_another_kind_are_an_error() -> None:
    half = with_bytes(5, with_number(1, 1) + with_number(2, 10) + with_bytes(8, b"h") + with_bytes(9, b"ab"))
    with pytest.raises(ValueError, match="weights of kind 10"):
        weights_of(with_bytes(7, half), ["h"])


@given(st.integers(0, len(MODEL) - 1))
def test_half_a_model_is_an_error_or_lacks_weights(length: int) -> None:
    try:
        weights_of(MODEL[:length], ["w", "bias"])
    except ValueError:
        return
    assert length >= len(MODEL) - 10


@given(st.integers(0, 2**62), st.binary(max_size=300))
def test_fields_are_read_as_they_were_written(value: int, content: bytes) -> None:
    read = list(fields(memoryview(with_number(3, value) + with_bytes(4, content))))
    assert [one.number for one in read] == [3, 4]
    assert read[0].value == value
    assert bytes(read[1].content) == content


def test_a_text_is_read_as_such() -> None:
    (one,) = fields(memoryview(with_bytes(8, "größe".encode())))
    assert isinstance(one, Field)
    assert one.text == "größe"
