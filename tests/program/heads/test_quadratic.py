"""The kernel whose features can be written out."""

from __future__ import annotations

import numpy as np
import pytest
from queryplan.program.heads import quadratic
from queryplan.program.heads.features import Seen
from queryplan.program.heads.fit_head import Rows as TrainingRows
from queryplan.program.heads.fit_head import fit_head, fit_rows
from queryplan.program.heads.ngrams import WIDTH, Grams

NO_GRAMS = Grams(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))


@pytest.mark.parametrize("dimensions", [1, 2, 7])
def test_the_features_multiply_to_the_kernel(dimensions: int) -> None:
    rows = np.random.default_rng(0).normal(size=(6, dimensions))
    features = quadratic.written_out(rows)
    assert features.shape == (6, quadratic.width(dimensions))
    np.testing.assert_allclose(features @ features.T, quadratic.kernel(rows), atol=1e-5)
    np.testing.assert_allclose(np.stack([quadratic.written_out(row) for row in rows]), features, atol=1e-6)


def test_the_kernel_is_one_for_what_is_the_same_and_does_not_see_lengths() -> None:
    rows = np.random.default_rng(1).normal(size=(5, 4))
    np.testing.assert_allclose(np.diag(quadratic.kernel(rows)), 1, atol=1e-6)
    np.testing.assert_allclose(quadratic.kernel(3 * rows), quadratic.kernel(rows), atol=1e-6)


def test_nothing_is_no_error() -> None:
    assert np.isfinite(quadratic.kernel(np.zeros((2, 3)))).all()


def test_a_head_has_a_weight_for_each_feature_and_says_what_its_rows_say() -> None:
    rng = np.random.default_rng(2)
    dense = rng.normal(size=(60, 4)).astype(np.float32)
    labels = ["both" if one[0] * one[1] > 0 else "not" for one in dense]
    seen = [Seen(one, NO_GRAMS) for one in dense]
    rows = TrainingRows(seen, [str(n) for n in range(60)], written_out=True)
    fitted = fit_rows("x", rows, labels, [(0.0, 0.0)], [0.03])
    assert fitted is not None
    head = fitted.head
    assert head.support.shape == (1, 4)
    assert head.linear.shape == (WIDTH + quadratic.width(4), 1)
    columns = np.arange(WIDTH, WIDTH + quadratic.width(4))
    said = [head.probabilities(Seen(one, Grams(columns, quadratic.written_out(one)))) for one in dense]
    assert np.mean([head.labels[int(p.argmax())] == label for p, label in zip(said, labels, strict=True)]) > 0.9
    assert np.mean(fitted.left_out.argmax(axis=1) == [head.labels.index(label) for label in labels]) > 0.8
    other = fit_head("x", seen, labels, [str(n) for n in range(60)])
    assert other is not None
    assert len(other.support) == 60
