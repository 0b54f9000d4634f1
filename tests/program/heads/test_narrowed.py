"""Vectors along the directions in which texts differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from queryplan.program.heads.narrowed import DIMENSIONS, Narrowed, Remembering, learned_axes


class Numbers:
    """An encoder of texts that are numbers: nearly parallel vectors, which differ in two directions alone."""

    name, nested = "numbers", None

    def __init__(self) -> None:
        self.read: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.read.append(list(texts))
        found = np.zeros((len(texts), 5), dtype=np.float32)
        for row, text in zip(found, texts, strict=True):
            if text:
                row[:] = [9, np.cos(float(text)), 0, 0, np.sin(float(text))]
        return found

    def knows_whole(self, word: str) -> bool:
        return word == "1"

    def fingerprint(self) -> str:
        return "f" * 16


TEXTS = [str(n / 10) for n in range(63)]


def test_what_is_the_same_for_all_falls_out() -> None:
    encoder = Numbers()
    axes = learned_axes(encoder.encode(TEXTS))
    assert axes is not None
    narrowed = Narrowed(encoder, axes)
    one, other, opposite = narrowed.encode(["0", "0.1", "3.14"])
    np.testing.assert_allclose(np.linalg.norm([one, other, opposite], axis=1), 1, atol=1e-5)
    assert one @ other > 0.98
    assert one @ opposite < -0.98
    assert (narrowed.name, narrowed.fingerprint()) == ("numbers", "f" * 16)
    assert narrowed.knows_whole("1")
    assert not narrowed.knows_whole("2")


def test_what_cannot_be_read_stays_unread() -> None:
    encoder = Numbers()
    axes = learned_axes(encoder.encode([*TEXTS, ""]))
    assert axes is not None
    assert not Narrowed(encoder, axes).encode([""]).any()


def test_axes_have_one_byte_a_number_and_few_directions() -> None:
    axes = learned_axes(np.random.default_rng(0).normal(size=(3000, 200)).astype(np.float32))
    assert axes is not None
    assert (axes.centre.dtype, axes.directions.dtype) == (np.float16, np.int8)
    assert axes.directions.shape == (200, DIMENSIONS)


def test_too_few_texts_have_no_axes() -> None:
    assert learned_axes(np.zeros((5, 3), dtype=np.float32)) is None
    assert learned_axes(np.ones((1, 3), dtype=np.float32)) is None


def test_a_text_is_read_once() -> None:
    encoder = Numbers()
    remembering = Remembering(encoder)
    first = remembering.encode(["1", "2", "1"])
    np.testing.assert_array_equal(first[0], first[2])
    np.testing.assert_array_equal(remembering.encode(["2", "3"])[0], first[1])
    assert encoder.read == [["1", "2"], ["3"]]
    assert remembering.encode([]).shape == (0, 5)
    assert (remembering.name, remembering.fingerprint()) == ("numbers", "f" * 16)
    assert remembering.knows_whole("1")
