"""Heads that learned from many rows say with some support vectors what they said with all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from queryplan.program.heads.features import Seen
from queryplan.program.heads.fit_head import MADE_WEIGHT, Fitted, fit_and_leave_out
from queryplan.program.heads.heads import Head, Heads
from queryplan.program.heads.landmarks import condensed
from queryplan.program.heads.learning import LABELS, condensed_alike, features_of
from queryplan.program.heads.ngrams import COLUMNS, FRAME_COLUMNS, Grams
from queryplan.program.heads.ridge import kernel, rbf

NO_GRAMS = Grams(np.array([], dtype=np.int32), np.array([], dtype=np.float32))


def seen_of(dense: np.ndarray) -> list[Seen]:
    return [Seen(row.astype(np.float32), NO_GRAMS) for row in dense]


def rings(count: int, seed: int = 0, name: str = "x", made: int = 0) -> Fitted:
    """A head of rows near one of three places, which say their label for four of five."""
    rng = np.random.default_rng(seed)
    place = rng.integers(3, size=count)
    dense = np.eye(3)[place] + rng.normal(scale=0.15, size=(count, 3))
    labels = ["abc"[i] for i in np.where(rng.random(count) < 0.3, rng.integers(3, size=count), place)]
    fitted = fit_and_leave_out(name, seen_of(dense), labels, [str(i) for i in range(count)], made=made)
    assert fitted is not None
    return fitted


def said(head: Head, dense: np.ndarray) -> np.ndarray:
    return np.stack([head.probabilities(seen) for seen in seen_of(dense)])


NEW = np.eye(3)[np.arange(60) % 3] + np.random.default_rng(9).normal(scale=0.2, size=(60, 3))


def test_a_fifth_of_the_rows_says_what_all_say() -> None:
    fitted = rings(200)
    few = condensed([fitted], most=40)[0]
    assert few.support.shape == (40, 3)
    assert few.dual.shape == (40, 2)
    np.testing.assert_allclose(said(few, NEW), said(fitted.head, NEW), atol=0.02)


def test_with_very_few_it_says_less_exactly() -> None:
    fitted = rings(200)
    errors = [np.abs(said(condensed([fitted], most=n)[0], NEW) - said(fitted.head, NEW)).max() for n in (3, 10, 60)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 5 * errors[2]


def test_no_more_rows_than_wanted_are_left_as_they_are() -> None:
    fitted = rings(40)
    assert condensed([fitted], most=40) == [fitted.head]
    assert condensed([], most=40) == []


def test_heads_that_see_the_same_share_their_support_vectors() -> None:
    a, b = condensed([rings(120, name="a"), rings(120, name="b")], most=30)
    assert (a.name, b.name) == ("a", "b")
    assert np.array_equal(a.support, b.support)


def test_kernels_of_different_widths_are_left_alone() -> None:
    one, other = rings(60), rings(60)
    other = other._replace(head=replace(other.head, width=2.0))
    assert condensed([one, other], most=10) == [one.head, other.head]


def test_what_is_kept_lies_where_the_rows_lie() -> None:
    fitted = rings(200)
    kept = condensed([fitted], most=12)[0].support.astype(float)
    rows = fitted.head.support.astype(float)
    nearness = kernel(rows, kept, 1.0).max(axis=1)
    assert nearness.min() > kernel(rows, rows[:12], 1.0).max(axis=1).min()
    assert nearness.mean() > kernel(rows, rows[:12], 1.0).max(axis=1).mean()
    assert [round(float((kernel(kept, np.eye(3), 1.0).argmax(axis=1) == place).mean()), 1) for place in range(3)] == [
        pytest.approx(1 / 3, abs=0.15)
    ] * 3


def test_rows_that_are_all_alike_leave_clusters_empty_and_are_said_nevertheless() -> None:
    fitted = rings(60)
    alike = np.repeat(fitted.head.support[:4], 15, axis=0) + np.linspace(0, 1e-3, 60, dtype=np.float16)[:, None]
    few = condensed([fitted._replace(head=replace(fitted.head, support=alike))], most=20)[0]
    assert few.support.shape == (20, 3)
    assert np.isfinite(few.dual).all()


def test_the_same_rows_give_the_same_heads() -> None:
    first, second = (condensed([rings(150)], most=20)[0] for _ in range(2))
    assert np.array_equal(first.support, second.support)
    assert np.array_equal(first.dual, second.dual)


def test_rows_that_were_made_up_weigh_less_here_too() -> None:
    fitted = rings(200, seed=2, made=80)
    assert fitted.weights is not None
    assert fitted.weights[-1] == pytest.approx(MADE_WEIGHT)
    rows = fitted.head.support.astype(float)
    said_by_all = said(fitted.head, rows)

    def errors(one: Fitted) -> tuple[float, float]:
        """Of the rows that were there, and of those that were made up."""
        off = (said(condensed([one], most=4)[0], rows) - said_by_all) ** 2
        return float(off[:-80].mean()), float(off[-80:].mean())

    (there, made), (there_alike, made_alike) = errors(fitted), errors(fitted._replace(weights=None))
    assert there < there_alike
    assert made > made_alike


def test_a_head_of_words_alone_keeps_its_weights() -> None:
    words = np.zeros((COLUMNS + FRAME_COLUMNS, 2), dtype=np.float16)
    words[7] = 1.0
    fitted = rings(60)
    head = replace(fitted.head, dual=np.zeros_like(fitted.head.dual), linear=words)
    few = condensed([fitted._replace(head=head, penalty=1e6, said=np.zeros_like(head.dual))], most=10)[0]
    assert not few.dual.any()
    assert np.array_equal(few.linear, words)


def said_near(head: Head) -> np.ndarray:
    return rbf(head.support.astype(np.float64), head.width) @ head.dual


def labels_right(heads: Heads, rows: Sequence[Any], card: Any, name: str) -> float:
    used = [(row, value) for row in rows if (value := LABELS[name](row)) is not None]
    head = heads.heads[name]
    best = [head.labels[int(head.probabilities(features_of(name, r, card, heads.features)).argmax())] for r, _ in used]
    return float(np.mean([said == value for said, (_, value) in zip(best, used, strict=True)]))


def test_turns_and_queries_have_landmarks_of_their_own(
    trained: Heads, rows: Callable[[str], Any], card: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queryplan.program.heads.learning.TURNS", 50)
    fits = {name: Fitted(head, np.zeros((0, 2)), said=said_near(head)) for name, head in trained.heads.items()}
    few = condensed_alike(fits)
    assert list(few) == list(fits)
    assert len(few["is_follow_up"].support) == 50
    assert few["is_follow_up"].support.shape[1] > few["intent"].support.shape[1]
    half = Heads(few, trained.features)
    for name in ("is_follow_up", "complexity"):
        ours, all_of = (labels_right(h, rows("dev"), card, name) for h in (half, trained))
        assert ours > all_of - 0.12
