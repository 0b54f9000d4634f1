"""Values as bytes, for a pipe between processes: plain values, arrays and declared dataclasses. Nothing is pickled.

The bytes are a JSON tree with the arrays behind it. Reading them calls no code but the constructors of the dataclasses
that the reader names.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

NUMBERS = "biuf"
"""The kinds of arrays that can be sent, as of ``numpy.dtype.kind``: truth values, whole numbers and floats."""
ALIGNED = LENGTH = 8
"""How many bytes say how long the tree is; arrays start at multiples of it, since others are slower to compute with."""


def packed(value: Any, kinds: Sequence[type] = ()) -> bytes:
    """The bytes of a value: of plain values, lists, tuples, dicts, arrays of numbers and dataclasses.

    What occurs several times, as the same array or instance, is written once.

    Args:
        kinds: the dataclasses that may occur.

    Raises:
        TypeError: something else occurs in it.
    """
    writer = _Writer(kinds)
    tree = json.dumps(writer.tree(value), separators=(",", ":")).encode()
    tree += b" " * (-len(tree) % ALIGNED)
    return b"".join((len(tree).to_bytes(LENGTH, "little"), tree, *writer.arrays))


def unpacked(data: bytes, kinds: Sequence[type] = ()) -> Any:
    """The value of ``packed`` bytes, with equal types and numbers; arrays are read-only.

    Args:
        kinds: as for ``packed``, in the same order.

    Raises:
        ValueError: these are no such bytes.
    """
    behind = LENGTH + int.from_bytes(data[:LENGTH], "little")
    if not LENGTH < behind <= len(data):
        raise ValueError("bytes between processes were cut")
    try:
        return _Reader(memoryview(data)[behind:], kinds).value(json.loads(data[LENGTH:behind]))
    except (TypeError, LookupError, ValueError) as error:
        raise ValueError(f"bytes between processes cannot be read: {error!r}") from error


class _Writer:
    """Lists and plain values are themselves in the tree; all else is an object with one key that tells its sort."""

    def __init__(self, kinds: Sequence[type]) -> None:
        self.arrays: list[bytes] = []
        self._kinds = {kind: (place, [field.name for field in fields(kind)]) for place, kind in enumerate(kinds)}
        self._seen: dict[int, tuple[int, Any]] = {}
        self._length = 0

    def tree(self, value: Any) -> Any:
        sort = type(value)
        if value is None or sort in (bool, int, float, str):
            return value
        if sort is list:
            return [self.tree(one) for one in value]
        if sort is tuple:
            return {"tuple": [self.tree(one) for one in value]}
        if sort is dict:
            return {"dict": [[self.tree(key), self.tree(one)] for key, one in value.items()]}
        if id(value) in self._seen:
            return {"again": self._seen[id(value)][0]}
        written = self._array(value) if isinstance(value, np.ndarray | np.generic) else self._instance(value)
        self._seen[id(value)] = (len(self._seen), value)  # which is kept, so that nothing new has its id
        return written

    def _array(self, array: np.ndarray | np.generic) -> dict[str, Any]:
        if array.dtype.kind not in NUMBERS:
            raise TypeError(f"an array of {array.dtype} is not sent between processes")
        start = self._length
        self.arrays += array.tobytes(), bytes(-array.nbytes % ALIGNED)
        self._length += array.nbytes + -array.nbytes % ALIGNED
        return {"number" if isinstance(array, np.generic) else "array": [array.dtype.str, start, *array.shape]}

    def _instance(self, value: Any) -> dict[str, Any]:
        if type(value) not in self._kinds:
            raise TypeError(f"{type(value).__name__} is not sent between processes: name it among the kinds")
        place, names = self._kinds[type(value)]
        return {"of": [place, *(self.tree(getattr(value, name)) for name in names)]}


class _Reader:
    def __init__(self, arrays: memoryview, kinds: Sequence[type]) -> None:
        self._arrays = arrays
        self._kinds = kinds
        self._seen: list[Any] = []
        self._makers = {"of": self._instance, "array": self._array, "number": lambda *held: self._array(*held)[()]}

    def value(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self.value(one) for one in tree]
        if not isinstance(tree, dict):
            return tree
        sort, held = next(iter(tree.items()))
        if sort == "again":
            return self._seen[held]
        if sort == "tuple":
            return tuple([self.value(one) for one in held])
        if sort == "dict":
            return {self.value(key): self.value(one) for key, one in held}
        made = self._makers[sort](*held)
        self._seen.append(made)
        return made

    def _array(self, numbers: str, start: int, *shape: int) -> np.ndarray:
        sort = np.dtype(numbers)
        if sort.kind not in NUMBERS:
            raise TypeError(f"an array of {numbers}")
        end = start + sort.itemsize * int(np.prod(shape))
        return np.frombuffer(self._arrays[start:end], dtype=sort).reshape(shape)

    def _instance(self, kind: int, *values: Any) -> Any:
        return self._kinds[kind](*[self.value(value) for value in values])
