"""Learned heads: better than the majority, honest about folds, the same each time."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.program.heads.features import AS_TYPED, SURFACE_WEIGHT, Features, Seen
from queryplan.program.heads.features import BARE as SIGNS
from queryplan.program.heads.file import (
    BARE,
    LARGEST,
    MENDED,
    NESTED,
    VOCABULARY,
    compact,
    load_features,
    load_heads,
    settings_of,
    tensors_of,
    vector_step,
)
from queryplan.program.heads.fit_head import fit_head, folds_of
from queryplan.program.heads.heads import REWRITTEN, Heads, against_first, pooled, softmax
from queryplan.program.heads.learning import LABELS, features_of
from queryplan.program.heads.ngrams import mask_folded
from queryplan.program.heads.training import train_heads
from queryplan.signatures.types import Turn

TURNS = (Turn(role="user", content="What is flow?"), Turn(role="assistant", content="Absorption in a task."))


def material(name: str, rows: Sequence[Any], card: Any, features: Features) -> tuple[list[Seen], list[str], list[str]]:
    """What a head learns from: features, labels, conversations."""
    used = [(row, value) for row in rows if (value := LABELS[name](row)) is not None]
    return (
        [features_of(name, r, card, features) for r, _ in used],
        [v for _, v in used],
        [r.conversation for r, _ in used],
    )


@pytest.mark.parametrize("name", ["is_follow_up", "is_relevant", "complexity"])
def test_a_head_beats_the_majority_on_conversations_it_has_not_seen(
    name: str, rows: Callable[[str], Any], card: Any, trained: Heads
) -> None:
    seen, labels, groups = material(name, rows("train"), card, trained.features)
    fold = folds_of(groups, seed=11)
    right = 0
    for held in (0, 1, 2):
        kept = [i for i in range(len(labels)) if fold[i] != held]
        head = fit_head(name, [seen[i] for i in kept], [labels[i] for i in kept], [groups[i] for i in kept])
        assert head is not None
        for i in np.flatnonzero(fold == held):
            right += head.labels[int(head.probabilities(seen[i]).argmax())] == labels[i]
    asked = [labels[i] for i in np.flatnonzero(fold < 3)]
    majority = Counter(asked).most_common(1)[0][1] / len(asked)
    assert right / len(asked) > majority + 0.04


@pytest.mark.parametrize("name", list(LABELS))
def test_every_head_beats_the_majority_on_dev(name: str, rows: Callable[[str], Any], card: Any, trained: Heads) -> None:
    seen, labels, _ = material(name, rows("dev"), card, trained.features)
    head = trained.heads[name]
    right = sum(
        head.labels[int(head.probabilities(s).argmax())] == label for s, label in zip(seen, labels, strict=True)
    )
    assert right / len(labels) > Counter(labels).most_common(1)[0][1] / len(labels)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400))
def test_probabilities_sum_to_one_whatever_the_text(trained_once: Heads, text: str) -> None:
    answers = [*trained_once.of_query(text).values()]
    turn = trained_once.of_turn(text, TURNS)
    assert (turn is None) == (not answers) == trained_once.cannot_read(text)
    for answer in (*answers, *([turn] if turn else [])):
        assert sum(answer.probabilities.values()) == pytest.approx(1, abs=1e-5)
        assert all(0 <= p <= 1 for p in answer.probabilities.values())
        likeliest = answer.confidence == max(answer.probabilities.values())
        assert likeliest or answer.withheld


@pytest.fixture(scope="module")
def trained_once(trained: Heads) -> Heads:
    return trained


def test_rows_too_few_for_any_head_give_none(rows: Callable[[str], Any], card: Any, trained: Heads) -> None:
    found = train_heads(rows("train")[:5], card, trained.features.encoder)
    assert found.heads == {}
    assert found.of_turn("why?", TURNS) is None
    assert found.of_query("why?") == {}


def test_training_is_deterministic(rows: Callable[[str], Any], card: Any, trained: Heads) -> None:
    few = rows("train")[:60]
    one, two = (train_heads(few, card, trained.features.encoder) for _ in range(2))
    assert settings_of(one) == settings_of(two)
    assert all((t == tensors_of(two)[n]).all() for n, t in tensors_of(one).items())


def test_tensors_and_settings_give_the_same_heads_back(trained: Heads, card: Any) -> None:
    tensors = {name: np.array(tensor) for name, tensor in tensors_of(trained).items()}
    features = load_features(tensors, trained.features.encoder, trained.features.linker)
    again = load_heads(tensors, settings_of(trained), features)
    for text in ("Who is Nell?", "Will it rain?", "", "你好"):
        assert again.of_query(text) == trained.of_query(text)
        assert again.of_turn(text, TURNS) == trained.of_turn(text, TURNS)


def test_the_whole_set_is_under_two_megabytes(trained: Heads) -> None:
    assert set(trained.heads) == set(LABELS)
    assert sum(tensor.nbytes for tensor in tensors_of(trained).values()) < 2_000_000


def test_out_of_domain_rows_teach_nothing_about_complexity(rows: Callable[[str], Any]) -> None:
    for row in rows("train"):
        for name in ("complexity", "intent", "needs_decomposition"):
            assert (LABELS[name](row) is None) == (not row.labels.is_relevant)
        assert (LABELS["is_follow_up"](row) is None) == (not row.history)
        assert (LABELS["rejection_kind"](row) is None) == row.labels.is_relevant


def test_heads_answer_from_many_threads_alike(trained: Heads) -> None:
    expected, found = trained.of_query("Who is Nell?"), []
    threads = [threading.Thread(target=lambda: found.append(trained.of_query("Who is Nell?"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


# --- features


def test_names_are_masked_by_their_type(trained: Heads) -> None:
    from queryplan.program.heads.ngrams import gram_columns, mask_names, words_of

    linker = trained.features.linker
    assert mask_names("How does Ilse differ from Takeda?", linker) == "How does _Guest_ differ from _Guest_?"
    one, other = (mask_names(f"How does {name} differ?", linker) for name in ("Ilse", "Aoife"))
    assert gram_columns(one, words_of(one)).tolist() == gram_columns(other, words_of(other)).tolist()


def test_vectors_have_length_one_or_zero(trained: Heads) -> None:
    vectors = trained.features.encoder.encode(["Who is Nell?", "", "你好", "x " * 20_000])
    assert vectors.shape == (4, 256)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1, 1], abs=1e-5)


def test_the_encoder_is_loaded_once_and_has_a_fingerprint() -> None:
    from queryplan.program.heads.encoder import default_encoder

    assert default_encoder() is default_encoder()
    assert len(default_encoder().fingerprint()) == 16


# --- later turns


def test_rare_words_and_names_of_before_are_told_from_new_ones(trained: Heads) -> None:
    turns = (Turn(role="user", content="Who is Nell and what is a kiln?"),)
    again, new = (trained.features.of_turn(f"the {word}?", turns).dense[-11:-7] for word in ("kiln", "zeppelin"))
    assert (again[0], new[1]) == (0.0, 0.0)
    assert new[0] > 0 < again[1]


def test_forgetting_changes_no_answer(trained: Heads) -> None:
    before = trained.of_turn("and why?", TURNS)
    trained.features.forget()
    assert trained.of_turn("and why?", TURNS) == before


# --- labels and nested vectors


def test_a_bias_moves_where_a_label_begins_and_is_saved(trained: Heads) -> None:
    head = replace(trained.heads["is_relevant"], bias=())
    moved = replace(head, bias=(0.0, -1.0))
    seen = trained.features.of_query("Who is Nell?")
    before, after = head.probabilities(seen), moved.probabilities(seen)
    assert np.log(after[1] / after[0]) == pytest.approx(np.log(before[1] / before[0]) - 1, abs=1e-3)
    kept = Heads({"is_relevant": moved}, trained.features)
    again = load_heads(tensors_of(kept), settings_of(kept), trained.features)
    assert again.heads["is_relevant"].bias == (0.0, -1.0)
    assert again.of_query("Who is Nell?") == kept.of_query("Who is Nell?")
    assert list(kept.of_query("Who is Nell?")["is_relevant"].probabilities.values()) == pytest.approx(after, abs=2e-5)


def test_a_softmax_does_not_see_which_label_the_others_are_measured_by() -> None:
    scores = np.random.default_rng(0).normal(size=(5, 4))
    less = np.concatenate([np.zeros((5, 1)), against_first(scores)], axis=1)
    np.testing.assert_allclose(softmax(less), softmax(scores))


def test_heads_see_the_first_dimensions_of_a_nested_vector_at_length_one(trained: Heads) -> None:
    features, nested = trained.features, trained.features.encoder.nested
    assert features.nested == nested == tensors_of(trained)[NESTED].item()
    seen = features.of_query("Who is Nell?")
    whole = features.encoder.encode([mask_folded("Who is Nell", features.linker)])[0][:nested]
    np.testing.assert_allclose(seen.dense[:nested], whole / np.linalg.norm(whole), atol=1e-6)
    assert seen.dense[nested:].max() <= 2 * SURFACE_WEIGHT
    unread = features.of_query("ᏣᎳᎩ")
    assert not unread.readable
    assert not unread.dense[:nested].any()


@pytest.mark.parametrize(
    ("reads", "one", "other"),
    [(AS_TYPED, "Who is on?", "Who is on"), (SIGNS, "Who is on", "who is on"), (SIGNS, "1. who is on", "who is on")],
)
def test_heads_of_before_read_texts_as_they_learned_to(trained: Heads, reads: int, one: str, other: str) -> None:
    tensors = tensors_of(trained)
    now = load_features(tensors, trained.features.encoder, trained.features.linker)
    del tensors[BARE]
    if reads:
        tensors[BARE] = np.array([reads], dtype=np.uint8)
    before = load_features(tensors, trained.features.encoder, trained.features.linker)
    assert np.array_equal(now.of_query(one).dense, now.of_query(other).dense)
    assert not np.array_equal(before.of_query(one).dense, before.of_query(other).dense)


def test_a_slip_is_read_as_the_word_that_was_meant_unless_heads_learned_without(trained: Heads) -> None:
    tensors = tensors_of(trained)
    now = load_features(tensors, trained.features.encoder, trained.features.linker)
    del tensors[MENDED]
    before = load_features(tensors, trained.features.encoder, trained.features.linker)
    one, other = (
        "What does Ilse say about slepe and meditation?",
        "WHAT DOES ILSE SAY ABOUT SLEEP AND MEDITTATION?",
    )
    for features, alike in ((now, True), (before, False)):
        assert np.array_equal(features.of_query(one).dense, features.of_query(other).dense) == alike
        assert np.array_equal(features.of_turn(one, TURNS).dense, features.of_turn(other, TURNS).dense) == alike


def test_a_name_in_other_letters_is_the_same_name_wherever_it_stands(trained: Heads) -> None:
    one, other = (
        trained.features.of_query(f"What did {name} say, and what did Ilse mean?") for name in ("ILSE", "Ilse")
    )
    assert np.array_equal(one.grams.columns, other.grams.columns)
    assert np.array_equal(one.dense, other.dense)


def test_heads_of_before_saw_whole_vectors_and_had_a_column_for_every_label(trained: Heads, card: Any) -> None:
    tensors = tensors_of(trained)
    del tensors[NESTED]
    del tensors[VOCABULARY]
    before = load_features(tensors, trained.features.encoder, trained.features.linker)
    assert before.nested is None
    assert before.vocabulary is None
    assert len(before.of_query("Who is Quillfeather?").grams.columns) > len(
        trained.features.of_query("Who is Quillfeather?").grams.columns
    )
    head = trained.heads["complexity"]
    first = np.random.default_rng(0).normal(size=(len(head.dual), 1)).astype(np.float32)
    tensors["complexity.dual"] = np.concatenate([first, head.dual + first], axis=1)
    zero = np.zeros((len(head.linear), 1), dtype=np.float16)
    tensors["complexity.linear"] = np.concatenate([zero, head.weights().astype(np.float16)], axis=1)
    del tensors["complexity.steps"]
    tensors.pop("complexity.used", None)
    again = load_heads(tensors, settings_of(trained), trained.features)
    np.testing.assert_allclose(again.heads["complexity"].dual, head.dual, atol=1e-5)
    np.testing.assert_allclose(again.heads["complexity"].weights(), head.weights(), atol=1e-3)


def test_weights_of_one_byte_are_within_half_a_step_of_their_roots(trained: Heads) -> None:
    head = trained.heads["intent"]
    weights = np.random.default_rng(0).normal(size=head.linear.shape).astype(np.float32)
    weights[:, 0] = 0.0
    kept = compact({"intent": replace(head, linear=weights, steps=None)}, 128)["intent"]
    assert kept.linear.dtype == np.int8
    assert np.abs(kept.linear).max(axis=0).tolist() == [0] + [LARGEST] * (weights.shape[1] - 1)
    roots = np.sqrt(np.abs(weights) / np.abs(weights).max(axis=0).clip(1e-9)) * LARGEST
    assert (np.abs(np.abs(kept.linear) - roots) <= 0.501).all()
    assert np.abs(kept.weights() - weights).max() < np.abs(weights).max() / LARGEST
    assert (np.sign(kept.weights()) * np.sign(weights) >= 0).all()
    assert np.array_equal(kept.weights(np.array([3, 5])), kept.weights()[[3, 5]])


def test_vectors_of_one_byte_are_within_half_a_step_and_come_back_exactly(trained: Heads) -> None:
    tensors, length = tensors_of(trained), trained.features.vector_length
    step = float(tensors["support.query.step"][0])
    assert tensors["support.query.vectors"].dtype == np.int8
    rows = np.random.default_rng(0).normal(size=(30, length + 6)).astype(np.float32) / 9
    made = compact({"intent": replace(trained.heads["intent"], support=rows)}, length)["intent"]
    assert np.abs(made.support[:, :length] - rows[:, :length]).max() <= vector_step(np.abs(rows[:, :length]).max()) / 2
    np.testing.assert_allclose(made.support[:, length:], rows[:, length:], rtol=1e-3)
    assert 64 <= np.abs(tensors["support.query.vectors"]).max() <= LARGEST
    assert math.log2(step).is_integer()
    again = load_heads(tensors, settings_of(trained), trained.features)
    for name, head in trained.every().items():
        assert np.array_equal(again.every()[name].support, head.support), name


def test_weights_of_ngrams_that_no_row_has_are_left_out_and_come_back(trained: Heads) -> None:
    head = trained.heads["rejection_kind"]
    linear = np.zeros((1001, head.linear.shape[1]), dtype=np.int8)
    linear[[3, 999]] = 5
    kept = tensors_of(Heads({"rejection_kind": replace(head, linear=linear)}, trained.features))
    assert kept["rejection_kind.linear"].shape[0] == 2
    again = load_heads(kept, {"rejection_kind": settings_of(trained)["rejection_kind"]}, trained.features)
    assert np.array_equal(again.heads["rejection_kind"].linear, linear)
    dense = tensors_of(Heads({"rejection_kind": replace(head, linear=linear + np.int8(1))}, trained.features))
    assert dense["rejection_kind.linear"].shape == linear.shape


def test_support_rows_of_programs_of_before_are_kept_as_they_are(trained: Heads) -> None:
    rows = np.random.default_rng(0).normal(size=trained.heads["intent"].support.shape).astype(np.float16)
    heads = {name: replace(head, support=rows) for name, head in trained.heads.items() if name == "intent"}
    kept = tensors_of(Heads(heads, trained.features))
    assert np.array_equal(kept["support.query"], rows)
    again = load_heads(kept, {"intent": settings_of(trained)["intent"]}, trained.features)
    assert np.array_equal(again.heads["intent"].support, rows)


@pytest.mark.parametrize("largest", [0.39, 0.25, 0.249, 1.0, 2.5, 127 / 256])
def test_a_step_is_the_power_of_two_of_which_the_largest_number_has_at_most_127(largest: float) -> None:
    step = vector_step(largest)
    assert LARGEST / 2 < largest / step <= LARGEST
    assert vector_step(round(largest / step) * step) == step
    assert vector_step(0.0) == 0.0


# --- a query as a model rewrote it, and as it was typed


@given(st.lists(st.tuples(st.floats(1e-6, 1), st.floats(1e-6, 1)), min_size=2, max_size=8))
def test_pooled_probabilities_lie_between_and_sum_to_one(given: list[tuple[float, float]]) -> None:
    one, other = np.array(given).T
    one, other = one / one.sum(), other / other.sum()
    both = np.array(pooled(one.tolist(), other.tolist()))
    assert both.sum() == pytest.approx(1)
    odds = np.log(both[0] / both[1])
    assert odds == pytest.approx(
        REWRITTEN * np.log(one[0] / one[1]) + (1 - REWRITTEN) * np.log(other[0] / other[1]), abs=1e-6
    )


def test_a_rewrite_is_read_beside_the_query_as_typed(trained: Heads) -> None:
    typed, rewritten = "and what is his book about?", "Compare how Ilse and Takeda sleep, and why"
    alone, beside = trained.of_query(rewritten), trained.of_query(rewritten, typed)
    as_typed = trained.of_query(typed, typed)
    for name, answer in beside.items():
        wanted = pooled(list(alone[name].probabilities.values()), list(as_typed[name].probabilities.values()))
        assert list(answer.probabilities.values()) == pytest.approx(wanted)


def test_a_follow_up_as_typed_is_read_by_heads_of_its_own(trained: Heads) -> None:
    typed = "and what is his book about?"
    said, alone = trained.of_query(typed, typed), trained.of_query(typed)
    seen = trained.features.of_query(typed)
    for name, answer in said.items():
        wanted = dict(zip(trained.typed[name].labels, trained.typed[name].probabilities(seen).tolist(), strict=True))
        assert answer.probabilities == pytest.approx(wanted, abs=1e-5)
    assert any(said[name].probabilities != pytest.approx(dict(alone[name].probabilities)) for name in said)


def test_without_heads_of_their_own_follow_ups_are_read_by_the_others(trained: Heads) -> None:
    typed = "and what is his book about?"
    before = Heads({**trained.heads, **trained.looks}, trained.features, trained.joint)
    assert before.of_query(typed, typed) == before.of_query(typed)


def test_what_was_typed_in_a_script_that_heads_cannot_read_says_nothing(trained: Heads) -> None:
    assert trained.of_query("Who is Nell?", "ᏣᎳᎩ") == trained.of_query("Who is Nell?")
    assert trained.of_query("ᏣᎳᎩ", "Who is Nell?") == {}


def test_a_rewrite_alone_does_not_reject_what_was_typed(trained: Heads) -> None:
    spoilt = "solve 3x + 4 = 19 for x"
    assert trained.of_query(spoilt)["is_relevant"].label == "false"
    assert (
        trained.of_query(spoilt, "what did Takeda say about the stock market in episode 4?")["is_relevant"].label
        == "true"
    )


def test_noughts_are_not_kept_and_come_back(trained: Heads) -> None:
    held = tensors_of(trained)
    assert len(held["typed.rejection_kind.linear"]) == 0
    loaded = load_heads(
        held, settings_of(trained), load_features(held, trained.features.encoder, trained.features.linker)
    )
    assert loaded.typed["rejection_kind"].linear.shape == trained.typed["rejection_kind"].linear.shape
    assert not loaded.typed["rejection_kind"].linear.any()
    typed = "and what is his book about?"
    assert loaded.of_query(typed, typed) == trained.of_query(typed, typed)
