"""Learned heads: better than the majority, honest about folds, the same each time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.program import fit_head as fitting
from queryplan.program.features import SURFACE_WEIGHT, Features, Seen
from queryplan.program.fit_head import (
    MADE_WEIGHT,
    RIDGES,
    Fitted,
    fit_and_leave_out,
    fit_head,
    folds_of,
    rbf,
)
from queryplan.program.heads import (
    NESTED,
    REWRITTEN,
    Heads,
    against_first,
    load_features,
    load_heads,
    pooled,
    softmax,
)
from queryplan.program.ngrams import mask_names
from queryplan.program.train_heads import LABELS, MADE, features_of, made_turns, reluctant, train_heads
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


def some(count: int) -> list[Seen]:
    from queryplan.program.ngrams import Grams

    rng = np.random.default_rng(0)
    columns, values = np.array([1, 2]), np.array([0.6, 0.8], dtype=np.float32)
    return [Seen(rng.normal(size=8).astype(np.float32), Grams(columns, values)) for _ in range(count)]


def test_labels_of_one_class_give_no_head() -> None:
    assert fit_head("x", some(20), ["true"] * 20, list(map(str, range(20)))) is None


def test_five_rows_give_no_head() -> None:
    assert fit_head("x", some(5), list("ababa"), list("12345")) is None


@pytest.mark.parametrize("groups", [["one"] * 20, [str(n // 10) for n in range(20)]])
def test_a_head_of_one_or_two_conversations_is_still_finite(groups: list[str]) -> None:
    head = fit_head("x", some(20), ["a", "b"] * 10, groups)
    assert head is not None
    assert np.isfinite(head.probabilities(some(1)[0])).all()


def test_a_label_that_occurs_once_does_not_break_training() -> None:
    head = fit_head("x", some(20), ["a", "b"] * 9 + ["a", "c"], list(map(str, range(20))))
    assert head is not None
    assert head.labels == ("a", "b", "c")


def test_rows_too_few_for_any_head_give_none(rows: Callable[[str], Any], card: Any, trained: Heads) -> None:
    found = train_heads(rows("train")[:5], card, trained.features.encoder)
    assert found.heads == {}
    assert found.of_turn("why?", TURNS) is None
    assert found.of_query("why?") == {}


@given(st.lists(st.sampled_from("abcdefghijklmnopq"), min_size=1, max_size=80), st.integers(0, 5))
def test_groups_never_cross_folds(groups: list[str], seed: int) -> None:
    folds = folds_of(groups, seed)
    assert len({(g, int(f)) for g, f in zip(groups, folds, strict=True)}) == len(set(groups))
    sizes = Counter(int(f) for f in dict(zip(groups, folds, strict=True)).values())
    assert max(sizes.values()) - min(sizes.get(f, 0) for f in range(5)) <= 1


def test_training_is_deterministic(rows: Callable[[str], Any], card: Any, trained: Heads) -> None:
    few = rows("train")[:60]
    one, two = (train_heads(few, card, trained.features.encoder) for _ in range(2))
    assert one.settings() == two.settings()
    assert all((t == two.tensors()[n]).all() for n, t in one.tensors().items())


def test_tensors_and_settings_give_the_same_heads_back(trained: Heads, card: Any) -> None:
    tensors = {name: np.array(tensor) for name, tensor in trained.tensors().items()}
    features = load_features(tensors, trained.features.encoder, trained.features.linker)
    again = load_heads(tensors, trained.settings(), features)
    for text in ("Who is Nell?", "Will it rain?", "", "你好"):
        assert again.of_query(text) == trained.of_query(text)
        assert again.of_turn(text, TURNS) == trained.of_turn(text, TURNS)


def test_the_whole_set_is_under_two_megabytes(trained: Heads) -> None:
    assert set(trained.heads) == set(LABELS)
    assert sum(tensor.nbytes for tensor in trained.tensors().values()) < 2_000_000


def test_out_of_domain_rows_teach_nothing_about_complexity(rows: Callable[[str], Any]) -> None:
    for row in rows("train"):
        for name in ("complexity", "intent", "needs_decomposition"):
            assert (LABELS[name](row) is None) == (not row.labels.is_relevant)
        assert (LABELS["is_follow_up"](row) is None) == (not row.history)
        assert (LABELS["rejection_kind"](row) is None) == row.labels.is_relevant


def test_training_uses_one_thread_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    from threadpoolctl import threadpool_info

    seen: list[int] = []
    solve = np.linalg.solve

    def watched(*args: Any) -> Any:
        seen.extend(i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas")
        return solve(*args)

    monkeypatch.setattr(np.linalg, "solve", watched)
    fit_head("x", some(20), ["a", "b"] * 10, list(map(str, range(20))))
    assert set(seen) == {1}


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
    from queryplan.program.ngrams import gram_columns, mask_names, words_of

    linker = trained.features.linker
    assert mask_names("How does Ilse differ from Takeda?", linker) == "How does _Guest_ differ from _Guest_?"
    one, other = (mask_names(f"How does {name} differ?", linker) for name in ("Ilse", "Aoife"))
    assert gram_columns(one, words_of(one)).tolist() == gram_columns(other, words_of(other)).tolist()


def test_vectors_have_length_one_or_zero(trained: Heads) -> None:
    vectors = trained.features.encoder.encode(["Who is Nell?", "", "你好", "x " * 20_000])
    assert vectors.shape == (4, 256)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1, 1], abs=1e-5)


def test_the_encoder_is_loaded_once_and_has_a_fingerprint() -> None:
    from queryplan.program.encoder import default_encoder

    assert default_encoder() is default_encoder()
    assert len(default_encoder().fingerprint()) == 16


# --- fitting


@given(st.integers(0, 10_000), st.integers(1, 6))
@settings(max_examples=20, deadline=None)
def test_left_out_scores_are_those_of_fits_without_the_fold(seed: int, folds: int) -> None:
    from queryplan.program.fit_head import _left_out, rbf

    rng = np.random.default_rng(seed)
    kernel, target = rbf(rng.normal(size=(40, 4)), 0.3), np.eye(3)[rng.integers(3, size=40)]
    fold = rng.integers(folds, size=40)
    for ridge, scores in _left_out(kernel, target, fold).items():
        for held in np.unique(fold):
            kept = fold != held
            inner = kernel[np.ix_(kept, kept)] + ridge * np.eye(int(kept.sum()))
            wanted = kernel[np.ix_(~kept, kept)] @ np.linalg.solve(inner, target[kept])
            np.testing.assert_allclose(scores[~kept], wanted, atol=1e-3)


def test_left_out_probabilities_come_with_the_head() -> None:
    fitted = fit_and_leave_out("x", some(20), ["a", "b"] * 10, list(map(str, range(20))))
    assert fitted is not None
    assert fitted.left_out.shape == (20, 2)
    np.testing.assert_allclose(fitted.left_out.sum(axis=1), 1.0, atol=1e-9)


# --- later turns


def test_rare_words_and_names_of_before_are_told_from_new_ones(trained: Heads) -> None:
    turns = (Turn(role="user", content="Who is Nell and what is a kiln?"),)
    again, new = (trained.features.of_turn(f"the {word}?", turns).dense[-4:] for word in ("kiln", "zeppelin"))
    assert (again[0], new[1]) == (0.0, 0.0)
    assert new[0] > 0 < again[1]


def test_forgetting_changes_no_answer(trained: Heads) -> None:
    before = trained.of_turn("and why?", TURNS)
    trained.features.forget()
    assert trained.of_turn("and why?", TURNS) == before


def fitted(said: list[float], labels: tuple[str, ...] = ("false", "true")) -> Fitted:
    head = fit_head("x", some(20), [labels[n % 2] for n in range(20)], list(map(str, range(20))))
    assert head is not None
    return Fitted(head, np.array([[1 - p, p] for p in said]))


def test_follow_up_is_said_as_late_as_costs_nothing() -> None:
    free = fitted([0.9, 0.8, 0.62, 0.58, 0.1])
    late = reluctant(free, "true", ["true", "true", "false", "false", "false"])
    assert late.bias == (0.0, pytest.approx(-np.log(0.65 / 0.35)))
    dear = fitted([0.9, 0.53, 0.52, 0.1])
    assert reluctant(dear, "true", ["true", "true", "true", "false"]) is dear.head


def test_it_is_said_late_where_that_costs_a_row_in_fifty_but_no_more() -> None:
    said = [0.9] * 48 + [0.57] + [0.1]
    late = reluctant(fitted(said), "true", ["true"] * 49 + ["false"])
    assert late.bias == (0.0, pytest.approx(-np.log(0.65 / 0.35)))
    twice = reluctant(fitted([0.57, *said]), "true", ["true"] * 50 + ["false"])
    assert twice.bias == (0.0, pytest.approx(-np.log(0.55 / 0.45)))


def test_what_a_head_says_already_is_added_to() -> None:
    free = fitted([0.9, 0.8, 0.62, 0.58, 0.1])
    biased = free._replace(head=replace(free.head, bias=(0.0, 1.0)))
    late = reluctant(biased, "true", ["true", "true", "false", "false", "false"])
    assert late.bias == (0.0, pytest.approx(1.0 - np.log(0.65 / 0.35)))


# --- turns that are made up


def test_first_questions_of_other_conversations_are_made_to_follow_what_they_do_not_follow(
    rows: Callable[[str], Any],
) -> None:
    train = rows("train")
    first = {row.query: row.conversation for row in train if not row.history}
    later = [row for row in train if row.history]
    made = made_turns(train)
    assert 0.9 * MADE * len(later) < len(made) <= MADE * len(later)
    for row in made:
        assert not row.labels.is_follow_up
        assert row.history
        assert first[row.query] != row.conversation
    assert made == made_turns(train)
    assert made != made_turns(train, seed=1)


def test_none_are_made_up_where_no_question_is_a_first_one(rows: Callable[[str], Any]) -> None:
    assert made_turns([row for row in rows("train") if row.history]) == []
    assert made_turns([row for row in rows("train") if not row.history]) == []


def test_rows_that_are_made_up_teach_but_judge_nothing() -> None:
    true, labels = some(40), ["a", "b"] * 20
    groups = list(map(str, range(40)))
    plain = fit_and_leave_out("x", true, labels, groups)
    both = fit_and_leave_out("x", true + some(20), labels + ["b"] * 20, groups + groups[:20], made=20)
    assert plain is not None
    assert both is not None
    assert both.left_out.shape == (40, 2)
    assert len(both.head.support) == 60
    assert plain.head.bias == ()
    assert both.head.bias[1] == 0.0 <= both.head.bias[0]


def test_weighed_rows_are_as_ridge_regression_has_them() -> None:
    rng = np.random.default_rng(0)
    seen = [Seen(rng.normal(size=3).astype(np.float32), some(1)[0].grams) for _ in range(30)]
    fitted = fit_and_leave_out("x", seen, ["a", "b"] * 15, list(map(str, range(30))), shares=[(0.0, 0.0)], made=10)
    assert fitted is not None
    dense = np.stack([row.dense for row in seen]).astype(float)
    kernel = rbf(dense, fitted.head.width)
    target = np.array([[1.0, 0.0], [0.0, 1.0]] * 15)
    weights = np.where(np.arange(30) < 20, 1.0, MADE_WEIGHT)
    wanted = (np.linalg.solve(kernel + np.diag(ridge / weights), target) for ridge in RIDGES)
    assert any(np.allclose(fitted.head.dual, against_first(dual), atol=1e-5) for dual in wanted)


def test_a_bias_moves_where_a_label_begins_and_is_saved(trained: Heads) -> None:
    head = replace(trained.heads["is_relevant"], bias=())
    moved = replace(head, bias=(0.0, -1.0))
    seen = trained.features.of_query("Who is Nell?")
    before, after = head.probabilities(seen), moved.probabilities(seen)
    assert np.log(after[1] / after[0]) == pytest.approx(np.log(before[1] / before[0]) - 1, abs=1e-3)
    kept = Heads({"is_relevant": moved}, trained.features)
    again = load_heads(kept.tensors(), kept.settings(), trained.features)
    assert again.heads["is_relevant"].bias == (0.0, -1.0)
    assert again.of_query("Who is Nell?") == kept.of_query("Who is Nell?")
    assert list(kept.of_query("Who is Nell?")["is_relevant"].probabilities.values()) == pytest.approx(after, abs=2e-5)


def test_of_many_rows_those_of_some_conversations_choose_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    choices = fitting._choices

    def watched(lessons: Any, *given: Any) -> Any:
        asked.append(len(lessons.target))
        return choices(lessons, *given)

    monkeypatch.setattr(fitting, "_choices", watched)
    monkeypatch.setattr(fitting, "SEARCHED", 30)
    groups = [f"conversation {i // 4}" for i in range(80)]
    fitted = fit_and_leave_out("x", some(80), ["a", "b"] * 40, groups)
    assert fitted is not None
    assert asked == [32, 80], "whole conversations until there are thirty rows, then every row"
    assert fitted.left_out.shape == (80, 2)
    assert len(fitted.head.support) == 80


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=60),
    st.integers(0, 3),
)
def test_rows_that_choose_are_whole_conversations_and_enough(numbers: list[int], seed: int) -> None:
    groups = [f"g{number}" for number in numbers]
    rows = fitting._some(groups, seed).tolist()
    assert rows == sorted(set(rows))
    assert len(rows) >= min(fitting.SEARCHED, len(groups))
    chosen = {groups[i] for i in rows}
    assert rows == [i for i, group in enumerate(groups) if group in chosen]


def test_a_softmax_does_not_see_which_label_the_others_are_measured_by() -> None:
    scores = np.random.default_rng(0).normal(size=(5, 4))
    less = np.concatenate([np.zeros((5, 1)), against_first(scores)], axis=1)
    np.testing.assert_allclose(softmax(less), softmax(scores))


def test_heads_see_the_first_dimensions_of_a_nested_vector_at_length_one(trained: Heads) -> None:
    features, nested = trained.features, trained.features.encoder.nested
    assert features.nested == nested == trained.tensors()[NESTED].item()
    seen = features.of_query("Who is Nell?")
    whole = features.encoder.encode([mask_names("Who is Nell?", features.linker)])[0][:nested]
    np.testing.assert_allclose(seen.dense[:nested], whole / np.linalg.norm(whole), atol=1e-6)
    assert seen.dense[nested:].max() <= 2 * SURFACE_WEIGHT
    unread = features.of_query("ᏣᎳᎩ")
    assert not unread.readable
    assert not unread.dense[:nested].any()


def test_heads_of_before_saw_whole_vectors_and_had_a_column_for_every_label(trained: Heads, card: Any) -> None:
    tensors = trained.tensors()
    del tensors[NESTED]
    assert load_features(tensors, trained.features.encoder, trained.features.linker).nested is None
    head = trained.heads["complexity"]
    first = np.random.default_rng(0).normal(size=(len(head.dual), 1)).astype(np.float32)
    tensors["complexity.dual"] = np.concatenate([first, head.dual + first], axis=1)
    zero = np.zeros((len(head.linear), 1), dtype=np.float16)
    tensors["complexity.linear"] = np.concatenate([zero, head.linear], axis=1)
    again = load_heads(tensors, trained.settings(), trained.features)
    np.testing.assert_allclose(again.heads["complexity"].dual, head.dual, atol=1e-5)
    assert np.array_equal(again.heads["complexity"].linear, head.linear)


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
    as_typed = trained.of_query(typed)
    for name, answer in beside.items():
        wanted = pooled(list(alone[name].probabilities.values()), list(as_typed[name].probabilities.values()))
        assert list(answer.probabilities.values()) == pytest.approx(wanted)
    same = trained.of_query(typed, typed)["intent"].probabilities
    assert same == pytest.approx(dict(as_typed["intent"].probabilities))


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
