"""Values between processes: what is read is what was written, and nothing is made that was not named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from queryplan.program.wire import ALIGNED, packed, unpacked


@dataclass(frozen=True)
class Leaf:
    numbers: np.ndarray
    name: str


@dataclass(frozen=True)
class Branch:
    leaves: tuple[Leaf, ...]
    best: Leaf | None = None


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.tuples(st.integers()), inner)
    ),
    max_leaves=20,
)
sorts = st.sampled_from(["?", "i1", "i4", "i8", "u4", "f2", "f4", "f8"])


def _types(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value), [_types(one) for one in value]
    if isinstance(value, dict):
        return dict, [(_types(key), _types(one)) for key, one in value.items()]
    return type(value)


@given(values)
def test_plain_values_come_back_with_their_types(value: Any) -> None:
    read = unpacked(packed(value))
    assert read == value
    assert _types(read) == _types(value)


@given(sorts.flatmap(lambda sort: st.lists(arrays.arrays(sort, arrays.array_shapes(min_dims=0, min_side=0)))))
def test_arrays_come_back_bit_for_bit(written: list[np.ndarray]) -> None:
    for array, read in zip(written, unpacked(packed(written)), strict=True):
        assert (read.dtype, read.shape, read.tobytes()) == (array.dtype, array.shape, array.tobytes())
        assert read.ctypes.data % min(ALIGNED, read.itemsize) == 0


def test_an_array_that_is_not_contiguous_comes_back_in_order() -> None:
    array = np.arange(12.0).reshape(3, 4)[:, ::2].T
    assert unpacked(packed(array)).tolist() == array.tolist()


def test_a_numpy_number_stays_one() -> None:
    read = unpacked(packed(np.float32(0.1)))
    assert (type(read), read) == (np.float32, np.float32(0.1))


def test_dataclasses_come_back_and_what_is_shared_is_written_once() -> None:
    leaf = Leaf(np.arange(100_000), "a")
    data = packed([Branch((leaf, leaf), leaf), leaf.numbers], (Branch, Leaf))
    branch, numbers = unpacked(data, (Branch, Leaf))
    assert branch.best is branch.leaves[0] is branch.leaves[1]
    assert branch.best.numbers is numbers
    assert len(data) < 2 * leaf.numbers.nbytes


@pytest.mark.parametrize("value", [{1, 2}, object(), Leaf(np.zeros(1), "a"), np.array([object()]), np.array(["a"])])
def test_what_was_not_named_is_not_sent(value: Any) -> None:
    with pytest.raises(TypeError, match="not sent between processes"):
        packed(value, (Branch,))


@pytest.mark.parametrize("tree", ['{"of":[1]}', '{"again":0}', '{"array":["O",0,1]}', '{"of":[0,1,2,3]}', '{"os":[0]}'])
def test_bytes_that_nobody_packed_are_refused(tree: str) -> None:
    data = len(tree).to_bytes(ALIGNED, "little") + tree.encode()
    with pytest.raises(ValueError, match="between processes"):
        unpacked(data, (Leaf,))


@given(values, st.integers(0, 60))
def test_bytes_that_were_cut_are_refused(value: Any, left: int) -> None:
    data = packed({"all": value, "numbers": np.ones(3)})
    with pytest.raises(ValueError, match="between processes"):
        unpacked(data[: min(left, len(data) - 1)])
