"""Training: what goes on beside, and what is kept while every head reads the same texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from queryplan.data.card import domain_folder
from queryplan.data.rows import LabelledRow
from queryplan.program.heads import training
from queryplan.program.heads.closer_features import CloserFeatures
from queryplan.program.heads.composition import NUMBERS
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.features import QUERIES, SURFACE, TURNS
from queryplan.program.heads.heads import Heads
from queryplan.program.heads.lending import Lent
from queryplan.program.heads.training import train_heads, training_time
from queryplan.program.uncompiled import uncompiled_planner
from queryplan.program.waiting import telling
from queryplan.signatures.types import Turn


class Backwards:
    """An encoder of another tier: the static vectors, backwards."""

    name, nested = "backwards", None

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.ascontiguousarray(default_encoder().encode(texts)[:, ::-1])

    def knows_whole(self, word: str) -> bool:
        return default_encoder().knows_whole(word)

    def fingerprint(self) -> str:
        return "b" * 16


class Broken(Backwards):
    """One whose weights cannot be read."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        raise OSError("the weights are gone")


@pytest.fixture(scope="module")
def both(few: tuple[LabelledRow, ...], card: Any) -> Heads:
    """Heads of two tiers."""
    return train_heads(few, card, default_encoder(), closer=Backwards())


def test_after_training_a_planner_keeps_few_texts(both: Heads) -> None:
    features = both.features
    sizes = [kept.cache_info().maxsize for kept in (features._look, features._spelled, features._earlier)]
    assert sizes == [QUERIES, QUERIES, TURNS]
    assert features._reading.cache_info().maxsize == 0


def test_what_goes_wrong_beside_is_told(few: tuple[LabelledRow, ...], card: Any) -> None:
    with pytest.raises(OSError, match="the weights are gone"):
        train_heads(few, card, default_encoder(), closer=Broken())


def test_texts_that_are_kept_give_what_fresh_ones_give(both: Heads, few: tuple[LabelledRow, ...]) -> None:
    features = both.features
    fresh = [features.of_query(row.query) for row in few]
    features.remember(None, None)
    try:
        for _ in range(2):
            kept = [features.of_query(row.query) for row in few]
            for one, other in zip(fresh, kept, strict=True):
                assert np.array_equal(one.dense, other.dense)
                assert np.array_equal(one.grams.values, other.grams.values)
        assert features.reading(features.linker) is features.reading(features.linker)
    finally:
        features.remember()


def test_who_looks_closer_sees_the_same_words_and_no_composition(both: Heads) -> None:
    assert both.closer is not None
    closer, turns = both.closer.features, (Turn(role="user", content="What is flow?"),)
    assert isinstance(closer, CloserFeatures)
    for query in ("what did Tim Ferriss say, and who replied?", "Hva er søvn?", ""):
        first, second = both.features.of_query(query), closer.of_wishes(query)
        assert np.array_equal(first.grams.columns, second.grams.columns)
        assert len(second.dense) == closer.vector_length + SURFACE
        assert len(first.dense) == both.features.vector_length + SURFACE + NUMBERS
        assert np.allclose(second.dense[-SURFACE:] / 0.5, first.dense[both.features.vector_length :][:SURFACE] / 0.75)
        assert np.array_equal(closer.of_turn(query, turns).grams[1], both.features.of_turn(query, turns).grams[1])


def test_what_takes_minutes_is_told(
    monkeypatch: pytest.MonkeyPatch, few: tuple[LabelledRow, ...], card: Any, tmp_path: Path
) -> None:
    (row,) = few[:1]
    assert [training_time([row] * count, ()) for count in (0, 400, 12_000)] == ["", "", ": about 3 to 6 minutes"]
    assert training_time((), [Lent(card, (row,) * 4000)]) == ": about 1 to 2 minutes"
    monkeypatch.setattr(training, "ROWS_A_MINUTE", 100)
    (tmp_path / "domain.toml").write_bytes((domain_folder("podcast") / "domain.toml").read_bytes())
    lines = (domain_folder("podcast") / "train.jsonl").read_bytes().splitlines(keepends=True)[:180]
    (tmp_path / "train.jsonl").write_bytes(b"".join(lines))
    said: list[str] = []
    with telling(said.append):
        for _ in range(2):
            uncompiled_planner(tmp_path, tmp_path / "kept", "static").close()
    (sentence,) = said
    assert re.fullmatch(
        r"training heads from 180 rows of podcast, and \d+ rows of other domains for what is alike everywhere,"
        r" once: about \d+ to \d+ minutes",
        sentence,
    )
