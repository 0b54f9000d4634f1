"""Fitting heads: honest about folds, what is made up weighs less, and what chooses the settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.program.heads import fit_head as fitting
from queryplan.program.heads.features import Seen
from queryplan.program.heads.fit_head import (
    MADE_WEIGHT,
    RIDGES,
    SHARES,
    SHARES_OF_MANY,
    Rows,
    fit_and_leave_out,
    fit_head,
    fit_rows,
    folds_of,
)
from queryplan.program.heads.heads import (
    against_first,
)
from queryplan.program.heads.learning import MADE, made_turns
from queryplan.program.heads.ridge import Solved, factor_of, linear, rbf
from scipy.sparse import csr_array


def some(count: int) -> list[Seen]:
    from queryplan.program.heads.ngrams import Grams

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


@given(st.lists(st.sampled_from("abcdefghijklmnopq"), min_size=1, max_size=80), st.integers(0, 5))
def test_groups_never_cross_folds(groups: list[str], seed: int) -> None:
    folds = folds_of(groups, seed)
    assert len({(g, int(f)) for g, f in zip(groups, folds, strict=True)}) == len(set(groups))
    sizes = Counter(int(f) for f in dict(zip(groups, folds, strict=True)).values())
    assert max(sizes.values()) - min(sizes.get(f, 0) for f in range(5)) <= 1


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


@given(st.integers(0, 10_000), st.integers(1, 6))
@settings(max_examples=20, deadline=None)
def test_left_out_scores_are_those_of_fits_without_the_fold(seed: int, folds: int) -> None:
    rng = np.random.default_rng(seed)
    kernel, target = rbf(rng.normal(size=(40, 4)), 0.3), np.eye(3)[rng.integers(3, size=40)]
    fold = rng.integers(folds, size=40)
    solved = Solved(kernel, fold)
    every = solved.left_out(target, RIDGES)
    alone = {ridge: solved.left_out(target, [ridge])[ridge] for ridge in RIDGES}
    for ridge, (rows, scores, dual) in (*every.items(), *alone.items()):
        assert rows.tolist() == list(range(40))
        np.testing.assert_allclose(dual, np.linalg.solve(kernel + ridge * np.eye(40), target), atol=1e-2)
        for held in np.unique(fold):
            kept = fold != held
            inner = kernel[np.ix_(kept, kept)] + ridge * np.eye(int(kept.sum()))
            wanted = kernel[np.ix_(~kept, kept)] @ np.linalg.solve(inner, target[kept])
            np.testing.assert_allclose(scores[~kept], wanted, atol=1e-3)
        rows, of_one_fold, dual = solved.left_out(target, [ridge], every=False)[ridge]
        assert rows.tolist() == np.flatnonzero(fold == fold.min()).tolist()
        np.testing.assert_allclose(of_one_fold, scores[rows], atol=1e-3)
        np.testing.assert_allclose(dual, alone[ridge].dual, atol=1e-6)


def test_left_out_probabilities_come_with_the_head() -> None:
    fitted = fit_and_leave_out("x", some(20), ["a", "b"] * 10, list(map(str, range(20))))
    assert fitted is not None
    assert fitted.left_out.shape == (20, 2)
    np.testing.assert_allclose(fitted.left_out.sum(axis=1), 1.0, atol=1e-9)


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
    kernel = rbf(fitted.head.support.astype(float), fitted.head.width)
    target = np.array([[1.0, 0.0], [0.0, 1.0]] * 15)
    weights = np.where(np.arange(30) < 20, 1.0, MADE_WEIGHT)
    wanted = (np.linalg.solve(kernel + np.diag(ridge / weights), target) for ridge in RIDGES)
    assert any(np.allclose(fitted.head.dual, against_first(dual), rtol=1e-3, atol=1e-5) for dual in wanted)


@pytest.mark.parametrize(("many", "wanted"), [(58, [60, 80]), (100, [32, 80])])
def test_rows_of_some_conversations_choose_the_setting(
    many: int, wanted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    choices = fitting._choices

    def watched(lessons: Any, *given: Any) -> Any:
        asked.append(len(lessons.target))
        return choices(lessons, *given)

    monkeypatch.setattr(fitting, "_choices", watched)
    monkeypatch.setattr(fitting, "SEARCHED", 30)
    monkeypatch.setattr(fitting, "MANY", many)
    groups = [f"conversation {i // 4}" for i in range(80)]
    fitted = fit_and_leave_out("x", some(80), ["a", "b"] * 40, groups)
    assert fitted is not None
    assert asked == wanted, "of many, sixty choose the ridge; of few, thirty choose the kernels' shares; then every row"
    assert (fitted.shares in SHARES_OF_MANY) is (many < 80)
    assert fitted.left_out.shape == (16 if many < 80 else 80, 2), "of many, one fold in five is judged"
    assert len(fitted.head.support) == 80


def test_of_many_rows_one_fold_is_judged_unless_every_row_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "MANY", 50)
    groups, labels = [f"conversation {i // 4}" for i in range(80)], ["a", "b"] * 40
    one, all_of_them = (fit_rows("x", Rows(some(80), groups), labels, every=every) for every in (False, True))
    assert one is not None
    assert all_of_them is not None
    np.testing.assert_allclose(one.head.dual, all_of_them.head.dual, atol=1e-5)
    first = np.flatnonzero(fitting.folds_of(groups, 0) == 0)
    assert all_of_them.left_out.shape == (80, 2)
    # The rows of one fold choose the scale, too, so the same scores may have other probabilities.
    assert (one.left_out.argmax(axis=1) == all_of_them.left_out[first].argmax(axis=1)).all()


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=60),
    st.integers(0, 3),
    st.integers(1, 70),
)
def test_rows_that_choose_are_whole_conversations_and_enough(numbers: list[int], seed: int, enough: int) -> None:
    groups = [f"g{number}" for number in numbers]
    rows = fitting._some(groups, seed, enough).tolist()
    assert rows == sorted(set(rows))
    assert len(rows) >= min(enough, len(groups))
    chosen = {groups[i] for i in rows}
    assert rows == [i for i, group in enumerate(groups) if group in chosen]


def test_a_factor_gives_the_kernel_with_its_ridge() -> None:
    kernel = rbf(np.random.default_rng(0).normal(size=(30, 3)), 1.0)
    factor = factor_of(kernel.copy(), 0.1)
    np.testing.assert_allclose(factor @ factor.T, kernel + 0.1 * np.eye(30), atol=1e-9)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        factor_of(-kernel, 0.1)


def test_a_kernel_in_single_precision_is_solved_in_double() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4)).astype(np.float32)
    kernel, target, folds = rbf(rows, 0.1), rng.normal(size=(300, 2)), np.arange(300) % 3
    assert kernel.dtype == np.float32
    _, scores, dual = Solved(kernel, folds).left_out(target, [0.003])[0.003]
    ridged = kernel.astype(np.float64) + 0.003 * np.eye(300)
    np.testing.assert_allclose(dual, np.linalg.solve(ridged, target), rtol=1e-6)
    out, kept = np.flatnonzero(folds == 1), np.flatnonzero(folds != 1)
    alone = np.linalg.solve(ridged[np.ix_(kept, kept)], target[kept])
    np.testing.assert_allclose(scores[out], kernel[np.ix_(out, kept)] @ alone, atol=1e-2)


def test_a_linear_kernel_of_sparse_rows_is_their_products() -> None:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 40)) * (rng.random((60, 40)) < np.linspace(0.0, 0.5, 40))
    found = linear(csr_array(dense))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, dense @ dense.T, atol=1e-5)
    assert not linear(csr_array((60, 40))).any()


def test_rows_that_are_some_of_others_learn_as_if_they_were_all() -> None:
    seen, places = some(90), [place for place in range(90) if place % 3]
    groups = [f"g{place // 2}" for place in range(90)]
    labels = ["yes" if seen[place].dense[0] > 0 else "no" for place in places]
    part = fit_rows("x", Rows(seen, groups).some(places), labels)
    alone = fit_rows("x", Rows([seen[place] for place in places], [groups[place] for place in places]), labels)
    assert part is not None
    assert alone is not None
    assert (part.shares, part.ridge) == (alone.shares, alone.ridge)
    np.testing.assert_allclose(part.head.dual, alone.head.dual, rtol=1e-4)
    np.testing.assert_allclose(part.left_out, alone.left_out, atol=1e-5)


@pytest.mark.parametrize("made", [0, 12])
def test_heads_that_share_rows_are_those_that_learned_alone(made: int) -> None:
    seen, groups = some(60), [str(i // 2) for i in range(60)]
    labels = {"a": ["x", "y"] * 30, "b": ["x", "y", "z"] * 20, "c": ["x"] * 20 + ["y"] * 40}
    shared = Rows(seen, groups, made)
    for name, of_rows in labels.items():
        for shares in (SHARES, [(0.5, 0.0)]):
            together, alone = (fit_rows(name, rows, of_rows, shares) for rows in (shared, Rows(seen, groups, made)))
            assert together is not None
            assert alone is not None
            np.testing.assert_array_equal(together.head.dual, alone.head.dual)
            np.testing.assert_array_equal(together.left_out, alone.left_out)
            assert together.head.scale == alone.head.scale
